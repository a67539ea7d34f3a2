import type { Context } from '../../../platform/context.ts';
import type { PaymentId } from '../../../platform/ids.ts';
import { sandboxCharge } from '../../../platform/payments/sandbox/behaviour.ts';
import { NOT_CONFIRMED } from '../../../platform/payments/unconfirmed.ts';
import type { StepPayload } from '../../../steps.ts';
import { readMethod } from '../../customers/payment-methods/queries.ts';
import { storeInboundEvent } from '../inbound-events/store-inbound-event.ts';
import { type PaymentRow, readPayment } from '../payments/queries.ts';
import { oweCharge } from '../payments/start-charge.ts';
import { changePayment } from '../payments/writes.ts';
import { applyAnswer, leavePending, lockPayment } from './apply-outcome.ts';
import { isOfGate, isWaiting } from './end-unconfirmed.ts';

/**
 * Seconds between attempts to reach a provider. Rule: payments.md#automatic-payment "job retried 6 times, growing
 * waits".
 */
export const RETRY_SECONDS = [5, 15, 60, 300, 900, 3600] as const;

/** Step in which a sandbox reports an outcome later; the report is stored like any provider's event when it is due. */
export const TELL_STEP = 'tell-sandbox-event';

/**
 * Step `charge-sandbox-payment`: a sandbox decides by the method alone and without network, so the step charges it in
 * its own transaction. Rule: provider-connections.md#sandbox-provider.
 */
export async function chargeSandboxPayment(ctx: Context, { payment_id: id }: { payment_id: PaymentId }): Promise<void> {
  const payment = await lockPayment(ctx, id);
  if (payment.payment_status !== 'pending' || payment.error !== null) return;
  const method = payment.payment_method_id === null ? undefined : await readMethod(ctx, payment.payment_method_id);
  const tries = payment.charge_attempts + 1;
  await changePayment(ctx, id, { change: { charge_attempts: tries, charged_at: ctx.now() }, now: ctx.now() });
  const { outcome, later } = sandboxCharge({
    emulates: method?.provider_type ?? payment.provider_type!,
    behaviour: method ? (method.details.behaviour ?? { does: 'succeed' }) : { does: 'be_transferred' },
    amountCents: payment.amount_cents,
    currency: payment.amount_currency,
    attempt: await countCharges(ctx, payment),
    tries,
    providerPaymentId: `pi_sandbox_${payment.id}`,
  });
  if (outcome.kind === 'answered') await applyAnswer(ctx, payment, outcome);
  else if (outcome.kind === 'amount_too_small') await leavePending(ctx, payment, outcome.error, 'pending');
  else if (outcome.kind === 'authentication_required') await leavePending(ctx, payment, outcome.error, 'failed');
  else await tryLater(ctx, payment, tries);
  for (const event of later) {
    ctx.after({
      step: TELL_STEP,
      payload: { connection_id: payment.payment_provider_id!, payment_id: payment.id, event },
      dueAt: ctx.now().add({ seconds: event.afterSeconds }),
    });
  }
}

async function tryLater(ctx: Context, payment: PaymentRow, tries: number): Promise<void> {
  const wait = RETRY_SECONDS[tries - 1];
  if (wait !== undefined)
    await oweCharge(ctx, payment.id, payment.payment_provider_id!, ctx.now().add({ seconds: wait }));
}

/**
 * Step `tell-sandbox-event`: the sandbox reports the outcome of a payment that was not given up, as every provider
 * does.
 */
export async function tellSandboxEvent(
  ctx: Context,
  { connection_id, payment_id, event }: StepPayload<typeof TELL_STEP>,
): Promise<void> {
  const payment = await readPayment(ctx, payment_id);
  if (payment.status === 'canceled') return;
  if (event.tells === 'expiry' && (!isWaiting(payment) || (await isOfGate(ctx, payment)))) return;
  await storeInboundEvent(ctx, {
    connectionId: connection_id,
    providerEventId: `evt_${payment_id}_${event.type}`,
    type: event.type,
    payload: {
      type: event.type,
      provider_payment_id: `pi_sandbox_${payment_id}`,
      ...toldBy(event),
    },
  });
}

function toldBy(event: StepPayload<typeof TELL_STEP>['event']): object {
  if (event.tells === 'dispute') return { dispute: event.isLost ? 'lost' : 'won' };
  return { status: event.status, ...(event.tells === 'expiry' ? { error: NOT_CONFIRMED } : {}) };
}

/** The number of a payment among the charges of its payable, from 1. */
async function countCharges(ctx: Context, payment: PaymentRow): Promise<number> {
  const [row] = await ctx.db<{ count: number }[]>`
    select count(*) as count from payments
    where organization_id = ${ctx.organizationId} and payable_type = ${payment.payable_type}
      and payable_id = ${payment.payable_id} and payment_type = 'provider'`;
  return row!.count;
}
