import type { Temporal } from 'temporal-polyfill';
import { type Cents, roundToCents, sumCents } from '../../../engine/money/cents.ts';
import type { MonthMovement } from './period-queries.ts';
import { eachPeriod, earlierDay, laterDay, periodEnd } from './periods.ts';
import type { Granularity } from './schema.ts';
import type { Days } from './totals.ts';

/** Recurring revenue of a period: its start, its movements when months began in it, and its end. */
export interface PeriodMovement {
  start: Temporal.PlainDate;
  starting_mrr: Cents;
  mrr_new: Cents;
  mrr_expansion: Cents;
  mrr_contraction: Cents;
  mrr_churn: Cents;
  mrr_change: Cents;
  ending_mrr: Cents;
}

/**
 * Movements of one currency by period. Recurring revenue is a figure of months, so it moves on their first days;
 * periods with nothing in them are left out.
 *
 * @param ofMonths ascending; months without revenue and movement are missing
 */
export function movementsOf(
  ofMonths: readonly MonthMovement[],
  days: Days,
  granularity: Granularity,
): PeriodMovement[] {
  const [first] = ofMonths;
  if (first === undefined) return [];
  const byMonth = new Map(ofMonths.map((movement) => [String(movement.month), movement]));
  const levelOn = (day: Temporal.PlainDate): Cents => {
    const month = day.with({ day: 1 });
    const ended = byMonth.get(String(month))?.ended;
    if (ended !== undefined) return roundToCents(ended);
    const next = byMonth.get(String(month.add({ months: 1 })));
    return next === undefined ? sumCents([]) : roundToCents(next.started);
  };
  const range = { from: laterDay(days.from, first.month), to: days.to };
  return [...eachPeriod(range, granularity)].flatMap((start) => {
    const end = earlierDay(periodEnd(start, granularity), days.to);
    const begun = ofMonths.filter(({ month }) => String(month) >= String(start) && String(month) <= String(end));
    const total = (kind: 'new' | 'expansion' | 'contraction' | 'churn'): Cents =>
      sumCents(begun.map((movement) => roundToCents(movement[kind])));
    const starting = levelOn(start.subtract({ days: 1 }));
    const ending = levelOn(end);
    if (starting === 0 && ending === 0 && begun.length === 0) return [];
    return [
      {
        start,
        starting_mrr: starting,
        mrr_new: total('new'),
        mrr_expansion: total('expansion'),
        mrr_contraction: total('contraction'),
        mrr_churn: total('churn'),
        mrr_change: (ending - starting) as Cents,
        ending_mrr: ending,
      },
    ];
  });
}
