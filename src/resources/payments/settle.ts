import type { Context } from '../../platform/context.ts';
import { dueOf, isOver } from '../invoices/due.ts';
import { setPaymentStatus } from '../invoices/payment-status.ts';
import { type InvoiceRow, readInvoice } from '../invoices/queries.ts';
import { bookPayment, bookReversal } from '../ledger/payment-booked.ts';
import { makeReceipt } from '../payment-receipts/make-receipt.ts';
import type { PaymentRow } from './queries.ts';
import { changePayment, storeShare } from './writes.ts';

/**
 * A payment succeeded: its money goes to its invoices, each at most what it owes, is booked and receipted. The invoices
 * become `succeeded` when the provider paid, or when a manual payment leaves nothing due; a voided one keeps its status.
 * The transaction holds the customer and the invoices locked.
 *
 * Rules: credits-and-payments E.5, E.6, E.8, F, beyond 8.3 L16.
 */
export async function settlePayment(ctx: Context, payment: PaymentRow): Promise<void> {
  const { db, organizationId } = ctx;
  const invoices = await Promise.all(payment.invoices.map(({ id }) => readInvoice(db, organizationId, id)));
  let left = payment.amount_cents;
  const shares: { invoice: InvoiceRow; amountCents: number }[] = [];
  for (const invoice of invoices) {
    const amountCents = Math.max(Math.min(left, dueOf(invoice)), 0);
    left -= amountCents;
    shares.push({ invoice, amountCents });
  }
  for (const { invoice, amountCents } of shares) {
    const paid = await storeShare(db, organizationId, payment.id, invoice.id, amountCents);
    const isDone = payment.payment_type === 'provider' || dueOf({ ...invoice, total_paid_amount_cents: paid }) <= 0;
    const status = isDone && !isOver(invoice) ? 'succeeded' : invoice.payment_status;
    await setPaymentStatus(ctx, invoice, status, { total_paid_amount_cents: paid });
  }
  await bookPayment(ctx, payment, shares, invoices[0]!.billing_entity_id);
  if (!invoices[0]!.self_billed) await makeReceipt(ctx, payment, invoices[0]!.billing_entity_id);
}

/**
 * A payment that had succeeded was taken back by the bank: its invoices owe again. Rules: credits-and-payments E.1
 * `charged_back`, beyond 8.3 L17.
 */
export async function reversePayment(ctx: Context, payment: PaymentRow, change: { status: string }): Promise<void> {
  const { db, organizationId } = ctx;
  await changePayment(db, organizationId, payment.id, { ...change, payment_status: 'failed' }, ctx.now());
  const invoices = await Promise.all(payment.invoices.map(({ id }) => readInvoice(db, organizationId, id)));
  for (const invoice of invoices) {
    const paid = await storeShare(db, organizationId, payment.id, invoice.id, 0);
    await setPaymentStatus(ctx, invoice, invoice.status === 'voided' ? invoice.payment_status : 'failed', {
      total_paid_amount_cents: paid,
      ready_for_payment_processing: invoice.status !== 'voided',
    });
  }
  await bookReversal(ctx, payment, invoices[0]!.billing_entity_id);
}
