import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { plansEnd } from '../announcements.ts';
import { listChargesOfPlans } from '../charges/queries.ts';
import { deleteEntitlementsOfPlan } from '../entitlements/writes.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import { listOverrideIds } from './queries.ts';
import { markPlanDeleted } from './writes.ts';

/**
 * Step `finish-plan-deletion`: ends the subscriptions of a plan's overrides and of
 * the plan, each with its last invoice, and cancels those that have
 * not started; then the plan is gone and its drafts become final. Its charges stay with it, since that last invoice and
 * older ones still show them. Safe to run twice. Rule: plans.md#deletion.
 */
export async function finishPlanDeletion(ctx: Context, { plan_id }: { plan_id: PlanId }): Promise<void> {
  const planIds = [...(await listOverrideIds(ctx, plan_id)), plan_id];
  await announce(ctx, plansEnd, { plan_ids: planIds });
  await markPlanDeleted(ctx, plan_id, ctx.now());
  // Marking locks the plan, so every earlier grant has been committed by now.
  await deleteEntitlementsOfPlan(ctx, plan_id);
  for (const id of planIds) ctx.after({ step: 'finalize-plan-drafts', payload: { plan_id: id } });
  const charges = await listChargesOfPlans(ctx, planIds);
  await refreshShapes(ctx, [...new Set(charges.map(({ billable_metric_id }) => billable_metric_id))], 'charges');
}
