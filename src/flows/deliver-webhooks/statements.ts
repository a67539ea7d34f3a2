import { realNow } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { CIRCUIT_MS, CIRCUIT_OPENS_AT } from './circuit.ts';
import { merged } from './merge.ts';
import {
  type DueDelivery,
  type EndpointOfDelivery,
  type HealthRow,
  listDue,
  type OutcomeRow,
  recordOutcomes,
  type Wanted,
} from './sql.ts';

/** Reads what is due of a job's deliveries, in the order of their ids. */
export type ReadDue = (wanted: Wanted) => Promise<(DueDelivery & EndpointOfDelivery)[]>;

/** Reads for all jobs that ask at the same time in one statement. */
export const mergedReads = (sql: Sql): ReadDue =>
  merged(async (jobs: Wanted[]) => {
    const rows = new Map((await listDue(sql, jobs, realNow())).map((row) => [row.id, row]));
    return jobs.map((job) => job.ids.flatMap((id) => rows.get(id) ?? []));
  });

/** Writes the outcomes of all jobs that end at the same time in one statement: one commit for hundreds of deliveries. */
export const mergedOutcomes = (sql: Sql) =>
  merged(async (jobs: { outcomes: OutcomeRow[]; health: HealthRow }[]) => {
    const now = realNow();
    const outcomes = jobs.flatMap((job) => job.outcomes);
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
