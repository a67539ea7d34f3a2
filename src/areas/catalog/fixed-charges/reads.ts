import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findShownByExternalId, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { getPlanByCode } from '../plans/queries.ts';
import { countFixedCharges, getFixedChargeByCode, listFixedCharges, unitsOverridesOf } from './queries.ts';
import type { SubscriptionListQuery, SubscriptionQuery } from './schema.ts';
import { showFixedCharges } from './shown.ts';
import { fixedChargeView } from './view.ts';

/** @throws Refusal 404 plan */
export async function listPlanFixedCharges(ctx: Context, { code, query }: { code: string; query: Page }) {
  const plan = await getPlanByCode(ctx.db, ctx.organizationId, code);
  const { shown, meta } = await pageOf(ctx, plan.id, query);
  return { fixed_charges: shown.map((each) => fixedChargeView(each)), meta };
}

/** @throws Refusal 404 plan, fixed_charge */
export async function showPlanFixedCharge(
  ctx: Context,
  { code, fixed_charge_code }: { code: string; fixed_charge_code: string },
) {
  const plan = await getPlanByCode(ctx.db, ctx.organizationId, code);
  return { fixed_charge: fixedChargeView(await shownByCode(ctx, plan.id, fixed_charge_code)) };
}

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
    unitsOverridesOf(ctx.db, ctx.organizationId, subscription.id),
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
  const own = await unitsOverridesOf(ctx.db, ctx.organizationId, subscription.id);
  return { fixed_charge: fixedChargeView(shown, own.get(shown.fixedCharge.id)) };
}

async function subscriptionOf(ctx: Context, externalId: string, status: SubscriptionShown['status']) {
  const subscription = await findShownByExternalId(ctx.db, ctx.organizationId, externalId, status);
  if (!subscription) throw refuse.notFound('subscription');
  return subscription;
}

async function pageOf(ctx: Context, planId: string, query: Page) {
  const [rows, count] = await Promise.all([
    listFixedCharges(ctx.db, ctx.organizationId, planId, query),
    countFixedCharges(ctx.db, ctx.organizationId, planId),
  ]);
  return { shown: await showFixedCharges(ctx.db, ctx.organizationId, rows), meta: pageMeta(query, count) };
}

async function shownByCode(ctx: Context, planId: string, code: string) {
  const row = await getFixedChargeByCode(ctx.db, ctx.organizationId, planId, code);
  const [shown] = await showFixedCharges(ctx.db, ctx.organizationId, [row]);
  return shown!;
}
