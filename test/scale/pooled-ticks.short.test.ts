import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schedule } from '../../src/schedule.ts';
import { EVERY_POOL } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';
import { startWholeService, type WholeService } from './support/service.ts';

const TICKS = 3;
const OPERATOR_TOKEN = 'operator-token-of-the-test-0123456789';

// Rule: several-hosts.md#prepared-statements; SC2.
describe.skipIf(lacks('pg_basebackup', 'pgbouncer'))('periodic jobs behind PgBouncer in transaction mode', () => {
  let server: OwnPostgres;
  let pooler: Pooler;
  let service: WholeService;
  beforeAll(async () => {
    server = await startOwnPostgres();
    pooler = await startPgBouncer({ urls: [server.url] });
    service = await startWholeService(
      { DATABASE_URL: pooler.before(server.url), DATABASE_PREPARE: 'false', OPERATOR_TOKEN },
      EVERY_POOL,
    );
  });
  afterAll(async () => {
    await service?.stop();
    await pooler?.stop();
    await server?.stop();
  });

  const runNow = async (job: string): Promise<void> => {
    const response = await fetch(`${service.url}/api/v1/operations/jobs/${job}/run`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
  };
  const underWay = () => service.sql`select job from schedule_ticks where finished_at is null`;

  test('each job ticks three times, one after the other, and none is skipped (SC2)', async () => {
    const jobs = schedule(service.config).map(({ job }) => job);
    for (let tick = 0; tick < TICKS; tick += 1) {
      for (const job of jobs) await runNow(job);
      await until(async () => (await underWay()).length === 0, 120_000);
    }
    const rows = await service.sql<{ job: string; ticks: number; errors: string[] }[]>`
      select job, count(*)::int as ticks, array_remove(array_agg(error), null) as errors
      from schedule_ticks group by job`;
    const byJob = new Map(rows.map((row) => [row.job, row]));
    expect(jobs.length).toBeGreaterThan(40);
    expect(jobs.filter((job) => (byJob.get(job)?.ticks ?? 0) < TICKS)).toEqual([]);
    expect(rows.filter(({ errors }) => errors.length > 0)).toEqual([]);
  });
});
