import { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import { type ChargeOutcome, isAboutCredentials, ProviderRefusal } from '../../../platform/payments/port.ts';
import { can, descriptorOf } from '../../../platform/payments/providers.ts';
import { DAYS_TO_CONFIRM, NOT_CONFIRMED } from '../../../platform/payments/unconfirmed.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import type { PaymentRow } from '../payments/queries.ts';
import type { Connected } from '../provider-network/network.ts';
import { lockPayment } from './apply-outcome.ts';
import { applyComparedAnswer } from './other-money.ts';

type Answered = Extract<ChargeOutcome, { kind: 'answered' }>;

/**
 * Whether a charge has waited for its customer as long as one may take to confirm it. What the customer has brought
 * back is told to the provider first.
 */
export const isOverdueToConfirm = (payment: PaymentRow, now: Temporal.Instant): boolean =>
  isWaiting(payment) &&
  payment.charged_at !== null &&
  Temporal.Instant.compare(payment.charged_at, now.subtract({ hours: DAYS_TO_CONFIRM * 24 })) <= 0;

/** Whether a charge waits for its customer, and nothing of what that brought back is to be told. */
export const isWaiting = (payment: PaymentRow): boolean =>
  payment.payment_status === 'processing' &&
  !payment.is_transfer &&
  payment.customer_return === null &&
  Object.keys(payment.next_action).length > 0;

/**
 * Whether a payment opens a gated subscription: its activation rule says how long it may wait, also without end.
 */
export const isOfGate = async (scope: Scope, { payable_type, payable_id }: PaymentRow): Promise<boolean> =>
  payable_type === 'Invoice' && (await readInvoice(scope, payable_id as InvoiceId)).status === 'open';

/**
 * Ends a charge that nobody has confirmed: there first, then here. Where the provider says that the customer has
 * confirmed it meanwhile, or may still be charged, its answer counts.
 *
 * @returns false where nothing was asked: the provider cannot end it, it opens a gated subscription, or it is no
 *   confirmation that it waits for
 * @throws Outage, when there was no answer: nothing has ended
 * Rule: payments.md#charges-that-nobody-confirms.
 */
export async function endUnconfirmed(
  deps: SystemDeps,
  organizationId: OrganizationId,
  connection: Connected,
  payment: PaymentRow,
): Promise<boolean> {
  const { row, provider } = connection;
  if (!descriptorOf(row.provider_type)?.asksToConfirm?.(payment.next_action)) return false;
  // A provider that is told what the customer brings back takes nothing before, and is told nothing any more.
  const waitsForReturn = provider.completeCharge !== undefined;
  if (!waitsForReturn && (payment.provider_payment_id === null || !can(row, 'cancel'))) return false;
  if (await isOfGate({ db: deps.sql, organizationId }, payment)) return false;

  const before = await readThere(connection, payment);
  if (before && !isStillOpen(before, payment)) {
    await apply(deps, organizationId, connection, payment, { nextAction: {}, ...before });
    return true;
  }
  const isCancelled = await cancelThere(connection, payment);
  const after = waitsForReturn ? endedHere(payment) : await readThere(connection, payment);
  if (!after) return true; // its event says what became of it
  const reason = isCancelled && after.paymentStatus === 'failed' ? { error: NOT_CONFIRMED } : {};
  await apply(deps, organizationId, connection, payment, { ...after, ...reason });
  return true;
}

/** Its word is the one with which it began to wait. */
const isStillOpen = ({ paymentStatus, status }: Answered, payment: PaymentRow): boolean =>
  paymentStatus === 'processing' && status === payment.status;

const endedHere = ({ provider_payment_id }: PaymentRow): Answered => ({
  kind: 'answered',
  status: 'canceled',
  paymentStatus: 'failed',
  providerPaymentId: provider_payment_id,
  error: NOT_CONFIRMED,
});

async function readThere(
  { row, provider }: Connected,
  { provider_payment_id: id }: PaymentRow,
): Promise<Answered | undefined> {
  if (id === null || !can(row, 'read')) return undefined;
  const outcome = await provider.readPayment(id);
  return outcome.kind === 'answered' ? outcome : undefined;
}

/** @returns whether the provider has taken the cancellation: one that is refused comes too late, or ends nothing */
async function cancelThere({ row, provider }: Connected, { provider_payment_id: id }: PaymentRow): Promise<boolean> {
  if (id === null || !can(row, 'cancel')) return false;
  try {
    await provider.cancel(id);
    return true;
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    // The provider has not looked at the payment.
    if (isAboutCredentials(error.error)) throw new Outage(row.provider_type, error);
    return false;
  }
}

/** Unless the customer has come back, or another answer came, since the payment was read. */
const apply = (
  deps: SystemDeps,
  organizationId: OrganizationId,
  { row }: Connected,
  { id }: PaymentRow,
  answer: Answered,
): Promise<void> =>
  transactHoldingClock(deps, organizationId, async (ctx) => {
    const now = await lockPayment(ctx, id);
    if (isWaiting(now)) await applyComparedAnswer(ctx, row, now, { answer, isEvent: true });
  });
