import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { countPlans, getPlanByCode, listPlans } from './queries.ts';
import { showPlan, showPlans } from './show-plans.ts';
import { planView } from './view.ts';

/** Six statements, whatever the number of plans and charges. */
export async function listAllPlans(ctx: Context, { query }: { query: Page }) {
  const plans = await listPlans(ctx, query);
  // A page behind the last one is empty.
  const count = plans[0]?.total_count ?? (await countPlans(ctx));
  const shown = await showPlans(ctx, plans);
  return { plans: shown.map(planView), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 plan */
export async function showPlanByCode(ctx: Context, { code }: { code: string }) {
  const plan = await getPlanByCode(ctx, code);
  return { plan: planView(await showPlan(ctx, plan)) };
}
