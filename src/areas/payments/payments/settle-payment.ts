import { stepCents } from '../../../engine/money/wire.ts';
import type { Context } from '../../../platform/context.ts';
import { wireOf } from '../../../platform/payments/providers.ts';
import { announce } from '../../../platform/reactions.ts';
import { takeBackTopUp } from '../../credits/credit-notes/commands/on-top-up-reversal.ts';
import { dueOf, isOver } from '../../invoices/invoices/amount-due.ts';
import { setPaymentStatus } from '../../invoices/invoices/payment-status.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { bookPayment, bookReversal } from '../../ledger/ledger/payment-booked.ts';
import { paymentSucceeded } from '../announcements.ts';
import type { PaymentRow } from './queries.ts';
import { takeBackRounding, writeOffRounding } from './rounding.ts';
import { changePayment, storeShare } from './writes.ts';

/**
 * Settles a succeeded payment: its money is applied to its invoices, each at most its due amount, booked and receipted.
 * The invoices become `succeeded` when the provider paid, or when a manual payment leaves nothing due; a voided one
 * keeps its status. The transaction holds the customer and the invoices locked.
 *
 * Rules: payments.md#manual-payment, payments.md#automatic-payment, payment-requests.md#payment-requests,
 * invoice-amounts.md#settlement, ledger.md#l16.
 */
export async function settlePayment(ctx: Context, payment: PaymentRow): Promise<void> {
  const read = await Promise.all(payment.invoices.map(({ id }) => readInvoice(ctx, id)));
  // Those that count as paid come last: nobody was asked for what they still owe.
  const invoices = [
    ...read.filter(({ payment_status }) => payment_status !== 'succeeded'),
    ...read.filter(({ payment_status }) => payment_status === 'succeeded'),
  ];
  const step = stepOf(payment);
  const shares = sharesOf(invoices, payment.amount_cents, step);
  for (const { invoice, amountCents } of shares) {
    const paid = await storeShare(ctx, payment.id, { invoiceId: invoice.id, amountCents });
    const isDone = isPaid(payment, dueOf({ ...invoice, total_paid_amount_cents: paid }), step);
    const status = isDone && !isOver(invoice) ? 'succeeded' : invoice.payment_status;
    await setPaymentStatus(ctx, invoice, status, {
      total_paid_amount_cents: paid,
      ...(isDone || payment.payment_type === 'manual' ? {} : { ready_for_payment_processing: true }),
    });
  }
  await bookPayment(ctx, payment, shares, invoices[0]!.billing_entity_id);
  if (step > 1) await writeOffRests(ctx, payment, step);
  if (!invoices[0]!.self_billed)
    await announce(ctx, paymentSucceeded, { payment: payment, billing_entity_id: invoices[0]!.billing_entity_id });
}

/**
 * Whether a payment leaves its invoice paid, with `due` still open. What a provider took for one invoice is what was
 * due; of several, one may have become due again since they were asked for.
 */
const isPaid = ({ payment_type, payable_type }: PaymentRow, due: number, step: number): boolean =>
  due < step || (payment_type === 'provider' && payable_type === 'Invoice');

/** Smallest step of the amounts that the provider of a payment takes; 1 for manual ones and doubles. */
const stepOf = ({ payment_type, connection_type, amount_currency }: PaymentRow): number =>
  payment_type === 'provider' && connection_type !== null ? stepCents(wireOf(connection_type), amount_currency) : 1;

/**
 * The share of each invoice in a payment: in their order, each at most its due amount. A rest from the provider's
 * rounding is subtracted from the largest share. Rules: payment-requests.md#payment-requests,
 * payments.md#amounts-on-the-wire.
 */
function sharesOf(
  invoices: readonly InvoiceRow[],
  amountCents: number,
  step: number,
): { invoice: InvoiceRow; amountCents: number }[] {
  const dues = invoices.map((invoice) => Math.max(dueOf(invoice), 0));
  const rest = dues.reduce((total, due) => total + due, 0) - amountCents;
  if (rest > 0 && rest < step) dues[dues.indexOf(Math.max(...dues))]! -= rest;
  let left = amountCents;
  return invoices.map((invoice, index) => {
    const share = Math.min(left, dues[index]!);
    left -= share;
    return { invoice, amountCents: share };
  });
}

/**
 * Writes off what stays due of a payment's invoices if it is less than the provider's step.
 * Rule: payments.md#amounts-on-the-wire.
 */
async function writeOffRests(ctx: Context, payment: PaymentRow, step: number): Promise<void> {
  for (const { id } of payment.invoices) {
    const invoice = await readInvoice(ctx, id);
    const due = dueOf(invoice);
    if (due > 0 && due < step && !isOver(invoice)) await writeOffRounding(ctx, invoice, payment.id, due);
  }
}

/**
 * Reverses a succeeded payment that the bank took back: its invoices are due again, but for the unspent credits that
 * one of them sold. Rules: payments.md#providers `charged_back`, ledger.md#l17, top-ups.md#top-ups-taken-back.
 */
export async function reversePayment(ctx: Context, payment: PaymentRow, change: { status: string }): Promise<void> {
  await changePayment(ctx, payment.id, {
    change: { ...change, payment_status: 'failed', reversed_at: ctx.now() },
    now: ctx.now(),
  });
  const invoices = await Promise.all(payment.invoices.map(({ id }) => readInvoice(ctx, id)));
  for (const found of invoices) {
    const invoice = await takeBackRounding(ctx, found, payment.id);
    const paid = await storeShare(ctx, payment.id, { invoiceId: invoice.id, amountCents: 0 });
    await setPaymentStatus(ctx, invoice, invoice.status === 'voided' ? invoice.payment_status : 'failed', {
      total_paid_amount_cents: paid,
      ready_for_payment_processing: invoice.status !== 'voided',
    });
  }
  await bookReversal(ctx, payment, invoices[0]!.billing_entity_id);
  for (const { id, invoice_type: type } of invoices)
    if (type === 'credit') await takeBackTopUp(ctx, await readInvoice(ctx, id));
}
