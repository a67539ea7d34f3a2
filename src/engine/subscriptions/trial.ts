import { type Instant, isAfter } from '../calendar/instants.ts';
import { localDate } from '../calendar/local-day.ts';
import { type Decimal, decimal } from '../money/decimal.ts';

export interface TrialInput {
  plan: { trial_period: Decimal | string | number | null };
  subscription: { subscription_at: Instant; trial_ended_at: Instant | null };
  /** First `started_at` of the customer's subscriptions with this external id; null before the first start. */
  firstStartedAt: Instant | null;
}

const NANOSECONDS_A_DAY = 86_400_000_000_000;

/**
 * The instant at which the trial ends, or undefined when the plan has none. A day of trial is 24 hours, fractions
 * count, and the end keeps its time of day. A later subscription of the same external id does not restart it.
 *
 * Rule: subscription-fees.md#notation `trial_end`.
 */
export function trialEnd({ plan, subscription, firstStartedAt }: TrialInput): Instant | undefined {
  const days = decimal(plan.trial_period ?? 0);
  if (days.isZero()) return undefined;

  const microseconds = days.times(NANOSECONDS_A_DAY / 1_000).round();
  return (firstStartedAt ?? subscription.subscription_at).add({ microseconds: microseconds.toNumber() });
}

/**
 * Whether the trial runs at an instant, also if that instant is in the past and the trial is over now.
 * Rule: subscription-fees.md#when-a-line-gets-a-fee (3) "in trial".
 */
export function isInTrial(input: TrialInput, at: Instant): boolean {
  const end = trialEnd(input);
  const hasStarted = !isAfter(input.firstStartedAt ?? input.subscription.subscription_at, at);
  const endedAt = input.subscription.trial_ended_at;
  const hasEnded = endedAt !== null && !isAfter(endedAt, at);
  return end !== undefined && !hasEnded && hasStarted && isAfter(end, at);
}

/** Whether the trial prevents a subscription fee for a line at `at`: it runs beyond that day. */
export function isHeldByTrial(input: TrialInput, at: Instant, zone: string): boolean {
  return isInTrial(input, at) && !localDate(trialEnd(input)!, zone).equals(localDate(at, zone));
}
