import type { Context } from '../../../platform/context.ts';
import type { CouponId, CustomerId, InvoiceId } from '../../../platform/ids.ts';
import { recordAppliedCoupon } from './announce.ts';
import { giveBack, lockUsesOfInvoice, terminateAppliedCoupons } from './writes.ts';

/** Ends every active use of a coupon that is deleted. Rule: coupons.md#fields. */
export async function endUsesOfCoupon(ctx: Context, { coupon_id }: { coupon_id: CouponId }): Promise<void> {
  await terminateAppliedCoupons(ctx, { couponId: coupon_id }, ctx.now());
}

/** Ends the applied coupons of a deleted customer. Rule: customers.md#deletion-portal-checkout. */
export async function endCouponsOfCustomer(ctx: Context, { customer_id }: { customer_id: CustomerId }): Promise<void> {
  const owner = { customerId: customer_id };
  for (const id of await terminateAppliedCoupons(ctx, owner, ctx.now())) await recordAppliedCoupon(ctx, 'deleted', id);
}

/** Gives coupons back that a voided invoice used. Rule: coupons.md#voided-invoices. */
export async function giveBackCoupons(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const used = await lockUsesOfInvoice(ctx, invoiceId);
  if (used.length > 0) await giveBack(ctx, used, ctx.now());
}
