import type { Context } from '../../../platform/context.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { InvoiceId, PaymentId } from '../../../platform/ids.ts';
import { NETWORK_TYPES } from '../../../platform/payments/providers.ts';
import type { PaymentChange } from '../../invoices/announcements.ts';
import { changeInvoice } from '../../invoices/invoices/writes.ts';
import { closePages } from './provider-pages.ts';

/**
 * Ends a payment at its provider over the network: a job outside any transaction; the payment's row is what is owed.
 */
export const CANCEL_JOB = 'payment.cancel';

/**
 * Ends the payments in progress and the hosted pages of an invoice that is no longer to be paid: here at once, at their
 * provider by jobs. Money that a provider took nevertheless is unapplied. The invoice is locked.
 *
 * Rules: payments.md#providers "cancel", payments.md#automatic-payment, activation-rules.md,
 * invoice-operations.md#void.
 */
export async function giveUpPayments(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  await endPayments(ctx, ctx.db`payable_type = 'Invoice' and payable_id = ${invoiceId}`);
  await closePages(ctx, invoiceId);
}

/**
 * Ends payments in progress, here at once and at their provider by jobs: those that were sent there, and those that
 * began there on a page.
 *
 * @param which condition on the columns of payments
 */
async function endPayments(ctx: Context, which: Fragment): Promise<void> {
  const ended = await ctx.db<{ id: PaymentId; is_owed: boolean }[]>`
    update payments set payment_status = 'failed', status = 'canceled', next_action = '{}', updated_at = ${ctx.now()},
      cancel_owed_at = case when (charged_at is not null or provider_payment_id is not null) and exists (
        select from payment_providers provider
        where provider.organization_id = payments.organization_id and provider.id = payments.payment_provider_id
          and provider.provider_type = any (${NETWORK_TYPES})) then ${ctx.now()}::timestamptz end
    where organization_id = ${ctx.organizationId} and ${which} and payment_status in ('pending', 'processing')
    returning id, cancel_owed_at is not null as is_owed`;
  for (const { id, is_owed } of ended) if (is_owed) oweCancel(ctx, id);
}

/**
 * Ends payments in progress whose invoices may then be charged again, unless nothing is to be paid of them. The
 * invoices are locked.
 */
export async function endToChargeAgain(ctx: Context, paymentIds: readonly PaymentId[]): Promise<void> {
  if (paymentIds.length === 0) return;
  const { db, organizationId } = ctx;
  await endPayments(ctx, db`id = any (${paymentIds})`);
  await db`
    update invoices set ready_for_payment_processing = true, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and payment_status <> 'succeeded'
      and status not in ('voided', 'closed') and not ready_for_payment_processing
      and id in (select share.invoice_id from payment_invoices share
        where share.organization_id = ${organizationId} and share.payment_id = any (${paymentIds}))`;
}

/**
 * Ends the waiting charge of an invoice that was paid otherwise if the provider had not accepted it, for example
 * because the amount was below its minimum. A person who sets the invoice to `failed` has looked what became of a
 * charge of unknown outcome: it ends too, and the invoice may be charged again.
 * Rule: payments.md#automatic-payment "on every status write".
 */
export async function endRefusedCharges(ctx: Context, { invoice, status }: PaymentChange): Promise<void> {
  if (status === 'pending') return;
  const ended = await ctx.db`
    update payments set payment_status = 'failed', status = 'canceled', updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and payable_type = 'Invoice' and payable_id = ${invoice.id}
      and payment_status = 'pending' and error is not null
    returning id`;
  if (status === 'failed' && ended.length > 0)
    await changeInvoice(ctx, invoice.id, { ready_for_payment_processing: true });
}

export const oweCancel = (ctx: Context, paymentId: PaymentId): void =>
  ctx.after({ nudge: CANCEL_JOB, payload: { payment_id: paymentId } });
