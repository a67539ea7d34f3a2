import { z } from 'zod';
import { PAYMENT_STATUSES, VISIBLE_INVOICE_STATUSES } from '../../../engine/invoices/invoice-states.ts';
import { INVOICE_TYPES, INVOICING_REASONS } from '../../../engine/invoices/invoice-types.ts';
import {
  amountFilter,
  booleanFilter,
  dayFilter,
  listFilter,
  metadataFilter,
  textFilter,
} from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { elementErrors } from '../../../platform/schema/element-errors.ts';
import { boolean, INVALID, integer, oneOf, TOO_LONG, text, withoutNullBytes } from '../../../platform/schema/fields.ts';
import { LINE_MAX } from '../../../platform/schema/sizes.ts';
import { AppliedUsageThresholdObject } from '../../catalog/usage-thresholds/schema.ts';
import { AppliedSectionView } from '../../customers/invoice-custom-sections/schema.ts';
import { MissingCharacters } from '../../messaging/documents/missing-characters.ts';
import { SubscriptionObject } from '../../subscriptions/subscriptions/schema.ts';
import { AppliedTaxObject, FeeObject } from '../fees/schema.ts';

// Invalid words and booleans are refused on their field, malformed dates and amounts are ignored
// (invoice-operations.md#list-filters, lists.md#filters-and-order).
const wordsFilter = <const Words extends readonly string[]>(words: Words) =>
  listFilter
    .transform((values, context): Words[number][] | undefined => {
      if (values === undefined || values.every((value) => words.includes(value))) return values;
      context.addIssue({ code: 'custom', message: INVALID });
      return z.NEVER;
    })
    .meta({ type: 'array', items: { type: 'string', enum: words } });

const wordFilter = <const Words extends readonly string[]>(words: Words) =>
  wordsFilter(words)
    .transform((values) => values?.[0])
    .meta({ type: 'string', enum: words });

const strictBooleanFilter = z
  .unknown()
  .optional()
  .transform((value, context) => {
    const read = booleanFilter.parse(value);
    if (read !== undefined || textFilter.parse(value) === undefined) return read;
    context.addIssue({ code: 'custom', message: INVALID });
    return z.NEVER;
  })
  .meta({ type: 'boolean' });

const METADATA_MAX = 5;
const METADATA_KEY_MAX = 20;
const METADATA_VALUE_MAX = 140;

const Metadata = list(
  z.preprocess(
    withoutNullBytes,
    z.object({
      id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
      svc_id: z.string(INVALID).max(LINE_MAX, TOO_LONG).nullish(),
      key: text({ max: METADATA_KEY_MAX }),
      value: text({ max: METADATA_VALUE_MAX }),
    }),
  ),
  { max: METADATA_MAX, tooMany: 'invalid_count' },
).superRefine((items, context) => {
  const seen = new Set<string>();
  for (const [index, { key }] of items.entries()) {
    if (seen.has(key)) context.addIssue({ code: 'custom', message: 'value_already_exist', path: [index, 'key'] });
    seen.add(key);
  }
});

/** Rule: invoice-operations.md#operations. */
export const InvoiceUpdate = z
  .object({ payment_status: oneOf(PAYMENT_STATUSES).nullish(), metadata: Metadata.nullish() })
  .check(elementErrors('metadata'));
export type InvoiceUpdate = z.infer<typeof InvoiceUpdate>;

/** Rule: invoice-operations.md#void. */
export const InvoiceVoid = z.object({
  generate_credit_note: boolean().nullish(),
  credit_amount: integer({ min: 0 }).optional(),
  refund_amount: integer({ min: 0 }).optional(),
});
export type InvoiceVoid = z.infer<typeof InvoiceVoid>;

const filters = {
  ...countedPageQuery,
  search_term: textFilter,
  billing_entity_codes: listFilter,
  currency: textFilter,
  invoice_type: wordFilter(INVOICE_TYPES),
  issuing_date_from: dayFilter,
  issuing_date_to: dayFilter,
  status: wordsFilter(VISIBLE_INVOICE_STATUSES).meta({ type: 'string', enum: VISIBLE_INVOICE_STATUSES }),
  statuses: wordsFilter(VISIBLE_INVOICE_STATUSES),
  payment_status: wordsFilter(PAYMENT_STATUSES).meta({ type: 'string', enum: PAYMENT_STATUSES }),
  payment_statuses: wordsFilter(PAYMENT_STATUSES),
  payment_overdue: strictBooleanFilter,
  payment_dispute_lost: strictBooleanFilter,
  partially_paid: strictBooleanFilter,
  self_billed: strictBooleanFilter,
  amount_from: amountFilter,
  amount_to: amountFilter,
  metadata: metadataFilter,
  purchase_order_number: textFilter,
  settlements: wordsFilter(['payment', 'credit_note', 'write_off']),
};
export const CustomerInvoicesQuery = z.object(filters);
export type CustomerInvoicesQuery = z.infer<typeof CustomerInvoicesQuery>;
export const InvoicesQuery = z.object({
  ...filters,
  external_customer_id: textFilter,
  customer_external_id: textFilter,
});
export type InvoicesQuery = z.infer<typeof InvoicesQuery>;

const TextOrNull = z.string().nullable();
const Amount = z.int();

const InvoiceListObject = z.object({
  svc_id: z.string(),
  billing_entity_code: z.string(),
  sequential_id: z.int().optional(),
  number: z.string(),
  purchase_order_number: TextOrNull,
  issuing_date: z.string(),
  payment_due_date: z.string(),
  net_payment_term: z.int(),
  invoice_type: z.enum(INVOICE_TYPES),
  status: z.enum([...VISIBLE_INVOICE_STATUSES, 'deleted']),
  payment_status: z.enum(PAYMENT_STATUSES),
  payment_dispute_lost_at: TextOrNull,
  payment_overdue: z.boolean(),
  currency: z.string(),
  fees_amount_cents: Amount,
  taxes_amount_cents: Amount,
  progressive_billing_credit_amount_cents: Amount,
  coupons_amount_cents: Amount,
  credit_notes_amount_cents: Amount,
  sub_total_excluding_taxes_amount_cents: Amount,
  sub_total_including_taxes_amount_cents: Amount,
  prepaid_credit_amount_cents: Amount,
  prepaid_granted_credit_amount_cents: Amount.nullable(),
  prepaid_purchased_credit_amount_cents: Amount.nullable(),
  total_amount_cents: Amount,
  total_paid_amount_cents: Amount,
  total_offsetted_credit_note_amount_cents: Amount,
  total_written_off_amount_cents: Amount,
  total_due_amount_cents: Amount,
  version_number: z.int(),
  self_billed: z.boolean(),
  file_url: TextOrNull,
  missing_characters: MissingCharacters,
  xml_url: TextOrNull,
  web_url: TextOrNull,
  created_at: z.string(),
  updated_at: z.string(),
  voided_at: TextOrNull,
  customer: z.looseObject({}),
  metadata: z.array(z.object({ svc_id: z.string(), key: z.string(), value: z.string(), created_at: z.string() })),
  applied_taxes: z.array(AppliedTaxObject.extend({ svc_invoice_id: z.string(), fees_amount_cents: Amount })),
});

const BillingPeriodObject = z.object({
  svc_subscription_id: z.string(),
  external_subscription_id: z.string(),
  svc_plan_id: z.string(),
  subscription_from_datetime: TextOrNull,
  subscription_to_datetime: TextOrNull,
  charges_from_datetime: TextOrNull,
  charges_to_datetime: TextOrNull,
  fixed_charges_from_datetime: TextOrNull,
  fixed_charges_to_datetime: TextOrNull,
  invoicing_reason: z.enum(INVOICING_REASONS),
});

export const InvoiceEnvelope = z.object({
  invoice: InvoiceListObject.extend({
    subscriptions: z.array(SubscriptionObject),
    billing_periods: z.array(BillingPeriodObject),
    fees: z.array(FeeObject),
    credits: z.array(z.unknown()),
    applied_usage_thresholds: z.array(AppliedUsageThresholdObject).optional(),
    error_details: z.array(
      z.object({ svc_id: z.string(), error_code: z.string(), details: z.record(z.string(), z.unknown()) }),
    ),
    applied_invoice_custom_sections: z.array(AppliedSectionView),
    /** Shown with a verified invoice that is read on its own. */
    last_verification: z.object({ status: z.string(), level: z.string(), verified_at: z.string() }).optional(),
  }),
});
/** Work on many invoices. Rule: other-routes.md#common-ground "Runs". */
export const InvoiceRunEnvelope = z.object({
  run: z.object({
    svc_id: z.string(),
    status: z.enum(['pending', 'running', 'succeeded', 'failed', 'canceled']),
    progress: z.object({ done: z.int(), total: z.int().nullable(), percent: z.int() }),
    result: z.null(),
    error: z.object({ code: z.string(), message: z.string(), svc_resource_id: z.string() }).nullable(),
    created_at: z.string(),
    started_at: TextOrNull,
    finished_at: TextOrNull,
  }),
});
export const InvoicesEnvelope = z.object({ invoices: z.array(InvoiceListObject), meta: PageMeta });
