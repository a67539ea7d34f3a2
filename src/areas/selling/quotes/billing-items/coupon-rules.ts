import type { Context } from '../../../../platform/context.ts';
import { type CouponRow, listCouponsById } from '../../../catalog/coupons/queries.ts';
import { hadCoupon, overlaps } from '../../../credits/applied-coupons/queries.ts';
import type { Deal } from './check-against-catalog.ts';
import type { CouponItem } from './item-types.ts';
import { addFault, type Faults } from './read-fields.ts';

/** Notes what is wrong with the coupons of a deal. Rules: quotes.md#billing-items, coupons.md#applying. */
export async function couponFaults(
  ctx: Context,
  items: readonly CouponItem[],
  deal: Deal,
  faults: Faults,
): Promise<void> {
  if (items.length === 0) return;
  const rows = await listCouponsById(
    ctx,
    items.map(({ id }) => id),
  );
  const catalog = new Map(rows.map((row) => [row.id, row]));
  const given = new Set<string>();
  for (const [index, item] of items.entries()) {
    const path = `billing_items.coupons.${index}`;
    const coupon = catalog.get(item.id);
    if (coupon?.status !== 'active') addFault(faults, `${path}.id`, 'coupon_not_found');
    else if (coupon.code !== item.payload.code) addFault(faults, `${path}.payload.code`, 'coupon_not_found');
    else {
      termFaults(item, coupon, { deal, path, faults });
      await useFaults(ctx, coupon, { deal, isSecond: given.has(coupon.id), path }, faults);
      given.add(coupon.id);
    }
  }
}

function termFaults(
  { payload, overrides }: CouponItem,
  coupon: CouponRow,
  { deal, path, faults }: { deal: Deal; path: string; faults: Faults },
) {
  if (payload.type !== coupon.coupon_type) addFault(faults, `${path}.payload.type`, 'coupon_type_does_not_match');
  const currency = overrides?.amountCurrency ?? coupon.amount_currency;
  if (coupon.coupon_type === 'fixed_amount' && currency !== deal.currency)
    addFault(faults, `${path}.overrides.amountCurrency`, 'currencies_does_not_match');
  const frequency = overrides?.frequency ?? payload.frequency ?? coupon.frequency;
  const duration = overrides?.frequencyDuration ?? payload.frequencyDuration ?? coupon.frequency_duration;
  if (frequency === 'recurring' && duration === null)
    addFault(
      faults,
      `${path}.${overrides?.frequency ? 'overrides' : 'payload'}.frequencyDuration`,
      'value_is_mandatory',
    );
}

async function useFaults(
  ctx: Context,
  coupon: CouponRow,
  { deal, isSecond, path }: { deal: Deal; isSecond: boolean; path: string },
  faults: Faults,
): Promise<void> {
  const pair = { customerId: deal.customer.id, couponId: coupon.id };
  const isLimited = coupon.limited_plans || coupon.limited_billable_metrics;
  if (isLimited && (isSecond || (await overlaps(ctx, pair)))) addFault(faults, `${path}.id`, 'plan_overlapping');
  if (!coupon.reusable && (isSecond || (await hadCoupon(ctx, pair))))
    addFault(faults, `${path}.id`, 'coupon_is_not_reusable');
}
