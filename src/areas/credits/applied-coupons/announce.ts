import type { Context } from '../../../platform/context.ts';
import type { AppliedCouponId } from '../../../platform/ids.ts';
import { readAppliedCoupon } from './queries.ts';
import { appliedCouponView } from './view.ts';

/**
 * Writes an applied coupon's state into the audit trail, under its coupon; there is no webhook.
 * Rule: logs.md#activity-logs.
 */
export async function recordAppliedCoupon(ctx: Context, action: 'created' | 'deleted', id: AppliedCouponId) {
  const applied = await readAppliedCoupon(ctx, id);
  const object = appliedCouponView(applied);
  ctx.record({
    activity: { type: `applied_coupon.${action}`, resourceType: 'Coupon', resourceId: applied.coupon_id, object },
  });
  return object;
}
