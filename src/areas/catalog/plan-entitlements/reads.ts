import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { planEntitlementView } from '../entitlements/view.ts';
import { features } from '../features/queries.ts';
import { getPlanByCode } from '../plans/queries.ts';

/** @throws Refusal 404 plan */
export async function listPlanEntitlements(ctx: Context, { code }: { code: string }) {
  const plan = await getPlanByCode(ctx, code);
  return { entitlements: plan.entitlements.map(planEntitlementView) };
}

/** @throws Refusal 404 plan, feature, entitlement */
export async function showPlanEntitlement(
  ctx: Context,
  { code, feature_code }: { code: string; feature_code: string },
) {
  const plan = await getPlanByCode(ctx, code);
  const grant = plan.entitlements.find((each) => each.code === feature_code);
  if (!grant) {
    await getRow(ctx, features, feature_code);
    throw refuse.notFound('entitlement');
  }
  return { entitlement: planEntitlementView(grant) };
}
