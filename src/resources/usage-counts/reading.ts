import { assert } from '../../engine/assert.ts';
import type { Instant } from '../../engine/calendar/instants.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';

/** What is read to count one charge; each part by one statement for all charges. */
export interface Reading {
  /** Windows whose events are summed up. */
  sums: SummedWindow[];
  /** The window whose events are read one by one. */
  events: UsageWindow | null;
}

export interface SummedWindow {
  window: UsageWindow;
  /** Whether it lies before the period: what the period starts with. */
  isBefore: boolean;
  /** Whether buckets hold all that is needed. */
  isRolledUp: boolean;
}

/**
 * What must be read to count a charge: sums where they tell everything, single events where their order or their days
 * matter. Unique counts have no rollup and are read event by event, recurring ones since ever; of a prorated sum only the
 * events of the period are.
 *
 * Rules: usage-and-charges C.2 to C.9, performance-design 5.2.
 */
export function readingOf(charge: ChargeToCount): Reading {
  const { window, metric } = charge;
  if (metric.aggregation_type === 'unique_count_agg') return { sums: [], events: window };
  if (charge.isProrated) return proratedReading(charge);
  if (charge.needs === 'values') return { sums: [], events: window };

  const isRolledUp = metric.aggregation_type !== 'latest_agg' && charge.needs !== 'amounts';
  const sums = [{ window, isBefore: false, isRolledUp }];
  if (charge.carriedOver?.replacesAnother)
    sums.push({ window: { from: null, to: startOf(charge).subtract({ seconds: 1 }) }, isBefore: true, isRolledUp });
  return { sums, events: null };
}

function proratedReading(charge: ChargeToCount): Reading {
  const start = startOf(charge);
  const { to, replacedBy } = charge.window;
  const end = replacedBy === undefined ? {} : { replacedBy };
  return {
    sums: [{ window: { from: null, to: start }, isBefore: true, isRolledUp: true }],
    events: { from: start, to, ...end },
  };
}

/** Start of the period, cut to the millisecond (usage-and-charges A.9). */
function startOf({ proration }: ChargeToCount): Instant {
  assert(proration, 'units that depend on time come with their period');
  return proration.period.from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
}
