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
  const [clock] = await tx<{ frozen_time: Temporal.Instant; status: string }[]>`
    select frozen_time, status from test_clocks where organization_id = ${organizationId} for share`;
  if (clock?.status === 'advancing') throw refuse.notAllowed('test_clock_advancing');
  return clock?.frozen_time ?? realNow();
}
