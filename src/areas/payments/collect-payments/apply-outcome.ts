import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { PaymentId } from '../../../platform/ids.ts';
import type { ChargeOutcome, ProviderError } from '../../../platform/payments/port.ts';
import { isUnknownOutcome } from '../../../platform/payments/refused.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { setPaymentStatus } from '../../invoices/invoices/payment-status.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { getRequest } from '../payment-requests/queries.ts';
import { setRequestStatus } from '../payment-requests/set-request-status.ts';
import { recordInvoiceFailure, recordRequestFailure } from '../payments/announce-failure.ts';
import { oweCancel } from '../payments/give-up-payments.ts';
import { type PaymentRow, readPayment } from '../payments/queries.ts';
import { reversePayment, settlePayment } from '../payments/settle-payment.ts';
import { paymentView } from '../payments/view.ts';
import { changePayment, lockPayables } from '../payments/writes.ts';
import { leaveFailingMandate } from './failing-mandates.ts';
import { mailRefusedPayment, mailRequest, mailWaitingPayment } from './request-mail.ts';

type Answered = Extract<ChargeOutcome, { kind: 'answered' }>;

interface ReportOptions {
  isEvent?: boolean;
  isReturn?: boolean;
  reportedAt?: Temporal.Instant | undefined;
  readAt?: Temporal.Instant;
}

/** A payment as it is, its customer, invoices and itself locked in this order. */
export async function lockPayment(ctx: Context, id: PaymentId): Promise<PaymentRow> {
  const { db, organizationId } = ctx;
  const payment = await readPayment(ctx, id);
  const invoiceIds = payment.invoices.map((invoice) => invoice.id);
  await lockPayables(ctx, payment.customer_id, invoiceIds);
  await db`select from payments where organization_id = ${organizationId} and id = ${id} for update`;
  return readPayment(ctx, id);
}

/**
 * Brings a payment to the state that its provider reports: repeated reports and reports out of order change nothing,
 * and money that was taken back does not come in again by a late report of it. The payment is locked.
 *
 * isEvent    the provider reported it by itself: a success is then announced
 * isReturn   money that had come in was taken back
 * reportedAt when that happened, where the provider says it: of two reports the one about the later instant counts
 * readAt     when we asked for it: an end that was read is not undone by a report about an earlier instant
 * Rule: payments.md#automatic-payment.
 */
export async function applyAnswer(
  ctx: Context,
  payment: PaymentRow,
  answer: Answered,
  { isEvent = false, isReturn = false, reportedAt, readAt }: ReportOptions = {},
): Promise<void> {
  const { status, providerPaymentId, paymentStatus } = answer;
  const at = reportedAt ?? (paymentStatus === 'processing' ? undefined : readAt);
  if (at !== undefined) {
    if (payment.reported_at !== null && Temporal.Instant.compare(at, payment.reported_at) < 0) return;
    await changePayment(ctx, payment.id, { change: { reported_at: at }, now: ctx.now() });
  }
  if (payment.payment_status === 'succeeded') {
    if (isReturn) await takeBack(ctx, payment, status);
    return;
  }
  // Only a dated report tells that the money came again after it was taken back.
  if (payment.reversed_at !== null && reportedAt === undefined) return;
  const isReversed = isReturn && reportedAt === undefined;
  if (isReversed) await changePayment(ctx, payment.id, { change: { reversed_at: ctx.now() }, now: ctx.now() });
  if (payment.payment_status === 'failed' && paymentStatus !== 'succeeded') {
    if (payment.cancel_owed_at !== null && payment.provider_payment_id === null) await endThere(ctx, payment, answer);
    return;
  }
  await changePayment(ctx, payment.id, {
    change: {
      status,
      payment_status: paymentStatus,
      ...(providerPaymentId === null ? {} : { provider_payment_id: providerPaymentId }),
      next_action: paymentStatus === 'processing' ? (answer.nextAction ?? payment.next_action) : {},
      error: answer.error ?? null,
      ...(paymentStatus === 'succeeded' ? { reversed_at: null } : {}),
      ...(answer.expectedSettlementDate === undefined
        ? {}
        : { expected_settlement_date: answer.expectedSettlementDate }),
    },
    now: ctx.now(),
  });
  const now = await readPayment(ctx, payment.id);
  if (paymentStatus === 'succeeded') await succeed(ctx, now, isEvent);
  else if (paymentStatus === 'failed') await fail(ctx, now, answer.error ?? { code: status, message: status });
  else await wait(ctx, now, payment);
}

/** The provider started a payment that was given up meanwhile. */
async function endThere(ctx: Context, { id }: PaymentRow, { providerPaymentId }: Answered): Promise<void> {
  if (providerPaymentId === null) return;
  await changePayment(ctx, id, { change: { provider_payment_id: providerPaymentId }, now: ctx.now() });
  oweCancel(ctx, id);
}

async function succeed(ctx: Context, payment: PaymentRow, isEvent: boolean): Promise<void> {
  await settlePayment(ctx, payment);
  if (payment.payable_type === 'PaymentRequest')
    await setRequestStatus(ctx, await getRequest(ctx, payment.payable_id), 'succeeded');
  if (isEvent) await recordPayment(ctx, 'payment.succeeded', payment.id);
}

async function wait(ctx: Context, payment: PaymentRow, before: PaymentRow): Promise<void> {
  // A transfer that its customer forgets is no reason not to remind them: a later request ends it.
  await moveInvoices(ctx, payment, { status: 'pending', isReady: payment.is_transfer });
  const asks = Object.keys(payment.next_action).length > 0;
  if (!asks || Object.keys(before.next_action).length > 0) return;
  await recordPayment(ctx, 'payment.requires_action', payment.id);
  // The link leads to the page that says what is to be confirmed, or where to transfer the money.
  if (payment.payable_type === 'Invoice')
    return mailWaitingPayment(ctx, await readInvoice(ctx, payment.payable_id), payment);
  await mailRequest(ctx, await getRequest(ctx, payment.payable_id), { waiting: payment });
}

async function fail(ctx: Context, payment: PaymentRow, error: ProviderError): Promise<void> {
  await moveInvoices(ctx, payment, { status: 'failed', isReady: true });
  await leaveFailingMandate(ctx, payment);
  if (payment.payable_type === 'Invoice') {
    const invoice = await readInvoice(ctx, payment.payable_id);
    await recordInvoiceFailure(ctx, invoice, error, payment);
    return mailRefusedPayment(ctx, invoice, payment);
  }
  const request = await getRequest(ctx, payment.payable_id);
  await setRequestStatus(ctx, request, 'failed');
  await recordRequestFailure(ctx, request, { invoiceIds: request.invoice_ids, error, payment });
  await mailRequest(ctx, request, { refused: payment });
}

async function takeBack(ctx: Context, payment: PaymentRow, status: string): Promise<void> {
  await reversePayment(ctx, payment, { status });
  await leaveFailingMandate(ctx, payment);
  const error = { code: status, message: 'The payment was taken back by the bank.' };
  for (const { id } of payment.invoices) await recordInvoiceFailure(ctx, await readInvoice(ctx, id), error, payment);
}

/**
 * Handles a charge that took nothing because the amount is too small or the customer must confirm, or of which nobody
 * can know the outcome. No failure is announced, but the payment and the audit trail of its invoices give the reason,
 * and the customer of a payment request gets a link to pay otherwise.
 *
 * Rules: payments.md#automatic-payment, payment-requests.md#payment-requests.
 */
export async function leavePending(
  ctx: Context,
  payment: PaymentRow,
  error: ProviderError,
  paymentStatus: 'pending' | 'failed',
): Promise<void> {
  await changePayment(ctx, payment.id, {
    change: { payment_status: paymentStatus, status: paymentStatus, error },
    now: ctx.now(),
  });
  // Of an unknown outcome another charge could be the second.
  const isReady = !isUnknownOutcome(error);
  await moveInvoices(ctx, payment, { status: 'pending', isReady });
  for (const { id } of payment.invoices) await recordInvoice(ctx, 'invoice.payment_failure', id);
  if (isReady && payment.payable_type === 'PaymentRequest')
    await mailRequest(ctx, await getRequest(ctx, payment.payable_id), { left: payment });
}

/** The invoices take the status of their payment; a succeeded or voided one is never set back. */
async function moveInvoices(
  ctx: Context,
  payment: PaymentRow,
  { status, isReady }: { status: 'pending' | 'failed'; isReady: boolean },
): Promise<void> {
  for (const { id } of payment.invoices) {
    const invoice = await readInvoice(ctx, id);
    if (invoice.payment_status === 'succeeded' || invoice.status === 'voided') continue;
    await setPaymentStatus(ctx, invoice, status, { ready_for_payment_processing: isReady });
  }
}

async function recordPayment(
  ctx: Context,
  type: 'payment.succeeded' | 'payment.requires_action',
  id: PaymentId,
): Promise<void> {
  const payment = await readPayment(ctx, id);
  ctx.record({
    webhook: {
      type,
      objectType: 'payment',
      objectId: id,
      customerId: payment.customer_id,
      object: paymentView(payment),
    },
  });
}
