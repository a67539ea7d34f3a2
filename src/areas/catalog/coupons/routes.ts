import { crud } from '../../../platform/crud.ts';
import { viewSchema } from '../../../platform/schema/columns.ts';
import { createCoupon, deleteCoupon, updateCoupon } from './commands.ts';
import { coupons } from './queries.ts';
import { listCoupons, showCoupon } from './reads.ts';
import { CouponCreate, CouponUpdate } from './schema.ts';

export const couponOperations = crud('coupon', {
  words: { one: 'a coupon', listed: 'all coupons' },
  schemas: { create: CouponCreate, update: CouponUpdate, view: viewSchema(coupons) },
  run: { create: createCoupon, list: listCoupons, show: showCoupon, update: updateCoupon, destroy: deleteCoupon },
});
