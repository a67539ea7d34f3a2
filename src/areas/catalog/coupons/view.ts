import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { CouponRow } from './queries.ts';
import type { CouponView } from './schema.ts';

/** A coupon as the API shows it. Rule: coupons.md#fields "output". */
export const couponView = (coupon: CouponRow): CouponView => ({
  svc_id: coupon.id,
  name: coupon.name,
  code: coupon.code,
  description: coupon.description,
  coupon_type: coupon.coupon_type,
  amount_cents: coupon.amount_cents,
  amount_currency: coupon.amount_currency,
  percentage_rate: coupon.percentage_rate?.toNumber() ?? null,
  frequency: coupon.frequency,
  frequency_duration: coupon.frequency_duration,
  reusable: coupon.reusable,
  limited_plans: coupon.limited_plans,
  plan_codes: coupon.plan_codes,
  limited_billable_metrics: coupon.limited_billable_metrics,
  billable_metric_codes: coupon.billable_metric_codes,
  expiration: coupon.expiration,
  expiration_at: secondsOrNull(coupon.expiration_at),
  created_at: seconds(coupon.created_at),
  terminated_at: secondsOrNull(coupon.terminated_at),
});
