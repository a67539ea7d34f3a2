import type { Db } from '../../../platform/db/connect.ts';

/**
 * Advisory locks of organizations: whoever matches events holds one shared until the end of its transaction, healing holds
 * it alone. So an event that was matched before a metric or subscription came has its row when healing looks for it.
 */
const MATCHING_SEED = 5305;
/** Whoever is to heal holds this one first: others then come back later instead of standing in line with a connection. */
const HEALING_SEED = 5307;

/** Takes the shared locks of the organizations of open batches, in order. */
export const holdMatching = (db: Db, batchIds: readonly string[]) => db`
  select pg_advisory_xact_lock_shared(hashtextextended(id::text, ${MATCHING_SEED}))
  from (
    select distinct member.id from event_batches batch cross join unnest(batch.organization_ids) as member (id)
    where batch.id = any (${batchIds as string[]}::uuid[]) order by member.id
  ) organization`;

/** Waits for those who match an organization's events and keeps others out until the transaction ends. */
export const lockMatching = (db: Db, organizationId: string) => db`
  select pg_advisory_xact_lock(hashtextextended(${organizationId}, ${MATCHING_SEED}))`;

/** Whether nobody else heals this organization; if so, nobody else will until the transaction ends. */
export async function tryHealing(db: Db, organizationId: string): Promise<boolean> {
  const [row] = await db<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${organizationId}, ${HEALING_SEED})) as "isFree"`;
  return row!.isFree;
}
