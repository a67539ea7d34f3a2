import { type AccessReason, type GrantedPrivilege, reasonsOfFeature, standingOf } from '../../engine/access/decide.ts';
import { limitWindow } from '../../engine/access/limit-window.ts';
import { startOf } from '../../engine/calendar/terms.ts';
import { mergeFeature } from '../../engine/entitlements/override.ts';
import { shownValue } from '../../engine/entitlements/value.ts';
import { decimal, decimalText, sum } from '../../engine/money/decimal.ts';
import type { Context } from '../../platform/context.ts';
import { milliseconds, secondsOrNull } from '../../platform/schema/view.ts';
import { listFeaturesForSubscription, overrideOf, planValuesOf } from '../entitlements/queries.ts';
import { findShownByExternalId, type SubscriptionShown } from '../subscriptions/queries.ts';
import { usagePeriod } from '../usage/subscription-usage.ts';
import { countUsage } from '../usage-counts/count-usage.ts';
import { type LimitRow, listUsageLimits, readWalletFigures } from './queries.ts';
import type { AccessCheck, AccessView } from './schema.ts';

type Finding = Partial<Pick<AccessView, 'entitlement' | 'usage' | 'wallet'>> & { reasons: AccessReason[] };

/**
 * Whether a customer may do something now: has the feature, stays within its usage limits, and has the credit. What speaks
 * against it is told, never thrown. Six statements at most for counted and summed metrics, in four round trips.
 *
 * Rule: beyond 11.2.
 */
export async function checkAccess(ctx: Context, { body }: { body: AccessCheck }): Promise<{ access: AccessView }> {
  const { db, organizationId } = ctx;
  const subscription = await findShownByExternalId(db, organizationId, body.external_subscription_id, 'active');
  const [feature, wallet]: Finding[] = subscription
    ? await Promise.all([checkFeature(ctx, subscription, body), checkWallet(ctx, subscription, body)])
    : [{ reasons: ['subscription_not_active'] }];
  const reasons = [...feature!.reasons, ...(wallet?.reasons ?? [])];
  return {
    access: {
      allowed: reasons.length === 0,
      reasons,
      entitlement: feature!.entitlement ?? null,
      usage: feature!.usage ?? null,
      wallet: wallet?.wallet ?? null,
      svc_hold_id: null,
      source: 'database',
      as_of: milliseconds(ctx.now()),
    },
  };
}

async function checkFeature(ctx: Context, subscription: SubscriptionShown, asked: AccessCheck): Promise<Finding> {
  if (!asked.feature_code) return { reasons: [] };
  const { db, organizationId } = ctx;
  const code = asked.feature_code;
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  const [[feature], limits] = await Promise.all([
    listFeaturesForSubscription(db, organizationId, holder, [code]),
    listUsageLimits(db, organizationId, code),
  ]);
  const merged = feature && mergeFeature(planValuesOf(feature), overrideOf(feature));
  const granted =
    merged &&
    feature.privileges.flatMap((privilege): GrantedPrivilege[] => {
      const value = merged.get(privilege.code);
      return value ? [{ code: privilege.code, type: privilege.value_type, text: value.value }] : [];
    });
  const needed = asked.privilege_code ? { code: asked.privilege_code, value: asked.value ?? undefined } : undefined;
  const usage = await checkLimits(ctx, subscription, granted ?? [], limits, asked.units);
  return {
    reasons: [...reasonsOfFeature(granted, needed), ...usage.reasons],
    entitlement: {
      feature_code: code,
      granted: granted !== undefined,
      privileges: Object.fromEntries((granted ?? []).map((each) => [each.code, shownValue(each.type, each.text)])),
    },
    usage: usage.shown,
  };
}

/** Limits whose privilege is granted; the others limit nothing. */
async function checkLimits(
  ctx: Context,
  subscription: SubscriptionShown,
  granted: readonly GrantedPrivilege[],
  limits: readonly LimitRow[],
  units: string,
) {
  const proration = usagePeriod(subscription, ctx.now());
  const life = {
    now: ctx.now(),
    zone: subscription.zone,
    billingPeriod: proration.period,
    startedAt: subscription.subscription_at,
  };
  const effective = limits.flatMap((limit) => {
    const privilege = granted.find(({ code }) => code === limit.privilege_code);
    return privilege ? [{ ...limit, most: decimal(privilege.text), ...limitWindow(limit.period, life) }] : [];
  });
  const isHeirOf = (from: typeof proration.period.from) => subscription.is_heir && startOf(subscription).equals(from);
  const counted =
    effective.length === 0
      ? []
      : await countUsage(ctx.db, {
          organizationId: ctx.organizationId,
          charges: effective.map(({ metric, window }, place) => ({
            key: String(place),
            externalSubscriptionId: subscription.external_id,
            metric,
            filters: [],
            groupKeys: [],
            // What recurs lasts until it is taken back.
            window: {
              from: metric.recurring && metric.aggregation_type !== 'weighted_sum_agg' ? null : window.from,
              to: window.to,
              ...(isHeirOf(window.from) ? { startedAs: subscription.id } : {}),
            },
            proration: { ...proration, period: window },
          })),
        });
  const requested = decimal(units);
  const standings = effective.map((limit, place) => {
    const shares = counted.find(({ key }) => key === String(place))!.shares;
    const used = sum(shares.map((share) => share.units));
    return { ...limit, used, ...standingOf(limit.most, used, requested) };
  });
  const reasons: AccessReason[] = standings.some(({ isReached }) => isReached) ? ['usage_limit_reached'] : [];
  return {
    reasons,
    shown: standings.map(({ metric, period, most, used, remaining, resetsAt }) => ({
      billable_metric_code: metric.code,
      period,
      limit: decimalText(most),
      used: decimalText(used),
      requested: decimalText(requested),
      remaining: decimalText(remaining),
      resets_at: secondsOrNull(resetsAt),
    })),
  };
}

async function checkWallet(ctx: Context, subscription: SubscriptionShown, asked: AccessCheck): Promise<Finding> {
  const code = asked.wallet_code || null;
  const requested = asked.amount_cents ?? 0;
  if (code === null && (asked.amount_cents ?? null) === null) return { reasons: [] };
  const { customer_id: customerId, plan_amount_currency: currency } = subscription;
  const which = code === null ? { customerId, currency } : { customerId, code };
  const figures = await readWalletFigures(ctx.db, ctx.organizationId, which, ctx.now());
  const available = figures.ongoing_balance_cents - figures.held_cents;
  const isThere = figures.wallets_count > 0;
  const reasons: AccessReason[] = !isThere
    ? ['wallet_not_found']
    : available < requested
      ? ['wallet_insufficient']
      : [];
  return {
    reasons,
    wallet: {
      wallet_code: code,
      currency: figures.currency ?? currency,
      balance_cents: figures.balance_cents,
      ongoing_balance_cents: figures.ongoing_balance_cents,
      held_cents: figures.held_cents,
      available_cents: available,
      requested_cents: requested,
    },
  };
}
