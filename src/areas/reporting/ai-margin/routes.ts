import type { Operation } from '../../../platform/operation.ts';
import { showCustomerMargins, showMargins } from './reads.ts';
import { CustomerMarginQuery, MarginList, MarginQuery } from './schema.ts';

const common = {
  method: 'get',
  permission: 'analytic',
  tag: 'ai_usage',
  kind: 'read',
  answer: MarginList,
  alsoCsv: true,
} as const;

/** Cost and margin of calls of language models. Rule: margins.md#report. */
export const aiMarginOperations: Operation[] = [
  {
    ...common,
    name: 'findAiMargins',
    path: '/ai/margin',
    summary: 'Cost, revenue and margin of calls of language models',
    query: MarginQuery,
    run: showMargins,
  },
  {
    ...common,
    name: 'findCustomerAiMargins',
    path: '/ai/margin/customers/:external_id',
    summary: 'Cost, revenue and margin of calls of a customer by model and day',
    query: CustomerMarginQuery,
    run: showCustomerMargins,
  },
];
