import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import { CIRCUIT_OPENS_AT } from '../messaging/deliver-webhooks/circuit.ts';

/** What an operator wants to hear of before a customer does. */
export type LateWork = 'subscriptions' | 'invoices' | 'corrections' | 'payments' | 'webhook_endpoints';

/** How long a subscription may be due, or a correction wait, before it is late: some ticks of the hourly work. */
const LATE_AFTER_HOURS = 2;
const FAILED_SINCE_HOURS = 24;

/**
 * Counts over all organizations what is late or fails: active subscriptions due for two hours (those under a test clock
 * wait for their clock), invoices that could not be made, corrections that have waited for two hours for an invoice or
 * for an earlier correction, payments that failed in a day, endpoints to which only probes are sent.
 */
export const countLateWork = (db: Db, now: Temporal.Instant) => db<{ what: LateWork; count: number }[]>`
  select 'subscriptions' as what, count(*) as count from subscriptions due
  where due.status = 'active' and due.next_billing_at < ${now.subtract({ hours: LATE_AFTER_HOURS })}
    and not exists (select from test_clocks clock where clock.organization_id = due.organization_id)
  union all
  select 'invoices', count(*) from invoices where status = 'failed'
  union all
  select 'corrections', count(*) from event_corrections waiting
  where waiting.status in ('pending', 'applied') and waiting.created_at < ${now.subtract({ hours: LATE_AFTER_HOURS })}
    and not exists (select from test_clocks clock where clock.organization_id = waiting.organization_id)
  union all
  select 'payments', count(*) from organizations
  join payments on payments.organization_id = organizations.id and payments.payment_status = 'failed'
    and payments.created_at > ${now.subtract({ hours: FAILED_SINCE_HOURS })}
  union all
  select 'webhook_endpoints', count(*) from webhook_endpoints
  where status = 'enabled' and consecutive_failures >= ${CIRCUIT_OPENS_AT}`;
