import type { PlainDate } from '../calendar/instants.ts';
import type { InvoiceType } from './invoice-types.ts';

export const ISSUING_DATE_ANCHORS = ['current_period_end', 'next_period_start'] as const;
export type IssuingDateAnchor = (typeof ISSUING_DATE_ANCHORS)[number];

export const ISSUING_DATE_ADJUSTMENTS = ['keep_anchor', 'align_with_finalization_date'] as const;
export type IssuingDateAdjustment = (typeof ISSUING_DATE_ADJUSTMENTS)[number];

/**
 * Settings that date an invoice. Structural: a billing entity's row can be passed; in a customer's row null inherits
 * the entity's.
 */
export interface DateSettings {
  /** Days that the invoice stays a draft. */
  invoice_grace_period: number;
  /** Days from issuing to due. */
  net_payment_term: number;
  subscription_invoice_issuing_date_anchor: IssuingDateAnchor;
  subscription_invoice_issuing_date_adjustment: IssuingDateAdjustment;
}
export type InheritedDateSettings = { [Key in keyof DateSettings]: DateSettings[Key] | null };

export interface DatedInvoice {
  invoiceType: InvoiceType;
  /** Whether it is the periodic invoice of its subscriptions. */
  isRecurring: boolean;
  /** Whether it bills a charge in advance at the moment of its event. */
  isInAdvanceCharge: boolean;
  settings: DateSettings;
}

export interface InvoiceDates {
  issuingDate: PlainDate;
  expectedFinalizationDate: PlainDate;
  paymentDueDate: PlainDate;
  /** Copied to the invoice. */
  netPaymentTerm: number;
}

/** The effective settings of a customer; 0 days is a setting, null inherits. */
export const dateSettings = (customer: InheritedDateSettings, billingEntity: DateSettings): DateSettings => ({
  invoice_grace_period: customer.invoice_grace_period ?? billingEntity.invoice_grace_period,
  net_payment_term: customer.net_payment_term ?? billingEntity.net_payment_term,
  subscription_invoice_issuing_date_anchor:
    customer.subscription_invoice_issuing_date_anchor ?? billingEntity.subscription_invoice_issuing_date_anchor,
  subscription_invoice_issuing_date_adjustment:
    customer.subscription_invoice_issuing_date_adjustment ?? billingEntity.subscription_invoice_issuing_date_adjustment,
});

/** Days that an invoice stays a draft: only subscription invoices do, and not those of in-advance charges. */
export const graceDays = ({ invoiceType, isInAdvanceCharge, settings }: DatedInvoice): number =>
  invoiceType === 'subscription' && !isInAdvanceCharge ? settings.invoice_grace_period : 0;

/**
 * Dates of an invoice made on the local date `billedOn`.
 *
 *   run 2024-03-01, grace 3, net 30, defaults → issued and finalized 03-04, due 04-03
 *
 * Rule: invoices.md#dates.
 */
export function datesAtCreation(invoice: DatedInvoice, billedOn: PlainDate): InvoiceDates {
  const grace = graceDays(invoice);
  const isAnchored = invoice.invoiceType === 'subscription' && !invoice.isInAdvanceCharge && invoice.isRecurring;
  const issuingDate = billedOn.add({ days: isAnchored ? adjustmentDays(invoice.settings, grace) : grace });
  return withDueDate(issuingDate, billedOn.add({ days: grace }), invoice.settings.net_payment_term);
}

/**
 * Dates of an invoice that is finalized on the local date `today`, computed from its present ones. Rule:
 * invoices.md#dates "at finalization".
 */
export function datesAtFinalization(invoice: DatedInvoice, dates: InvoiceDates, today: PlainDate): InvoiceDates {
  const isSubscription = invoice.invoiceType === 'subscription' && !invoice.isInAdvanceCharge;
  const keepsAnchor =
    invoice.isRecurring && invoice.settings.subscription_invoice_issuing_date_adjustment === 'keep_anchor';
  const issuingDate = isSubscription && !keepsAnchor ? today : dates.issuingDate;
  return withDueDate(issuingDate, dates.expectedFinalizationDate, dates.netPaymentTerm);
}

/** Days from the billing day to the issuing date of a periodic invoice. */
function adjustmentDays(settings: DateSettings, grace: number): number {
  const keepsAnchor = settings.subscription_invoice_issuing_date_adjustment === 'keep_anchor';
  if (settings.subscription_invoice_issuing_date_anchor === 'next_period_start') return keepsAnchor ? 0 : grace;
  return keepsAnchor || grace === 0 ? -1 : grace;
}

const withDueDate = (
  issuingDate: PlainDate,
  expectedFinalizationDate: PlainDate,
  netPaymentTerm: number,
): InvoiceDates => ({
  issuingDate,
  expectedFinalizationDate,
  paymentDueDate: issuingDate.add({ days: netPaymentTerm }),
  netPaymentTerm,
});
