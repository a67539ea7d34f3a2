import type { PortalInvoice } from './queries.ts';

/** The payment state of an invoice on the page. */
export type PaymentState =
  | 'paid'
  | 'settled'
  | 'writtenOff'
  | 'underWay'
  | 'partlyPaid'
  | 'overdue'
  | 'failed'
  | 'open';

/**
 * `settled`: nothing is due without a payment, for example because a credit note took it off; `writtenOff`: because the
 * seller gave up what was left.
 */
export function paymentStateOf(invoice: PortalInvoice): PaymentState {
  if (invoice.payment_status === 'succeeded') return 'paid';
  if (invoice.due_amount_cents <= 0) return invoice.written_off_cents > 0 ? 'writtenOff' : 'settled';
  if (invoice.under_way === 'processing') return 'underWay';
  if (invoice.payment_overdue) return 'overdue';
  if (invoice.payment_status === 'failed') return 'failed';
  return invoice.due_amount_cents < invoice.total_amount_cents ? 'partlyPaid' : 'open';
}

/** Whether the customer has to do something so that the invoice is paid: to pay it, or to confirm a payment of it. */
export const isToPay = (invoice: PortalInvoice): boolean =>
  invoice.payment_status !== 'succeeded' &&
  invoice.due_amount_cents > 0 &&
  !invoice.self_billed &&
  invoice.under_way !== 'processing';
