import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Counting, Listing, Summing } from './counting.ts';
import { type FullHours, fullDays, isFullDay, type ReadPlan } from './hours.ts';
import type { RawRequest } from './queries.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';
import type { RollupRequest } from './rollup-queries.ts';
import { type SharedRequest, shareRequests } from './share-requests.ts';

/** Lower bound of what is counted since ever. */
export const EVER = '-infinity';

/** What is asked of rollups for readings. */
export const sharedRollups = (readings: readonly (Summing | Listing)[]): SharedRequest<RollupRequest>[] =>
  shareRequests(
    readings.flatMap(({ counting: { charge, names }, plan, days }, n) =>
      plan.hours === null ? [] : [{ n, names, request: rollupRequest(charge, plan, plan.hours, days) }],
    ),
  );

function rollupRequest(
  { externalSubscriptionId, metric, needs, isProrated }: ChargeToCount,
  { raw }: ReadPlan,
  hours: FullHours,
  localDays: readonly Instant[] | null,
): RollupRequest {
  const days = localDays === null || localDays.every(isFullDay) ? fullDays(hours) : null;
  return {
    subscription: externalSubscriptionId,
    metric_id: metric.id,
    code: metric.code,
    aggregation: metric.aggregation_type,
    field: metric.field_name,
    from: hours.from?.toString() ?? EVER,
    to: hours.to.toString(),
    day_from: days && (days.from?.toString() ?? EVER),
    day_to: days?.to.toString() ?? null,
    days: localDays?.map((day) => day.toString()) ?? null,
    amounts: needs === 'amounts',
    edges: isProrated ? null : raw.map(({ from, to }) => ({ from: from?.toString() ?? EVER, to: to.toString() })),
  };
}

/** What is asked of raw events: the parts of the windows that no rollup answers for. */
export const sharedRaw = (
  readings: readonly { counting: Counting; window: UsageWindow; plan: Pick<ReadPlan, 'raw'> }[],
): SharedRequest<RawRequest>[] =>
  shareRequests(
    readings.flatMap(({ counting, window, plan }, n) =>
      plan.raw.map((range) => ({ n, names: counting.names, request: rawRequest(counting.charge, window, range) })),
    ),
  );

function rawRequest(
  charge: ChargeToCount,
  window: UsageWindow & { first?: number },
  { from, to }: ReadPlan['raw'][number],
): RawRequest {
  return {
    subscription: charge.externalSubscriptionId,
    code: charge.metric.code,
    aggregation: charge.metric.aggregation_type,
    field: charge.metric.field_name,
    from: from?.toString() ?? EVER,
    to: to.toString(),
    ...sharedInstants(window),
    first: window.first ?? null,
    late_after_id: charge.leftOut && 'afterId' in charge.leftOut ? charge.leftOut.afterId : null,
    late_since: charge.leftOut && 'since' in charge.leftOut ? charge.leftOut.since.toString() : null,
  };
}

/** At which instants an event's id decides whether it is of the window. Rule: usage-and-charges A.9. */
export const sharedInstants = (
  window: UsageWindow,
): Pick<RawRequest, 'start_at' | 'start_id' | 'end_at' | 'end_id'> => ({
  start_at: window.from?.toString() ?? null,
  start_id: (window.from && window.startedAs) ?? null,
  end_at: window.to
    .subtract({ microseconds: 1 })
    .round({ smallestUnit: 'millisecond', roundingMode: 'floor' })
    .toString(),
  end_id: window.replacedBy ?? null,
});
