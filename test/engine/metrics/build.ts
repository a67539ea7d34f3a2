import { type Period, period, periodThrough } from '../../../src/engine/calendar/period.ts';
import type { Proration } from '../../../src/engine/metrics/proration.ts';
import type { MemberEvent, ValueEvent } from '../../../src/engine/metrics/usage-event.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';

/** Events written as "2024-05-26 +12". */
export const values = (...lines: string[]): ValueEvent[] =>
  lines.map((line) => {
    const [time, value] = line.split(' ');
    return { timestamp: instant(time!), value: decimal(value!.replace('+', '')) };
  });

/** Events written as "2024-05-02 add A". */
export const members = (...lines: string[]): MemberEvent[] =>
  lines.map((line) => {
    const [time, operation, value] = line.split(' ');
    return { timestamp: instant(time!), operation: operation as MemberEvent['operation'], value: value! };
  });

/** The days from one date to the day before another, in UTC. */
export const between = (from: string, to: string): Period => period(instant(from), instant(to));

/** A period of which the first and last day, or instant, are named. */
export const proration = (
  from: string,
  last: string,
  { periodDays = 31, zone = 'UTC', isUpgraded = false }: Partial<Omit<Proration, 'period'>> = {},
): Proration => ({
  period: periodThrough(instant(from), instant(last.includes('T') ? last : `${last}T23:59:59.999999`)),
  periodDays,
  zone,
  isUpgraded,
});

export const NOTHING_CARRIED = { units: decimal(0), eventsCount: 0 };
