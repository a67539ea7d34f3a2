import { Temporal } from 'temporal-polyfill';
import { type Instant, isAfter, isBefore } from '../../../engine/calendar/instants.ts';
import type { UsageWindow } from './request.ts';

/** Full hours, `[from, to)`; from null: without a start. */
export interface FullHours {
  from: Instant | null;
  to: Instant;
}

/** How a window is read: full hours from buckets, the rest from raw events. Null bounds mean no start. */
export interface ReadPlan {
  /** Null if the window holds no full hour. */
  hours: FullHours | null;
  raw: { from: Instant | null; to: Instant }[];
}

/** Lower bounds are cut to the millisecond (events.md#subscription-of-an-event), but not where another part ends. */
export const lowerBound = ({ from, isContinued }: UsageWindow): Instant | null =>
  from === null || isContinued ? from : from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });

/**
 * Plan of reading a window. An hour at whose edge event ids decide the owner is read from raw events.
 * Rule: rollups.md#exactness "period edge inside an hour".
 */
function planOfReading(window: UsageWindow): ReadPlan {
  const from = lowerBound(window);
  const { to } = window;
  const firstHour = from && (window.startedAs === undefined ? ceilHour(from) : floorHour(from).add({ hours: 1 }));
  const lastHour = floorHour(window.replacedBy === undefined ? to : to.subtract({ microseconds: 1 }));
  if (firstHour !== null && !isBefore(firstHour, lastHour)) return { hours: null, raw: nonEmpty([{ from, to }]) };
  const edges = [{ from: lastHour, to }];
  if (from !== null && firstHour !== null) edges.unshift({ from, to: firstHour });
  return { hours: { from: firstHour, to: lastHour }, raw: nonEmpty(edges) };
}

/** `planOfReading`, cached for successive windows with the same bounds, as charges of a plan have. */
export function plansOfReading(): (window: UsageWindow) => ReadPlan {
  let last: { window: UsageWindow; plan: ReadPlan } | undefined;
  return (window) => {
    if (last === undefined || !haveSameBounds(last.window, window)) last = { window, plan: planOfReading(window) };
    return last.plan;
  };
}

const haveSameBounds = (a: UsageWindow, b: UsageWindow): boolean =>
  a.from === b.from &&
  a.to === b.to &&
  a.isContinued === b.isContinued &&
  a.startedAs === b.startedAs &&
  a.replacedBy === b.replacedBy;

/** The whole window from raw events. */
export const planOfScanning = (window: UsageWindow): ReadPlan => ({
  hours: null,
  raw: nonEmpty([{ from: lowerBound(window), to: window.to }]),
});

const nonEmpty = (ranges: ReadPlan['raw']): ReadPlan['raw'] =>
  ranges.filter(({ from, to }) => from === null || isAfter(to, from));

const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;

/** Hours count from 1970, so zones with an offset of 30 or 45 minutes need nothing more. */
const floorHour = (instant: Instant): Instant => floorTo(instant, HOUR_NS);

function floorTo(instant: Instant, unit: bigint): Instant {
  const nanoseconds = instant.epochNanoseconds;
  return Temporal.Instant.fromEpochNanoseconds(nanoseconds - (((nanoseconds % unit) + unit) % unit));
}

/** The full UTC days within full hours; null if there is none. */
export function fullDays({ from, to }: FullHours): FullHours | null {
  const first = from && ceilDay(from);
  const last = floorTo(to, DAY_NS);
  return first === null || isBefore(first, last) ? { from: first, to: last } : null;
}

/** Whether an instant is a UTC midnight. */
export const isFullDay = (instant: Instant): boolean => instant.epochNanoseconds % DAY_NS === 0n;

export const isFullHour = (instant: Instant): boolean => instant.epochNanoseconds % HOUR_NS === 0n;

function ceilHour(instant: Instant): Instant {
  const floor = floorHour(instant);
  return isBefore(floor, instant) ? floor.add({ hours: 1 }) : floor;
}

function ceilDay(instant: Instant): Instant {
  const floor = floorTo(instant, DAY_NS);
  return isBefore(floor, instant) ? floor.add({ hours: 24 }) : floor;
}
