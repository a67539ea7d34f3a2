import { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId, CustomerId, PaymentId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { DisputeThere, PaymentThere, RefundThere } from '../../../platform/payments/port.ts';
import { paymentStateOf, wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { idsOfSameAccount, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { isRefundBooked, type RefundOfDrift } from '../collect-payments/follow-refund-of-drift.ts';
import { isOnItsWay } from '../collect-payments/handle-event.ts';
import { GIVEN_BACK } from '../payments/writes.ts';
import type { FoundDrift } from '../provider-drifts/drift-kinds.ts';
import { isRecent, judgePayment, judgeRefund, type OurPayment, type OurRefund, type Verdict } from './judge.ts';

/**
 * What a comparison of one object says.
 *
 * foreign     it is of the same account, and not ours
 * unreadable  it is ours and not final, and the provider does not tell of it
 */
export type Compared = {
  objectId: string;
  /** Our id of it, where we may not know the provider's. */
  ourId?: string;
  /** It gives a double payment back, which our records do not say as the provider does. */
  refundOfDrift?: RefundOfDrift;
} & ({ verdict: 'equal' | 'later' | 'foreign' | 'unreadable' } | { drift: FoundDrift; repairsItself: boolean });

interface PaymentHere extends OurPayment {
  id: PaymentId;
  customer_id: CustomerId;
  provider_payment_id: string | null;
  status: string;
}

/**
 * Payments of the account of a connection, by the provider's ids or by ours; those of the connection come last. Each
 * way to find them has its own index: one condition for both would read every payment of the organization. Each is read
 * by its key, since Postgres would look for all of them among those of the organization.
 */
const listOurs = (
  scope: Scope,
  provider: ProviderRow,
  { theirIds, ourIds }: { theirIds: readonly string[]; ourIds: readonly string[] },
) => scope.db<PaymentHere[]>`
  select payment.id, payment.customer_id, payment.provider_payment_id, payment.status, payment.payment_status,
    payment.amount_cents, payment.amount_currency, payment.reversed_at, payment.cancel_owed_at, payment.updated_at,
    (select coalesce(sum(share.amount_cents), 0)::bigint from payment_invoices share
      where share.organization_id = payment.organization_id and share.payment_id = payment.id) as applied_cents,
    exists (select from payments other
      where other.organization_id = payment.organization_id and other.payable_id = payment.payable_id
        and other.payable_type = payment.payable_type and other.id <> payment.id
        and other.payment_status = 'succeeded') as is_second
  from (
    select known.id from ${idsOfSameAccount(scope, provider)} same cross join unnest(${theirIds}::text[]) as told (id)
    cross join lateral (
      select id from payments
      where organization_id = ${scope.organizationId} and payment_provider_id = same.id
        and provider_payment_id = told.id offset 0) known
    union
    select known.id from unnest(${ourIds}::uuid[]) as told (id)
    cross join lateral (select * from payments where id = told.id offset 0) known
    where known.organization_id = ${scope.organizationId} and known.provider_payment_id is null
      and known.payment_provider_id in ${idsOfSameAccount(scope, provider)}
  ) found
  cross join lateral (select * from payments where id = found.id offset 0) payment
  where payment.organization_id = ${scope.organizationId}
  order by payment.payment_provider_id = ${provider.id}`;

/** Payments of an account as they are found by one object of its provider. */
async function readOurs(scope: Scope, provider: ProviderRow, items: readonly Named[]) {
  const rows = await listOurs(scope, provider, {
    theirIds: items.map(({ providerPaymentId }) => providerPaymentId),
    ourIds: items.flatMap(({ metadata }) => metadata?.payment_id ?? []).filter(isUuid),
  });
  const byTheirId = new Map(rows.map((row) => [row.provider_payment_id, row]));
  const byOurId = new Map(rows.map((row) => [row.id as string, row]));
  return ({ providerPaymentId, metadata }: Named): PaymentHere | undefined =>
    byTheirId.get(providerPaymentId) ?? byOurId.get(metadata?.payment_id ?? '');
}

type Named = Pick<PaymentThere, 'providerPaymentId'> & { metadata?: Record<string, string> };

interface PayableHere {
  id: string;
  customer_id: CustomerId;
  currency: string;
  is_paid: boolean;
}

/** What pages were opened for, by id: invoices and payment requests of the organization. */
const listPayables = ({ db, organizationId }: Scope, ids: readonly string[]) => db<PayableHere[]>`
  select payable.id, payable.customer_id, payable.currency, exists (select from payments payment
    where payment.organization_id = ${organizationId} and payment.payable_id = payable.id
      and payment.payment_status = 'succeeded') as is_paid
  from (
    select id, customer_id, currency from invoices
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
    union all
    select id, customer_id, amount_currency from payment_requests
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])
  ) payable`;

/** A payment or a refund as its provider holds it; of one that was read alone it may not say what it comes to. */
type PaidThere = Pick<PaymentThere, 'status' | 'metadata'> & Partial<Pick<PaymentThere, 'currency' | 'amountCents'>>;

/** Names of our records in metadata; a drift keeps no other. */
const OUR_NAMES = ['payment_id', 'payable_type', 'payable_id', 'credit_note_id', 'invoice_id'];
const oursOf = (metadata: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => OUR_NAMES.includes(name)));

const theirFigures = ({ status, amountCents, currency, metadata }: PaidThere) => ({
  status,
  amount_cents: amountCents ?? null,
  ...(currency ? { currency } : {}),
  ...oursOf(metadata),
});

const figuresOf = (payment: PaymentHere) => ({
  status: payment.payment_status,
  provider_status: payment.status,
  amount_cents: payment.amount_cents,
  currency: payment.amount_currency,
  applied_cents: payment.applied_cents,
});

/** Compares payments as a provider has listed or reported them. Rule: provider-reconciliation.md#drifts. */
export async function comparePayments(
  ctx: Scope,
  provider: ProviderRow,
  items: readonly (Partial<Pick<PaymentThere, 'currency' | 'amountCents'>> &
    Omit<PaymentThere, 'currency' | 'amountCents'>)[],
  now: Temporal.Instant,
): Promise<Compared[]> {
  const ours = await readOurs(ctx, provider, items);
  // In most pages we know every payment, and nothing else is read.
  const unknown = items.filter((item) => !ours(item));
  const payableIds = unknown.flatMap(({ metadata }) => metadata.payable_id ?? []).filter(isUuid);
  const [listed, released] = await Promise.all([
    payableIds.length === 0 ? [] : listPayables(ctx, payableIds),
    unknown.length === 0 ? new Set() : listAuthorizations(ctx, provider, unknown),
  ]);
  const payables = new Map(listed.map((row) => [row.id, row]));
  return items.map((item): Compared => {
    const { providerPaymentId: objectId, status, currency, amountCents, received, metadata } = item;
    const state = paymentStateOf(provider, status);
    const theirs = theirFigures(item);
    const payment = ours(item);
    if (payment) {
      const verdict = judgePayment(payment, { state, ...(currency ? { currency } : {}), amountCents, received }, now);
      return compared(objectId, verdict, {
        ours: figuresOf(payment),
        theirs,
        paymentId: payment.id,
        customerId: payment.customer_id,
      });
    }
    if (released.has(objectId)) return { objectId, verdict: 'equal' };
    const payable = payables.get(metadata.payable_id ?? '');
    if (!payable) return { objectId, verdict: 'foreign' };
    const about = { ours: null, theirs, paymentId: null, customerId: payable.customer_id };
    // Known at once: the same is not charged again meanwhile.
    if (state === 'processing' && isOnItsWay(status))
      return compared(objectId, { kind: 'payment_missing_here', repairsItself: true }, about);
    if (state !== 'succeeded') return { objectId, verdict: 'equal' };
    if (isNew(item, now)) return { objectId, verdict: 'later' };
    if (currency !== undefined && currency !== payable.currency)
      return compared(objectId, { kind: 'currency_differs' }, about);
    const kind = amountCents === null ? 'amount_differs' : payable.is_paid ? 'double_payment' : 'payment_missing_here';
    return compared(objectId, { kind }, about);
  });
}

/** What we do not know may have been made just now, and its event is on its way. */
const isNew = ({ madeAtSeconds }: { madeAtSeconds?: number }, now: Temporal.Instant): boolean =>
  madeAtSeconds !== undefined && isRecent(Temporal.Instant.fromEpochMilliseconds(madeAtSeconds * 1000), now);

function compared(
  objectId: string,
  verdict: Verdict,
  drift: Pick<FoundDrift, 'ours' | 'theirs' | 'paymentId' | 'customerId'>,
): Compared {
  if (typeof verdict === 'string') return { objectId, verdict };
  const { kind, repairsItself = false } = verdict;
  return { objectId, drift: { kind, objectId, ...drift }, repairsItself };
}

/** Amounts that were reserved, by the provider's ids: they are no payments, and are released by their own job. */
async function listAuthorizations({ db, organizationId }: Scope, { id }: ProviderRow, items: readonly Named[]) {
  const ids = items.map(({ providerPaymentId }) => providerPaymentId);
  const rows = await db<{ provider_payment_id: string }[]>`
    select provider_payment_id from authorizations
    where organization_id = ${organizationId} and connection_id = ${id} and provider_payment_id = any (${ids})`;
  return new Set(rows.map(({ provider_payment_id }) => provider_payment_id));
}

interface RefundHere extends OurRefund {
  credit_note_id: CreditNoteId;
  provider_refund_id: string | null;
  payment_id: PaymentId;
  customer_id: CustomerId;
}

/** Compares refunds; one of a payment of ours that we do not know was made in the provider's dashboard. */
export async function compareRefunds(
  ctx: Scope,
  provider: ProviderRow,
  items: readonly (Partial<Pick<RefundThere, 'currency' | 'amountCents'>> &
    Omit<RefundThere, 'currency' | 'amountCents'>)[],
  now: Temporal.Instant,
): Promise<Compared[]> {
  const { db, organizationId } = ctx;
  const noteIds = items.flatMap(({ metadata }) => metadata.credit_note_id ?? []).filter(isUuid);
  const refunds = await db<RefundHere[]>`
    select refund.credit_note_id, refund.provider_refund_id, refund.payment_id, note.customer_id, note.refund_status,
      note.refund_amount_cents, note.currency, refund.updated_at
    from credit_note_refunds refund
    join credit_notes note on note.organization_id = refund.organization_id and note.id = refund.credit_note_id
    where refund.organization_id = ${organizationId}
      and refund.payment_provider_id in ${idsOfSameAccount(ctx, provider)}
      and (refund.provider_refund_id = any (${items.map(({ providerRefundId }) => providerRefundId)})
        or refund.provider_refund_id is null and refund.credit_note_id = any (${noteIds}::uuid[]))`;
  const drifts = await listRefundedDrifts(ctx, noteIds);
  const byTheirId = new Map(refunds.map((row) => [row.provider_refund_id, row]));
  const byNote = new Map(refunds.map((row) => [row.credit_note_id as string, row]));
  const ours = await readOurs(ctx, provider, items);
  return items.map((item): Compared => {
    const { providerRefundId: objectId, providerPaymentId, status, currency, amountCents, metadata } = item;
    const state = refundStatusOf(wordsOf(provider), status);
    const theirs = { ...theirFigures(item), provider_payment_id: providerPaymentId };
    const refund = byTheirId.get(objectId) ?? byNote.get(metadata.credit_note_id ?? '');
    if (refund) {
      const verdict = judgeRefund(refund, { state, ...(currency ? { currency } : {}), amountCents }, now);
      const about = {
        ours: {
          status: refund.refund_status,
          amount_cents: refund.refund_amount_cents,
          currency: refund.currency,
          credit_note_id: refund.credit_note_id,
        },
        theirs,
        paymentId: refund.payment_id,
        customerId: refund.customer_id,
      };
      return { ...compared(objectId, verdict, about), ourId: refund.credit_note_id };
    }
    const payment = ours({ providerPaymentId });
    if (!payment) return { objectId, verdict: 'foreign' };
    const drift = drifts.get(metadata.credit_note_id ?? '');
    const isUnapplied = payment.payment_status === 'succeeded' && payment.applied_cents === 0;
    if (drift && (drift.is_booked || state !== 'succeeded' || isUnapplied)) {
      const refundOfDrift = { driftId: drift.id, providerRefundId: objectId, status };
      const isTold = drift.is_booked ? state !== 'failed' : drift.refund_id === objectId && state !== 'succeeded';
      return { objectId, verdict: 'equal', ...(isTold && drift.refund_status === status ? {} : { refundOfDrift }) };
    }
    if (state === 'failed' || payment.status === GIVEN_BACK) return { objectId, verdict: 'equal' };
    if (isNew(item, now)) return { objectId, verdict: 'later' };
    return compared(
      objectId,
      { kind: 'refund_missing_here' },
      { ours: null, theirs, paymentId: payment.id, customerId: payment.customer_id },
    );
  });
}

/** Drifts of double payments that refunds name where others name their note, by id. */
async function listRefundedDrifts({ db, organizationId }: Scope, ids: readonly string[]) {
  const rows = await db<{ id: string; refund_id: string | null; refund_status: string | null; is_booked: boolean }[]>`
    select id, refund_id, refund_status, ${isRefundBooked(db)}
    from provider_drifts
    where organization_id = ${organizationId} and kind = 'double_payment' and id = any (${ids}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Compares disputes; those that are lost have to be lost here too. */
export async function compareDisputes(
  ctx: Scope,
  provider: ProviderRow,
  items: readonly DisputeThere[],
  now: Temporal.Instant,
): Promise<Compared[]> {
  const { db, organizationId } = ctx;
  const ours = await readOurs(ctx, provider, items);
  const paymentIds = items.flatMap((item) => ours(item)?.id ?? []);
  const undisputed = await db<{ payment_id: PaymentId }[]>`
    select distinct share.payment_id from payment_invoices share
    join invoices invoice on invoice.organization_id = share.organization_id and invoice.id = share.invoice_id
    where share.organization_id = ${organizationId} and share.payment_id = any (${paymentIds}::uuid[])
      and invoice.payment_dispute_lost_at is null`;
  const open = new Set(undisputed.map(({ payment_id }) => payment_id));
  return items.map((item): Compared => {
    const { providerDisputeId: objectId, providerPaymentId, isLost, reason } = item;
    const payment = ours(item);
    if (!payment) return { objectId, verdict: 'foreign' };
    if (isLost !== true || !open.has(payment.id)) return { objectId, verdict: 'equal' };
    if (isNew(item, now)) return { objectId, verdict: 'later' };
    const theirs = { status: 'lost', reason, provider_payment_id: providerPaymentId };
    const about = { ours: null, theirs, paymentId: payment.id, customerId: payment.customer_id };
    return compared(objectId, { kind: 'dispute_missing_here' }, about);
  });
}
