import type { Context } from '../../../platform/context.ts';
import { findRow, getRow, insertRow, lockRow, updateRow } from '../../../platform/db/rows.ts';
import type { MetricId, PlanId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { couponDeleted } from '../announcements.ts';
import { definitionFaults, definitionOf, frozenFaults } from './definition.ts';
import { type CouponRow, coupons, findTargetedMetrics, findTargetedPlans, isCouponApplied } from './queries.ts';
import type { CouponCreate, CouponUpdate } from './schema.ts';
import { markCouponDeleted, replaceTargets } from './writes.ts';

/**
 * Makes a coupon.
 *
 * @throws Refusal 404 plans, billable_metrics; 405 only_one_limitation_type_per_coupon_allowed; 422 by field
 * Rule: coupons.md#fields.
 */
export async function createCoupon(ctx: Context, { body }: { body: CouponCreate }) {
  const definition = definitionOf(body);
  const targets = await targetsOf(ctx, body.applies_to ?? {});
  const taken = await findRow(ctx, coupons, definition.code);
  refuseFaults({ ...definitionFaults(definition, ctx.now()), ...(taken ? { code: ['value_already_exist'] } : {}) });
  const { id } = await insertRow(ctx, coupons, { ...definition, ...limitsOf(targets), status: 'active' });
  await replaceTargets(ctx, id, targets);
  return record(ctx, 'created', await getRow(ctx, coupons, definition.code));
}

/**
 * Changes a coupon. Once a customer had it only name, description and expiration may change.
 *
 * @throws Refusal 404 coupon, plans, billable_metrics; 405 only_one_limitation_type_per_coupon_allowed; 422 by field;
 *   value_is_frozen
 * Rule: coupons.md#fields.
 */
export async function updateCoupon(ctx: Context, { code, body }: { code: string; body: CouponUpdate }) {
  const stored = await lockRow(ctx, coupons, code);
  const definition = definitionOf(body, stored);
  const targets = body.applies_to === undefined ? undefined : await targetsOf(ctx, body.applies_to ?? {});
  const limits = targets === undefined ? limitsStored(stored) : limitsOf(targets);
  const isFrozen = await isCouponApplied(ctx, stored.id);
  const isTaken = definition.code !== stored.code && (await findRow(ctx, coupons, definition.code));
  refuseFaults({
    ...definitionFaults(definition, ctx.now(), stored),
    ...(isTaken ? { code: ['value_already_exist'] } : {}),
    ...(isFrozen ? frozenFaults(definition, stored) : {}),
    ...(isFrozen && targets && !hasSameTargets(targets, stored) ? { applies_to: ['value_is_frozen'] } : {}),
  });
  await updateRow(ctx, coupons, stored, { ...definition, ...limits });
  if (targets) await replaceTargets(ctx, stored.id, targets);
  return record(ctx, 'updated', await getRow(ctx, coupons, definition.code), stored);
}

/**
 * Deletes a coupon: it can no longer be found or applied, and every active use of it ends at the same instant.
 *
 * @throws Refusal 404 coupon
 * Rule: coupons.md#fields.
 */
export async function deleteCoupon(ctx: Context, { code }: { code: string }) {
  const stored = await lockRow(ctx, coupons, code);
  await markCouponDeleted(ctx, stored.id, ctx.now());
  await announce(ctx, couponDeleted, { coupon_id: stored.id });
  return record(ctx, 'deleted', {
    ...stored,
    status: 'terminated',
    terminated_at: stored.terminated_at ?? ctx.now(),
  });
}

interface Targets {
  planIds: PlanId[];
  planCodes: string[];
  metricIds: MetricId[];
  metricCodes: string[];
}

async function targetsOf(ctx: Context, appliesTo: NonNullable<CouponCreate['applies_to']>): Promise<Targets> {
  const { plan_codes: planCodes = [], billable_metric_codes: metricCodes = [] } = appliesTo;
  if (planCodes.length > 0 && metricCodes.length > 0)
    throw refuse.notAllowed('only_one_limitation_type_per_coupon_allowed');
  const plans = await findTargetedPlans(ctx, planCodes);
  const metrics = await findTargetedMetrics(ctx, metricCodes);
  return {
    planIds: plans.map(({ id }) => id),
    planCodes: plans.map(({ code }) => code),
    metricIds: metrics.map(({ id }) => id),
    metricCodes: metrics.map(({ code }) => code),
  };
}

const limitsOf = ({ planIds, metricIds }: Targets) => ({
  limited_plans: planIds.length > 0,
  limited_billable_metrics: metricIds.length > 0,
});

const limitsStored = ({ limited_plans, limited_billable_metrics }: CouponRow) => ({
  limited_plans,
  limited_billable_metrics,
});

const hasSameTargets = ({ planCodes, metricCodes }: Targets, stored: CouponRow): boolean =>
  isSameSet(planCodes, stored.plan_codes) && isSameSet(metricCodes, stored.billable_metric_codes);

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each) => others.includes(each));

function record(ctx: Context, action: 'created' | 'updated' | 'deleted', coupon: CouponRow, before?: CouponRow) {
  const object = viewOf(coupons, coupon);
  const former = before ? { before: viewOf(coupons, before) } : {};
  recordChange(ctx, { name: 'coupon', resourceType: 'Coupon', action, object, ...former });
  return { coupon: object };
}
