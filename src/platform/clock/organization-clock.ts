import type { Temporal } from 'temporal-polyfill';
import type { Db, Tx } from '../db/connect.ts';
import { refuse } from '../refusal.ts';
import { realNow } from './real-clock.ts';

/** Present of an organization without a lock: what reads use. Real time unless it is a sandbox with a test clock. */
export async function readOrganizationNow(db: Db, organizationId: string, sandbox: boolean): Promise<Temporal.Instant> {
  if (!sandbox) return realNow();
  const [clock] = await db<{ frozen_time: Temporal.Instant }[]>`
    select frozen_time from test_clocks where organization_id = ${organizationId}`;
  return clock?.frozen_time ?? realNow();
}

/** The test clock of an organization, held `for share` until the end of the transaction; undefined without one. */
export async function holdClock(
  tx: Tx,
  organizationId: string,
): Promise<{ frozen_time: Temporal.Instant; status: string; lease_token: string | null } | undefined> {
  const [clock] = await tx<{ frozen_time: Temporal.Instant; status: string; lease_token: string | null }[]>`
    select frozen_time, status, lease_token from test_clocks where organization_id = ${organizationId} for share`;
  return clock;
}

/**
 * Present of an organization for a write: locks the clock row `for share`, so that an advance waits for writes under
 * way and none slips in behind it (beyond 1.2). Locked before any other row.
 *
 * @throws Refusal 405 test_clock_advancing, unless exempt
 */
export async function lockOrganizationNow(
  tx: Tx,
  organizationId: string,
  sandbox: boolean,
  exempt = false,
): Promise<Temporal.Instant> {
  if (!sandbox) return realNow();
  if (exempt) return readOrganizationNow(tx, organizationId, true);
  const clock = await holdClock(tx, organizationId);
  if (clock?.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  return clock?.frozen_time ?? realNow();
}

/** Whether an organization was made as a sandbox; that is fixed for its life. */
export async function isSandbox(db: Db, organizationId: string): Promise<boolean> {
  const [row] = await db<{ sandbox: boolean }[]>`select sandbox from organizations where id = ${organizationId}`;
  return row?.sandbox ?? false;
}
