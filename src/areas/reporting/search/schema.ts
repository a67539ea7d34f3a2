import { z } from 'zod';
import { numberFilter, textFilter, wordsFilter } from '../../../platform/lists/filters.ts';
import { MANDATORY, TOO_LONG } from '../../../platform/schema/fields.ts';

export const SEARCH_TYPES = [
  'customer',
  'subscription',
  'invoice',
  'credit_note',
  'payment',
  'payment_request',
  'payment_receipt',
  'wallet',
  'plan',
  'billable_metric',
  'coupon',
  'add_on',
  'feature',
  'tax',
  'event',
  'webhook',
  'quote',
  'order_form',
  'order',
  'api_log',
] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

export const MATCHES = ['exact', 'prefix', 'word', 'substring'] as const;

const QUERY_MAX = 200;
/** How many results of a type there may be; each arm of the search reads as many rows. */
export const RESULTS_MAX = 20;
const RESULTS_DEFAULT = 5;

export const SearchQuery = z.object({
  q: textFilter
    .transform((value, context) => {
      const trimmed = value?.trim() ?? '';
      const code = trimmed === '' ? MANDATORY : trimmed.length > QUERY_MAX ? TOO_LONG : undefined;
      if (code === undefined) return trimmed;
      context.addIssue({ code: 'custom', message: code });
      return z.NEVER;
    })
    .meta({ type: 'string', mandatory: true }),
  types: wordsFilter(SEARCH_TYPES),
  limit: numberFilter({ min: 1, max: RESULTS_MAX, usual: RESULTS_DEFAULT }),
});
export type SearchQuery = z.output<typeof SearchQuery>;

export const SearchEnvelope = z.object({
  search: z.object({
    query: z.string(),
    truncated: z.boolean(),
    results: z.array(
      z.object({
        type: z.enum(SEARCH_TYPES),
        svc_id: z.string(),
        title: z.string(),
        subtitle: z.string(),
        match: z.enum(MATCHES),
        path: z.string(),
        created_at: z.iso.datetime(),
      }),
    ),
  }),
});
export type SearchEnvelope = z.infer<typeof SearchEnvelope>;
