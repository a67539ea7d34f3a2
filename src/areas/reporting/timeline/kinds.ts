import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { CustomerId, ExternalCustomerId, OrganizationId } from '../../../platform/ids.ts';
import { TIMELINE_KINDS, type TimelineKind } from './schema.ts';

/** Whose rows are looked for, and from where. */
export interface Looked {
  db: Db;
  organizationId: OrganizationId;
  customerId: CustomerId;
  externalId: ExternalCustomerId;
  from: Temporal.Instant | undefined;
  to: Temporal.Instant | undefined;
  /** Real time since which activities are shown. */
  logsSince: Temporal.Instant;
  after: { at: Temporal.Instant; kind: TimelineKind; id: string } | undefined;
  limit: number;
}

export interface TimelineRow {
  at: Temporal.Instant;
  kind: TimelineKind;
  id: string;
  name: string;
  title: string | null;
  resource_type: string | null;
  resource_id: string | null;
  amount_cents: number | null;
  currency: string | null;
  status: string | null;
  path: string | null;
}

/** A kind of rows: the permission without whose reading it is left out, and its newest `limit + 1` rows. */
interface Kind {
  permission: string;
  rows: (looked: Looked) => Promise<TimelineRow[]>;
}

/** Rows of a kind within the bounds and behind the cursor, by the column of their instant and their id. */
function within(looked: Looked, kind: TimelineKind, at: Fragment, id: Fragment): Fragment {
  const { db, from, to, after } = looked;
  const place = after && TIMELINE_KINDS.indexOf(kind) - TIMELINE_KINDS.indexOf(after.kind);
  const behind =
    after === undefined || place === undefined
      ? db`true`
      : place === 0
        ? db`(${at}, ${id}) < (${after.at}, ${after.id}::uuid)`
        : place > 0
          ? db`${at} <= ${after.at}`
          : db`${at} < ${after.at}`;
  return db`${behind} ${from ? db`and ${at} >= ${from}` : db``} ${to ? db`and ${at} < ${to}` : db``}`;
}

/** What the API log of activities says: under which path their records are found. */
const PATHS: Readonly<Record<string, string>> = {
  Invoice: '/invoices/',
  CreditNote: '/credit_notes/',
  Wallet: '/wallets/',
  PaymentRequest: '/payment_requests/',
};

export const KINDS: Readonly<Record<TimelineKind, Kind>> = {
  activity: {
    permission: 'activity_log',
    rows: async (looked) => {
      const { db, organizationId, externalId, logsSince, limit } = looked;
      const rows = await db<TimelineRow[]>`
        select log.logged_at as at, 'activity' as kind, log.id, log.activity_type as name,
          coalesce(log.activity_object ->> 'number', log.activity_object ->> 'code',
            log.activity_object ->> 'external_id') as title, log.resource_type, log.resource_id,
          null::bigint as amount_cents, null as currency, log.activity_source as status, null as path
        from activity_logs log
        where log.organization_id = ${organizationId} and log.external_customer_id = ${externalId}
          and log.created_at >= ${logsSince} and ${within(looked, 'activity', db`log.logged_at`, db`log.id`)}
        order by log.logged_at desc, log.id desc limit ${limit + 1}`;
      return rows.map((row) => ({ ...row, path: pathOf(row) }));
    },
  },
  payment: {
    permission: 'payment',
    rows: (looked) => {
      const { db, organizationId, customerId, limit } = looked;
      return db<TimelineRow[]>`
        select payment.created_at as at, 'payment' as kind, payment.id,
          'payment.' || payment.payment_status as name,
          coalesce(payment.error ->> 'message', payment.reference) as title, payment.payable_type as resource_type,
          payment.payable_id as resource_id, payment.amount_cents, payment.amount_currency as currency,
          payment.payment_status as status, '/payments/' || payment.id as path
        from payments payment
        where payment.organization_id = ${organizationId} and payment.customer_id = ${customerId}
          and ${within(looked, 'payment', db`payment.created_at`, db`payment.id`)}
        order by payment.created_at desc, payment.id desc limit ${limit + 1}`;
    },
  },
  usage_day: {
    permission: 'customer_usage',
    rows: (looked) => {
      const { db, organizationId, customerId, limit } = looked;
      const at = db`(day.usage_date::timestamp at time zone 'UTC')`;
      return db<TimelineRow[]>`
        select ${at} as at, 'usage_day' as kind, day.id, 'usage_day' as name, sums.events_count::text as title,
          'Subscription' as resource_type, day.subscription_id as resource_id, sums.amount_cents,
          day.amount_currency as currency, null as status, '/subscriptions/' || day.external_subscription_id as path
        from daily_usages day
        cross join lateral (
          select coalesce(sum(entry.amount_cents), 0)::bigint as amount_cents,
            coalesce(sum(entry.events_count), 0)::bigint as events_count
          from jsonb_to_recordset(day.usage_diff) as entry (amount_cents bigint, events_count bigint)) sums
        where day.organization_id = ${organizationId} and day.customer_id = ${customerId}
          and jsonb_array_length(day.usage_diff) > 0 and ${withinDays(looked)}
        order by day.usage_date desc, day.id desc limit ${limit + 1}`;
    },
  },
  webhook: {
    permission: 'webhook_endpoint',
    rows: (looked) => {
      const { db, organizationId, customerId, limit } = looked;
      return db<TimelineRow[]>`
        select event.occurred_at as at, 'webhook' as kind, event.id, event.webhook_type as name, null as title,
          event.object_type as resource_type, event.object_id as resource_id, null::bigint as amount_cents,
          null as currency, worst.status, '/webhook_events/' || event.id as path
        from webhook_events event
        left join lateral (
          select delivery.status from webhook_deliveries delivery
          where delivery.organization_id = event.organization_id and delivery.event_id = event.id
          order by array_position(array['failed', 'retrying', 'pending', 'succeeded'], delivery.status) limit 1
        ) worst on true
        where event.organization_id = ${organizationId} and event.customer_id = ${customerId}
          and ${within(looked, 'webhook', db`event.occurred_at`, db`event.id`)}
        order by event.occurred_at desc, event.id desc limit ${limit + 1}`;
    },
  },
};

/** As `within`, by the day itself, which the index holds. */
function withinDays(looked: Looked): Fragment {
  const { db, from, to, after } = looked;
  const midnight = (at: Temporal.Instant) => db`${at.toString()}::timestamptz at time zone 'UTC'`;
  const place = after && TIMELINE_KINDS.indexOf('usage_day') - TIMELINE_KINDS.indexOf(after.kind);
  const behind =
    after === undefined || place === undefined
      ? db`true`
      : place === 0
        ? db`(day.usage_date, day.id) < ((${midnight(after.at)})::date, ${after.id}::uuid)`
        : place > 0
          ? db`day.usage_date <= ${midnight(after.at)}`
          : db`day.usage_date < ${midnight(after.at)}`;
  return db`${behind} ${from ? db`and day.usage_date >= ${midnight(from)}` : db``}
    ${to ? db`and day.usage_date < ${midnight(to)}` : db``}`;
}

function pathOf({ resource_type: type, resource_id: id, title }: TimelineRow): string | null {
  if (type === 'Subscription' && title !== null) return `/subscriptions/${encodeURIComponent(title)}`;
  const path = PATHS[type ?? ''];
  return path === undefined || id === null ? null : path + id;
}
