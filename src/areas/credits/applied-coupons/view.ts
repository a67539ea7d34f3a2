import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { AppliedCouponRow } from './queries.ts';
import type { AppliedCouponView } from './schema.ts';

/** An applied coupon as the API shows it. Rule: coupons.md#output. */
export const appliedCouponView = (applied: AppliedCouponRow): AppliedCouponView => ({
  svc_id: applied.id,
  svc_coupon_id: applied.coupon_id,
  coupon_code: applied.coupon_code,
  coupon_name: applied.coupon_name,
  coupon_description: applied.coupon_description,
  coupon_status: applied.coupon_status,
  coupon_deleted_at: secondsOrNull(applied.coupon_deleted_at),
  svc_customer_id: applied.customer_id,
  external_customer_id: applied.external_customer_id,
  status: applied.status,
  amount_cents: applied.amount_cents,
  amount_cents_remaining:
    applied.frequency === 'once' && applied.amount_cents !== null ? applied.amount_cents - applied.used_cents : null,
  amount_currency: applied.amount_currency,
  percentage_rate: applied.percentage_rate?.toNumber() ?? null,
  frequency: applied.frequency,
  frequency_duration: applied.frequency_duration,
  frequency_duration_remaining: applied.frequency_duration_remaining,
  expiration_at: secondsOrNull(applied.expiration_at),
  created_at: seconds(applied.created_at),
  terminated_at: secondsOrNull(applied.terminated_at),
});
