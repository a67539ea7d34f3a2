import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, ExternalSubscriptionId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { SnapshotEntry } from './snapshot.ts';

/** Usage of a charges period so far, as it stood after a local day. */
export interface DailyUsage {
  customer_id: CustomerId;
  subscription_id: SubscriptionId;
  external_subscription_id: ExternalSubscriptionId;
  usage_date: Temporal.PlainDate;
  /** `[from, to)`. */
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  amount_currency: string;
  amount_cents: number;
  usage: readonly SnapshotEntry[];
  usage_diff: readonly SnapshotEntry[];
}

/** The two newest snapshots of a subscription in a charges period up to a day, the newest first. */
export const listNewestSnapshots = (
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  { period, day }: { period: Period; day: Temporal.PlainDate },
) => db<Pick<DailyUsage, 'usage' | 'usage_date'>[]>`
  select usage, usage_date from daily_usages
  where organization_id = ${organizationId} and subscription_id = ${subscriptionId} and from_datetime >= ${period.from}
    and from_datetime < ${period.to} and usage_date <= ${day}
  order by usage_date desc
  limit 2`;

/** Stores the snapshot of a day, replacing an earlier one of the same day and period. */
export const keepDailyUsage = ({ db, organizationId }: Scope, row: DailyUsage, now: Temporal.Instant) => db`
  insert into daily_usages (id, organization_id, customer_id, subscription_id, external_subscription_id, usage_date,
    from_datetime, to_datetime, amount_currency, amount_cents, usage, usage_diff, created_at)
  values (${newId()}, ${organizationId}, ${row.customer_id}, ${row.subscription_id}, ${row.external_subscription_id},
    ${row.usage_date}, ${row.from_datetime}, ${row.to_datetime}, ${row.amount_currency}, ${row.amount_cents},
    ${json(row.usage)}::jsonb, ${json(row.usage_diff)}::jsonb, ${now})
  on conflict (organization_id, subscription_id, usage_date) do update set
    to_datetime = excluded.to_datetime, amount_cents = excluded.amount_cents, usage = excluded.usage,
    usage_diff = excluded.usage_diff
  where daily_usages.from_datetime = excluded.from_datetime`;
