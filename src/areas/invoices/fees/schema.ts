import { z } from 'zod';
import { FEE_TYPES } from '../../../engine/taxes/choose-taxes.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { INVALID, oneOf } from '../../../platform/schema/fields.ts';
import { FEE_PAYMENT_STATUSES } from './queries.ts';

const wordFilter = <const Words extends readonly string[]>(words: Words) =>
  textFilter
    .transform((value, context): Words[number] | undefined => {
      if (value === undefined || words.includes(value)) return value;
      context.addIssue({ code: 'custom', message: INVALID });
      return z.NEVER;
    })
    .meta({ type: 'string', enum: words });

export const FeesQuery = z.object({
  ...pageQuery,
  fee_type: wordFilter(FEE_TYPES),
  payment_status: wordFilter(FEE_PAYMENT_STATUSES),
  external_subscription_id: textFilter,
  external_customer_id: textFilter,
  billable_metric_code: textFilter,
  currency: textFilter,
  event_transaction_id: textFilter,
  created_at_from: fromFilter,
  created_at_to: untilFilter,
  succeeded_at_from: fromFilter,
  succeeded_at_to: untilFilter,
  failed_at_from: fromFilter,
  failed_at_to: untilFilter,
  refunded_at_from: fromFilter,
  refunded_at_to: untilFilter,
});
export type FeesQuery = z.infer<typeof FeesQuery>;

/** Input of `PUT /fees/{id}`. */
export const FeeUpdate = z.object({ payment_status: oneOf(FEE_PAYMENT_STATUSES) });
export type FeeUpdate = z.infer<typeof FeeUpdate>;

export const AppliedTaxObject = z.object({
  svc_id: z.string(),
  svc_tax_id: z.string().nullable(),
  tax_name: z.string(),
  tax_code: z.string(),
  tax_rate: z.number(),
  tax_description: z.string().nullable(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  created_at: z.string(),
});

const DecimalText = z.string();
const TextOrNull = z.string().nullable();

export const FeeObject = z.object({
  svc_id: z.string(),
  svc_charge_id: TextOrNull,
  svc_charge_filter_id: TextOrNull,
  svc_fixed_charge_id: TextOrNull,
  svc_invoice_id: TextOrNull,
  svc_true_up_fee_id: TextOrNull,
  svc_true_up_parent_fee_id: TextOrNull,
  svc_original_fee_id: TextOrNull,
  /** Present only on a fee that bills corrected usage. */
  svc_correction_id: z.string().optional(),
  svc_subscription_id: TextOrNull,
  svc_customer_id: TextOrNull,
  external_customer_id: TextOrNull,
  external_subscription_id: TextOrNull,
  item: z.object({
    type: z.enum(FEE_TYPES),
    code: z.string(),
    name: z.string(),
    description: TextOrNull,
    invoice_display_name: z.string(),
    filters: z.record(z.string(), z.array(z.string())).nullable(),
    filter_invoice_display_name: TextOrNull,
    svc_item_id: z.string(),
    item_type: z.enum(['AddOn', 'BillableMetric', 'Subscription', 'WalletTransaction']),
    grouped_by: z.record(z.string(), TextOrNull),
  }),
  pay_in_advance: z.boolean(),
  invoiceable: z.boolean(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  precise_amount: DecimalText,
  precise_total_amount: DecimalText,
  taxes_amount_cents: z.int(),
  taxes_precise_amount: DecimalText,
  taxes_rate: z.number(),
  total_amount_cents: z.int(),
  total_amount_currency: z.string(),
  units: DecimalText,
  total_aggregated_units: DecimalText,
  precise_unit_amount: DecimalText,
  precise_coupons_amount_cents: DecimalText,
  sub_total_excluding_taxes_amount_cents: z.int(),
  sub_total_excluding_taxes_precise_amount_cents: DecimalText,
  events_count: z.int().nullable(),
  unpriced_events: z.int().optional(),
  from_date: TextOrNull,
  to_date: TextOrNull,
  payment_status: z.enum(FEE_PAYMENT_STATUSES),
  created_at: z.string(),
  succeeded_at: TextOrNull,
  failed_at: TextOrNull,
  refunded_at: TextOrNull,
  event_transaction_id: TextOrNull,
  description: TextOrNull,
  amount_details: z.looseObject({}),
  self_billed: z.boolean(),
  pricing_unit_details: z.looseObject({}).nullable(),
  presentation_breakdowns: z.array(z.unknown()),
  applied_taxes: z.array(AppliedTaxObject.extend({ svc_fee_id: z.string() })),
});
export const FeeEnvelope = z.object({ fee: FeeObject });
export const FeesEnvelope = z.object({ fees: z.array(FeeObject), meta: PageMeta });
