import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { CascadeBody } from '../charges/schema.ts';
import type { ChargeShown } from '../charges/show-charges.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { announcePlan } from '../plans/announce.ts';
import { cascadeChanges } from '../plans/cascade-changes.ts';
import { lockPlanByCode } from '../plans/queries.ts';
import { type PlanShown, showPlan } from '../plans/show-plans.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';

/**
 * Changes charges or charge filters of one plan: the plan is locked first; afterwards rollups follow, its draft
 * invoices are flagged and the change of the plan is announced.
 *
 * @param body its `cascade_updates` decides whether overrides follow
 * @param change returns the metrics whose charges changed
 * @returns the plan as it is then
 * @throws Refusal 404 plan
 */
export async function changeWithinPlan(
  ctx: Context,
  planCode: string,
  body: CascadeBody | undefined,
  change: (before: PlanShown) => Promise<string[]>,
): Promise<PlanShown> {
  const plan = await lockPlanByCode(ctx, planCode);
  const before = await showPlan(ctx, plan);
  const metricIds = await change(before);
  await refreshShapes(ctx, [...new Set(metricIds)], 'charges');
  await flagDraftInvoicesOfPlans(ctx, [plan.id], ctx.now());
  const after = await showPlan(ctx, plan);
  if (body?.cascade_updates) await cascadeChanges(ctx, before, after);
  announcePlan(ctx, 'updated', after, before);
  return after;
}

/** @throws Refusal 404 charge */
export function chargeOf({ charges }: PlanShown, code: string): ChargeShown {
  const found = charges.find(({ charge }) => charge.code === code);
  if (!found) throw refuse.notFound('charge');
  return found;
}
