import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ProviderDriftId } from '../../../platform/ids.ts';
import { isSilentOnBefore, ProviderConflict, ProviderRefusal, TooManyCalls } from '../../../platform/payments/port.ts';
import { can, wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage, refuse } from '../../../platform/refusal.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { findProviderById, type ProviderRow } from '../../customers/payment-providers/queries.ts';
import { bookGivenBack, noteRefundOfDrift } from '../collect-payments/follow-refund-of-drift.ts';
import { readMethodsThere } from '../collect-payments/import-methods.ts';
import type { PaymentRow } from '../payments/queries.ts';
import type { DriftKind, Figures, FoundDrift } from '../provider-drifts/drift-kinds.ts';
import { actionsOf, type DriftRow, getDrift } from '../provider-drifts/queries.ts';
import type { DriftRepair } from '../provider-drifts/schema.ts';
import { driftView } from '../provider-drifts/view.ts';
import { closeDrift } from '../provider-drifts/writes.ts';
import { type Connected, connected, type NetworkDeps } from '../provider-network/network.ts';
import { type Compared, compareDisputes, comparePayments, compareRefunds } from './compare-lists.ts';
import { applyDrift, lockDoublePayment, type ToRepair, textsOf } from './repair.ts';

/** What the provider said when it was asked anew. */
interface Answered {
  /** Null: it cannot be asked about such an object, and what it said last counts. */
  theirs: Figures | null;
  /** Whether what was missing there is there again. */
  isThereAgain: boolean;
}

/**
 * Pre-step of `POST /provider_drifts/{svc_id}/repair`: asks the provider anew, and has a double payment given back
 * under a key of the drift, so that a repetition gives nothing back twice.
 *
 * @throws Refusal 404 provider_drift; 422 provider_error, also without an answer (provider_unreachable); 401; 429
 * Rule: provider-reconciliation.md#routes.
 */
export const askAboutDrift: PreStep = async (deps, { organizationId, input }) => {
  const scope = { db: deps.sql, organizationId };
  const drift = await getDrift(scope, input.svc_id);
  if (drift.status !== 'open') return undefined;
  const connection = await connected(deps, organizationId, drift.connection_id);
  if (!connection) return undefined;
  const { action } = input.body as DriftRepair;
  try {
    const told = await answeredInTime(askAnew(scope, connection, drift));
    if (action === 'refund' && drift.kind === 'double_payment')
      await answeredInTime(giveBack(deps, scope, connection, { driftId: drift.id, told }));
    return told satisfies Answered;
  } catch (error) {
    // What a person has settled needs no word of an account that does not answer any more.
    if (action === 'resolve') return { theirs: drift.theirs, isThereAgain: false } satisfies Answered;
    const { code } = connection.row;
    if (error instanceof ProviderConflict) throw refuse.provider(code, error.error);
    if (error instanceof ProviderRefusal) {
      const { httpStatus, message } = error.error;
      if (httpStatus === 401 || httpStatus === 403) throw refuse.providerCredentials(message);
      throw refuse.provider(code, error.error);
    }
    if (!(error instanceof Outage) || error instanceof TooManyCalls) throw error;
    throw refuse.provider(code, { code: 'provider_unreachable', message: 'The provider did not answer in time.' });
  }
};

const OF_PAYMENTS: readonly DriftKind[] = [
  'status_differs',
  'payment_missing_here',
  'amount_differs',
  'currency_differs',
];

async function askAnew(scope: Scope, { row, provider }: Connected, drift: DriftRow): Promise<Answered> {
  const before = { theirs: drift.theirs, isThereAgain: false };
  if (
    drift.kind === 'customer_missing_there' ||
    drift.kind === 'method_missing_there' ||
    drift.kind === 'mandate_inactive'
  )
    return askAboutMethod(scope, { row, provider }, drift);
  if (!can(row, 'read')) return before;
  const isOfRefund = drift.theirs?.provider_payment_id !== undefined;
  if (OF_PAYMENTS.includes(drift.kind) && !isOfRefund) {
    const told = await provider.readPayment(drift.provider_object_id);
    if (told.kind !== 'answered') return before;
    const money = told.received ? { amount_cents: told.received.amountCents, currency: told.received.currency } : {};
    return { theirs: { ...drift.theirs, ...money, status: told.status }, isThereAgain: true };
  }
  if (drift.kind === 'refund_status_differs' || drift.kind === 'refund_missing_here') {
    const { status } = await provider.readRefund(drift.provider_object_id);
    return { theirs: { ...drift.theirs, status }, isThereAgain: true };
  }
  return before;
}

async function askAboutMethod(scope: Scope, connection: Connected, drift: DriftRow): Promise<Answered> {
  const before = { theirs: drift.theirs, isThereAgain: false };
  if (drift.customer_id === null) return before;
  const customer = await readCustomer(scope, drift.customer_id);
  if (customer.payment_provider_id !== connection.row.id) return before;
  const there = await readMethodsThere(scope, connection, customer);
  if (there?.kind !== 'read') return before;
  const isThereAgain =
    drift.kind === 'customer_missing_there' ||
    there.methods.some(({ providerMethodId }) => providerMethodId === drift.provider_object_id);
  return { ...before, isThereAgain };
}

/**
 * Has a double payment given back, with the drift named where a refund of a note names the note. That it is asked for
 * is committed before the call, and what was answered as soon as it is, however late: a later run, an event or the same
 * action goes on from there. A refund that failed is asked for again under another key.
 *
 * @throws Refusal 405; ProviderRefusal, also for a refund that failed; Outage
 */
async function giveBack(
  deps: NetworkDeps,
  scope: Scope,
  { row, provider }: Connected,
  { driftId, told }: { driftId: ProviderDriftId; told: Answered },
): Promise<void> {
  if (!can(row, 'refund')) throw refuse.notAllowed('feature_not_supported');
  let asked: { payment: PaymentRow; drift: DriftRow } | undefined;
  await transactHoldingClock(deps, scope.organizationId, async (ctx) => {
    asked = await askRefund(ctx, row, driftId, told);
  });
  if (!asked) return;
  const { payment, drift } = asked;
  const { refund_id: refundId, refund_status: status } = drift;
  const hasFailedBefore = status !== null && refundStatusOf(wordsOf(row), status) === 'failed';
  if (refundId !== null && !hasFailedBefore) {
    if (can(row, 'read')) await keepRefund(scope, row, driftId, { ...(await provider.readRefund(refundId)), refundId });
    return;
  }
  let made: { providerRefundId: string; status: string };
  try {
    made = await provider.refund({
      idempotencyKey: refundId === null ? `drift-${driftId}` : `drift-${driftId}-${refundId}`,
      providerPaymentId: drift.provider_object_id,
      amountCents: payment.amount_cents,
      currency: payment.amount_currency,
      reason: 'duplicate',
      metadata: { credit_note_id: driftId },
    });
  } catch (error) {
    if (error instanceof ProviderRefusal && !isSilentOnBefore(error.error)) await noteRefused(scope, driftId);
    throw error;
  }
  await keepRefund(scope, row, driftId, { refundId: made.providerRefundId, status: made.status });
}

/** @throws ProviderRefusal, for a refund that failed */
async function keepRefund(
  scope: Scope,
  row: ProviderRow,
  driftId: ProviderDriftId,
  { refundId: providerRefundId, status }: { refundId: string; status: string },
): Promise<void> {
  const hasFailed = refundStatusOf(wordsOf(row), status) === 'failed';
  await noteRefundOfDrift(scope, driftId, { providerRefundId, status, hasFailed });
  if (hasFailed) throw new ProviderRefusal({ code: 'refund_failed', message: `The refund is ${status} there.` });
}

/** Commits that a refund is asked for; undefined when nothing is left to be given back. */
async function askRefund(ctx: Context, provider: ProviderRow, id: ProviderDriftId, told: Answered) {
  const drift = await lockDrift(ctx, id);
  if (drift.status !== 'open') return undefined;
  const now = await compareAnew(ctx, provider, drift, told);
  if (now === 'gone' && drift.refund_asked_at === null) return undefined;
  const payment = await lockDoublePayment(ctx, provider, now === 'gone' ? toRepair(drift) : now);
  await ctx.db`
    update provider_drifts set payment_id = ${payment.id}, refund_asked_at = coalesce(refund_asked_at, ${realNow()})
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  return { payment, drift };
}

/** The provider has looked at the request and made no refund. */
const noteRefused = ({ db, organizationId }: Scope, id: ProviderDriftId) => db`
  update provider_drifts set refund_asked_at = null where organization_id = ${organizationId} and id = ${id}`;

async function lockDrift(ctx: Context, id: ProviderDriftId): Promise<DriftRow> {
  await ctx.db`select from provider_drifts where organization_id = ${ctx.organizationId} and id = ${id} for update`;
  return getDrift(ctx, id);
}

/**
 * Ends a drift as a person decides, after both sides are compared anew: one that is gone has vanished.
 *
 * @throws Refusal 404 provider_drift; 405 invalid_status, for an action that it does not offer, or when it is not open;
 *   422 note, when an error is resolved without one
 * Rule: provider-reconciliation.md#routes.
 */
export async function repairByHand(ctx: Context, { svc_id, body }: { svc_id: string; body: DriftRepair }) {
  const drift = await lockDrift(ctx, (await getDrift(ctx, svc_id)).id);
  const { action } = body;
  const note = body.note ?? null;
  if (!actionsOf(drift).includes(action)) throw refuse.notAllowed('invalid_status');
  if (action === 'resolve' && drift.severity === 'error' && (note ?? '').trim() === '')
    throw refuse.invalid({ note: ['value_is_mandatory'] });
  const provider = (await findProviderById(ctx, drift.connection_id))!;
  const told = ctx.asked?.answer as Answered | undefined;
  const now = await compareAnew(ctx, provider, drift, told);
  if (action === 'refund' && (drift.refund_asked_at !== null || now !== 'gone'))
    await endGivenBack(ctx, provider, { drift, now: now === 'gone' ? toRepair(drift) : now, note });
  else if (now === 'gone') await closeDrift(ctx, drift.id, { status: 'vanished' });
  else {
    if (action === 'apply') await applyDrift(ctx, provider, now);
    const status = action === 'resolve' ? 'resolved' : 'repaired';
    await closeDrift(ctx, drift.id, { status, resolution: { action, note, by: 'person' } });
  }
  return { provider_drift: driftView(await getDrift(ctx, drift.id)) };
}

/** Books a double payment that was given back; the drift stays open until the provider has paid the refund out. */
async function endGivenBack(
  ctx: Context,
  provider: ProviderRow,
  { drift, now, note }: { drift: DriftRow; now: ToRepair; note: string | null },
): Promise<void> {
  const payment = await lockDoublePayment(ctx, provider, now);
  const isPaidOut =
    drift.refund_status !== null && refundStatusOf(wordsOf(provider), drift.refund_status) === 'succeeded';
  if (!isPaidOut) {
    if (drift.refund_asked_at === null && !ctx.asked?.isRehearsal) throw refuse.notAllowed('invalid_status');
    return;
  }
  await bookGivenBack(ctx, payment);
  await closeDrift(ctx, drift.id, { status: 'repaired', resolution: { action: 'refund', note, by: 'person' } });
}

const toRepair = (drift: DriftRow): ToRepair => ({
  kind: drift.kind,
  objectId: drift.provider_object_id,
  ours: drift.ours,
  theirs: drift.theirs,
  paymentId: drift.payment_id,
  customerId: drift.customer_id,
});

/** The drift with both sides as they are now; `gone` when they are equal. */
async function compareAnew(
  ctx: Context,
  provider: ProviderRow,
  drift: DriftRow,
  told: Answered | undefined,
): Promise<ToRepair | 'gone'> {
  const theirs = told?.theirs ?? drift.theirs;
  const as = { ...toRepair(drift), theirs };
  switch (drift.kind) {
    case 'customer_missing_there':
    case 'method_missing_there':
    case 'mandate_inactive':
      return told?.isThereAgain ? 'gone' : as;
    case 'authorization_open': {
      const released = await ctx.db`
        select from authorizations
        where organization_id = ${ctx.organizationId} and id = ${drift.provider_object_id} and released_at is not null`;
      return released.length > 0 ? 'gone' : as;
    }
    case 'payment_missing_there':
    case 'refund_missing_there':
      return as;
    default: {
      const [compared] = theirs ? await compareOne(ctx, provider, drift, theirs) : [];
      if (!compared || !('drift' in compared)) return compared && isEqual(compared) ? 'gone' : as;
      const { kind, ours } = compared.drift satisfies FoundDrift;
      return kind === drift.kind ? { ...as, ours, paymentId: compared.drift.paymentId } : as;
    }
  }
}

const isEqual = (compared: Compared): boolean => 'verdict' in compared && compared.verdict === 'equal';

function compareOne(ctx: Context, provider: ProviderRow, drift: DriftRow, theirs: Figures): Promise<Compared[]> {
  const now = realNow();
  const { amount_cents: amountCents, currency } = theirs;
  const status = String(theirs.status ?? '');
  const money = { ...(currency ? { currency } : {}), ...(amountCents === undefined ? {} : { amountCents }) };
  const metadata = textsOf(theirs);
  const id = drift.provider_object_id;
  if (drift.kind === 'dispute_missing_here') {
    const providerPaymentId = String(theirs.provider_payment_id);
    const dispute = { providerDisputeId: id, providerPaymentId, isLost: true, reason: null };
    return compareDisputes(ctx, provider, [dispute]);
  }
  if (theirs.provider_payment_id !== undefined) {
    const providerPaymentId = String(theirs.provider_payment_id);
    return compareRefunds(
      ctx,
      provider,
      [{ providerRefundId: id, providerPaymentId, status, ...money, metadata }],
      now,
    );
  }
  return comparePayments(ctx, provider, [{ providerPaymentId: id, status, ...money, metadata }], now);
}
