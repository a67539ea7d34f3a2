import { type Instant, isAfter, isBefore } from '../../../engine/calendar/instants.ts';
import { isFullHour, lowerBound } from './full-hours-and-days.ts';
import { type Reading, readingOf, type SummedWindow } from './plan-readings.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';

/** Ends at which charges are counted, each with the events before it. */
export interface Steps {
  /** Ascending; the last one ends the windows of the charges. */
  ends: readonly Instant[];
  /** How many single events one reading may take. */
  mostEvents: number;
}

/** Position of the first end behind an instant, which is the first step that counts it; 0 without steps. */
export function stepFinder(steps: Steps | undefined): (at: Instant) => number {
  const ends = steps?.ends.map(({ epochNanoseconds }) => epochNanoseconds) ?? [];
  return ({ epochNanoseconds: at }) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! > at) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/**
 * The readings of a charge that is counted at several ends: what one window needs, cut where a step ends, so that every
 * hour and every event is read once, not once for each end behind it. Where single values are priced their sums are
 * read too: they are what is known if the values are too many. Hours of members and of prorated sums cannot be cut, so
 * where a step ends within an hour their events are read.
 *
 * Rule: console-reads.md#usage-series.
 */
export function readingInSteps(charge: ChargeToCount, { ends }: Steps): Reading {
  const { sums, members, events } = readingOf(charge);
  const { window } = charge;
  const start = charge.proration?.period.from;
  const canKeepHours = ends.slice(0, -1).every((end) => isFullHour(end) || (start?.equals(end) && isWithinHour(start)));
  if (members.length > 0) return canKeepHours ? { sums, members, events } : { sums: [], members: [], events: window };
  const [days] = sums.filter((each) => each.days !== null);
  if (days && !canKeepHours) return { sums: sums.filter((each) => each !== days), members, events: days.window };
  const needed = charge.needs === 'values' ? [{ window, isBefore: false, days: null }] : sums;
  return { sums: needed.flatMap((each) => cutSums(each, ends)), members, events };
}

/** Whether a period that starts there is read without the hour that holds its start. */
const isWithinHour = (start: Instant) => !isFullHour(lowerBound({ from: start, to: start })!);

function cutSums(sums: SummedWindow, ends: readonly Instant[]): SummedWindow[] {
  if (sums.isBefore) return [sums];
  if (sums.days !== null) return [{ ...sums, days: merged(sums.days, ends) }];
  return ends.flatMap((end, step) => {
    const window = piece(sums.window, step === 0 ? null : ends[step - 1]!, end);
    return window ? [{ ...sums, window, step }] : [];
  });
}

/**
 * The part of a window from an instant on, null its own beginning, up to another. Only the window's beginning is cut to
 * the millisecond: a part that begins where another ends would count the events before it again.
 */
function piece(window: UsageWindow, since: Instant | null, end: Instant): UsageWindow | undefined {
  const { from, to, startedAs, replacedBy } = window;
  const start = lowerBound(window);
  const isFirst = since === null || (start !== null && !isAfter(since, start));
  const begin = isFirst ? start : since;
  if (begin !== null && !isBefore(begin, end)) return undefined;
  const isAtStart = isFirst || (from !== null && since.equals(from));
  return {
    from: isFirst ? from : since,
    to: end,
    ...(isFirst ? {} : { isContinued: true }),
    ...(isAtStart && startedAs !== undefined ? { startedAs } : {}),
    ...(end.equals(to) && replacedBy !== undefined ? { replacedBy } : {}),
  };
}

/** The instants of both, ascending, each once. */
function merged(days: readonly Instant[], ends: readonly Instant[]): Instant[] {
  const known = new Map([...days, ...ends].map((each) => [each.epochNanoseconds, each]));
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
