import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { firstIdAt, type OrganizationId } from '../../../platform/ids.ts';
import type { ArchiveStore } from './archive-store.ts';
import type { ArchivedEvent } from './archived-event.ts';
import { eventsOf, listArchives } from './archives.ts';

/**
 * Brings the removed events of an organization and month back from the archive, for reads and verifications: they count
 * in no sum again, and are corrected no more. Safe to repeat.
 *
 * month  its first day
 *
 * @returns how many events there are in the files, and how many of the month were removed
 * @throws Error, naming the file, if the archive is not what was written
 */
export async function restoreMonth(
  sql: Sql,
  store: ArchiveStore,
  { organizationId, month, now }: { organizationId: OrganizationId; month: Temporal.PlainDate; now: Temporal.Instant },
): Promise<{ restored: number; removed: number }> {
  const scope = { db: sql, organizationId };
  let restored = 0;
  for (const archive of await listArchives(scope, { month })) {
    for await (const events of eventsOf(store, archive)) {
      await insertRestored(scope, events);
      restored += events.length;
    }
  }
  const [row] = await sql<{ removed: number }[]>`
    select coalesce(sum(events_count), 0)::bigint as removed from removed_events
    where organization_id = ${organizationId} and month = ${month}`;
  if (restored >= row!.removed && restored > 0) await markRestored(scope, month, now);
  return { restored, removed: row!.removed };
}

/** Takes restored events of a month away again; the archive has them still. */
export async function releaseMonth(
  sql: Sql,
  { organizationId, month }: { organizationId: OrganizationId; month: Temporal.PlainDate },
): Promise<number> {
  return sql.begin(async (tx) => {
    const scope = { db: tx, organizationId };
    await markRestored(scope, month, null);
    const from = firstIdOf(month);
    const to = firstIdOf(month.add({ months: 1 }));
    const [row] = await tx<{ count: number }[]>`
      with gone as (
        delete from restored_events
        where organization_id = ${organizationId} and id >= ${from}::uuid and id < ${to}::uuid
        returning id
      ), versions as (
        delete from event_versions former using gone
        where former.organization_id = ${organizationId} and former.event_id = gone.id
          and not exists (select from events e where e.id = gone.id)
      )
      select count(*)::int as count from gone`;
    return row!.count;
  });
}

const firstIdOf = (month: Temporal.PlainDate): string => firstIdAt(month.toZonedDateTime('UTC').toInstant());

const markRestored = ({ db, organizationId }: Scope, month: Temporal.PlainDate, at: Temporal.Instant | null) => db`
  update removed_events set restored_at = ${at} where organization_id = ${organizationId} and month = ${month}`;

/** An instant by its microseconds, exactly: a double has too few digits. */
const ofMicros = (db: Db, micros: Fragment): Fragment => db`
  'epoch'::timestamptz + (${micros} / 1000000) * interval '1 second'
    + (${micros} % 1000000) * interval '1 microsecond'`;

const insertRestored = ({ db, organizationId }: Scope, events: readonly ArchivedEvent[]) => db`
  with archived as materialized (
    select * from jsonb_to_recordset(${JSON.stringify(events)}::text::jsonb) as e (id uuid,
      external_subscription_id text, transaction_id text, code text, "timestamp" bigint, properties text,
      precise_total_amount_cents numeric, digest text, user_agent text, remote_address text, version int,
      deleted_at bigint, created_at bigint, former_versions text)
  ), versions as (
    insert into event_versions
    select former.* from archived
    cross join lateral jsonb_populate_recordset(null::event_versions, archived.former_versions::jsonb) former
    where former.organization_id = ${organizationId} and former.event_id = archived.id
    on conflict do nothing
  ), stored as (
    insert into restored_events (id, organization_id, external_subscription_id, transaction_id, code, "timestamp",
      properties, precise_total_amount_cents, digest, user_agent, remote_address, version, deleted_at, created_at)
    select id, ${organizationId}::uuid, external_subscription_id, transaction_id, code,
      ${ofMicros(db, db`"timestamp"`)}, properties::jsonb, precise_total_amount_cents, decode(digest, 'hex'), user_agent,
      remote_address, version,
      ${ofMicros(db, db`deleted_at`)}, ${ofMicros(db, db`created_at`)}
    from archived
    on conflict do nothing
    returning true
  )
  select count(*) from stored`;
