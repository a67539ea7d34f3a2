import { type Instant, isAfter } from '../calendar/instants.ts';
import { daysPeriod, localDate } from '../calendar/local-day.ts';
import { type Period, period } from '../calendar/period.ts';

export interface LimitedLife {
  now: Instant;
  zone: string;
  /** The charges period in progress. */
  billingPeriod: Period;
  /** When the chain of subscriptions began. */
  startedAt: Instant;
}

/**
 * The window whose usage a limit counts, and when it resets; a lifetime never does.
 *
 *   month, 2026-03-09 in Berlin → from 2026-02-28T23:00Z to 2026-03-31T22:00Z
 *
 * Rule: entitlements.md#usage-limits "period".
 */
export function limitWindow(
  of: 'billing_period' | 'day' | 'month' | 'lifetime',
  { now, zone, billingPeriod, startedAt }: LimitedLife,
): { window: Period; resetsAt: Instant | null } {
  if (of === 'lifetime') {
    const { to } = billingPeriod;
    return { window: period(isAfter(startedAt, to) ? to : startedAt, to), resetsAt: null };
  }
  const today = localDate(now, zone);
  const first = today.with({ day: 1 });
  const window =
    of === 'billing_period'
      ? billingPeriod
      : of === 'day'
        ? daysPeriod(today, today, zone)
        : daysPeriod(first, first.add({ months: 1 }).subtract({ days: 1 }), zone);
  return { window, resetsAt: window.to };
}
