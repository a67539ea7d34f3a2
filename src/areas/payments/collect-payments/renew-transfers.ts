import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId, PaymentId, PaymentRequestId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import type { invoiceDueChanged } from '../../invoices/announcements.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { dueOfRequest } from '../payment-requests/due-of-request.ts';
import { COLLECT_REQUEST_STEP } from '../payment-requests/make-request.ts';
import { findRequest } from '../payment-requests/queries.ts';
import { endToChargeAgain } from '../payments/give-up-payments.ts';
import { COLLECT_STEP } from '../payments/owe-collection.ts';
import { isBeforeRequest, isOpenTransfer, isPaymentUnderWay } from '../payments/queries.ts';

/** What a transfer asks for. */
interface Asked {
  payable_type: 'Invoice' | 'PaymentRequest';
  payable_id: string;
  amount_cents: number;
}

interface OpenTransfer extends Asked {
  id: PaymentId;
  customer_id: CustomerId;
}

/**
 * Ends the transfers that ask for another amount than an invoice, or a request that contains it, still owes: the
 * customer would pay too much or too little. While something is owed, another transfer follows. The invoice is locked.
 *
 * Rule: payments.md#charged-on-line.
 */
export async function renewTransfers(
  ctx: Context,
  { invoice_id: invoiceId }: PayloadOf<typeof invoiceDueChanged>,
): Promise<void> {
  for (const transfer of await listOpenTransfers(ctx, [invoiceId])) {
    const due = await dueFor(ctx, transfer);
    if (due === transfer.amount_cents) continue;
    await endToChargeAgain(ctx, [transfer.id]);
    oweNext(ctx, transfer, due);
  }
}

/**
 * Whether a transfer that began on a page is to go on: it asks for what is due, and no other payment is under way. If
 * only its amount is another one, a transfer of what is due follows. The invoices are locked.
 *
 * Rule: payments.md#charged-on-line.
 */
export async function isTransferWanted(
  ctx: Context,
  transfer: Asked,
  invoiceIds: readonly InvoiceId[],
): Promise<boolean> {
  if (await isPaymentUnderWay(ctx, invoiceIds)) return false;
  const due = await dueFor(ctx, transfer);
  if (due === transfer.amount_cents) return true;
  oweNext(ctx, transfer, due);
  return false;
}

/** Owes what follows a transfer that asked for another amount. */
function oweNext(ctx: Context, { payable_type, payable_id }: Asked, due: number): void {
  if (payable_type === 'PaymentRequest')
    ctx.after({ step: COLLECT_REQUEST_STEP, payload: { payment_request_id: payable_id } });
  else if (due > 0) ctx.after({ step: COLLECT_STEP, payload: { invoice_id: payable_id, renews: true } });
}

/**
 * Ends the transfers of some invoices before these are charged otherwise: of each by itself, and of requests that
 * contain one, of which the other invoices are then asked for by themselves. The invoices are locked.
 *
 * before  the request that asks for the invoices now: transfers of later requests, and its own, go on
 */
export async function endTransfersOf(
  ctx: Context,
  invoiceIds: readonly InvoiceId[],
  { before = null }: { before?: PaymentRequestId | null } = {},
): Promise<void> {
  const ended = (await listOpenTransfers(ctx, invoiceIds, before)).map(({ id }) => id);
  await endToChargeAgain(ctx, ended);
  const others = await ctx.db<{ invoice_id: InvoiceId }[]>`
    select distinct invoice_id from payment_invoices
    where organization_id = ${ctx.organizationId} and payment_id = any (${ended})
      and invoice_id <> all (${invoiceIds})`;
  for (const { invoice_id } of others) ctx.after({ step: COLLECT_STEP, payload: { invoice_id, renews: true } });
}

const listOpenTransfers = (
  { db, organizationId }: Context,
  invoiceIds: readonly InvoiceId[],
  before: PaymentRequestId | null = null,
) => db<OpenTransfer[]>`
  select payment.id, payment.customer_id, payment.payable_type, payment.payable_id, payment.amount_cents
  from payments payment
  where payment.organization_id = ${organizationId} and ${isOpenTransfer(db)} and ${isBeforeRequest(db, before)}
    and payment.id in (select share.payment_id from payment_invoices share
      where share.organization_id = ${organizationId} and share.invoice_id = any (${invoiceIds}))
  order by payment.id`;

async function dueFor(ctx: Context, { payable_type, payable_id }: Asked): Promise<number> {
  if (payable_type === 'PaymentRequest') {
    const request = await findRequest(ctx, payable_id);
    return request ? Math.min(request.amount_cents, await dueOfRequest(ctx, request)) : 0;
  }
  const invoice = await readInvoice(ctx, payable_id);
  return invoice.payment_status === 'succeeded' ? 0 : Math.max(dueOf(invoice), 0);
}
