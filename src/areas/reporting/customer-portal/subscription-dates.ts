import { Temporal } from 'temporal-polyfill';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { subscriptionView } from '../../subscriptions/subscriptions/view.ts';
import type { List } from './reads.ts';

/** The subscriptions that a page shows, and its present. */
interface Shown {
  subscriptions: List<SubscriptionShown>;
  now: Temporal.Instant;
}

interface NamedDay {
  text: 'startsOn' | 'endedOn' | 'endsOn' | 'nextBilling';
  on: Temporal.PlainDate;
}

/**
 * The days that matter to a subscription's customer, in its zone: when it starts, is billed next, ends or has ended.
 */
export function datesOf(row: SubscriptionShown, portal: Shown): NamedDay[] {
  const day = (text: NamedDay['text'], at: Temporal.Instant | null): NamedDay[] =>
    at === null ? [] : [{ text, on: at.toZonedDateTimeISO(row.zone).toPlainDate() }];
  if (row.status === 'pending')
    return row.previous_subscription_id === null ? day('startsOn', row.subscription_at) : takesOver(row, portal);
  if (row.status === 'incomplete') return [];
  if (row.status !== 'active') return day('endedOn', row.terminated_at);
  const endsFirst =
    row.ending_at !== null &&
    row.next_billing_at !== null &&
    Temporal.Instant.compare(row.ending_at, row.next_billing_at) <= 0;
  return [...(endsFirst ? [] : day('nextBilling', row.next_billing_at)), ...day('endsOn', row.ending_at)];
}

/** The start of a plan with a smaller amount: the end of the running period of the former plan. */
function takesOver(row: SubscriptionShown, { subscriptions, now }: Shown): NamedDay[] {
  const former = subscriptions.rows.find(({ id }) => id === row.previous_subscription_id);
  const on = former && subscriptionView(former, now).downgrade_plan_date;
  return on ? [{ text: 'startsOn', on: Temporal.PlainDate.from(on) }] : [];
}
