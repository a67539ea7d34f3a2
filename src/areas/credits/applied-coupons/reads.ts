import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { creditView, listCreditsOfCoupons } from '../../invoices/invoices/credits-of-invoice.ts';
import { listAppliedCoupons } from './queries.ts';
import type { AppliedCouponsQuery, CustomerAppliedCouponsQuery } from './schema.ts';
import { appliedCouponView } from './view.ts';

/** Three statements, whatever the number of applied coupons. */
export async function listAppliedCouponsPage(ctx: Context, { query }: { query: AppliedCouponsQuery }) {
  const { rows, totalCount } = await listAppliedCoupons(ctx, query);
  const credits = await listCreditsOfCoupons(
    ctx,
    rows.map(({ id }) => id),
  );
  const creditsOf = groupRows(credits, ({ applied_coupon_id }) => applied_coupon_id);
  return {
    applied_coupons: rows.map((row) => ({
      ...appliedCouponView(row),
      credits: (creditsOf.get(row.id) ?? []).map(creditView),
    })),
    meta: pageMeta(query, totalCount),
  };
}

/** @throws Refusal 404 customer */
export async function listAppliedCouponsOfCustomer(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: CustomerAppliedCouponsQuery },
) {
  await getCustomer(ctx, external_customer_id);
  return listAppliedCouponsPage(ctx, { query: { ...query, external_customer_id } });
}
