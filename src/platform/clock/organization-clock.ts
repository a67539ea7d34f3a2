import type { Temporal } from 'temporal-polyfill';
import type { Db, Tx } from '../db/connect.ts';
import type { Scope } from '../db/scope.ts';
import type { OrganizationId } from '../ids.ts';
import { refuse } from '../refusal.ts';
import { realNow } from './real-clock.ts';

/** Present of an organization without a lock, for reads. Real time unless it is a sandbox with a test clock. */
export async function readOrganizationNow({ db, organizationId }: Scope, sandbox: boolean): Promise<Temporal.Instant> {
  if (!sandbox) return realNow();
  const [clock] = await db<{ frozen_time: Temporal.Instant }[]>`
    select frozen_time from test_clocks where organization_id = ${organizationId}`;
  return clock?.frozen_time ?? realNow();
}

// Namespace of the advisory locks of clocks being created, also used by hold_clocks in the database; that of events is
// in usage-shapes/shape-locks.ts.
const CREATION_SEED = 5306;

interface HeldClock {
  frozen_time: Temporal.Instant;
  status: string;
  lease_token: string | null;
}

/**
 * The test clock of an organization, held `for share` until the end of the transaction; undefined without one, and then
 * none can be created until the transaction ends.
 */
export async function holdClock(scope: Scope<Tx>): Promise<HeldClock | undefined> {
  const clock = await lockedClock(scope);
  if (clock) return clock;
  await holdClockCreation(scope.db, [scope.organizationId]);
  return lockedClock(scope); // one may have been created before the lock was taken
}

/** Present of an organization whose clock is held until the end of the transaction, while it advances too. */
export async function holdOrganizationNow(scope: Scope<Tx>, sandbox: boolean): Promise<Temporal.Instant> {
  const clock = sandbox ? await holdClock(scope) : undefined;
  return clock?.frozen_time ?? realNow();
}

async function lockedClock({ db: tx, organizationId }: Scope<Tx>): Promise<HeldClock | undefined> {
  const [clock] = await tx<HeldClock[]>`
    select frozen_time, status, lease_token from test_clocks where organization_id = ${organizationId} for share`;
  return clock;
}

/** Prevents organizations from getting a test clock until the transaction ends, so that their time stays real. */
const holdClockCreation = (db: Db, organizationIds: readonly OrganizationId[]) => db`
  select pg_advisory_xact_lock_shared(hashtextextended(id, ${CREATION_SEED}))
  from unnest(${[...organizationIds].sort()}::text[]) id`;

/** Waits for running writes of an organization without a clock, and lets new ones wait for the clock. */
export const lockClockCreation = ({ db, organizationId }: Scope) => db`
  select pg_advisory_xact_lock(hashtextextended(${organizationId}, ${CREATION_SEED}))`;

/**
 * Present of an organization for a write: locks the clock row `for share`, so that an advance waits for running writes
 * and later writes wait for it (test-clocks.md#what-an-advance-promises). Locked before any other row.
 *
 * @throws Refusal 405 test_clock_advancing, unless exempt
 */
export async function lockOrganizationNow(
  scope: Scope<Tx>,
  sandbox: boolean,
  exempt = false,
): Promise<Temporal.Instant> {
  if (!sandbox) return realNow();
  if (exempt) return readOrganizationNow(scope, true);
  const clock = await holdClock(scope);
  if (clock?.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  return clock?.frozen_time ?? realNow();
}

/** Whether an organization was created as a sandbox, which never changes. */
export async function isSandbox({ db, organizationId }: Scope): Promise<boolean> {
  const [row] = await db<{ sandbox: boolean }[]>`select sandbox from organizations where id = ${organizationId}`;
  return row?.sandbox ?? false;
}
