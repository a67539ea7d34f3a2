import type { Operation } from '../../../platform/operation.ts';
import { ignoreUnknown, showUnknownModels } from './commands.ts';
import { IgnoredUnknown, IgnoreUnknown, UnknownModelList, UnknownModelsQuery } from './schema.ts';

const common = { permission: 'price_book', tag: 'price_book' } as const;

/** Calls of models that have no amount. Rule: price-book.md#unknown-models. */
export const unpricedEventOperations: Operation[] = [
  {
    ...common,
    name: 'findUnknownModels',
    method: 'get',
    path: '/price_book/unknown',
    summary: 'List language models whose calls have no price',
    query: UnknownModelsQuery,
    answer: UnknownModelList,
    kind: 'read',
    run: showUnknownModels,
  },
  {
    ...common,
    name: 'ignoreUnknownModel',
    method: 'post',
    path: '/price_book/unknown/ignore',
    summary: 'Leave calls of a language model without a price',
    root: 'ignore',
    body: IgnoreUnknown,
    answer: IgnoredUnknown,
    kind: 'command',
    run: ignoreUnknown,
  },
];
