import type { Temporal } from 'temporal-polyfill';
import type { Sql } from './connect.ts';

/**
 * Writes the heartbeat on the primary, unless another process did so in the last 0.9 s, and returns the primary's
 * present. Rule: read-replicas.md#broken-replicas.
 */
export async function beat(sql: Sql): Promise<Temporal.Instant> {
  const [row] = await sql<{ now: Temporal.Instant }[]>`
    with beat as (
      insert into replication_heartbeats as kept (id, beaten_at) values (true, clock_timestamp())
      on conflict (id) do update set beaten_at = excluded.beaten_at
      where kept.beaten_at < excluded.beaten_at - interval '0.9 seconds')
    select clock_timestamp() as now`;
  return row!.now;
}

/** What a server says about itself. */
interface Standing {
  is_replica: boolean;
  /** Up to where it has replayed, as Postgres writes it; null if it is no replica. */
  replayed: string | null;
  /** The heartbeat that it has last replayed; null before the first one. */
  beaten_at: Temporal.Instant | null;
}

export async function readStanding(sql: Sql): Promise<Standing> {
  const [row] = await sql<Standing[]>`
    select pg_is_in_recovery() as is_replica, pg_last_wal_replay_lsn()::text as replayed,
      (select beaten_at from replication_heartbeats) as beaten_at`;
  return row!;
}

/** Up to where a replica has replayed, as Postgres writes it; null if it is none. */
export async function readReplayed(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ replayed: string | null }[]>`
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as replayed`;
  return row!.replayed;
}
