import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { keyOfEvent } from '../events/event-key.ts';

// Events of a closed time may be removed, so nothing is computed from them any more: no correction, no late event and
// no repair of sums reaches into it (retention.md#raw-events).

/** Whether an instant of a subscription and code is closed. All are SQL of a row. */
export const isClosed = (
  db: Db,
  of: { organizationId: Fragment; subscription: Fragment; code: Fragment; at: Fragment },
): Fragment => db`
  exists (
    select from event_horizons horizon
    where horizon.organization_id = ${of.organizationId} and horizon.external_subscription_id = ${of.subscription}
      and ${of.at} < horizon.closed_before and ${of.code} <> all (horizon.kept_codes))`;

/** @throws Refusal 422 base: value_is_out_of_range, if the event of a transaction id is in a closed time, or is gone */
export async function demandOpenEvent(
  scope: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  transactionId: string,
): Promise<void> {
  const { db, organizationId } = scope;
  const [row] = await db`
    select from event_keys key
    join event_horizons horizon on horizon.organization_id = key.organization_id
      and horizon.external_subscription_id = ${externalSubscriptionId}
    left join events e on e.id = key.event_id
    where ${keyOfEvent(db, { organizationId, transactionId, externalSubscriptionId })}
      and coalesce(e.timestamp, key.event_timestamp) < horizon.closed_before
      and (e.id is null or e.code <> all (horizon.kept_codes))`;
  if (row) throw outOfRange();
}

/**
 * from  the earliest instant that a correction reaches, as ISO text; code null: events of all codes
 *
 * @throws Refusal 422 base: value_is_out_of_range, if that is closed
 */
export async function demandOpenTime(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { from, code }: { from: string; code: string | null },
): Promise<void> {
  const [row] = await db`
    select from event_horizons horizon
    where horizon.organization_id = ${organizationId}
      and horizon.external_subscription_id = ${externalSubscriptionId} and horizon.closed_before > ${from}
      and (${code}::text is null or ${code}::text <> all (horizon.kept_codes))`;
  if (row) throw outOfRange();
}

const outOfRange = () => refuse.invalid({ base: ['value_is_out_of_range'] });

/** Where removed events are looked for: a window of a subscription and code. */
export interface RemovedWindow {
  key: string;
  subscription: ExternalSubscriptionId | null;
  code: string | null;
  /** `[from, to)` as ISO texts. */
  from: string;
  to: string;
}

/** Windows that have lost events, by their keys: whether all of those were brought back. One statement. */
export async function listRemovedWindows(
  { db, organizationId }: Scope,
  windows: readonly RemovedWindow[],
): Promise<Map<string, { isRestored: boolean }>> {
  if (windows.length === 0) return new Map();
  const rows = await db<{ key: string; is_restored: boolean }[]>`
    select asked.key, bool_and(removed.restored_at is not null) as is_restored
    from jsonb_to_recordset(${JSON.stringify(windows)}::text::jsonb)
      as asked (key text, subscription text, code text, "from" timestamptz, "to" timestamptz)
    join removed_events removed on removed.organization_id = ${organizationId}
      and removed.external_subscription_id = asked.subscription and removed.code = asked.code
      and removed.first_timestamp < asked."to" and removed.last_timestamp >= asked."from"
    group by asked.key`;
  return new Map(rows.map(({ key, is_restored }) => [key, { isRestored: is_restored }]));
}
