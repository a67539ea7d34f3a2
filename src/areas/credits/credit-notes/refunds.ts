import type { Temporal } from 'temporal-polyfill';
import type { RefundStatus } from '../../../engine/credits/credit-note-states.ts';
import { stepCents } from '../../../engine/money/wire.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CreditNoteId, InvoiceId, PaymentId, PaymentProviderId } from '../../../platform/ids.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { can, isOverNetwork, type StoredConnection, wireOf } from '../../../platform/payments/providers.ts';
import { idsOfSameAccount, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { bookRefund } from '../../ledger/ledger/credit-notes.ts';
import type { CreditNoteRow } from './queries.ts';
import { changeCreditNote } from './writes.ts';

/** Refunds a note at a sandbox connection: no network, so a step of its own transaction does it. */
export const REFUND_STEP = 'refund-sandbox-note';
/** Refunds a note over the network: a job outside any transaction; the refund's row is what is owed. */
const REFUND_JOB = 'payment.refund';

/** The refund of a note at the provider of a payment. */
export interface RefundRow {
  credit_note_id: CreditNoteId;
  payment_id: PaymentId;
  payment_provider_id: PaymentProviderId;
  provider_refund_id: string | null;
  /** The provider's own word, or that its money came back. */
  status: string | null;
  sent_at: Temporal.Instant | null;
}

/**
 * Owes the refund of a note that became final, once: by the newest payment that succeeded, where its provider refunds.
 * A note of an invoice that is unpaid, was paid by hand or lost a dispute waits until a person reports the refund.
 *
 * Rule: credit-notes.md#refunds.
 */
export async function oweRefund(
  ctx: Context,
  note: CreditNoteRow,
  invoice: Pick<InvoiceRow, 'payment_status' | 'payment_dispute_lost_at'>,
): Promise<void> {
  if (note.refund_status !== 'pending' || invoice.payment_status !== 'succeeded') return;
  if (invoice.payment_dispute_lost_at !== null) return;
  const payment = await findRefundingPayment(ctx, note.invoice_id);
  if (!payment || !isRefundable(note.refund_amount_cents, payment)) return;
  const owed = await ctx.db`
    insert into credit_note_refunds (organization_id, credit_note_id, payment_id, payment_provider_id, created_at,
      updated_at)
    values (${ctx.organizationId}, ${note.id}, ${payment.id}, ${payment.payment_provider_id}, ${ctx.now()},
      ${ctx.now()})
    on conflict do nothing returning credit_note_id`;
  if (owed.length === 0) return;
  const payload = { credit_note_id: note.id };
  if (isOverNetwork(payment.provider_type)) ctx.after({ nudge: REFUND_JOB, payload });
  else ctx.after({ step: REFUND_STEP, payload });
}

/**
 * The smallest amount that can be refunded of an invoice, by the provider that would do it.
 * Rule: payments.md#amounts-on-the-wire "refund".
 */
export async function readRefundStep(
  ctx: Scope,
  invoice: Pick<InvoiceRow, 'id' | 'currency' | 'total_paid_amount_cents'>,
): Promise<number> {
  const payment = invoice.total_paid_amount_cents > 0 ? await findRefundingPayment(ctx, invoice.id) : undefined;
  return payment ? stepCents(wireOf(payment.provider_type), invoice.currency) : 1;
}

const isRefundable = (cents: number, payment: StoredConnection & { amount_cents: number }): boolean =>
  cents === payment.amount_cents || can(payment, 'partial_refund');

/** The newest payment of an invoice, if its provider refunds; otherwise its notes wait for `PUT`. */
async function findRefundingPayment(ctx: Scope, invoiceId: InvoiceId) {
  const [newest] = await ctx.db<
    (StoredConnection & { id: PaymentId; payment_provider_id: PaymentProviderId; amount_cents: number })[]
  >`
    select payment.id, payment.payment_provider_id, payment.amount_cents, provider.provider_type, provider.emulates,
      provider.settings, provider.secrets_last4
    from payment_invoices share
    join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
    left join payment_providers provider
      on provider.organization_id = payment.organization_id and provider.id = payment.payment_provider_id
    where share.organization_id = ${ctx.organizationId} and share.invoice_id = ${invoiceId}
      and payment.payment_status = 'succeeded'
    order by payment.created_at desc, payment.id desc
    limit 1`;
  return newest && can(newest, 'refund') ? newest : undefined;
}

export async function findRefund({ db, organizationId }: Scope, noteId: CreditNoteId): Promise<RefundRow | undefined> {
  const [row] = await db<RefundRow[]>`
    select credit_note_id, payment_id, payment_provider_id, provider_refund_id, status, sent_at
    from credit_note_refunds
    where organization_id = ${organizationId} and credit_note_id = ${noteId}`;
  return row;
}

/** The refund that a provider reports: found by its own id, else by the note that was sent along. */
export async function findRefundAtProvider(
  scope: Scope,
  provider: Pick<ProviderRow, 'id' | 'provider_type' | 'settings'>,
  { providerRefundId, noteId }: { providerRefundId: string; noteId: CreditNoteId | undefined },
): Promise<RefundRow | undefined> {
  const { db, organizationId } = scope;
  const [row] = await db<RefundRow[]>`
    select credit_note_id, payment_id, payment_provider_id, provider_refund_id, status, sent_at
    from credit_note_refunds
    where organization_id = ${organizationId} and payment_provider_id in ${idsOfSameAccount(scope, provider)}
      and (provider_refund_id = ${providerRefundId}
        or (provider_refund_id is null and credit_note_id::text = ${noteId ?? ''}))
    order by provider_refund_id is null, payment_provider_id <> ${provider.id} limit 1`;
  return row;
}

/** Notes that a refund is about to be sent. @returns when it was sent for the first time */
export async function noteRefundSent(
  { db, organizationId }: Scope,
  noteId: CreditNoteId,
  at: Temporal.Instant,
): Promise<Temporal.Instant> {
  const [row] = await db<{ sent_at: Temporal.Instant }[]>`
    update credit_note_refunds set sent_at = coalesce(sent_at, ${at}), updated_at = ${at}
    where organization_id = ${organizationId} and credit_note_id = ${noteId}
    returning sent_at`;
  return row!.sent_at;
}

/** Stores what a provider said of a refund; its id for it stays once known. */
export async function changeRefund(
  ctx: Context,
  noteId: CreditNoteId,
  told: { providerRefundId: string | null; status: string | null; error: ProviderError | null },
): Promise<void> {
  await ctx.db`
    update credit_note_refunds
    set provider_refund_id = coalesce(provider_refund_id, ${told.providerRefundId}), status = ${told.status},
      error = ${json(told.error)}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and credit_note_id = ${noteId}`;
}

/**
 * Notes how the refund of a locked note went; a refund that was paid out is booked, and unbooked when it turns out that
 * it was not. Rules: credit-notes.md#states, ledger.md#l15.
 */
export async function setRefundStatus(ctx: Context, note: CreditNoteRow, status: RefundStatus): Promise<CreditNoteRow> {
  if (note.refund_status === status) return note;
  const changed = await changeCreditNote(ctx, note.id, {
    refund_status: status,
    refunded_at: status === 'succeeded' ? ctx.now() : null,
  });
  if (status === 'succeeded' || note.refund_status === 'succeeded')
    await bookRefund(ctx, changed, status === 'succeeded');
  return changed;
}
