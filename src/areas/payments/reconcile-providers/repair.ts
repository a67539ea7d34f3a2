import type { Context } from '../../../platform/context.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { CreditNoteId, OrganizationId, PaymentId, PaymentMethodId } from '../../../platform/ids.ts';
import { paymentStateOf, wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { refuse } from '../../../platform/refusal.ts';
import { changeRefund, findRefund } from '../../credits/credit-notes/refunds.ts';
import { recordNotMade } from '../../customers/customers/announce-link.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { discardMethod, ensureDefault } from '../../customers/payment-methods/writes.ts';
import { idsOfSameAccount, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { lockPayment } from '../collect-payments/apply-outcome.ts';
import {
  bookGivenBack,
  followRefundOfDrift,
  isWhollyUnapplied,
  type RefundOfDrift,
  settledCents,
} from '../collect-payments/follow-refund-of-drift.ts';
import { applyEvent } from '../collect-payments/handle-event.ts';
import type { PaymentRow } from '../payments/queries.ts';
import type { Figures, FoundDrift } from '../provider-drifts/drift-kinds.ts';
import { closeDrift } from '../provider-drifts/writes.ts';
import { isKeyForgotten, type NetworkDeps } from '../provider-network/network.ts';
import { applyRefund } from '../refund-notes/apply-refund.ts';
import { makeNoteOfRefund } from './note-of-refund.ts';

/** A drift as it is repaired: with what the provider said last. */
export type ToRepair = Pick<FoundDrift, 'kind' | 'objectId' | 'ours' | 'theirs' | 'paymentId' | 'customerId'>;

/**
 * Repairs a drift that a lost event has left, without a person: the same as its event.
 * Rule: provider-reconciliation.md#repairs.
 */
export async function repairByItself(
  deps: NetworkDeps,
  organizationId: OrganizationId,
  provider: ProviderRow,
  drift: ToRepair,
): Promise<void> {
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    await applyDrift(ctx, provider, drift);
    const [open] = await ctx.db<{ id: string }[]>`
      select id from provider_drifts
      where organization_id = ${organizationId} and connection_id = ${provider.id} and kind = ${drift.kind}
        and provider_object_id = ${drift.objectId} and status = 'open'`;
    if (open)
      await closeDrift(ctx, open.id, { status: 'repaired', resolution: { action: 'apply', note: null, by: 'system' } });
  });
}

/** Follows a refund of a double payment that a run has found, in a transaction of its own. */
export const followFoundRefund = (
  deps: NetworkDeps,
  organizationId: OrganizationId,
  provider: ProviderRow,
  refund: RefundOfDrift,
): Promise<void> => transactHoldingClock(deps, organizationId, (ctx) => followRefundOfDrift(ctx, provider, refund));

/**
 * Makes ours what the provider holds, where possible by the handler of its events, so that a late event finds it done.
 *
 * @throws Refusal 405 invalid_status, when it cannot be repaired as it is
 */
export async function applyDrift(ctx: Context, provider: ProviderRow, drift: ToRepair): Promise<void> {
  const { objectId, ours, theirs } = drift;
  const status = String(theirs?.status ?? '');
  switch (drift.kind) {
    case 'status_differs':
    case 'payment_missing_here':
    case 'double_payment':
      return applyPayment(ctx, provider, drift, status);
    case 'refund_status_differs': {
      const isReturn = ours?.status === 'succeeded' && refundStatusOf(wordsOf(provider), status) === 'failed';
      const metadata = { credit_note_id: String(ours?.credit_note_id ?? '') };
      const event = { kind: 'refund', providerRefundId: objectId, status, metadata } as const;
      return applyEvent(ctx, provider, { ...event, ...(isReturn ? { isReturn } : {}) });
    }
    case 'dispute_missing_here':
      return applyEvent(ctx, provider, {
        kind: 'dispute_closed',
        providerPaymentId: String(theirs?.provider_payment_id ?? ''),
        isLost: true,
        reason: null,
      });
    case 'refund_missing_here':
      return applyRefundThere(ctx, provider, drift, status);
    case 'refund_missing_there':
      return sendRefundAgain(ctx, provider, drift);
    case 'customer_missing_there':
      return discardOfCustomer(ctx, provider, drift);
    case 'method_missing_there':
    case 'mandate_inactive':
      return discardOne(ctx, provider, drift);
    case 'authorization_open':
      return releaseAgain(ctx, objectId);
    default:
      throw refuse.notAllowed('invalid_status');
  }
}

/** The texts among figures: they hold our names of the metadata, as those were when the drift was found. */
export const textsOf = (figures: Figures | null): Record<string, string> =>
  Object.fromEntries(
    Object.entries(figures ?? {}).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );

/** @throws Refusal 405 invalid_status, when what the provider says changes nothing here: a person has to look */
async function applyPayment(ctx: Context, provider: ProviderRow, drift: ToRepair, status: string): Promise<void> {
  const { objectId: providerPaymentId, ours, theirs } = drift;
  const isTakenBack = ours?.status === 'succeeded' && paymentStateOf(provider, status) === 'failed';
  if (isTakenBack) return applyEvent(ctx, provider, { kind: 'payment_reversed', providerPaymentId, status });
  const { amount_cents: amountCents, currency } = theirs ?? {};
  const received = { ...(typeof amountCents === 'number' ? { amountCents } : {}), ...(currency ? { currency } : {}) };
  const event = { kind: 'payment', providerPaymentId, status, received, metadata: textsOf(theirs) } as const;
  await applyEvent(ctx, provider, event);
  const made = await ctx.db`
    select from payments
    where organization_id = ${ctx.organizationId} and payment_provider_id in ${idsOfSameAccount(ctx, provider)}
      and provider_payment_id = ${providerPaymentId}`;
  if (made.length === 0) throw refuse.notAllowed('invalid_status');
}

/** A refund that was made there gets its note, which is refunded by it and not once more. */
async function applyRefundThere(
  ctx: Context,
  provider: ProviderRow,
  { objectId, theirs, paymentId }: ToRepair,
  status: string,
): Promise<void> {
  const amountCents = theirs?.amount_cents;
  if (typeof amountCents !== 'number' || paymentId === null) throw refuse.notAllowed('invalid_status');
  const payment = await lockPayment(ctx, paymentId);
  const settled = await settledCents(ctx, payment);
  // Money that has paid nothing is given back without a note; of a payment that has paid in part a person decides.
  if (settled === 0 && amountCents === payment.amount_cents) return bookGivenBackThere(ctx, payment, status);
  if (settled < payment.amount_cents) throw refuse.notAllowed('invalid_status');
  const noteId = await makeNoteOfRefund(ctx, paymentId, amountCents);
  await ctx.db`
    insert into credit_note_refunds (organization_id, credit_note_id, payment_id, payment_provider_id, created_at,
      updated_at)
    values (${ctx.organizationId}, ${noteId}, ${paymentId}, ${provider.id}, ${ctx.now()}, ${ctx.now()})
    on conflict (organization_id, credit_note_id) do update
    set payment_id = excluded.payment_id, payment_provider_id = excluded.payment_provider_id`;
  await changeRefund(ctx, noteId, { providerRefundId: objectId, status, error: null });
  const refund = await findRefund(ctx, noteId);
  const refundStatus = refundStatusOf(wordsOf(provider), status);
  await applyRefund(ctx, refund!, { providerRefundId: objectId, status, refundStatus }, { isEvent: true });
}

/** A double payment that was given back in the provider's dashboard, whose own drift ends by it. */
async function bookGivenBackThere(ctx: Context, payment: PaymentRow, status: string): Promise<void> {
  if (status === '' || payment.provider_payment_id === null) throw refuse.notAllowed('invalid_status');
  await bookGivenBack(ctx, payment);
  await ctx.db`
    update provider_drifts set status = 'vanished', closed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and kind = 'double_payment' and status = 'open'
      and provider_object_id = ${payment.provider_payment_id} and refund_asked_at is null`;
}

/** A refund whose outcome nobody knows is sent again with its key, while its provider knows that key. */
async function sendRefundAgain(ctx: Context, provider: ProviderRow, { ours }: ToRepair): Promise<void> {
  const noteId = ours?.credit_note_id as CreditNoteId | undefined;
  const refund = noteId === undefined ? undefined : await findRefund(ctx, noteId);
  if (!refund || refund.provider_refund_id !== null || ours?.status !== 'pending')
    throw refuse.notAllowed('invalid_status');
  if (refund.sent_at !== null && isKeyForgotten(provider, refund.sent_at)) throw refuse.notAllowed('invalid_status');
  ctx.after({ nudge: 'payment.refund', payload: { credit_note_id: refund.credit_note_id } });
}

/** The methods of a customer who does not exist there any more cannot be charged; the link stays for a person. */
async function discardOfCustomer(ctx: Context, provider: ProviderRow, drift: ToRepair): Promise<void> {
  await discardMethods(ctx, provider, drift, ctx.db``);
  const message = `No such customer: ${drift.objectId}`;
  recordNotMade(ctx, await readCustomer(ctx, drift.customerId!), { code: 'resource_missing', message });
}

const discardOne = (ctx: Context, provider: ProviderRow, drift: ToRepair): Promise<void> =>
  discardMethods(ctx, provider, drift, ctx.db`and provider_method_id = ${drift.objectId}`);

/** Discards methods of the drift's customer at the connection, all of them or those of a condition. */
async function discardMethods(
  ctx: Context,
  provider: ProviderRow,
  { customerId }: ToRepair,
  condition: Fragment,
): Promise<void> {
  const { db, organizationId } = ctx;
  if (customerId === null) throw refuse.notAllowed('invalid_status');
  const methods = await db<{ id: PaymentMethodId }[]>`
    select id from payment_methods
    where organization_id = ${organizationId} and payment_provider_id = ${provider.id}
      and customer_id = ${customerId} and deleted_at is null ${condition}`;
  for (const { id } of methods) await discardMethod(ctx, id, ctx.now());
  await ensureDefault(ctx, customerId, ctx.now());
}

async function releaseAgain(ctx: Context, id: string): Promise<void> {
  await ctx.db`
    update authorizations set attempts = 0
    where organization_id = ${ctx.organizationId} and id = ${id} and released_at is null`;
  ctx.after({ nudge: 'payment.release-authorization', payload: { authorization_id: id } });
}

/**
 * The double payment that can be given back, locked; one that is unknown here is made first, so that it is in the books
 * before its money leaves.
 *
 * @throws Refusal 405 invalid_status, when something of it has paid an invoice
 * Rule: provider-reconciliation.md#repairs.
 */
export async function lockDoublePayment(ctx: Context, provider: ProviderRow, drift: ToRepair): Promise<PaymentRow> {
  if (drift.paymentId === null) await applyDrift(ctx, provider, drift);
  const { db, organizationId } = ctx;
  const [row] = await db<{ id: PaymentId }[]>`
    select id from payments
    where organization_id = ${organizationId} and payment_provider_id in ${idsOfSameAccount(ctx, provider)}
      and provider_payment_id = ${drift.objectId}
    order by payment_provider_id <> ${provider.id} limit 1`;
  const payment = row && (await lockPayment(ctx, row.id));
  if (!payment || !(await isWhollyUnapplied(ctx, payment))) throw refuse.notAllowed('invalid_status');
  return payment;
}
