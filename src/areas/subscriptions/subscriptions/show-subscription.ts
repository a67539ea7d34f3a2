import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { listPlansById } from '../../catalog/plans/queries.ts';
import { showPlan } from '../../catalog/plans/show-plans.ts';
import { planView } from '../../catalog/plans/view.ts';
import { entitlementsOf } from '../entitlements/reads.ts';
import type { SubscriptionShown } from './queries.ts';
import { subscriptionView } from './view.ts';

/** The plan of a subscription as its JSON embeds it; a deleted one too. */
export async function planOf(ctx: Scope, planId: PlanId) {
  const [plan] = await listPlansById(ctx, [planId]);
  assert(plan, 'a subscription has a plan');
  return planView(await showPlan(ctx, plan));
}

/** A subscription with its plan, as it is shown when read alone. */
export async function extendedView(ctx: Context, row: SubscriptionShown) {
  const [plan, entitlements] = await Promise.all([planOf(ctx, row.plan_id), entitlementsOf(ctx, row)]);
  return {
    ...subscriptionView(row, ctx.now()),
    plan,
    applicable_usage_thresholds: applicableThresholds(row, plan.applicable_usage_thresholds),
    entitlements,
  };
}

/**
 * Its own thresholds, else those of its plan; none when progressive billing is off.
 * Rule: progressive-billing.md#usage-thresholds.
 */
function applicableThresholds<Threshold>(
  { progressive_billing_disabled, own_thresholds }: SubscriptionShown,
  ofPlan: readonly Threshold[],
) {
  if (progressive_billing_disabled) return [];
  return own_thresholds.length > 0 ? own_thresholds : ofPlan;
}
