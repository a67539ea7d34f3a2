import { z } from 'zod';
import { COUPON_FREQUENCIES } from '../../../engine/credits/coupon.ts';
import { COUPON_STATUSES } from '../../../engine/credits/coupon-states.ts';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';
import { integer, oneOf, optionalText } from '../../../platform/schema/fields.ts';
import { clearable } from '../../../platform/schema/typed-text.ts';
import { percentage } from '../../catalog/coupons/schema.ts';

/**
 * Input of `POST /applied_coupons`: what is absent is copied from the coupon. Ranges are looked at after customer and
 * coupon were found. Rule: coupons.md#applying.
 */
export const AppliedCouponCreate = z.object({
  external_customer_id: optionalText(),
  coupon_code: optionalText(),
  frequency: clearable(oneOf(COUPON_FREQUENCIES)),
  frequency_duration: clearable(integer()),
  amount_cents: clearable(integer()),
  amount_currency: optionalText(),
  percentage_rate: percentage(),
});
export type AppliedCouponCreate = z.infer<typeof AppliedCouponCreate>;

// An unknown status is ignored.
const status = textFilter
  .transform((value) => COUPON_STATUSES.find((known) => known === value))
  .meta({ type: 'string', enum: COUPON_STATUSES });

export const CustomerAppliedCouponsQuery = z.object({ ...pageQuery, status, coupon_code: listFilter });
export type CustomerAppliedCouponsQuery = z.infer<typeof CustomerAppliedCouponsQuery>;
export const AppliedCouponsQuery = CustomerAppliedCouponsQuery.extend({ external_customer_id: textFilter });
export type AppliedCouponsQuery = z.infer<typeof AppliedCouponsQuery>;

const InstantOrNull = z.iso.datetime().nullable();

export const AppliedCouponView = z.object({
  svc_id: z.uuid(),
  svc_coupon_id: z.uuid(),
  coupon_code: z.string(),
  coupon_name: z.string(),
  coupon_description: z.string().nullable(),
  coupon_status: z.enum(COUPON_STATUSES),
  coupon_deleted_at: InstantOrNull,
  svc_customer_id: z.uuid(),
  external_customer_id: z.string(),
  status: z.enum(COUPON_STATUSES),
  amount_cents: z.int().nullable(),
  amount_cents_remaining: z.int().nullable(),
  amount_currency: z.string().nullable(),
  percentage_rate: z.number().nullable(),
  frequency: z.enum(COUPON_FREQUENCIES),
  frequency_duration: z.int().nullable(),
  frequency_duration_remaining: z.int().nullable(),
  expiration_at: InstantOrNull,
  created_at: z.iso.datetime(),
  terminated_at: InstantOrNull,
});
export type AppliedCouponView = z.infer<typeof AppliedCouponView>;

const CreditView = z.object({
  svc_id: z.uuid(),
  amount_cents: z.int(),
  amount_currency: z.string(),
  before_taxes: z.boolean(),
  item: z.looseObject({ svc_item_id: z.uuid(), type: z.string(), code: z.string(), name: z.string() }),
  invoice: z.object({ svc_id: z.uuid(), payment_status: z.string() }),
});

export const AppliedCouponEnvelope = z.object({ applied_coupon: AppliedCouponView });
export const AppliedCouponList = z.object({
  applied_coupons: z.array(AppliedCouponView.extend({ credits: z.array(CreditView) })),
  meta: PageMeta,
});
