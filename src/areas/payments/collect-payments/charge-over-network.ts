import { assert } from '../../../engine/assert.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { OrganizationId, PaymentId } from '../../../platform/ids.ts';
import { type ChargeOutcome, isSilentOnBefore } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import { TOO_OLD } from '../../../platform/payments/refused.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import { isUnscheduledTopUp } from '../../credits/wallet-transactions/queries.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { type MethodRow, readMethod } from '../../customers/payment-methods/queries.ts';
import { payLink, RETURNED, RETURNED_PAYMENT } from '../../messaging/mails/pay-link.ts';
import { type PaymentRow, readPayment } from '../payments/queries.ts';
import { sellerCountryOf } from '../payments/seller-country.ts';
import { type Connected, connected, isKeyForgotten } from '../provider-network/network.ts';
import { leavePending, lockPayment } from './apply-outcome.ts';
import { handInReturn } from './customer-returns.ts';
import { endUnconfirmed, isOverdueToConfirm } from './end-unconfirmed.ts';
import { applyComparedAnswer } from './other-money.ts';

/**
 * Job `payment.charge`: sends a charge with the key of its payment, outside any transaction, and stores the outcome.
 * However often it runs, it is one charge at the provider and one settlement here.
 *
 * @throws Outage, when its outcome is unknown: the queue sends it again
 * Rule: payments.md#automatic-payment.
 */
export async function chargeOverNetwork(
  deps: SystemDeps,
  { organization_id: organizationId, payment_id: id }: { organization_id: OrganizationId; payment_id: PaymentId },
): Promise<void> {
  const payment = await readPayment({ db: deps.sql, organizationId }, id);
  if (payment.payment_status !== 'pending' || payment.error !== null) return;
  const connection = await connected(deps, organizationId, payment.payment_provider_id);
  if (!connection || payment.provider_customer_id === null) return;
  if (payment.payment_method_id === null && !payment.is_transfer) return;
  const first = await noteAttempt(deps, organizationId, payment);
  if (first === undefined) return;
  if (isKeyForgotten(connection.row, first.chargedAt)) {
    deps.log.error(
      { organization_id: organizationId, paymentId: id },
      'a charge of unknown outcome is too old to be sent again',
    );
    return transactHoldingClock(deps, organizationId, async (ctx) => {
      const now = await lockPayment(ctx, id);
      if (now.payment_status === 'pending' && now.error === null) await leavePending(ctx, now, TOO_OLD, 'pending');
    });
  }
  const outcome = await ask(deps, organizationId, connection, payment);
  if (outcome.kind === 'unreachable' || (first.isRepeated && saysNothing(outcome)))
    throw new Outage(connection.row.provider_type, outcome.error?.message);
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const now = await lockPayment(ctx, id);
    if (outcome.kind === 'answered') return applyComparedAnswer(ctx, connection.row, now, { answer: outcome });
    if (now.payment_status !== 'pending') return;
    if (outcome.kind === 'conflict')
      deps.log.error(
        { organization_id: organizationId, paymentId: id },
        'a provider knows the key of a charge with another content',
      );
    await leavePending(ctx, now, outcome.error, outcome.kind === 'authentication_required' ? 'failed' : 'pending');
  });
}

/** Sends a charge of a stored method, or begins a transfer. */
async function ask(
  deps: SystemDeps,
  organizationId: OrganizationId,
  connection: Connected,
  payment: PaymentRow,
): Promise<ChargeOutcome> {
  const { provider } = connection;
  const scope = { db: deps.sql, organizationId };
  const charge = {
    idempotencyKey: `payment-${payment.id}`,
    amountCents: payment.amount_cents,
    currency: payment.amount_currency,
    providerCustomerId: payment.provider_customer_id!,
    description: payment.invoices.map(({ number }) => number).join(', '),
    metadata: { payment_id: payment.id, payable_type: payment.payable_type, payable_id: payment.payable_id },
  };
  if (payment.payment_method_id === null) {
    assert(provider.requestTransfer, 'a transfer is begun at a provider that has them');
    return provider.requestTransfer({ ...charge, sellerCountry: await sellerCountryOf(scope, payment) });
  }
  const method = await readMethod(scope, payment.payment_method_id);
  return provider.charge({
    ...charge,
    providerMethodId: method.provider_method_id,
    methodDetails: shownDetails(method),
    ...((await isUnscheduled(deps, organizationId, payment)) ? { isUnscheduled: true } : {}),
    ...(await returnOf(deps, { organizationId, payment, method, connection })),
  });
}

/** Whether credits are charged that a rule has bought outside any schedule. A request collects several invoices. */
const isUnscheduled = async ({ sql }: SystemDeps, organizationId: OrganizationId, payment: PaymentRow) => {
  const { payable_type: type, invoices } = payment;
  return type === 'Invoice' && (await isUnscheduledTopUp({ db: sql, organizationId }, invoices[0]!.id));
};

/** Where every charge of a card has to be confirmed by the customer: the Reserve Bank of India wants it. */
const CONFIRMS_CARDS = 'IN';

/**
 * Where a customer comes back to who has to confirm the charge; the same at every attempt, as the key of the charge
 * wants it. What the customer brings back comes to us, where the provider has to be told it.
 *
 * Rules: payments.md#charged-on-line, payments.md#customers-who-come-back.
 */
async function returnOf(
  { sql, config }: SystemDeps,
  charge: { organizationId: OrganizationId; payment: PaymentRow; method: MethodRow; connection: Connected },
): Promise<{ returnUrl?: string }> {
  const { organizationId, payment, method, connection } = charge;
  const ownPage = async (): Promise<string> => {
    const payable = { type: payment.payable_type, id: payment.payable_id };
    return `${await payLink({ db: sql, config }, payable, payment.created_at)}?${RETURNED}`;
  };
  if (connection.provider.completeCharge) return { returnUrl: `${await ownPage()}&${RETURNED_PAYMENT}=${payment.id}` };
  if (method.method_type !== 'card') return {};
  const { country } = await readCustomer({ db: sql, organizationId }, payment.customer_id);
  if (country !== CONFIRMS_CARDS) return {};
  return { returnUrl: connection.row.success_redirect_url ?? (await ownPage()) };
}

/** Whether a refusal says nothing of the attempt before it, which may have been made though its answer was lost. */
const saysNothing = (outcome: ChargeOutcome): boolean =>
  outcome.kind === 'answered' &&
  outcome.paymentStatus === 'failed' &&
  outcome.providerPaymentId === null &&
  isSilentOnBefore(outcome.error);

/** What the provider itself has said of a method. */
const shownDetails = ({ details }: MethodRow): Record<string, string> =>
  Object.fromEntries(Object.entries(details).filter((each): each is [string, string] => typeof each[1] === 'string'));

/**
 * Job `payment.look-after`: asks the provider about a payment that has been in progress for long, or of which something
 * else is left to pay, tells it what the customer has brought back, or ends what nobody has confirmed. @throws Outage
 */
export async function pollPayment(
  deps: SystemDeps,
  { organization_id: organizationId, payment_id: id }: { organization_id: OrganizationId; payment_id: PaymentId },
): Promise<void> {
  const payment = await readPayment({ db: deps.sql, organizationId }, id);
  const { provider_payment_id: idThere, customer_return } = payment;
  const isOverdue = isOverdueToConfirm(payment, realNow());
  if (payment.payment_status !== 'processing') return;
  if (idThere === null && customer_return === null && !isOverdue) return;
  const connection = await connected(deps, organizationId, payment.payment_provider_id);
  if (!connection) return;
  if (customer_return !== null) return handInReturn(deps, organizationId, connection, { ...payment, customer_return });
  if (isOverdue && (await endUnconfirmed(deps, organizationId, connection, payment))) return;
  if (idThere === null || !can(connection.row, 'read')) return;
  const readAt = realNow();
  const outcome: ChargeOutcome = await connection.provider.readPayment(idThere);
  if (outcome.kind !== 'answered') return;
  await transactHoldingClock(deps, organizationId, async (ctx) =>
    applyComparedAnswer(ctx, connection.row, await lockPayment(ctx, id), { answer: outcome, isEvent: true, readAt }),
  );
}

/**
 * Committed before the call, so that a process that dies during it leaves the time of the first attempt. Undefined when
 * the payment was given up meanwhile; giving it up later sees that it was sent.
 */
async function noteAttempt(deps: SystemDeps, organizationId: OrganizationId, payment: PaymentRow) {
  const [row] = await deps.sql<{ charged_at: ReturnType<typeof realNow>; charge_attempts: number }[]>`
    update payments set charge_attempts = charge_attempts + 1, charged_at = coalesce(charged_at, ${realNow()}),
      updated_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${payment.id} and payment_status = 'pending'
    returning charged_at, charge_attempts`;
  return row && { chargedAt: row.charged_at, isRepeated: row.charge_attempts > 1 };
}
