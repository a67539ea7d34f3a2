import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { unitsOverridesOf } from '../../catalog/fixed-charges/queries.ts';
import type { SubscriptionListQuery, SubscriptionQuery } from '../../catalog/fixed-charges/schema.ts';
import { fixedChargeView } from '../../catalog/fixed-charges/view.ts';
import { pageOf, shownByCode } from '../../catalog/plan-fixed-charges/reads.ts';
import { findShownByExternalId, type SubscriptionShown } from '../subscriptions/queries.ts';

interface SubscriptionAddress {
  external_id: string;
  query: SubscriptionQuery;
}

/**
 * Fixed charges of a subscription's plan with the units that it has of each.
 *
 * @throws Refusal 404 subscription
 */
export async function listSubscriptionFixedCharges(
  ctx: Context,
  { external_id, query }: SubscriptionAddress & { query: SubscriptionListQuery },
) {
  const subscription = await subscriptionOf(ctx, external_id, query.subscription_status);
  const [{ shown, meta }, own] = await Promise.all([
    pageOf(ctx, subscription.plan_id, query),
    unitsOverridesOf(ctx, subscription.id),
  ]);
  return { fixed_charges: shown.map((each) => fixedChargeView(each, own.get(each.fixedCharge.id))), meta };
}

/** @throws Refusal 404 subscription, fixed_charge */
export async function showSubscriptionFixedCharge(
  ctx: Context,
  { external_id, fixed_charge_code, query }: SubscriptionAddress & { fixed_charge_code: string },
) {
  const subscription = await subscriptionOf(ctx, external_id, query.subscription_status);
  const shown = await shownByCode(ctx, subscription.plan_id, fixed_charge_code);
  const own = await unitsOverridesOf(ctx, subscription.id);
  return { fixed_charge: fixedChargeView(shown, own.get(shown.fixedCharge.id)) };
}

async function subscriptionOf(ctx: Context, externalId: string, status: SubscriptionShown['status']) {
  const subscription = await findShownByExternalId(ctx, externalId, status);
  if (!subscription) throw refuse.notFound('subscription');
  return subscription;
}
