import { Temporal } from 'temporal-polyfill';
import type { DayRange } from './facts.ts';

/** The least period that holds those of all lines; null if none has one. */
export function wholePeriod(periods: readonly (DayRange | null | undefined)[]): DayRange | null {
  const known = periods.filter((period) => period !== null && period !== undefined);
  const [first] = known;
  if (!first) return null;
  const pick = (a: Temporal.PlainDate, b: Temporal.PlainDate, sign: number) =>
    Temporal.PlainDate.compare(a, b) * sign <= 0 ? a : b;
  return {
    from: known.map(({ from }) => from).reduce((a, b) => pick(a, b, 1)),
    to: known.map(({ to }) => to).reduce((a, b) => pick(a, b, -1)),
  };
}
