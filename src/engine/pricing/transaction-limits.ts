import { assert } from '../assert.ts';
import { type Decimal, max, min, ONE, ZERO } from '../money/decimal.ts';
import type { Usage } from './priced.ts';
import { type FreeUnits, isCounted } from './running-totals.ts';

/** What one event of a percentage charge costs. */
export interface TransactionTerms {
  /** In percent. */
  rate: Decimal;
  fixedAmount: Decimal;
  /** Null means no limit. */
  minAmount: Decimal | null;
  maxAmount: Decimal | null;
}

/** Successive events with equal values. */
export interface Run {
  value: Decimal;
  times: number;
}

/**
 * Cost of one event: a percentage of its value and the fixed amount, within the limits.
 *
 *   80 at 2.99 % + 0, between 1.75 and 12 → 2.392
 */
export function transactionCost(
  value: Decimal,
  { rate, fixedAmount, minAmount, maxAmount }: TransactionTerms,
): Decimal {
  const cost = value.times(rate).div(100).plus(fixedAmount);
  const raised = minAmount === null ? cost : max(cost, minAmount);
  return maxAmount === null ? raised : min(raised, maxAmount);
}

/**
 * Cost of usage event by event, after the free ones: while a free total remains, an event below it is free and reduces
 * it, and the first event above it pays for the excess; without a free total the first events are free.
 *
 *   10, 80, 10000 at 2.99 %, between 1.75 and 12 → 1.75 + 2.392 + 12 = 16.142
 *
 * Rule: charge-models.md#percentage, per-transaction limits.
 */
export function transactionsPrice(usage: Usage, free: FreeUnits, terms: TransactionTerms): Decimal {
  return chargedRuns(usage, free).reduce<Decimal>(
    (total, { value, times }) => total.plus(transactionCost(value, terms).times(times)),
    ZERO,
  );
}

/** The input of pricing event by event after the free events. */
export function chargedRuns(usage: Usage, free: FreeUnits): Run[] {
  const runs = runsOf(usage);
  return free.perTotal.isZero() ? afterEvents(runs, free.perEvents) : afterTotal(runs, free.perTotal);
}

/**
 * The values to price: raw values for a sum, 1 for each event of a count, the greatest once for a maximum, else the
 * units.
 */
function runsOf(usage: Usage): Run[] {
  const { aggregation, values, units, eventsCount } = usage;
  assert(aggregation, 'usage of a percentage charge says what its units are');
  if (isCounted(usage)) return [{ value: ONE, times: eventsCount }];
  if (aggregation !== 'sum_agg' && aggregation !== 'max_agg')
    return [{ value: units, times: Math.min(eventsCount, 1) }];

  assert(values, 'usage of a percentage charge with limits comes with the values of its events');
  if (aggregation === 'sum_agg' || values.length === 0) return values.map((value) => ({ value, times: 1 }));

  const greatest = values.reduce(max);
  const place = values.findIndex((value) => value.eq(greatest));
  return values.map((value, index) => ({ value: index === place ? value : ZERO, times: 1 }));
}

function afterEvents(runs: readonly Run[], count: number): Run[] {
  let left = count;
  return runs.map(({ value, times }) => {
    const free = Math.min(left, times);
    left -= free;
    return { value, times: times - free };
  });
}

function afterTotal(runs: readonly Run[], total: Decimal): Run[] {
  let remaining = total;
  return runs.flatMap(({ value, times }) => {
    if (remaining.isZero()) return [{ value, times }];
    const free = freeTimes(value, times, remaining);
    remaining = remaining.minus(value.times(free));
    if (free === times) return [];
    const above = value.minus(remaining);
    remaining = ZERO;
    return [
      { value: above, times: 1 },
      { value, times: times - free - 1 },
    ];
  });
}

/** How many successive values are below the rest of the free total. */
function freeTimes(value: Decimal, times: number, remaining: Decimal): number {
  if (!value.gt(ZERO)) return times;
  return min(remaining.div(value).ceil().minus(1), ONE.times(times)).toNumber();
}
