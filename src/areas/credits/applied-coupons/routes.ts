import type { Operation } from '../../../platform/operation.ts';
import { applyCoupon, removeAppliedCoupon } from './commands.ts';
import { listAppliedCouponsOfCustomer, listAppliedCouponsPage } from './reads.ts';
import {
  AppliedCouponCreate,
  AppliedCouponEnvelope,
  AppliedCouponList,
  AppliedCouponsQuery,
  CustomerAppliedCouponsQuery,
} from './schema.ts';

const common = { permission: 'applied_coupon', tag: 'coupons', answer: AppliedCouponEnvelope } as const;

export const appliedCouponOperations: Operation[] = [
  {
    ...common,
    name: 'applyCoupon',
    method: 'post',
    path: '/applied_coupons',
    summary: 'Apply a coupon to a customer',
    description:
      'It counts from the next invoice on. With an amount or a percentage of its own it departs from the coupon.',
    root: 'applied_coupon',
    body: AppliedCouponCreate,
    kind: 'command',
    run: applyCoupon,
  },
  {
    ...common,
    name: 'findAllAppliedCoupons',
    method: 'get',
    path: '/applied_coupons',
    summary: 'List all applied coupons',
    query: AppliedCouponsQuery,
    answer: AppliedCouponList,
    kind: 'read',
    run: listAppliedCouponsPage,
  },
  {
    ...common,
    name: 'findAllCustomerAppliedCoupons',
    method: 'get',
    path: '/customers/:external_customer_id/applied_coupons',
    summary: 'List the applied coupons of a customer',
    query: CustomerAppliedCouponsQuery,
    answer: AppliedCouponList,
    kind: 'read',
    run: listAppliedCouponsOfCustomer,
  },
  {
    ...common,
    name: 'deleteAppliedCoupon',
    method: 'delete',
    path: '/customers/:external_customer_id/applied_coupons/:applied_coupon_id',
    summary: 'Take a coupon from a customer',
    kind: 'command',
    run: removeAppliedCoupon,
  },
];
