import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { listPage } from '../../../platform/lists/list-page.ts';
import type { Page } from '../../../platform/lists/pagination.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { coupons } from './queries.ts';

/** Active ones first, then those without an end, then those that end first, newest first. Rule: coupons.md#fields. */
const activeFirst = (db: Db) => db`status, expiration, expiration_at, created_at desc, id desc`;

export async function listCoupons(ctx: Context, { query }: { query: Page }) {
  const { rows, meta } = await listPage(ctx, coupons, query, { order: activeFirst });
  return { coupons: rows.map((coupon) => viewOf(coupons, coupon)), meta };
}

/** @throws Refusal 404 coupon */
export async function showCoupon(ctx: Context, { code }: { code: string }) {
  return { coupon: viewOf(coupons, await getRow(ctx, coupons, code)) };
}
