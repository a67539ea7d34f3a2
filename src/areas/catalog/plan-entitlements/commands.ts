import { grantValues, type Values } from '../../../engine/entitlements/merge-overrides.ts';
import { own } from '../../../engine/own.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { PlanGrantJson } from '../entitlements/plan-grants.ts';
import { listGrantsOfPlan } from '../entitlements/queries.ts';
import { readGiven } from '../entitlements/read-values.ts';
import type { GivenFeature } from '../entitlements/schema.ts';
import { planEntitlementView } from '../entitlements/view.ts';
import { deleteEntitlements, saveGrant } from '../entitlements/writes.ts';
import { keepFeatures } from '../features/queries.ts';
import { announcePlan } from '../plans/announce.ts';
import { getPlanByCode, lockPlanByCode, type PlanRow } from '../plans/queries.ts';
import { showPlan } from '../plans/show-plans.ts';

interface Input {
  code: string;
  body: GivenFeature[];
}

/**
 * Replaces the entitlements of a plan: features that are not listed are removed, and so are privileges, unless a
 * feature is listed without any.
 *
 * @throws Refusal 404 plan, feature, privilege; 422 as readGiven
 * Rule: entitlements.md#routes.
 */
export const replacePlanEntitlements = (ctx: Context, input: Input) => grant(ctx, input, { replaces: true });

/** Adds to the entitlements of a plan. @throws Refusal as replacePlanEntitlements. Rule: entitlements.md#routes. */
export const mergePlanEntitlements = (ctx: Context, input: Input) => grant(ctx, input, { replaces: false });

async function grant(ctx: Context, { code, body }: Input, { replaces }: { replaces: boolean }) {
  const plan = await lockPlanByCode(ctx, code);
  const features = await keepFeatures(
    ctx,
    body.map(({ feature_code }) => feature_code),
  );
  const given = readGiven(body, features);
  const stored = await listGrantsOfPlan(ctx, plan.id);
  const gone = stored.filter(({ feature_id }) => !features.some(({ id }) => id === feature_id));
  if (replaces && gone.length > 0)
    await deleteEntitlements(
      ctx,
      gone.map(({ id }) => id),
    );
  for (const [featureCode, values] of given) {
    const feature = features.find((each) => each.code === featureCode)!;
    const former = stored.find(({ feature_id }) => feature_id === feature.id);
    const texts: Values = new Map(Object.entries(former?.values ?? {}));
    await saveGrant(ctx, {
      id: former?.id ?? null,
      feature,
      holder: { plan_id: plan.id },
      values: grantValues(texts, values, { replaces }),
    });
  }
  const after = await announceChange(ctx, plan);
  return { entitlements: after.entitlements.map(planEntitlementView) };
}

interface Address {
  code: string;
  feature_code: string;
}

/** Takes a feature from a plan and answers it as it was. @throws Refusal 404 plan, feature, entitlement */
export async function deletePlanEntitlement(ctx: Context, { code, feature_code }: Address) {
  const plan = await lockPlanByCode(ctx, code);
  const { grant: former, entitlementId } = await grantAt(ctx, plan, feature_code);
  await deleteEntitlements(ctx, [entitlementId]);
  await announceChange(ctx, plan);
  return { entitlement: planEntitlementView(former) };
}

/**
 * Takes a privilege of a feature from a plan and answers the feature as the plan then grants it.
 *
 * @throws Refusal 404 plan, feature, entitlement, privilege (one that the plan does not grant too)
 */
export async function deletePlanEntitlementPrivilege(
  ctx: Context,
  { code, feature_code, privilege_code }: Address & { privilege_code: string },
) {
  const plan = await lockPlanByCode(ctx, code);
  const { feature, entitlementId, values } = await grantAt(ctx, plan, feature_code);
  if (own(values, privilege_code) === undefined) throw refuse.notFound('privilege');
  const left = new Map(Object.entries(values).filter(([each]) => each !== privilege_code));
  await saveGrant(ctx, { id: entitlementId, feature, holder: { plan_id: plan.id }, values: left });
  const after = await announceChange(ctx, plan);
  return { entitlement: planEntitlementView(after.entitlements.find((each) => each.code === feature_code)!) };
}

async function grantAt(ctx: Context, plan: PlanRow, featureCode: string) {
  const [feature] = await keepFeatures(ctx, [featureCode]);
  const grants = await listGrantsOfPlan(ctx, plan.id);
  const stored = grants.find(({ feature_id }) => feature_id === feature!.id);
  const shown = plan.entitlements.find((each) => each.code === featureCode);
  if (!stored || !shown) throw refuse.notFound('entitlement');
  const former: PlanGrantJson = shown;
  return { feature: feature!, grant: former, entitlementId: stored.id, values: stored.values };
}

/** Records the plan as it then is, even if nothing changed. Rule: entitlements.md#routes. */
async function announceChange(ctx: Context, before: PlanRow): Promise<PlanRow> {
  const shown = await showPlan(ctx, before);
  const plan = await getPlanByCode(ctx, before.code);
  announcePlan(ctx, 'updated', { ...shown, plan }, shown);
  return plan;
}
