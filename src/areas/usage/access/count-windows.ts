import type { Temporal } from 'temporal-polyfill';
import { wholeDaysOf } from '../../../engine/access/window-days.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { combineWeightedSums } from '../../../engine/metrics/weighted-sum.ts';
import { type Decimal, decimal, sum } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { usagePeriod } from '../usage/subscription-usage.ts';
import { countUsage } from '../usage-counts/count-usage.ts';
import type { ChargeToCount, CountedCharge } from '../usage-counts/request.ts';
import type { CountedWindow } from './access-facts.ts';
import type { LimitRow } from './queries.ts';

export interface WindowToCount {
  metric: LimitRow['metric'];
  period: LimitRow['period'];
  window: Period;
  isHeir: boolean;
}

/**
 * Counts what was used in windows, in the order given. Recurring usage lasts until it is taken back: all earlier events
 * count, and a weighted sum opens with the total of all values before its window. Two round trips at most.
 *
 * Rules: access-check.md, aggregation.md#metered, aggregation.md#recurring, aggregation.md#unique-count,
 * groups-and-filters.md#matching-filters, groups-and-filters.md#groups, aggregation.md#weighted-sum,
 * aggregation.md#prorated-sum, aggregation.md#prorated-unique-count.
 */
export async function countWindows(
  { db, organizationId }: Scope,
  subscription: SubscriptionShown,
  { windows, now }: { windows: readonly WindowToCount[]; now: Temporal.Instant },
): Promise<CountedWindow[]> {
  if (windows.length === 0) return [];
  const billing = usagePeriod(subscription, now);
  const prorations = windows.map((each) => prorationOf(each, billing));
  const charges = windows.map((each, n) => chargeOf(subscription, each, prorations[n]!, `${n}`));
  const openings = windows.flatMap((each, n) =>
    isRecurringTotal(each) ? [openingOf(charges[n]!, each.window, `${n} before`)] : [],
  );
  const counted = await countUsage(db, { organizationId, charges: [...charges, ...openings] });
  const byKey = new Map(counted.map((each) => [each.key, each]));
  return windows.map(({ metric, window, isHeir }, n) => {
    const opening = byKey.get(`${n} before`);
    const used = unitsOf(byKey.get(`${n}`)!);
    const { code, aggregation_type, field_name } = metric;
    return {
      metric: { code, aggregation_type, field_name },
      from: charges[n]!.window.from?.toString() ?? null,
      to: window.to.toString(),
      isHeir,
      used: opening ? used.plus(standingUnits(totalOf(opening), prorations[n]!)) : used,
    };
  });
}

const isRecurringTotal = ({ metric }: WindowToCount): boolean =>
  metric.recurring && metric.aggregation_type === 'weighted_sum_agg';

/** Units are weighted over the window itself; over a lifetime, by the billing period's days. */
const prorationOf = ({ period, window }: WindowToCount, billing: Proration): Proration => ({
  ...billing,
  period: window,
  periodDays: period === 'day' || period === 'month' ? wholeDaysOf(window, billing.zone) : billing.periodDays,
});

const chargeOf = (
  subscription: SubscriptionShown,
  each: WindowToCount,
  proration: Proration,
  key: string,
): ChargeToCount => ({
  key,
  externalSubscriptionId: subscription.external_id,
  metric: each.metric,
  filters: [],
  groupKeys: [],
  window: {
    from: each.metric.recurring && !isRecurringTotal(each) ? null : each.window.from,
    to: each.window.to,
    ...(each.isHeir ? { startedAs: subscription.id } : {}),
  },
  proration,
});

/** The events before a window. */
const openingOf = (charge: ChargeToCount, { from }: Period, key: string): ChargeToCount => ({
  ...charge,
  key,
  window: { from: null, to: from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' }) },
});

const unitsOf = ({ shares }: CountedCharge): Decimal => sum(shares.map((share) => share.units));
const totalOf = ({ shares }: CountedCharge): Decimal => sum(shares.map((share) => share.totalUnits ?? decimal(0)));

/** Weighted units of a total that lasted from the first moment of a window to its last. */
const standingUnits = (initial: Decimal, { period, periodDays }: Proration): Decimal =>
  combineWeightedSums([], { period, periodDays, initial }).units;
