import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { couponDeleted } from '../announcements.ts';
import { definitionFaults, definitionOf, frozenFaults } from './definition.ts';
import {
  type CouponRow,
  findCoupon,
  findTargetedMetrics,
  findTargetedPlans,
  getCoupon,
  isCouponApplied,
  lockCoupon,
} from './queries.ts';
import type { CouponCreate, CouponUpdate } from './schema.ts';
import { couponView } from './view.ts';
import { insertCoupon, markCouponDeleted, replaceTargets, updateCouponRow } from './writes.ts';

/**
 * Makes a coupon.
 *
 * @throws Refusal 404 plans, billable_metrics; 405 only_one_limitation_type_per_coupon_allowed; 422 by field
 * Rule: coupons.md#fields.
 */
export async function createCoupon(ctx: Context, { body }: { body: CouponCreate }) {
  const { db, organizationId } = ctx;
  const definition = definitionOf(body);
  const targets = await targetsOf(ctx, body.applies_to ?? {});
  const taken = await findCoupon(db, organizationId, definition.code);
  refuseFaults({ ...definitionFaults(definition, ctx.now()), ...(taken ? { code: ['value_already_exist'] } : {}) });
  const id = newId();
  await insertCoupon(db, organizationId, { id, ...definition, ...limitsOf(targets) }, ctx.now());
  await replaceTargets(db, organizationId, id, targets);
  return record(ctx, 'created', await getCoupon(db, organizationId, definition.code));
}

/**
 * Changes a coupon. Once a customer had it only name, description and expiration may change.
 *
 * @throws Refusal 404 coupon, plans, billable_metrics; 405 only_one_limitation_type_per_coupon_allowed; 422 by field;
 *   value_is_frozen
 * Rule: coupons.md#fields.
 */
export async function updateCoupon(ctx: Context, { code, body }: { code: string; body: CouponUpdate }) {
  const { db, organizationId } = ctx;
  const stored = await lockCoupon(db, organizationId, code);
  const definition = definitionOf(body, stored);
  const targets = body.applies_to === undefined ? undefined : await targetsOf(ctx, body.applies_to ?? {});
  const limits = targets === undefined ? limitsStored(stored) : limitsOf(targets);
  const isFrozen = await isCouponApplied(db, organizationId, stored.id);
  const isTaken = definition.code !== stored.code && (await findCoupon(db, organizationId, definition.code));
  refuseFaults({
    ...definitionFaults(definition, ctx.now(), stored),
    ...(isTaken ? { code: ['value_already_exist'] } : {}),
    ...(isFrozen ? frozenFaults(definition, stored) : {}),
    ...(isFrozen && targets && !hasSameTargets(targets, stored) ? { applies_to: ['value_is_frozen'] } : {}),
  });
  await updateCouponRow(db, organizationId, stored.id, { ...definition, ...limits }, ctx.now());
  if (targets) await replaceTargets(db, organizationId, stored.id, targets);
  return record(ctx, 'updated', await getCoupon(db, organizationId, definition.code), couponView(stored));
}

/**
 * Deletes a coupon: it can no longer be found or applied, and every active use of it ends at the same instant.
 *
 * @throws Refusal 404 coupon
 * Rule: coupons.md#fields.
 */
export async function deleteCoupon(ctx: Context, { code }: { code: string }) {
  const { db, organizationId } = ctx;
  const stored = await lockCoupon(db, organizationId, code);
  await markCouponDeleted(db, organizationId, stored.id, ctx.now());
  await announce(ctx, couponDeleted, { coupon_id: stored.id });
  return record(ctx, 'deleted', {
    ...stored,
    status: 'terminated',
    terminated_at: stored.terminated_at ?? ctx.now(),
  });
}

interface Targets {
  planIds: string[];
  planCodes: string[];
  metricIds: string[];
  metricCodes: string[];
}

async function targetsOf(ctx: Context, appliesTo: NonNullable<CouponCreate['applies_to']>): Promise<Targets> {
  const { plan_codes: planCodes = [], billable_metric_codes: metricCodes = [] } = appliesTo;
  if (planCodes.length > 0 && metricCodes.length > 0)
    throw refuse.notAllowed('only_one_limitation_type_per_coupon_allowed');
  const plans = await findTargetedPlans(ctx.db, ctx.organizationId, planCodes);
  const metrics = await findTargetedMetrics(ctx.db, ctx.organizationId, metricCodes);
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

function record(ctx: Context, action: 'created' | 'updated' | 'deleted', coupon: CouponRow, before?: object) {
  const object = couponView(coupon);
  ctx.record({
    activity: {
      type: `coupon.${action}`,
      resourceType: 'Coupon',
      resourceId: coupon.id,
      object,
      ...(before ? { changes: changedKeys(before, object) } : {}),
    },
  });
  return { coupon: object };
}
