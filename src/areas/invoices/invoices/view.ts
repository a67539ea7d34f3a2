import { Temporal } from 'temporal-polyfill';
import { shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { AppliedThresholdRow } from '../../catalog/usage-thresholds/queries.ts';
import { appliedThresholdView } from '../../catalog/usage-thresholds/view.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import { appliedSectionView } from '../../customers/invoice-custom-sections/view.ts';
import { subscriptionName } from '../../subscriptions/subscriptions/printed-name.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { subscriptionView } from '../../subscriptions/subscriptions/view.ts';
import type { FeeRow } from '../fees/queries.ts';
import { appliedTaxView, feeView } from '../fees/view.ts';
import { dueOf } from './amount-due.ts';
import { type CreditRow, creditView } from './credits-of-invoice.ts';
import type { InvoiceLineRow, InvoiceRow } from './queries.ts';

const PUBLISHED_VERSION_KEYS = { file_url: null, xml_url: null, web_url: null };

/** The figures of an invoice. Rules: invoice-amounts.md#amounts, invoice-operations.md#payload. */
export const invoiceBaseView = (row: InvoiceRow) => ({
  svc_id: row.id,
  billing_entity_code: row.billing_entity_code,
  // The contract has no null here: a draft, which has none yet, leaves the key out.
  ...(row.sequential_id === null ? {} : { sequential_id: row.sequential_id }),
  number: row.number,
  purchase_order_number: row.purchase_order_number,
  issuing_date: row.issuing_date.toString(),
  payment_due_date: row.payment_due_date.toString(),
  net_payment_term: row.net_payment_term,
  invoice_type: row.invoice_type,
  status: row.status,
  payment_status: row.payment_status,
  payment_dispute_lost_at: secondsOrNull(row.payment_dispute_lost_at),
  payment_overdue: row.payment_overdue,
  currency: row.currency,
  fees_amount_cents: row.fees_amount_cents,
  taxes_amount_cents: row.taxes_amount_cents,
  progressive_billing_credit_amount_cents: row.progressive_billing_credit_amount_cents,
  coupons_amount_cents: row.coupons_amount_cents,
  credit_notes_amount_cents: row.credit_notes_amount_cents,
  sub_total_excluding_taxes_amount_cents: row.sub_total_excluding_taxes_amount_cents,
  sub_total_including_taxes_amount_cents: row.sub_total_including_taxes_amount_cents,
  prepaid_credit_amount_cents: row.prepaid_credit_amount_cents,
  prepaid_granted_credit_amount_cents: row.prepaid_granted_credit_amount_cents,
  prepaid_purchased_credit_amount_cents: row.prepaid_purchased_credit_amount_cents,
  total_amount_cents: row.total_amount_cents,
  total_paid_amount_cents: row.total_paid_amount_cents,
  total_offsetted_credit_note_amount_cents: row.total_offsetted_credit_note_amount_cents,
  total_written_off_amount_cents: row.total_written_off_amount_cents,
  total_due_amount_cents: dueOf(row),
  version_number: row.version_number,
  self_billed: row.self_billed,
  ...PUBLISHED_VERSION_KEYS,
  created_at: seconds(row.created_at),
  updated_at: seconds(row.updated_at),
  voided_at: secondsOrNull(row.voided_at),
});

/** An invoice of a list. */
export const invoiceListView = (row: InvoiceRow, customer: CustomerRow) => ({
  ...invoiceBaseView(row),
  customer: customerWebhookView(customer),
  metadata: row.metadata.map((item) => ({
    svc_id: item.id,
    key: item.key,
    value: item.value,
    created_at: seconds(Temporal.Instant.from(item.created_at)),
  })),
  applied_taxes: row.applied_taxes.map((tax) => ({
    ...appliedTaxView(tax),
    svc_invoice_id: row.id,
    fees_amount_cents: tax.fees_amount_cents,
  })),
});

/** Everything that an invoice on its own shows. */
export interface InvoiceParts {
  invoice: InvoiceRow;
  customer: CustomerRow;
  fees: readonly FeeRow[];
  lines: readonly InvoiceLineRow[];
  subscriptions: readonly SubscriptionShown[];
  credits: readonly CreditRow[];
  appliedThresholds: readonly AppliedThresholdRow[];
}

/** An invoice on its own, and in webhooks and logs. Rule: invoice-operations.md#payload. */
export const invoiceView = (
  { invoice, customer, fees, lines, subscriptions, credits, appliedThresholds }: InvoiceParts,
  now: Temporal.Instant,
) => ({
  ...invoiceListView(invoice, customer),
  subscriptions: subscriptions.map((subscription) => subscriptionView(subscription, now)),
  billing_periods: billingPeriods(lines, subscriptions),
  fees: fees.map(feeView),
  credits: credits.map(creditView),
  ...(invoice.invoice_type === 'progressive_billing'
    ? { applied_usage_thresholds: appliedThresholds.map(appliedThresholdView) }
    : {}),
  error_details: invoice.error_details.map(({ id, error_code, details }) => ({ svc_id: id, error_code, details })),
  applied_invoice_custom_sections: invoice.applied_sections.map(appliedSectionView),
});

/** Windows of the lines, by name of their subscriptions. */
function billingPeriods(lines: readonly InvoiceLineRow[], subscriptions: readonly SubscriptionShown[]) {
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  return lines
    .map((line) => ({ line, subscription: byId.get(line.subscription_id)! }))
    .sort((a, b) => compareText(subscriptionName(a.subscription), subscriptionName(b.subscription)))
    .map(({ line, subscription }) => ({
      svc_subscription_id: subscription.id,
      external_subscription_id: subscription.external_id,
      svc_plan_id: subscription.plan_id,
      subscription_from_datetime: startOf(line.from_datetime, line.to_datetime),
      subscription_to_datetime: endOf(line.from_datetime, line.to_datetime),
      charges_from_datetime: startOf(line.charges_from_datetime, line.charges_to_datetime),
      charges_to_datetime: endOf(line.charges_from_datetime, line.charges_to_datetime),
      fixed_charges_from_datetime: startOf(line.fixed_charges_from_datetime, line.fixed_charges_to_datetime),
      fixed_charges_to_datetime: endOf(line.fixed_charges_from_datetime, line.fixed_charges_to_datetime),
      invoicing_reason: line.invoicing_reason,
    }));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

type Bound = Temporal.Instant | null;
const startOf = (from: Bound, to: Bound) => (from === null || to === null ? null : seconds(shownStart({ from, to })));
const endOf = (from: Bound, to: Bound) => (from === null || to === null ? null : seconds(shownEnd({ from, to })));
