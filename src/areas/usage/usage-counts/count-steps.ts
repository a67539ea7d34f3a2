import type { Instant } from '../../../engine/calendar/instants.ts';
import { newestOf } from '../../../engine/metrics/latest.ts';
import { type Decimal, decimal, max } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';
import { sharesOf } from './count-usage.ts';
import type { Counting, Row } from './counted-charge.ts';
import { readRows } from './read-rows.ts';
import type { ChargeToCount, CountedShare } from './request.ts';
import type { Portion } from './units-of-shares.ts';

/** How many single events, or listed values of unique counts, all charges of a request may take together. */
const MOST_EVENTS = 10_000;

/** A charge at several ends. */
export interface CountedSteps {
  key: string;
  /** Its shares with the events before each end; null where they need more single events than may be read. */
  at: CountedShare[][] | null;
  /** Whether the shares have the figures of single events that their prices need. */
  hasValues: boolean;
}

/**
 * Counts charges at several ends, each with the events before it, as `countUsage` counts one window that ends there.
 * Every hour and every event is read once. Single events are read where a price needs them, while all charges together
 * have at most 10 000: of a charge beyond that only sums are counted, and nothing where there are none. At most two
 * round trips with at most five statements, whatever the number of charges, groups and steps.
 *
 * ends ascending; the last one is the end of every charge's window
 *
 * Rule: console-reads.md#usage-series.
 */
export async function countSteps(
  scope: Scope,
  charges: readonly ChargeToCount[],
  { ends, pause }: { ends: readonly Instant[]; pause: Pause | undefined },
): Promise<CountedSteps[]> {
  const countings = await readRows(scope, charges, { pause, steps: { ends, mostEvents: MOST_EVENTS } });
  let taken = 0;
  const counted = async (counting: Counting): Promise<CountedSteps> => {
    const { charge } = counting;
    const events = counting.rows.filter(({ event }) => event !== undefined).length;
    const isWhole = !counting.isCut && taken + events <= MOST_EVENTS;
    if (isWhole) taken += events;
    const known = isWhole ? counting : withoutEvents(counting);
    return {
      key: charge.key,
      at: known && (await sharesAtEnds(known, ends.length, pause)),
      hasValues: isWhole,
    };
  };
  return mapInSlices(countings, counted, pause);
}

/** The sums alone, where a charge has them; null where units themselves come from single events. */
function withoutEvents(counting: Counting): Counting | null {
  const { needs: _, firstValues: __, ...charge } = counting.charge;
  if (charge.isProrated || charge.metric.aggregation_type === 'unique_count_agg') return null;
  return { ...counting, charge, rows: counting.rows.filter(({ event }) => event === undefined) };
}

async function sharesAtEnds(counting: Counting, ends: number, pause: Pause | undefined): Promise<CountedShare[][]> {
  const added = groupRows(counting.rows, ({ step }) => step);
  const portions = new Map<string, Row>();
  const others: Row[] = [];
  const shares: CountedShare[][] = [];
  for (let end = 0; end < ends; end += 1) {
    for (const row of added.get(end) ?? []) {
      if (row.portion === undefined) others.push(row);
      else addPortion(portions, { ...row, portion: row.portion });
    }
    shares.push(await sharesOf({ ...counting, rows: [...portions.values(), ...others] }, pause));
  }
  return shares;
}

/** Adds a row to the one with the same texts and day, so that a step costs its groups and not all steps before it. */
function addPortion(portions: Map<string, Row>, row: Row & { portion: Portion }): void {
  const key = JSON.stringify([row.texts, row.isBefore, row.portion.hour]);
  const known = portions.get(key)?.portion;
  portions.set(key, known ? { ...row, portion: together(known, row.portion) } : row);
}

const together = (a: Portion, b: Portion): Portion => {
  const { last_ts, last_created_at, last_id, last_value } = newestOf([a, b]) ?? a;
  return {
    events_count: a.events_count + b.events_count,
    valid_count: a.valid_count + b.valid_count,
    sum: decimal(a.sum).plus(b.sum),
    moment: a.moment.plus(b.moment),
    max: greater(a.max, b.max),
    preciseTotalAmountCents: a.preciseTotalAmountCents.plus(b.preciseTotalAmountCents),
    hour: a.hour,
    last_ts,
    last_created_at,
    last_id,
    last_value,
  };
};

const greater = (a: Decimal | string | null, b: Decimal | string | null) =>
  a === null || b === null ? (a ?? b) : max(decimal(a), decimal(b));
