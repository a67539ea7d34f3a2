import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { getCoupon, listCoupons } from './queries.ts';
import { couponView } from './view.ts';

export async function listCouponsPage(ctx: Context, { query }: { query: Page }) {
  const { rows, totalCount } = await listCoupons(ctx.db, ctx.organizationId, query);
  return { coupons: rows.map(couponView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 coupon */
export async function showCoupon(ctx: Context, { code }: { code: string }) {
  return { coupon: couponView(await getCoupon(ctx.db, ctx.organizationId, code)) };
}
