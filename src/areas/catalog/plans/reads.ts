import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getPlanByCode, listPlans } from './queries.ts';
import type { PlanListQuery } from './schema.ts';
import { showPlan, showPlans } from './show-plans.ts';
import { planView } from './view.ts';

/** Seven statements in six round trips, whatever the number of plans and charges. */
export async function listAllPlans(ctx: Context, { query }: { query: PlanListQuery }) {
  const { rows, total } = await listPlans(ctx, query);
  const shown = await showPlans(ctx, rows);
  return { plans: shown.map(planView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 plan */
export async function showPlanByCode(ctx: Context, { code }: { code: string }) {
  const plan = await getPlanByCode(ctx, code);
  return { plan: planView(await showPlan(ctx, plan)) };
}
