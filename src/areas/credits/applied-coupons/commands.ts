import { isCurrency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import { lockRow } from '../../../platform/db/rows.ts';
import type { AppliedCouponId, ExternalCustomerId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { percentageOf } from '../../catalog/coupons/definition.ts';
import { type CouponRow, coupons } from '../../catalog/coupons/queries.ts';
import { PERIODS_MAX } from '../../catalog/coupons/schema.ts';
import { type CustomerRow, getCustomer, lockCustomer } from '../../customers/customers/queries.ts';
import { recordAppliedCoupon } from './announce.ts';
import { hadCoupon, lockAppliedCoupon, overlaps, readAppliedCoupon } from './queries.ts';
import type { AppliedCouponCreate } from './schema.ts';
import { appliedCouponView } from './view.ts';
import {
  insertAppliedCoupon,
  type NewAppliedCoupon,
  setCurrencyOfCustomer,
  terminateAppliedCoupons,
} from './writes.ts';

/**
 * Gives a customer a coupon: it takes money off the customer's invoices from now on. Requests for the same customer
 * wait for each other.
 *
 * @throws Refusal 404 customer, coupon; 405 plan_overlapping; 422 coupon coupon_is_not_reusable; 422 by field
 * Rule: coupons.md#applying.
 */
export async function applyCoupon(ctx: Context, { body }: { body: AppliedCouponCreate }) {
  const customer = await lockCustomer(ctx, body.external_customer_id ?? '');
  if (!customer) throw refuse.notFound('customer');
  const coupon = await lockRow(ctx, coupons, body.coupon_code ?? '', 'share');
  if (coupon.status !== 'active') throw refuse.notFound('coupon');
  await refuseUse(ctx, customer, coupon);
  const applied = termsOf(body, customer, coupon);
  refuseFaults(faultsOf(applied, body));
  await insertAppliedCoupon(ctx, applied, ctx.now());
  if (applied.amount_currency !== null)
    await setCurrencyOfCustomer(ctx, customer.id, { currency: applied.amount_currency, now: ctx.now() });
  return { applied_coupon: await recordAppliedCoupon(ctx, 'created', applied.id) };
}

/**
 * Takes a coupon from a customer; one that has ended stays as it is.
 *
 * @throws Refusal 404 customer, applied_coupon
 * Rule: coupons.md#applying.
 */
export async function removeAppliedCoupon(
  ctx: Context,
  {
    external_customer_id,
    applied_coupon_id,
  }: { external_customer_id: ExternalCustomerId; applied_coupon_id: AppliedCouponId },
) {
  const customer = await getCustomer(ctx, external_customer_id);
  const { id } = await lockAppliedCoupon(ctx, customer.id, applied_coupon_id);
  const [ended] = await terminateAppliedCoupons(ctx, { id }, ctx.now());
  if (ended !== undefined) return { applied_coupon: await recordAppliedCoupon(ctx, 'deleted', id) };
  return { applied_coupon: appliedCouponView(await readAppliedCoupon(ctx, id)) };
}

async function refuseUse(ctx: Context, customer: CustomerRow, coupon: CouponRow): Promise<void> {
  const pair = { customerId: customer.id, couponId: coupon.id };
  const isLimited = coupon.limited_plans || coupon.limited_billable_metrics;
  if (isLimited && (await overlaps(ctx, pair))) throw refuse.notAllowed('plan_overlapping');
  if (!coupon.reusable && (await hadCoupon(ctx, pair))) throw refuse.invalid({ coupon: ['coupon_is_not_reusable'] });
}

/** The terms that the customer gets: the input over the coupon's own. Terms that do not apply are null. */
function termsOf(body: AppliedCouponCreate, customer: CustomerRow, coupon: CouponRow): NewAppliedCoupon {
  const isFixed = coupon.coupon_type === 'fixed_amount';
  const frequency = body.frequency ?? coupon.frequency;
  const rate = body.percentage_rate;
  return {
    id: newId(),
    customer_id: customer.id,
    coupon_id: coupon.id,
    amount_cents: isFixed ? (body.amount_cents ?? coupon.amount_cents) : null,
    amount_currency: isFixed ? (body.amount_currency ?? coupon.amount_currency) : null,
    percentage_rate: isFixed ? null : rate ? percentageOf(rate) : coupon.percentage_rate,
    frequency,
    frequency_duration: frequency === 'recurring' ? (body.frequency_duration ?? coupon.frequency_duration) : null,
  };
}

function faultsOf(applied: NewAppliedCoupon, body: AppliedCouponCreate): Record<string, string[]> {
  const faults: Record<string, string[]> = {};
  if ((body.amount_cents ?? 0) < 0) faults.amount_cents = ['value_is_out_of_range'];
  if (applied.amount_currency !== null && !isCurrency(applied.amount_currency))
    faults.amount_currency = ['value_is_invalid'];
  if (applied.frequency === 'recurring') {
    const { frequency_duration: periods } = applied;
    if (periods === null) faults.frequency_duration = ['value_is_mandatory'];
    else if (periods < 1 || periods > PERIODS_MAX) faults.frequency_duration = ['value_is_out_of_range'];
  }
  return faults;
}
