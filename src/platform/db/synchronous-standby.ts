import type { Sql } from './connect.ts';

/** Settings of `synchronous_commit` with which a commit is on a standby's disk before it is answered. */
const WAITS_FOR_STANDBY = new Set(['on', 'remote_apply']);
/** A commit that waits longer for its standby shows that this one is silent, though still connected. */
const WAITS_AT_MOST_SECONDS = 3;

/**
 * Why what is committed now might not be stored on a second server; undefined when it is.
 *
 * Rule: several-hosts.md#synchronous-standby.
 */
export async function whyNoStandbyFollows(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ commit: string; standbys: number; waiting: number }[]>`
    select current_setting('synchronous_commit') as commit,
      (select count(*)::int from pg_stat_replication
        where state = 'streaming' and sync_state in ('sync', 'quorum')) as standbys,
      (select count(*)::int from pg_stat_activity
        where datname = current_database() and wait_event = 'SyncRep'
          and state_change < clock_timestamp() - make_interval(secs => ${WAITS_AT_MOST_SECONDS})) as waiting`;
  const { commit, standbys, waiting } = row!;
  if (!WAITS_FOR_STANDBY.has(commit)) return `synchronous_commit is ${commit}, so that commits wait for no standby`;
  if (standbys === 0) return 'no synchronous standby is connected to Postgres';
  if (waiting > 0) return `the synchronous standby is silent: ${waiting} commits wait for it`;
  return undefined;
}

/** Why a role cannot see which standbys there are; undefined if it can. */
export async function whyStandbysAreUnseen(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ role: string; may: boolean }[]>`
    select quote_ident(current_user) as role, pg_has_role(current_user, 'pg_read_all_stats', 'usage') as may`;
  const { role, may } = row!;
  if (may) return undefined;
  return `REQUIRE_SYNCHRONOUS_STANDBY needs to see the standbys: as an administrator run "grant pg_monitor to ${role}"`;
}
