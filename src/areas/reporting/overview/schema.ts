import { z } from 'zod';
import { textFilter } from '../../../platform/lists/filters.ts';

export const OverviewQuery = z.object({ billing_entity_code: textFilter });
export type OverviewQuery = z.infer<typeof OverviewQuery>;

/** Classes of whole days since the due date. */
export const AGEING = ['1-30', '31-60', '61-90', '91+'] as const;

const Count = z.object({ count: z.int(), more: z.boolean() });

const CurrencyOverview = z.object({
  currency: z.string(),
  revenue: z.object({
    month_to_date_cents: z.int(),
    same_days_last_month_cents: z.int(),
    last_month_cents: z.int(),
  }),
  mrr: z.object({ starting: z.int(), ending: z.int() }),
  collection: z.object({
    succeeded_cents: z.int(),
    pending_cents: z.int(),
    failed_cents: z.int(),
    rate: z.string().nullable(),
  }),
  overdue: z.object({
    total_cents: z.int(),
    invoices_count: z.int(),
    ageing: z.object({ '1-30': z.int(), '31-60': z.int(), '61-90': z.int(), '91+': z.int() }),
  }),
  usage_to_date_cents: z.int(),
});

export const Overview = z.object({
  overview: z.object({
    currencies: z.array(CurrencyOverview),
    customers: Count,
    active_subscriptions: Count,
    events_today: Count,
  }),
});
export type Overview = z.infer<typeof Overview>;
