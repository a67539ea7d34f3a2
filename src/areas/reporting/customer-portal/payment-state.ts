import type { PortalInvoice } from './queries.ts';

/** The payment state of an invoice on the page. */
export type PaymentState = 'paid' | 'settled' | 'partlyPaid' | 'overdue' | 'failed' | 'open';

/** `settled`: nothing is due without a payment, for example because a credit note took it off. */
export function paymentStateOf(invoice: PortalInvoice): PaymentState {
  if (invoice.payment_status === 'succeeded') return 'paid';
  if (invoice.due_amount_cents <= 0) return 'settled';
  if (invoice.payment_overdue) return 'overdue';
  if (invoice.payment_status === 'failed') return 'failed';
  return invoice.due_amount_cents < invoice.total_amount_cents ? 'partlyPaid' : 'open';
}
