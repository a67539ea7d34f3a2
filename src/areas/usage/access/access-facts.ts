import { Temporal } from 'temporal-polyfill';
import { limitWindow } from '../../../engine/access/limit-window.ts';
import type { GrantedPrivilege } from '../../../engine/access/reasons-to-deny.ts';
import { startOf } from '../../../engine/calendar/terms.ts';
import { mergeFeature } from '../../../engine/entitlements/merge-overrides.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import type { LimitedMetric } from '../../catalog/usage-shapes/storing-catalog.ts';
import {
  type FeatureOfSubscription,
  listFeaturesForSubscription,
  listFeaturesOfSubscription,
  overrideOf,
  planValuesOf,
} from '../../subscriptions/entitlements/queries.ts';
import { findShownByExternalId, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { usagePeriod } from '../usage/subscription-usage.ts';
import { countWindows, type WindowToCount } from './count-windows.ts';
import { type LimitRow, listUsageLimits, readStanding, type WalletStanding } from './queries.ts';
import type { AccessCheck } from './schema.ts';

/** All facts that access checks of one subscription need, as of one instant: JSON except for used units. */
export interface AccessFacts {
  /** Null if none is active; then nothing else is known. */
  subscription: { id: SubscriptionId; customer_id: CustomerId; currency: string } | null;
  isOverdue: boolean;
  /** Features that it has. */
  features: GrantedFeature[];
  windows: CountedWindow[];
  wallets: WalletStanding[];
  /** Instants [from, until) at which windows and holds are as stated here, ISO texts; null = without end. */
  from: string | null;
  until: string | null;
  /** Transactions contained in the facts, in the form of a Postgres snapshot. */
  snapshot: string;
}

export interface GrantedFeature {
  code: string;
  privileges: GrantedPrivilege[];
  /** In order, and only those whose privilege is granted. */
  limits: { period: LimitRow['period']; most: string; resetsAt: string | null; window: number }[];
}

/** Usage that limits count; limits with equal windows share one. Times are ISO texts. */
export interface CountedWindow {
  metric: LimitedMetric;
  /** Null = without start (recurring metrics). */
  from: string | null;
  to: string;
  /**
   * Whether it opens where another subscription of the external id ended, so that events of that instant are
   * distinguished.
   */
  isHeir: boolean;
  used: Decimal;
}

/** The facts that a check needs; `all` for any check. */
export type Needed = { featureCode: string | undefined } | 'all';

/**
 * Reads the facts from Postgres, of one moment when `db` is a transaction that sees one. At most seven statements in
 * four round trips, whatever the number of features and limits of counted and summed metrics.
 */
export async function readFacts(
  scope: Scope,
  externalId: string,
  { now, needed }: { now: Temporal.Instant; needed: Needed },
): Promise<AccessFacts> {
  const subscription = await findShownByExternalId(scope, externalId, 'active');
  if (!subscription) return NOTHING;
  const [features, limits, standing] = await Promise.all([
    featuresOf(scope, subscription, needed),
    needed === 'all' || needed.featureCode !== undefined
      ? listUsageLimits(scope, needed === 'all' ? null : needed.featureCode!)
      : [],
    readStanding(scope, subscription.customer_id, now),
  ]);
  const { granted, windows } = limitedFeatures(subscription, features, limits, now);
  const counted = await countWindows(scope, subscription, { windows, now });
  const ends = [...windows.map(({ window }) => window.to), ...(standing.hold_ends_at ? [standing.hold_ends_at] : [])];
  return {
    subscription: {
      id: subscription.id,
      customer_id: subscription.customer_id,
      currency: subscription.plan_amount_currency,
    },
    isOverdue: standing.is_overdue,
    features: granted,
    windows: counted,
    wallets: standing.wallets,
    from: latest(windows.map(({ window }) => window.from)),
    until: ends.length === 0 ? null : ends.reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? a : b)).toString(),
    snapshot: standing.snapshot,
  };
}

/**
 * The features of a subscription as they are named, those granted, and how much of their limits is used. Two statements
 * and those of the count.
 */
export async function readFeaturesInUse(scope: Scope, subscription: SubscriptionShown, now: Temporal.Instant) {
  const [features, limits] = await Promise.all([featuresOf(scope, subscription, 'all'), listUsageLimits(scope, null)]);
  const { granted, windows } = limitedFeatures(subscription, features, limits, now);
  return { features, granted, windows: await countWindows(scope, subscription, { windows, now }) };
}

/** The facts that one check needs, read from Postgres. */
export const exactFacts = (ctx: Context, asked: AccessCheck): Promise<AccessFacts> =>
  readFacts(ctx, asked.external_subscription_id, {
    now: ctx.now(),
    needed: {
      featureCode: asked.feature_code || undefined,
    },
  });

const NOTHING: AccessFacts = {
  subscription: null,
  isOverdue: false,
  features: [],
  windows: [],
  wallets: [],
  from: null,
  until: null,
  snapshot: '',
};

const latest = (instants: readonly Temporal.Instant[]): string | null =>
  instants.length === 0 ? null : instants.reduce((a, b) => (Temporal.Instant.compare(a, b) > 0 ? a : b)).toString();

/** Whether facts read at one instant also hold at another, apart from later changes. */
export const holdAt = ({ from, until }: AccessFacts, now: Temporal.Instant): boolean =>
  (from === null || Temporal.Instant.compare(now, from) >= 0) &&
  (until === null || Temporal.Instant.compare(now, until) < 0);

function featuresOf(scope: Scope, subscription: SubscriptionShown, needed: Needed) {
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  if (needed === 'all') return listFeaturesOfSubscription(scope, holder);
  return needed.featureCode === undefined ? [] : listFeaturesForSubscription(scope, holder, [needed.featureCode]);
}

/** The features that are granted, with the limits whose privilege is, and the windows that these count. */
function limitedFeatures(
  subscription: SubscriptionShown,
  features: readonly FeatureOfSubscription[],
  limits: readonly LimitRow[],
  now: Temporal.Instant,
): { granted: GrantedFeature[]; windows: WindowToCount[] } {
  const billingPeriod = usagePeriod(subscription, now).period;
  const life = { now, zone: subscription.zone, billingPeriod, startedAt: subscription.subscription_at };
  const windows = new Map<string, { n: number; window: WindowToCount }>();
  const windowOf = ({ metric, period }: LimitRow, window: WindowToCount['window']): number => {
    const key = `${metric.id} ${window.from} ${window.to}`;
    const known = windows.get(key);
    if (known) return known.n;
    const isHeir = subscription.is_heir && startOf(subscription).equals(window.from);
    windows.set(key, { n: windows.size, window: { metric, period, window, isHeir } });
    return windows.size - 1;
  };
  const granted = features.flatMap((feature): GrantedFeature[] => {
    const merged = mergeFeature(planValuesOf(feature), overrideOf(feature));
    if (!merged) return [];
    const privileges = feature.privileges.flatMap((privilege): GrantedPrivilege[] => {
      const value = merged.get(privilege.code);
      return value ? [{ code: privilege.code, type: privilege.value_type, text: value.value }] : [];
    });
    const own = limits.flatMap((limit) => {
      if (limit.feature_code !== feature.code) return [];
      const privilege = privileges.find(({ code }) => code === limit.privilege_code);
      if (!privilege) return [];
      const { window, resetsAt } = limitWindow(limit.period, life);
      const resets = resetsAt?.toString() ?? null;
      return [{ period: limit.period, most: privilege.text, resetsAt: resets, window: windowOf(limit, window) }];
    });
    return [{ code: feature.code, privileges, limits: own }];
  });
  return { granted, windows: [...windows.values()].map(({ window }) => window) };
}
