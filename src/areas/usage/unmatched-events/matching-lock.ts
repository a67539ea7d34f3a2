import { InOtherHands } from '../../../platform/busy.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { waitForLocks } from '../../../platform/db/lock-patience.ts';
import { isLockTimeout } from '../../../platform/db/refusal-of-database.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventBatchId } from '../../../platform/ids.ts';
import { plainArray } from '../events/storage/array-literal.ts';

/**
 * Advisory locks of organizations: a transaction that matches events holds one shared until its end, healing holds it
 * alone. So an event that was matched before a metric or subscription was created has its row when healing runs.
 * Matchers serve several organizations and never wait for it; a healer that waits keeps new matchers out.
 */
const MATCHING_SEED = 5305;
/** Lock taken first by healing, so that other healers come back later instead of waiting with a connection. */
const HEALING_SEED = 5307;
/** Longest wait of a healer for matchers, each of which ends its batches in far less time. */
const HEALER_PATIENCE_MS = 5000;

/**
 * Takes the shared locks of the organizations of open batches, as far as they are free.
 *
 * @returns the organizations that are being healed
 */
export async function tryMatching(db: Db, batchIds: readonly EventBatchId[]): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select organization.id
    from (
      select distinct member.id from event_batches batch cross join unnest(batch.organization_ids) as member (id)
      where batch.id = any (${plainArray(batchIds)}::uuid[]) order by member.id
    ) organization
    where not pg_try_advisory_xact_lock_shared(hashtextextended(organization.id::text, ${MATCHING_SEED}))`;
  return rows.map(({ id }) => id);
}

/**
 * Locks an organization's unmatched events until the transaction ends: other healers come back later instead of waiting
 * with a connection, and matchers are waited for, each a moment. From here on the transaction waits no longer than that
 * for any lock.
 *
 * @throws InOtherHands when another transaction heals, or matchers take too long
 */
export async function beginHealing(scope: Scope): Promise<void> {
  if (!(await tryHealing(scope))) throw new InOtherHands('the organization is being healed');
  await lockMatching(scope);
}

/** Waits for matchers and keeps new ones out until the transaction ends; for callers that are the only healer. */
export async function lockMatching({ db, organizationId }: Scope): Promise<void> {
  await waitForLocks(db, HEALER_PATIENCE_MS);
  try {
    await db`select pg_advisory_xact_lock(hashtextextended(${organizationId}, ${MATCHING_SEED}))`;
  } catch (error) {
    if (isLockTimeout(error)) throw new InOtherHands('events of the organization are being matched');
    throw error;
  }
}

/** Takes the lock of the organization's healing until the transaction ends, if it is free. */
export async function tryHealing({ db, organizationId }: Scope): Promise<boolean> {
  const [row] = await db<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${organizationId}, ${HEALING_SEED})) as "isFree"`;
  return row!.isFree;
}
