import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { utcDate } from '../../../engine/calendar/instants.ts';
import { isCurrency } from '../../../engine/money/currency.ts';
import { isCountry } from '../../../engine/places/countries.ts';
import { booleanFilter, textFilter } from '../../../platform/lists/filters.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { parseBound } from '../../../platform/schema/instant-field.ts';
import { CUSTOMER_TYPES } from '../../customers/customers/schema.ts';

/** A hundred years: more months than any organization has. */
const MOST_MONTHS = 1200;
export const GRANULARITIES = ['daily', 'weekly', 'monthly'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

const currencyFilter = textFilter
  .transform((code) => code?.trim().toUpperCase())
  .refine((code) => code === undefined || isCurrency(code), INVALID);

/** How many months back; anything but a number above 1 is the current month alone (analytics.md#common-rules). */
const monthsFilter = textFilter
  .transform((value) =>
    value === undefined ? undefined : /^\d{1,15}$/.test(value.trim()) ? clamped(Number(value)) : 1,
  )
  .meta({ type: 'integer', minimum: 1, maximum: MOST_MONTHS });
const clamped = (months: number): number => Math.min(Math.max(months, 1), MOST_MONTHS);

/** Earliest day: none before is recorded, and Postgres writes very early ones differently. */
const FIRST_DAY = Temporal.PlainDate.from('1970-01-01');

const dayFilter = textFilter.transform((value, context) => {
  if (value === undefined) return undefined;
  const instant = parseBound(value);
  if (instant === undefined) {
    context.addIssue({ code: 'custom', message: 'invalid_date' });
    return z.NEVER;
  }
  const day = utcDate(instant);
  return Temporal.PlainDate.compare(day, FIRST_DAY) < 0 ? FIRST_DAY : day;
});

export const MonthsQuery = z.object({
  currency: currencyFilter,
  months: monthsFilter,
  billing_entity_code: textFilter,
});
export type MonthsQuery = z.infer<typeof MonthsQuery>;

export const CustomerMonthsQuery = MonthsQuery.extend({ external_customer_id: textFilter });
export type CustomerMonthsQuery = z.infer<typeof CustomerMonthsQuery>;

export const PeriodsQuery = z.object({
  time_granularity: textFilter
    .pipe(z.enum(GRANULARITIES, { error: INVALID }).default('daily'))
    .meta({ type: 'string', enum: GRANULARITIES }),
  currency: currencyFilter,
  from_date: dayFilter,
  to_date: dayFilter,
  billing_entity_code: textFilter,
  customer_type: textFilter
    .pipe(z.enum(CUSTOMER_TYPES, { error: INVALID }).optional())
    .meta({ type: 'string', enum: CUSTOMER_TYPES }),
  external_customer_id: textFilter,
  customer_country: textFilter
    .transform((code) => code?.trim().toUpperCase())
    .refine((code) => code === undefined || isCountry(code), INVALID),
  external_subscription_id: textFilter,
  is_billable_metric_recurring: booleanFilter,
  plan_code: textFilter,
  billable_metric_code: textFilter,
});
export type PeriodsQuery = z.infer<typeof PeriodsQuery>;

const Month = z.string();

export const GrossRevenues = z.object({
  gross_revenues: z.array(
    z.object({
      month: Month,
      amount_cents: z.int(),
      currency: z.string(),
      invoices_count: z.int(),
      billing_entity_id: z.string(),
    }),
  ),
});

export const InvoiceCollections = z.object({
  invoice_collections: z.array(
    z.object({
      month: Month,
      payment_status: z.enum(['pending', 'succeeded', 'failed']).optional(),
      invoices_count: z.int(),
      amount_cents: z.int(),
      currency: z.string().optional(),
    }),
  ),
});

export const InvoicedUsages = z.object({
  invoiced_usages: z.array(z.object({ month: Month, code: z.string(), currency: z.string(), amount_cents: z.int() })),
});

export const Mrrs = z.object({
  mrrs: z.array(z.object({ month: Month, amount_cents: z.int(), currency: z.string() })),
});

export const OverdueBalances = z.object({
  overdue_balances: z.array(
    z.object({
      month: Month,
      amount_cents: z.int(),
      currency: z.string(),
      svc_invoice_ids: z.array(z.string()),
      billing_entity_id: z.string(),
    }),
  ),
});

const period = {
  organization_id: z.string(),
  start_of_period_dt: z.string(),
  end_of_period_dt: z.string(),
  amount_currency: z.string(),
};

export const Usages = z.object({
  usages: z.array(
    z.object({
      ...period,
      amount_cents: z.int(),
      billable_metric_code: z.string(),
      units: z.string(),
      is_billable_metric_deleted: z.boolean(),
    }),
  ),
});

export const STREAMS = [
  'usage_based_fee',
  'subscription_fee',
  'commitment_fee',
  'one_off_fee',
  'coupons',
  'credit_notes_credits',
  'free_credits',
  'prepaid_credits',
  'progressive_billing_credit',
] as const;
export type Stream = (typeof STREAMS)[number];

export const RevenueStreams = z.object({
  revenue_streams: z.array(
    z.object({
      ...period,
      usage_based_fee_amount_cents: z.int(),
      subscription_fee_amount_cents: z.int(),
      commitment_fee_amount_cents: z.int(),
      one_off_fee_amount_cents: z.int(),
      coupons_amount_cents: z.int(),
      credit_notes_credits_amount_cents: z.int(),
      free_credits_amount_cents: z.int(),
      prepaid_credits_amount_cents: z.int(),
      progressive_billing_credit_amount_cents: z.int(),
      contra_revenue_amount_cents: z.int(),
      gross_revenue_amount_cents: z.int(),
      net_revenue_amount_cents: z.int(),
    }),
  ),
});

export const PrepaidCredits = z.object({
  prepaid_credits: z.array(
    z.object({
      ...period,
      purchased_amount: z.string(),
      purchased_credits_quantity: z.string(),
      offered_amount: z.string(),
      offered_credits_quantity: z.string(),
      consumed_amount: z.string(),
      consumed_credits_quantity: z.string(),
      voided_amount: z.string(),
      voided_credits_quantity: z.string(),
    }),
  ),
});

export const MrrMovements = z.object({
  mrr_movements: z.array(
    z.object({
      ...period,
      starting_mrr: z.int(),
      mrr_new: z.int(),
      mrr_expansion: z.int(),
      mrr_contraction: z.int(),
      mrr_churn: z.int(),
      mrr_change: z.int(),
      ending_mrr: z.int(),
    }),
  ),
});
