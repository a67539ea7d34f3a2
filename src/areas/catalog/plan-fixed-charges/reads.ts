import type { Context } from '../../../platform/context.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { countFixedCharges, getFixedChargeByCode, listFixedCharges } from '../fixed-charges/queries.ts';
import { showFixedCharges } from '../fixed-charges/show-fixed-charges.ts';
import { fixedChargeView } from '../fixed-charges/view.ts';
import { getPlanByCode } from '../plans/queries.ts';

/** @throws Refusal 404 plan */
export async function listPlanFixedCharges(ctx: Context, { code, query }: { code: string; query: Page }) {
  const plan = await getPlanByCode(ctx, code);
  const { shown, meta } = await pageOf(ctx, plan.id, query);
  return { fixed_charges: shown.map((each) => fixedChargeView(each)), meta };
}

/** @throws Refusal 404 plan, fixed_charge */
export async function showPlanFixedCharge(
  ctx: Context,
  { code, fixed_charge_code }: { code: string; fixed_charge_code: string },
) {
  const plan = await getPlanByCode(ctx, code);
  return { fixed_charge: fixedChargeView(await shownByCode(ctx, plan.id, fixed_charge_code)) };
}

/** A page of the fixed charges of a plan, and its meta. */
export async function pageOf(ctx: Context, planId: PlanId, query: Page) {
  const [rows, count] = await Promise.all([listFixedCharges(ctx, planId, query), countFixedCharges(ctx, planId)]);
  return { shown: await showFixedCharges(ctx, rows), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 fixed_charge */
export async function shownByCode(ctx: Context, planId: PlanId, code: string) {
  const row = await getFixedChargeByCode(ctx, planId, code);
  const [shown] = await showFixedCharges(ctx, [row]);
  return shown!;
}
