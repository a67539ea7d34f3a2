import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { isLockTimeout } from '../../../platform/db/refusal-of-database.ts';
import { merged, mergedApart } from '../../../platform/queue/merge-calls.ts';
import { CIRCUIT_MS, CIRCUIT_OPENS_AT } from './circuit.ts';
import {
  type Due,
  type HealthRow,
  listDue,
  type OutcomesOfJob,
  recordOutcomes,
  type Wanted,
} from './stored-deliveries.ts';

/** Reads what is due of a job's deliveries; undefined when nothing is. */
export type ReadDue = (wanted: Wanted) => Promise<Due | undefined>;

/** Reads for all jobs that ask at the same time in one statement. */
export const mergedReads = (sql: Sql): ReadDue =>
  merged(async (jobs: Wanted[]) => {
    const found = new Map((await listDue(sql, jobs, realNow())).map((due) => [due.place, due]));
    return jobs.map((_job, index) => found.get(index + 1));
  });

/** How the attempts of a job ended, and what that means for its endpoint. */
export interface Kept {
  outcomes: OutcomesOfJob;
  health: HealthRow;
}

/**
 * Longest wait for a lock of one organization while outcomes of several are written: many times what the statement
 * takes.
 */
const SHARED_PATIENCE_MS = 100;

/**
 * Writes the outcomes of all jobs that end at the same time in one statement: one commit for hundreds of deliveries.
 * When a row of one organization is locked, the outcomes of each are written apart, and only its own wait for it, in
 * one statement at a time; what it sends meanwhile waits there too. Rule: everywhere.md#bounded-cost.
 */
export function mergedOutcomes(sql: Sql): (kept: Kept) => Promise<void> {
  const apart = mergedApart(async (jobs: Kept[]) => {
    await writeOutcomes(sql, jobs);
    return jobs.map(() => undefined);
  });
  const writeApart = (kept: Kept) => apart.call(kept.outcomes.organization_id, kept);
  const shared = merged(async (jobs: Kept[]): Promise<(undefined | Promise<undefined>)[]> => {
    try {
      await writeOutcomes(sql, jobs, SHARED_PATIENCE_MS);
      return jobs.map(() => undefined);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return jobs.map(writeApart);
    }
  });
  return (kept) => (apart.isBusy(kept.outcomes.organization_id) ? writeApart(kept) : shared(kept));
}

async function writeOutcomes(sql: Sql, jobs: readonly Kept[], patienceMs?: number): Promise<void> {
  const now = realNow();
  const outcomes = jobs.map((job) => job.outcomes);
  const health = together(jobs.map((job) => job.health));
  const circuit = { opensAt: CIRCUIT_OPENS_AT, openUntil: now.add({ milliseconds: CIRCUIT_MS }) };
  await recordOutcomes(sql, outcomes, health, circuit, now, patienceMs);
}

/** One row an endpoint: an acknowledgement ends the failures of the others. */
function together(rows: HealthRow[]): HealthRow[] {
  const byEndpoint = new Map<string, HealthRow>();
  for (const row of rows) {
    const known = byEndpoint.get(row.webhook_endpoint_id);
    byEndpoint.set(row.webhook_endpoint_id, {
      ...row,
      failures: row.failures + (known?.failures ?? 0),
      any_acknowledged: row.any_acknowledged || known?.any_acknowledged === true,
    });
  }
  return [...byEndpoint.values()];
}
