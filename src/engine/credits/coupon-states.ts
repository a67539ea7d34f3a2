import { type Moves, moveChecker } from '../state-machine.ts';

export const COUPON_STATUSES = ['active', 'terminated'] as const;
export type CouponStatus = (typeof COUPON_STATUSES)[number];

/** A coupon ends by expiry or deletion, for good. Rule: coupons.md#fields. */
export const COUPON_MOVES: Moves<CouponStatus> = { active: ['terminated'], terminated: [] };

export const canCouponMove = moveChecker(COUPON_MOVES);

/** An applied coupon comes back when an invoice that used it is voided. Rule: coupons.md#states. */
export const APPLIED_COUPON_MOVES: Moves<CouponStatus> = { active: ['terminated'], terminated: ['active'] };

export const canAppliedCouponMove = moveChecker(APPLIED_COUPON_MOVES);
