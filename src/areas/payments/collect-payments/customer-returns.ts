import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { isUuid, type OrganizationId, type PaymentId } from '../../../platform/ids.ts';
import { type ChargeOutcome, ReadRefused } from '../../../platform/payments/port.ts';
import { descriptorOf } from '../../../platform/payments/providers.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { Payable } from '../../messaging/mails/pay-link.ts';
import type { CustomerReturn, PaymentRow } from '../payments/queries.ts';
import { type Connected, isKeyForgotten } from '../provider-network/network.ts';
import { lockPayment } from './apply-outcome.ts';
import { applyComparedAnswer } from './other-money.ts';

/** How many characters of an answer are kept: more than any real one has. */
const DETAIL_MAX = 8000;

/** Asks a provider what became of a payment in progress. */
export const LOOK_AFTER_JOB = 'payment.look-after';

/**
 * Keeps what a customer has brought back from the page of a bank, of a payment of a payable that is under way, and owes
 * its provider's answer. What was brought before is replaced; a repeated one changes nothing.
 *
 * @returns where the customer goes on to; undefined where nothing was brought, or not to a provider that wants it
 * Rule: payments.md#customers-who-come-back.
 */
export async function keepReturn(
  deps: SystemDeps,
  organizationId: OrganizationId,
  { payable, namedPayment, query }: { payable: Payable; namedPayment: string; query: URLSearchParams },
): Promise<{ url: string | null } | undefined> {
  if (!isUuid(namedPayment)) return undefined;
  const paymentId = namedPayment as PaymentId;
  const [found] = await deps.sql<{ provider_type: string; success_redirect_url: string | null; isUnderWay: boolean }[]>`
    select provider.provider_type, provider.success_redirect_url,
      payment.payment_status = 'processing' as "isUnderWay"
    from payments payment
    join payment_providers provider
      on provider.organization_id = payment.organization_id and provider.id = payment.payment_provider_id
    where payment.organization_id = ${organizationId} and payment.id = ${paymentId}
      and payment.payable_type = ${payable.type} and payment.payable_id = ${payable.id}`;
  const details = detailsIn(query, descriptorOf(found?.provider_type ?? '')?.returnFields ?? []);
  if (!found || Object.keys(details).length === 0) return undefined;
  if (found.isUnderWay) await storeReturn(deps, organizationId, { paymentId, details });
  return { url: found.success_redirect_url };
}

const detailsIn = (query: URLSearchParams, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name);
      return value !== null && value !== '' && value.length <= DETAIL_MAX && isStorable(value) ? [[name, value]] : [];
    }),
  );

const storeReturn = (
  deps: SystemDeps,
  organizationId: OrganizationId,
  { paymentId, details }: { paymentId: PaymentId; details: Record<string, string> },
): Promise<void> =>
  transactHoldingClock(deps, organizationId, async (ctx) => {
    const returned: CustomerReturn = { details, at: realNow().toString() };
    const kept = await ctx.db`
      update payments set customer_return = ${json(returned)}::jsonb, updated_at = ${ctx.now()}
      where organization_id = ${organizationId} and id = ${paymentId} and payment_status = 'processing'
        and customer_return -> 'details' is distinct from ${json(details)}::jsonb
      returning id`;
    if (kept.length > 0) ctx.after({ nudge: LOOK_AFTER_JOB, payload: { payment_id: paymentId } });
  });

/**
 * Tells a provider what a customer has brought back, and brings the payment to the state that it answers. An answer of
 * another payment, or a refusal, says nothing of this one: its event decides.
 *
 * @throws Outage, when there was no answer: it is asked again with the same key
 */
export async function handInReturn(
  deps: SystemDeps,
  organizationId: OrganizationId,
  { row, provider }: Connected,
  payment: PaymentRow & { customer_return: CustomerReturn },
): Promise<void> {
  const { id, customer_return: returned } = payment;
  const scope = { db: deps.sql, organizationId };
  if (!provider.completeCharge || isKeyForgotten(row, Temporal.Instant.from(returned.at)))
    return void (await forgetReturn(scope, id, returned));
  const readAt = realNow();
  let outcome: ChargeOutcome;
  try {
    outcome = await provider.completeCharge({ paymentId: id, details: returned.details });
  } catch (error) {
    if (!(error instanceof ReadRefused)) throw error;
    deps.log.warn({ organization_id: organizationId, paymentId: id, code: error.error.code }, 'a return was refused');
    return void (await forgetReturn(scope, id, returned));
  }
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const now = await lockPayment(ctx, id);
    await forgetReturn(ctx, id, returned);
    // What the customer was sent away for is done, unless the answer asks for more.
    if (outcome.kind === 'answered')
      await applyComparedAnswer(ctx, row, now, {
        answer: { ...outcome, nextAction: outcome.nextAction ?? {} },
        isEvent: true,
        readAt,
      });
  });
}

/** Only what was handed in: the customer may have come back once more. */
const forgetReturn = ({ db, organizationId }: Scope, id: PaymentId, returned: CustomerReturn) => db`
  update payments set customer_return = null
  where organization_id = ${organizationId} and id = ${id} and customer_return = ${json(returned)}::jsonb`;
