import { assert } from '../../../../engine/assert.ts';
import type { PlanTerms } from '../../../../engine/calendar/terms.ts';
import type { Context } from '../../../../platform/context.ts';
import type { PlanId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { isUnitsOnly, overrideUnits, type UnitsHolder } from '../../../catalog/fixed-charges/overrides.ts';
import { changeOverride } from '../../../catalog/plans/change-override.ts';
import { copyPlan } from '../../../catalog/plans/copy-plan.ts';
import type { PlanOverrides } from '../../../catalog/plans/override-schema.ts';
import { listPlansById } from '../../../catalog/plans/queries.ts';
import { type PlanShown, showPlan } from '../../../catalog/plans/show-plans.ts';
import { replaceThresholds } from '../../../catalog/usage-thresholds/writes.ts';
import { getShown, type SubscriptionRow } from '../queries.ts';
import { changeSubscription } from '../writes.ts';

type Overriding = Pick<SubscriptionRow, 'id' | 'plan_id'>;

/** Whether an input overrides anything at all. */
export const isOverriding = (overrides: PlanOverrides | null | undefined): overrides is PlanOverrides =>
  overrides !== null && overrides !== undefined && Object.keys(overrides).length > 0;

/** Whether overrides name nothing but units of fixed charges, for which the plan is not copied. */
export const isForUnitsOnly = (overrides: PlanOverrides): boolean =>
  Object.entries(overrides).every(([field, value]) => field === 'fixed_charges' || value === undefined) &&
  isUnitsOnly(overrides.fixed_charges ?? []);

/** Gives a new subscription units of its own, if it overrides nothing else. Rule: fixed-charges.md#override. */
export async function saveFirstUnits(
  ctx: Context,
  plan: PlanTerms & { id: PlanId },
  subscription: UnitsHolder,
  overrides: PlanOverrides | null | undefined,
): Promise<void> {
  if (!isOverriding(overrides) || !isForUnitsOnly(overrides)) return;
  await overrideUnits(ctx, plan, subscription, overrides.fixed_charges ?? [], { isNew: true });
}

/**
 * Refuses thresholds at two places of an input.
 *
 * @throws Refusal 422 usage_thresholds, plan_overrides.usage_thresholds: incompatible_params
 * Rule: plans.md#overrides-and-cascade.
 */
export function refuseTwoThresholds(body: {
  usage_thresholds?: unknown;
  plan_overrides?: PlanOverrides | null | undefined;
}): void {
  if (!body.usage_thresholds || !body.plan_overrides?.usage_thresholds) return;
  const codes = ['incompatible_params'];
  throw refuse.invalid({ usage_thresholds: codes, 'plan_overrides.usage_thresholds': codes });
}

/**
 * Makes the override of a plan for a subscription that is about to be created.
 *
 * @returns id of the copy
 * @throws Refusal as changeOverride
 */
export async function overriddenPlan(ctx: Context, planId: PlanId, overrides: PlanOverrides): Promise<string> {
  const copy = await copyPlan(ctx, await showPlanById(ctx, planId));
  await changeOverride(ctx, copy, overrides);
  return copy.plan.id;
}

/**
 * Changes the plan of one subscription only: its copy is made the first time and changed in place afterwards. Units of
 * fixed charges alone need no copy.
 *
 * @returns id of the plan that the subscription has then
 * @throws Refusal as changeOverride
 * Rule: plans.md#overrides-and-cascade.
 */
export async function overrideSubscription(
  ctx: Context,
  subscription: SubscriptionRow,
  overrides: PlanOverrides,
): Promise<string> {
  if (isForUnitsOnly(overrides)) {
    const [plan] = await listPlansById(ctx, [subscription.plan_id]);
    if (plan?.parent_id === null) {
      const { zone } = await getShown(ctx, subscription.id);
      await overrideUnits(ctx, plan, { ...subscription, zone }, overrides.fixed_charges!);
      return plan.id;
    }
  }
  const copy = await ownPlan(ctx, subscription);
  await changeOverride(ctx, copy, overrides);
  return copy.plan.id;
}

/** The copy that a subscription has of its plan; it is made when there is none. The caller holds the subscription. */
export async function ownPlan(ctx: Context, subscription: Overriding): Promise<PlanShown> {
  await lockCopy(ctx, subscription.plan_id);
  const shown = await showPlanById(ctx, subscription.plan_id);
  if (shown.plan.parent_id !== null) return shown;
  const copy = await copyPlan(ctx, shown, subscription.id);
  await changeSubscription(ctx, subscription.id, { change: { plan_id: copy.plan.id }, now: ctx.now() });
  return copy;
}

/**
 * Moves thresholds from a subscription's override to the subscription itself. Rule:
 * progressive-billing.md#usage-thresholds.
 */
export async function clearThresholdsOfCopy(ctx: Context, planId: PlanId): Promise<void> {
  const [plan] = await listPlansById(ctx, [planId]);
  if (plan?.parent_id) await replaceThresholds(ctx, { plan_id: plan.id }, { thresholds: [], now: ctx.now() });
}

/**
 * Locks the plan behind the records of an external id, not its copies, until the transaction ends; before customers and
 * subscriptions, in the same order as changes of plans.
 */
export const lockPlansOf = (ctx: Context, externalId: string) => ctx.db`
  select plan.id from plans plan
  where plan.organization_id = ${ctx.organizationId} and plan.id in (
    select coalesce(own.parent_id, own.id) from subscriptions s
    join plans own on own.organization_id = s.organization_id and own.id = s.plan_id
    where s.organization_id = ${ctx.organizationId} and s.external_id = ${externalId}
      and s.status in ('active', 'pending', 'incomplete'))
  order by plan.id
  for share`;

// Guards against the step that applies changes of the plan.
const lockCopy = (ctx: Context, planId: PlanId) => ctx.db`
  select id from plans
  where organization_id = ${ctx.organizationId} and id = ${planId} and parent_id is not null
  for update`;

async function showPlanById(ctx: Context, planId: PlanId): Promise<PlanShown> {
  const [plan] = await listPlansById(ctx, [planId]);
  assert(plan, 'a subscription has a plan');
  return showPlan(ctx, plan);
}
