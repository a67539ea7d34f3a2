import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { SubscriptionStatus } from '../../../engine/subscriptions/subscription-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import type { BillStep } from '../../subscriptions/subscriptions/commands/start.ts';
import { GATE_STEP } from '../../subscriptions/subscriptions/settle-gate.ts';
import { gatherPaidFees } from '../bill-in-advance/gather-paid-fees.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';

/**
 * After-step `bill-subscriptions`: makes the invoice that a start, an end or a plan change owes. It never bills
 * anything twice, so it may run again.
 */
export async function billStep(ctx: Context, { lines, at }: BillStep): Promise<void> {
  const subscriptions = await ctx.db<{ customer_id: CustomerId; status: SubscriptionStatus; is_plan_gone: boolean }[]>`
    select s.customer_id, s.status, plan.pending_deletion or plan.deleted_at is not null as is_plan_gone
    from subscriptions s
    join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id
    where s.organization_id = ${ctx.organizationId} and s.id = any (${lines.map((line) => line.subscription_id)}::uuid[])`;
  const [owner] = subscriptions;
  assert(owner, 'a subscription that is to be billed exists');
  const payer = await lockPayer(ctx, owner.customer_id);
  // The payment may have timed out before this step runs.
  if (subscriptions.every(({ status }) => status === 'canceled')) return;
  const isGated = subscriptions.some(({ status }) => status === 'incomplete');
  const skipUsage = lines.every(({ reason }) => reason !== 'subscription_terminating');
  const invoiceId = await buildInvoice(ctx, {
    payer,
    lines: linesOfStep({ lines }),
    at: Temporal.Instant.from(at),
    skipUsage,
    isGated,
  });
  // A subscription with nothing to pay stops waiting (activation-rules.md).
  if (isGated) ctx.after({ step: GATE_STEP, payload: { subscription_id: lines[0]!.subscription_id } });
  const ended = lines.filter(({ reason }) => reason === 'subscription_terminating');
  await gatherPaidFees(
    ctx,
    payer,
    ended.map((line) => line.subscription_id),
    Temporal.Instant.from(at),
  );
  // The last invoice of a deleted plan has no grace period (plans.md#deletion).
  if (invoiceId !== undefined && subscriptions.some(({ is_plan_gone }) => is_plan_gone))
    ctx.after({ step: 'finalize-draft', payload: { invoice_id: invoiceId } });
}

/** The input from which the lines of an owed invoice are made. */
export const linesOfStep = ({ lines }: Pick<BillStep, 'lines'>) =>
  lines.map(({ fixed_charges, ...line }) => ({ ...line, fixedCharges: fixed_charges }));
