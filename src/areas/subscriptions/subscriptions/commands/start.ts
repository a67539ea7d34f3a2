import type { Temporal } from 'temporal-polyfill';
import { isInTrial } from '../../../../engine/subscriptions/trial.ts';
import type { Context } from '../../../../platform/context.ts';
import type { PlanId, SubscriptionId } from '../../../../platform/ids.ts';
import type { StepPayload } from '../../../../steps.ts';
import { hasFixedChargesInAdvance } from '../../../catalog/fixed-charges/queries.ts';
import { recordStartUnits } from '../../../catalog/fixed-charges/units-of-subscriptions.ts';
import { evaluateRules } from '../activation-rules.ts';
import { recordSubscription } from '../announce.ts';
import type { SubscriptionRow } from '../queries.ts';
import { changeSubscription, firstStartOf, type PlanFacts } from '../writes.ts';
import { nextBillingFrom } from './next-billing.ts';

/**
 * Starts a pending subscription at `at`: it becomes active and, when there is something to pay in advance, owes its
 * first invoice, for whose payment its rules may make it wait. Rules: subscriptions.md#creation-and-first-billing,
 * activation-rules.md.
 */
export async function startSubscription(
  ctx: Context,
  subscription: SubscriptionRow,
  { plan, zone, at }: { plan: PlanFacts; zone: string; at: Temporal.Instant },
): Promise<void> {
  const started = { ...subscription, started_at: at };
  await changeSubscription(ctx, subscription.id, {
    change: {
      status: 'active',
      started_at: at,
      activated_at: ctx.now(),
      next_billing_at: nextBillingFrom(plan, started, zone, at),
    },
    now: ctx.now(),
  });
  await announceStart(ctx, plan, { subscription: started, zone, startedAt: at, billedAt: at });
}

/**
 * Completes the start of a subscription stored as active: it waits if it has rules and something to pay, and is
 * announced. Its first invoice is owed, billed at `billedAt`: with the plan's fee if that is in advance and not in
 * trial, else with fixed charges in advance, if there are any.
 *
 * Rules: subscriptions.md#creation-and-first-billing, activation-rules.md.
 */
export async function announceStart(
  ctx: Context,
  plan: PlanFacts,
  {
    subscription,
    zone,
    startedAt,
    billedAt,
  }: {
    subscription: Started & Parameters<typeof recordStartUnits>[1] & { id: SubscriptionId; plan_id: PlanId };
    zone: string;
    startedAt: Temporal.Instant;
    billedAt: Temporal.Instant;
  },
): Promise<void> {
  const lines = await startLines(ctx, plan, subscription, startedAt);
  const waits = await evaluateRules(ctx, subscription.id, lines.length > 0);
  if (waits) {
    const change = { status: 'incomplete', activated_at: null, next_billing_at: null } as const;
    await changeSubscription(ctx, subscription.id, { change, now: ctx.now() });
  }
  await recordSubscription(ctx, waits ? 'subscription.incomplete' : 'subscription.started', subscription.id);
  await recordStartUnits(ctx, subscription, startedAt, zone);
  if (lines.length > 0) ctx.after({ step: BILL_STEP, payload: { lines, at: billedAt.toString() } });
}

/**
 * Lets a pending successor wait for its first payment if its rules require it: it starts at `at` and is billed in
 * advance, while its predecessor runs on. Otherwise only its rules are marked as not applicable.
 *
 * @returns whether it waits
 * Rules: plan-changes.md#upgrade, plan-changes.md#downgrade, activation-rules.md.
 */
export async function waitForPayment(
  ctx: Context,
  plan: PlanFacts,
  {
    successor,
    zone,
    at,
  }: {
    successor: Started & Parameters<typeof recordStartUnits>[1] & { id: string; plan_id: PlanId };
    zone: string;
    at: Temporal.Instant;
  },
): Promise<boolean> {
  const lines = await startLines(ctx, plan, successor, at);
  if (!(await evaluateRules(ctx, successor.id, lines.length > 0))) return false;
  const change = { status: 'incomplete', started_at: at, activated_at: null, next_billing_at: null } as const;
  await changeSubscription(ctx, successor.id, { change, now: ctx.now() });
  await recordSubscription(ctx, 'subscription.incomplete', successor.id);
  await recordStartUnits(ctx, successor, at, zone);
  ctx.after({ step: BILL_STEP, payload: { lines, at: at.toString() } });
  return true;
}

async function startLines(
  ctx: Context,
  plan: PlanFacts,
  subscription: Started & { id: SubscriptionId; plan_id: PlanId },
  at: Temporal.Instant,
): Promise<BillStep['lines']> {
  const { id, plan_id } = subscription;
  if (await bearsStartInvoice(ctx, plan, subscription, at))
    return [{ subscription_id: id, reason: 'subscription_starting' }];
  if (await hasFixedChargesInAdvance(ctx, plan_id))
    return [{ subscription_id: id, reason: 'in_advance_charge', fixed_charges: 'opening' }];
  return [];
}

type Started = Pick<SubscriptionRow, 'customer_id' | 'external_id' | 'subscription_at' | 'trial_ended_at'>;

/**
 * Whether a subscription that takes over is billed on the same invoice as its predecessor. Rule:
 * plan-changes.md#upgrade.
 */
export const bearsOpeningLine = async (
  ctx: Context,
  plan: PlanFacts,
  subscription: Started & { plan_id: PlanId },
  at: Temporal.Instant,
): Promise<boolean> =>
  (await bearsStartInvoice(ctx, plan, subscription, at)) || hasFixedChargesInAdvance(ctx, subscription.plan_id);

/** Name of the owed work that makes an invoice from known lines. */
export const BILL_STEP = 'bill-subscriptions';

/** Payload of that step: one invoice with these lines, billed at an instant. */
export type BillStep = StepPayload<'bill-subscriptions'>;

/**
 * Whether a subscription that starts at `at` is billed its fee at once.
 * Rule: subscriptions.md#creation-and-first-billing.
 */
async function bearsStartInvoice(
  ctx: Context,
  plan: PlanFacts,
  subscription: Started,
  at: Temporal.Instant,
): Promise<boolean> {
  if (!plan.pay_in_advance) return false;
  if (plan.trial_period === null || plan.trial_period.isZero()) return true;
  const firstStartedAt = await firstStartOf(ctx, subscription.customer_id, subscription.external_id);
  return !isInTrial({ plan, subscription, firstStartedAt }, at);
}
