/** Kinds of invoices; `add_on` is read, never made. Rule: invoices.md#types. */
export const INVOICE_TYPES = [
  'subscription',
  'add_on',
  'credit',
  'one_off',
  'advance_charges',
  'progressive_billing',
] as const;
export type InvoiceType = (typeof INVOICE_TYPES)[number];

/** Why an invoice has a line for a subscription. Rule: billing-periods.md. */
export const INVOICING_REASONS = [
  'subscription_starting',
  'subscription_periodic',
  'subscription_terminating',
  'in_advance_charge',
  'in_advance_charge_periodic',
  'progressive_billing',
] as const;
export type InvoicingReason = (typeof INVOICING_REASONS)[number];
