import { assert } from '../../../engine/assert.ts';
import { type Instant, isDateAfter } from '../../../engine/calendar/instants.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { isFullHour } from './full-hours-and-days.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';

/** The readings for one charge; each kind is one statement for all charges. */
export interface Reading {
  /** Windows whose events are summed. */
  sums: SummedWindow[];
  /** Windows of a unique count whose members are read. */
  members: MembersWindow[];
  /** The window whose single events are read; with a limit only the first of each combination of texts. */
  events: (UsageWindow & { first?: number }) | null;
}

export interface SummedWindow {
  window: UsageWindow;
  /** Whether it lies before the period and gives the opening state. */
  isBefore: boolean;
  /** Starts of local days that are summed separately; parts without buckets are then read event by event. */
  days: Instant[] | null;
  /** The step that it is, where days are not kept apart. */
  step?: number;
}

export interface MembersWindow {
  window: UsageWindow;
  /** Starts of local days, if the days of a value's presence matter. */
  days: Instant[] | null;
}

/**
 * The readings needed to count a charge: rollups where they suffice, single events only if each is priced or local days
 * begin within an hour.
 *
 * Rules: aggregation.md#metered, aggregation.md#recurring, aggregation.md#unique-count,
 * groups-and-filters.md#matching-filters, groups-and-filters.md#groups, aggregation.md#weighted-sum,
 * aggregation.md#prorated-sum, aggregation.md#prorated-unique-count, rollups.md#buckets.
 */
export function readingOf(charge: ChargeToCount): Reading {
  const { window, metric } = charge;
  const isUnique = metric.aggregation_type === 'unique_count_agg';
  if (charge.isProrated) return isUnique ? proratedMembersReading(charge) : proratedSumReading(charge);
  if (isUnique) return { ...NOTHING, members: [{ window, days: null }] };
  if (charge.needs === 'values') return { ...NOTHING, events: window };

  const sums = [{ window, isBefore: false, days: null }];
  if (charge.firstValues !== undefined) return { ...NOTHING, sums, events: { ...window, first: charge.firstValues } };

  if (charge.carriedOver?.replacesAnother) {
    const before = { from: null, to: startOf(charge).subtract({ seconds: 1 }) };
    sums.push({ window: before, isBefore: true, days: null });
  }
  return { ...NOTHING, sums };
}

const NOTHING: Reading = { sums: [], members: [], events: null };

/** A prorated sum needs the carried part and the period's days, or single events if its moves are priced. */
function proratedSumReading(charge: ChargeToCount): Reading {
  const [before, during] = aroundStart(charge);
  const carried = { window: before, isBefore: true, days: null };
  const days = daysOf(charge);
  if (days === null) return { ...NOTHING, sums: [carried], events: during };
  return { ...NOTHING, sums: [carried, { window: during, isBefore: false, days }] };
}

/** A prorated unique count needs the members at the start and every hour of the period. */
function proratedMembersReading(charge: ChargeToCount): Reading {
  const [before, during] = aroundStart(charge);
  const days = daysOf(charge);
  if (days === null) return { ...NOTHING, events: charge.window };
  const members = [
    { window: before, days: null },
    { window: during, days },
  ];
  return { ...NOTHING, members };
}

/** The time before the period, and the period as far as the charge is counted. */
function aroundStart(charge: ChargeToCount): [before: UsageWindow, during: UsageWindow] {
  const start = startOf(charge);
  const { to, replacedBy } = charge.window;
  return [
    { from: null, to: start },
    { from: start, to, ...(replacedBy === undefined ? {} : { replacedBy }) },
  ];
}

/** Starts of the local days of the period; null when hours do not align with the days, or days do not suffice. */
function daysOf({ needs, proration }: ChargeToCount): Instant[] | null {
  assert(proration, 'units that depend on time come with their period');
  const starts = needs === 'moves' ? [] : dayStartsOnce(proration);
  return starts.length > 0 && starts.every(isFullHour) ? starts : null;
}

/** Cached for a period, which the charges of a plan share. */
const KNOWN_DAYS = new WeakMap<Proration, Instant[]>();

function dayStartsOnce(proration: Proration): Instant[] {
  const starts = KNOWN_DAYS.get(proration) ?? dayStarts(proration);
  KNOWN_DAYS.set(proration, starts);
  return starts;
}

function dayStarts({ period, zone }: Proration): Instant[] {
  const last = localDate(period.to, zone);
  const starts: Instant[] = [];
  for (let day = localDate(period.from, zone); !isDateAfter(day, last); day = day.add({ days: 1 }))
    starts.push(dayStart(day, zone));
  return starts;
}

/** Start of the period, cut to the millisecond (events.md#subscription-of-an-event). */
function startOf({ proration }: ChargeToCount): Instant {
  assert(proration, 'units that depend on time come with their period');
  return proration.period.from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
}
