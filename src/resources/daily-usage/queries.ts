import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import { newId } from '../../platform/ids.ts';
import type { SnapshotEntry } from './snapshot.ts';

/** Usage of a charges period so far, as it stood after a local day. */
export interface DailyUsage {
  customer_id: string;
  subscription_id: string;
  external_subscription_id: string;
  usage_date: Temporal.PlainDate;
  /** `[from, to)`. */
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  amount_currency: string;
  amount_cents: number;
  usage: readonly SnapshotEntry[];
  usage_diff: readonly SnapshotEntry[];
}

/** The newest snapshot of a subscription in the charges period that starts at `from`. */
export async function findNewestSnapshot(
  db: Db,
  organizationId: string,
  subscriptionId: string,
  from: Temporal.Instant,
): Promise<Pick<DailyUsage, 'usage' | 'usage_date'> | undefined> {
  const [row] = await db<Pick<DailyUsage, 'usage' | 'usage_date'>[]>`
    select usage, usage_date from daily_usages
    where organization_id = ${organizationId} and subscription_id = ${subscriptionId} and from_datetime = ${from}
    order by usage_date desc
    limit 1`;
  return row;
}

export const insertDailyUsage = (db: Db, organizationId: string, row: DailyUsage, now: Temporal.Instant) => db`
  insert into daily_usages (id, organization_id, customer_id, subscription_id, external_subscription_id, usage_date,
    from_datetime, to_datetime, amount_currency, amount_cents, usage, usage_diff, created_at)
  values (${newId()}, ${organizationId}, ${row.customer_id}, ${row.subscription_id}, ${row.external_subscription_id},
    ${row.usage_date}, ${row.from_datetime}, ${row.to_datetime}, ${row.amount_currency}, ${row.amount_cents},
    ${row.usage as never}::jsonb, ${row.usage_diff as never}::jsonb, ${now})
  on conflict (organization_id, subscription_id, usage_date) do nothing`;
