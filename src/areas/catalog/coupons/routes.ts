import type { Operation } from '../../../platform/operation.ts';
import { createCoupon, deleteCoupon, updateCoupon } from './commands.ts';
import { listCouponsPage, showCoupon } from './reads.ts';
import { CouponCreate, CouponEnvelope, CouponList, CouponListQuery, CouponUpdate } from './schema.ts';

const common = { permission: 'coupon', tag: 'coupons', answer: CouponEnvelope } as const;

const update: Operation = {
  ...common,
  name: 'updateCoupon',
  method: 'put',
  path: '/coupons/:code',
  summary: 'Update a coupon',
  root: 'coupon',
  body: CouponUpdate,
  kind: 'command',
  run: updateCoupon,
};

export const couponOperations: Operation[] = [
  {
    ...common,
    name: 'createCoupon',
    method: 'post',
    path: '/coupons',
    summary: 'Create a coupon',
    root: 'coupon',
    body: CouponCreate,
    kind: 'command',
    run: createCoupon,
  },
  {
    ...common,
    name: 'findAllCoupons',
    method: 'get',
    path: '/coupons',
    summary: 'List all coupons',
    query: CouponListQuery,
    answer: CouponList,
    kind: 'read',
    run: listCouponsPage,
  },
  {
    ...common,
    name: 'findCoupon',
    method: 'get',
    path: '/coupons/:code',
    summary: 'Retrieve a coupon',
    kind: 'read',
    run: showCoupon,
  },
  update,
  { ...update, name: 'patchCoupon', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyCoupon',
    method: 'delete',
    path: '/coupons/:code',
    summary: 'Delete a coupon',
    kind: 'command',
    run: deleteCoupon,
  },
];
