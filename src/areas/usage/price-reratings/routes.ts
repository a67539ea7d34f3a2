import type { Operation } from '../../../platform/operation.ts';
import { rerateCalls, settleRerating, showRerating } from './commands.ts';
import { RerateCreate, RerateEnvelope } from './schema.ts';

const common = { permission: 'price_book', tag: 'price_book', answer: RerateEnvelope } as const;

/** Calls of language models are rated again. Rule: price-book.md#rating-again. */
export const priceReratingOperations: Operation[] = [
  {
    ...common,
    name: 'rerateCalls',
    method: 'post',
    path: '/price_book/rerate',
    summary: 'Rate calls of language models again',
    root: 'rerate',
    body: RerateCreate,
    kind: 'command',
    run: rerateCalls,
    settle: settleRerating,
  },
  {
    ...common,
    name: 'findRerating',
    method: 'get',
    path: '/price_book/rerate/:rerate_id',
    summary: 'Retrieve a run that rates calls of language models again',
    kind: 'read',
    run: showRerating,
  },
];
