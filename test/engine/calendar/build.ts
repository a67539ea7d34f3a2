import { Temporal } from 'temporal-polyfill';
import type { PlanTerms, SubscriptionTerms } from '../../../src/engine/calendar/terms.ts';

/** `2024-01-31`, `2024-01-31T01:00` or with seconds, read in UTC unless it says otherwise. */
export function instant(text: string): Temporal.Instant {
  const dated = text.includes('T') ? text : `${text}T00:00`;
  return Temporal.Instant.from(/Z$|[+-]\d\d:\d\d$/.test(dated) ? dated : `${dated}Z`);
}

export const date = (text: string): Temporal.PlainDate => Temporal.PlainDate.from(text);

export const plan = (terms: Partial<PlanTerms> = {}): PlanTerms => ({
  interval: 'monthly',
  pay_in_advance: false,
  bill_charges_monthly: null,
  bill_fixed_charges_monthly: null,
  ...terms,
});

/** A subscription anchored at its start, on anniversaries unless said. */
export function subscription(
  started: string,
  terms: Partial<SubscriptionTerms> = {},
): SubscriptionTerms & { started_at: Temporal.Instant } {
  const at = instant(started);
  return { subscription_at: at, billing_time: 'anniversary', terminated_at: null, ...terms, started_at: at };
}
