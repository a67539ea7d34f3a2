import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { until } from '../support/until.ts';
import { type OwnPostgres, startOwnPostgres } from './support/postgres.ts';
import { lacks } from './support/programs.ts';
import { type ServiceOn, startServiceOn } from './support/service-on.ts';

const PER_SECOND = 100;
const BEFORE_MS = 4000;
const AFTER_MS = 8000;
const LONGEST_GAP_MS = 10_000;

/** An address with both servers. */
const both = (a: OwnPostgres, b: OwnPostgres): string =>
  `${a.url.replace(`:${a.port}/`, `:${a.port},127.0.0.1:${b.port}/`)}?target_session_attrs=primary`;

// Rule: several-hosts.md#fail-over; SC4.
describe.skipIf(lacks('pg_basebackup'))('a standby that is promoted under load', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  let service: ServiceOn;
  let org: Awaited<ReturnType<ServiceOn['org']>>;
  beforeAll(async () => {
    primary = await startOwnPostgres();
    standby = await primary.standby();
    await primary.followSynchronously('standby');
    // The standby is named first: connections pass it over.
    service = await startServiceOn(primary, {
      pools: ['writes', 'events', 'aggregation', 'billing', 'scheduler'],
      settings: { DATABASE_URL: both(standby, primary) },
    });
    org = await service.org();
  }, 180_000);
  afterAll(async () => {
    await service?.stop();
    await standby?.stop();
    await primary?.stop();
  }, 60_000);

  test('every answered event is stored once, none waits longer than 10 s, and no job is out of attempts (SC4)', async () => {
    const answered: { id: string; atMs: number }[] = [];
    const sent = new Set<Promise<void>>();
    const failed = new Map<number, number>();
    /** Sends an event until it is answered, as a client does. */
    const send = async (id: string): Promise<void> => {
      const giveUpAt = performance.now() + 30_000;
      while (performance.now() < giveUpAt) {
        const event = { transaction_id: id, external_subscription_id: 's', code: 'c' };
        const { status } = await org.post('/events', { event });
        if (status === 200) return void answered.push({ id, atMs: performance.now() });
        failed.set(status, (failed.get(status) ?? 0) + 1);
        await pause(200);
      }
    };
    const start = performance.now();
    let count = 0;
    let killedAt: number | undefined;
    while (performance.now() - start < BEFORE_MS + AFTER_MS) {
      const due = ((performance.now() - start) / 1000) * PER_SECOND;
      for (; count < due; count += 1) {
        const one = send(`e${count}`);
        sent.add(one);
        void one.finally(() => sent.delete(one));
      }
      if (killedAt === undefined && performance.now() - start > BEFORE_MS) {
        killedAt = performance.now();
        primary.server.signal('SIGKILL');
        await standby.promote();
      }
      await pause(10);
    }
    await Promise.all(sent);
    const times = answered.map(({ atMs }) => atMs).sort((a, b) => a - b);
    const gap = Math.max(...times.slice(1).map((at, index) => at - times[index]!));
    console.log(
      `${answered.length} of ${count} events answered, longest gap ${(gap / 1000).toFixed(1)} s, refused meanwhile:`,
      Object.fromEntries(failed),
    );
    expect([...failed.keys()].filter((status) => status !== 503 && status !== 504)).toEqual([]);
    expect(answered).toHaveLength(count);
    expect(gap).toBeLessThan(LONGEST_GAP_MS);
    const stored = await standby.admin<{ id: string; times: number }[]>`
      select transaction_id as id, count(*)::int as times from events group by 1`;
    expect(stored.filter(({ times: often }) => often !== 1)).toEqual([]);
    expect(stored.map(({ id }) => id).sort()).toEqual(answered.map(({ id }) => id).sort());
    expect(await service.failedJobs()).toEqual([]);
    expect((await org.post('/customers', { customer: { external_id: 'after' } })).status).toBe(200);
  }, 120_000);

  test('a former primary that comes back by itself gets no new connection', async () => {
    await primary.restart();
    const sql = connectDatabase(both(primary, standby), { connections: 3 });
    const seen = await until(async () => {
      const rows = await Promise.all(
        [1, 2, 3].map(() => sql`select current_setting('port')::int as port, pg_sleep(0.1)`),
      );
      return rows.map(([row]) => row!.port);
    });
    expect(seen).toEqual([standby.port, standby.port, standby.port]);
    await sql.end();
  }, 60_000);

  test('without any primary a statement fails within seconds, and the next one finds the primary again', async () => {
    await primary.server.end();
    await standby.server.end();
    const sql = connectDatabase(both(primary, standby), { connections: 1 });
    const startedAt = performance.now();
    await expect(sql`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    await standby.restart();
    expect(await until(() => sql`select 1 as one`)).toEqual([{ one: 1 }]);
    await sql.end();
  }, 60_000);
});
