import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { RunningRecord } from '../../../engine/metrics/running-record.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeFilterId, ChargeId, EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

/** Key of a running record. */
export interface RecordKey {
  charge_id: ChargeId;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
}

/** The totals that a billed event passes to the next one. */
export interface NewRecord extends RecordKey {
  external_subscription_id: ExternalSubscriptionId;
  event_id: EventId;
  event_timestamp: Instant;
  record: RunningRecord;
}

interface RecordRow {
  n: number;
  current: Decimal;
  max: Decimal;
  max_prorated: Decimal;
}

/**
 * The record written last of each key among those whose event lies in the key's period, in the requested order;
 * undefined if nothing was billed yet. Rule: in-advance.md#units-of-one-event "previous".
 */
export async function listNewestRecords(
  { db, organizationId }: Scope,
  keys: readonly (RecordKey & { external_subscription_id: ExternalSubscriptionId; period: Period })[],
): Promise<(RunningRecord | undefined)[]> {
  if (keys.length === 0) return [];
  const asked = keys.map(({ period, ...key }, n) => ({ n, ...key, from: period.from, to: period.to }));
  const rows = await db<RecordRow[]>`
    select asked.n, newest.current, newest.max, newest.max_prorated
    from jsonb_to_recordset(${json(asked)}::jsonb) as asked (n integer, external_subscription_id text,
      charge_id uuid, charge_filter_id uuid, grouped_by jsonb, "from" timestamptz, "to" timestamptz)
    cross join lateral (
      select record.current, record.max, record.max_prorated
      from in_advance_records record
      where record.organization_id = ${organizationId}
        and record.external_subscription_id = asked.external_subscription_id and record.charge_id = asked.charge_id
        and record.charge_filter_id is not distinct from asked.charge_filter_id
        and record.grouped_by = asked.grouped_by
        and record.event_timestamp >= date_trunc('milliseconds', asked."from") and record.event_timestamp < asked."to"
      order by record.id desc
      limit 1
    ) newest`;
  const found = new Map(rows.map((row) => [row.n, row]));
  return keys.map((_, n) => {
    const row = found.get(n);
    return row && { current: row.current, max: row.max, maxProrated: row.max_prorated };
  });
}

/** Pairs of event and charge that were billed. */
export const listBilledEvents = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db<
  { event_id: EventId; charge_id: ChargeId }[]
>`
  select event_id, charge_id from in_advance_records
  where organization_id = ${organizationId} and event_id = any (${eventIds}::uuid[])`;

export const insertRecord = ({ db, organizationId }: Scope, row: NewRecord, now: Instant) => db`
  insert into in_advance_records (id, organization_id, external_subscription_id, charge_id, charge_filter_id,
    grouped_by, event_id, event_timestamp, current, max, max_prorated, created_at)
  values (${newId()}, ${organizationId}, ${row.external_subscription_id}, ${row.charge_id}, ${row.charge_filter_id},
    ${json(row.grouped_by)}, ${row.event_id}, ${row.event_timestamp}, ${row.record.current}, ${row.record.max},
    ${row.record.maxProrated}, ${now})`;
