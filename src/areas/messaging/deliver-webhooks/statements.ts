import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { CIRCUIT_MS, CIRCUIT_OPENS_AT } from './circuit.ts';
import { merged } from './merge.ts';
import { type Due, type HealthRow, listDue, type OutcomesOfJob, recordOutcomes, type Wanted } from './sql.ts';

/** Reads what is due of a job's deliveries; undefined when nothing is. */
export type ReadDue = (wanted: Wanted) => Promise<Due | undefined>;

/** Reads for all jobs that ask at the same time in one statement. */
export const mergedReads = (sql: Sql): ReadDue =>
  merged(async (jobs: Wanted[]) => {
    const found = new Map((await listDue(sql, jobs, realNow())).map((due) => [due.place, due]));
    return jobs.map((_job, index) => found.get(index + 1));
  });

/** Writes the outcomes of all jobs that end at the same time in one statement: one commit for hundreds of deliveries. */
export const mergedOutcomes = (sql: Sql) =>
  merged(async (jobs: { outcomes: OutcomesOfJob; health: HealthRow }[]) => {
    const now = realNow();
    const outcomes = jobs.map((job) => job.outcomes);
    const health = together(jobs.map((job) => job.health));
    const circuit = { opensAt: CIRCUIT_OPENS_AT, openUntil: now.add({ milliseconds: CIRCUIT_MS }) };
    await recordOutcomes(sql, outcomes, health, circuit, now);
    return jobs.map(() => undefined);
  });

/** One row an endpoint: whoever acknowledged ends the failures of the others. */
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
