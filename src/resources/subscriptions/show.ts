import { assert } from '../../engine/assert.ts';
import type { Context } from '../../platform/context.ts';
import { listPlansById } from '../plans/queries.ts';
import { showPlan } from '../plans/shown.ts';
import { planView } from '../plans/view.ts';
import { listApplicableThresholds } from '../usage-thresholds/queries.ts';
import { applicableThresholdView } from '../usage-thresholds/view.ts';
import type { SubscriptionShown } from './queries.ts';
import { subscriptionView } from './view.ts';

/** The plan of a subscription as its JSON embeds it; a deleted one too. */
export async function planOf(ctx: Pick<Context, 'db' | 'organizationId'>, planId: string) {
  const [plan] = await listPlansById(ctx.db, ctx.organizationId, [planId]);
  assert(plan, 'a subscription has a plan');
  return planView(await showPlan(ctx.db, ctx.organizationId, plan));
}

/** A subscription with its plan: what one alone shows. */
export const extendedView = async (ctx: Context, row: SubscriptionShown) => ({
  ...subscriptionView(row, ctx.now()),
  plan: await planOf(ctx, row.plan_id),
  applicable_usage_thresholds: (await listApplicableThresholds(ctx.db, ctx.organizationId, row.id)).map(
    applicableThresholdView,
  ),
  entitlements: [],
});
