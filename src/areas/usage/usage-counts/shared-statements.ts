import { instantText } from '../../../engine/calendar/instant-text.ts';
import type { Instant } from '../../../engine/calendar/instants.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';
import type { Counting, Listing, Summing } from './counted-charge.ts';
import { type FullHours, fullDays, isFullDay, type ReadPlan } from './full-hours-and-days.ts';
import type { RawRequest } from './queries.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';
import type { RollupRequest } from './rollup-queries.ts';
import { type SharedRequest, shareRequests } from './share-requests.ts';

/** Lower bound of windows without a start. */
export const EVER = '-infinity';

/** The requests to rollups for some readings; `pause` is called between two of them. */
export async function sharedRollups(
  readings: readonly (Summing | Listing)[],
  pause?: Pause,
): Promise<SharedRequest<RollupRequest>[]> {
  const texts = instantTexts();
  const asked = await mapInSlices(
    readings,
    ({ counting: { charge, names }, plan, days }, n) =>
      plan.hours === null
        ? []
        : [{ n, names, request: rollupRequest(charge, plan, { hours: plan.hours, days }, texts) }],
    pause,
  );
  return shareRequests(asked.flat(), pause);
}

function rollupRequest(
  { externalSubscriptionId, metric, needs, isProrated }: ChargeToCount,
  { raw }: ReadPlan,
  { hours, days: localDays }: { hours: FullHours; days: readonly Instant[] | null },
  texts: InstantTexts,
): RollupRequest {
  const days = localDays === null || localDays.every(isFullDay) ? texts.fullDays(hours) : null;
  return {
    subscription: externalSubscriptionId,
    metric_id: metric.id,
    code: metric.code,
    aggregation: metric.aggregation_type,
    field: metric.field_name,
    from: lowerText(hours.from, texts),
    to: texts.of(hours.to),
    day_from: days && lowerText(days.from, texts),
    day_to: days && texts.of(days.to),
    days: localDays?.map(texts.of) ?? null,
    amounts: needs === 'amounts',
    edges: isProrated ? null : raw.map(({ from, to }) => ({ from: lowerText(from, texts), to: texts.of(to) })),
  };
}

/**
 * The requests to raw events: the parts of the windows that no rollup answers for. `pause` is called between two
 * readings. One event more than `most` is read, so that the answer tells whether there are more.
 */
export async function sharedRaw(
  readings: readonly { counting: Counting; window: UsageWindow; plan: Pick<ReadPlan, 'raw'> }[],
  pause?: Pause,
  most?: number,
): Promise<SharedRequest<RawRequest>[]> {
  const texts = instantTexts();
  const asked = await mapInSlices(
    readings,
    ({ counting, window, plan }, n) =>
      plan.raw.map((range) => ({
        n,
        names: counting.names,
        request: { ...rawRequest(counting.charge, window, range, texts), most: most === undefined ? null : most + 1 },
      })),
    pause,
  );
  return shareRequests(asked.flat(), pause);
}

/** Caches texts of instants, which are expensive and shared by the charges of a plan. */
interface InstantTexts {
  of(instant: Instant): string;
  /** The millisecond that holds the last instant before the end of a window. */
  ofLastBefore(to: Instant): string;
  /** The full days within full hours, cached. */
  fullDays(hours: FullHours): FullHours | null;
}

function instantTexts(): InstantTexts {
  return {
    of: remembering(instantText),
    ofLastBefore: remembering((to: Instant) =>
      instantText(to.subtract({ microseconds: 1 }).round({ smallestUnit: 'millisecond', roundingMode: 'floor' })),
    ),
    fullDays: remembering(fullDays),
  };
}

function remembering<Input, Result>(work: (input: Input) => Result): (input: Input) => Result {
  const results = new Map<Input, Result>();
  return (input) => {
    const result = results.has(input) ? (results.get(input) as Result) : work(input);
    results.set(input, result);
    return result;
  };
}

const lowerText = (from: Instant | null, texts: InstantTexts): string => (from === null ? EVER : texts.of(from));

function rawRequest(
  charge: ChargeToCount,
  window: UsageWindow & { first?: number },
  { from, to }: ReadPlan['raw'][number],
  texts: InstantTexts,
): Omit<RawRequest, 'most'> {
  return {
    subscription: charge.externalSubscriptionId,
    code: charge.metric.code,
    aggregation: charge.metric.aggregation_type,
    field: charge.metric.field_name,
    from: lowerText(from, texts),
    to: texts.of(to),
    ...sharedInstants(window, texts),
    first: window.first ?? null,
    late_after_id: charge.leftOut && 'afterId' in charge.leftOut ? charge.leftOut.afterId : null,
    late_since: charge.leftOut && 'since' in charge.leftOut ? instantText(charge.leftOut.since) : null,
  };
}

/** Instants at which an event's id decides whether it is in the window. Rule: events.md#subscription-of-an-event. */
export const sharedInstants = (
  window: UsageWindow,
  texts: InstantTexts = instantTexts(),
): Pick<RawRequest, 'start_at' | 'start_id' | 'end_at' | 'end_id'> => ({
  start_at: window.from && texts.of(window.from),
  start_id: (window.from && window.startedAs) ?? null,
  end_at: texts.ofLastBefore(window.to),
  end_id: window.replacedBy ?? null,
});
