import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId, PaymentId } from '../../../platform/ids.ts';
import { isAboutCredentials, ProviderRefusal } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import { readPayment } from '../payments/queries.ts';
import { connected } from '../provider-network/network.ts';
import { lockPayment } from './apply-outcome.ts';
import { applyComparedAnswer } from './other-money.ts';

/**
 * Job `payment.cancel`: cancels a payment at its provider that was given up here. If the provider has taken the money
 * already it reports that, and the money counts as received. While the provider's id is unknown there is nothing to
 * cancel.
 *
 * Where the provider cannot cancel or cannot be asked, its event says what became of it.
 *
 * @throws Outage, when its outcome is unknown: the queue asks again
 * Rule: payments.md#providers "cancel".
 */
export async function cancelOverNetwork(
  deps: SystemDeps,
  { organization_id: organizationId, payment_id: id }: { organization_id: OrganizationId; payment_id: PaymentId },
): Promise<void> {
  const payment = await readPayment({ db: deps.sql, organizationId }, id);
  if (payment.cancel_owed_at === null || payment.provider_payment_id === null) return;
  // Its money counts as received: who ended it now would leave a receipt without money.
  if (payment.payment_status === 'succeeded') return clearDebt({ db: deps.sql, organizationId }, id);
  const connection = await connected(deps, organizationId, payment.payment_provider_id);
  if (!connection) return;
  try {
    if (can(connection.row, 'cancel')) await connection.provider.cancel(payment.provider_payment_id);
  } catch (error) {
    // It has ended by itself; the outcome is read below.
    if (!(error instanceof ProviderRefusal)) throw error;
    // The provider has not looked at the payment, which stays to be cancelled.
    if (isAboutCredentials(error.error)) throw new Outage(connection.row.provider_type, error);
  }
  const readAt = realNow();
  const outcome = can(connection.row, 'read')
    ? await connection.provider.readPayment(payment.provider_payment_id)
    : undefined;
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const now = await lockPayment(ctx, id);
    if (outcome?.kind === 'answered')
      await applyComparedAnswer(ctx, connection.row, now, { answer: outcome, isEvent: true, readAt });
    const isOpen = outcome?.kind === 'answered' && outcome.paymentStatus === 'processing';
    if (!isOpen) await clearDebt(ctx, id);
  });
}

async function clearDebt({ db, organizationId }: Scope, id: PaymentId): Promise<void> {
  await db`update payments set cancel_owed_at = null where organization_id = ${organizationId} and id = ${id}`;
}
