import { z } from 'zod';
import { listFilter } from '../../../platform/lists/filters.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';

/** As many as a page of customers shows, four times over. */
const SUMMARIES_MAX = 100;

export const CustomerSummariesQuery = z.object({
  svc_ids: listFilter
    .refine((ids) => (ids?.length ?? 0) <= SUMMARIES_MAX, OUT_OF_RANGE)
    .meta({ type: 'array', items: { type: 'string', format: 'uuid' } }),
});
export type CustomerSummariesQuery = z.output<typeof CustomerSummariesQuery>;

const CurrencySummary = z.object({
  currency: z.string(),
  due_amount_cents: z.int(),
  overdue_amount_cents: z.int(),
});

export const CustomerSummaries = z.object({
  customer_summaries: z.array(
    z.object({
      svc_id: z.uuid(),
      external_id: z.string(),
      currencies: z.array(CurrencySummary),
      last_event_on: z.iso.date().nullable(),
    }),
  ),
});
export type CustomerSummaries = z.infer<typeof CustomerSummaries>;
