import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bill } from '../../../src/areas/billing/bill-subscriptions/bill.ts';
import { claimTick } from '../../../src/jobs/periodic-jobs/queries.ts';
import { LARGEST_PAGE, MOST_WAITING } from '../../../src/jobs/run-periodic/fan-out.ts';
import type { Registry } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { nudgeAbandonedTicks } from '../../../src/jobs/sweep-rows/lost-ticks.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { keyset, type Placed, selected } from '../../../src/platform/db/keyset.ts';
import type { PeriodicJob, SweepDeps } from '../../../src/platform/periodic-job.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok, wordsOf } from '../../support/words.ts';
import { recordingProducer, scratchDeps } from '../advance-clock/scratch.ts';
import { copyDueCustomer, drain, forgetDrained, listDrained, TICK } from './due-customers.ts';

const at = Temporal.Instant.from;
const LATER = '2024-03-01T01:10:00Z';
const info = { lastAttempt: false };

describe('what is due is handed out page by page', () => {
  let database: TestDatabase;
  let sql: Sql;
  let producer: ReturnType<typeof recordingProducer>;
  /** How many jobs wait in the queue that the tick fills. */
  let waiting: () => number;

  beforeAll(async () => {
    database = await createTestDatabase();
    sql = database.sql;
    await sql`create table debts (organization_id uuid not null, name text not null, due_at timestamptz not null,
      primary key (organization_id, due_at, name))`;
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await sql`truncate debts, schedule_ticks, periodic_leases`;
    producer = recordingProducer();
    waiting = () => 0;
  });

  const id = (n: number) => `0190f000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const owe = (organization: number, count: number, dueAt = TICK) => sql`
    insert into debts
    select ${id(organization)}, ${dueAt}::text || '-' || lpad(n::text, 6, '0'), ${dueAt}
    from generate_series(1, ${count}::int) n`;

  const debts: PeriodicJob = {
    name: 'debts',
    item: z.unknown(),
    async select(db, tick, reach, page) {
      const rows = keyset(db, page, db`organization_id`, db`due_at, name`);
      const due = await db<({ organization_id: string; name: string } & Placed)[]>`
        select organization_id, name, ${rows.place} from debts
        where due_at <= ${tick} and ${rows.isBehind}
          and ${reach === 'real-time' ? db`true` : db`organization_id = ${reach.organizationId}`}
        ${rows.order}`;
      return selected(due, page, ({ organization_id, name }) => ({
        organization_id,
        sandbox: false,
        item: { name },
        key: name,
      }));
    },
    work: async () => {},
    nextDueAt: async () => null,
  };
  const registry: Registry = { rows: [], periodicJobs: [debts], sweepJobs: [] };
  const deps = (): SweepDeps => ({
    ...scratchDeps(sql),
    redis: undefined as never,
    producer: { ...producer, waiting: async () => waiting() },
  });
  const tick = async (text = TICK, times?: { lifeMs: number; renewEveryMs: number }) => {
    await claimTick(sql, 'debts', { tickAt: at(text), realNow: realNow() });
    return runTick(deps(), registry, { job: 'debts', at: text }, info, times);
  };
  const owners = () => producer.added.map(({ payload }) => (payload as { organization_id: string }).organization_id);
  const ids = () => producer.added.map((job) => job.id);
  const leftAt = async () => (await sql`select place from periodic_leases`)[0]?.place;

  test('each item once, over as many pages as there are', async () => {
    await owe(1, LARGEST_PAGE + 500);
    await owe(2, LARGEST_PAGE);
    await owe(3, 7);
    expect(await tick()).toBe(true);
    expect(new Set(ids()).size).toBe(2 * LARGEST_PAGE + 507);
    expect(ids()).toHaveLength(2 * LARGEST_PAGE + 507);
  });

  test('an organization with very many items waits for its turns, the others do not wait for it', async () => {
    await owe(1, 3 * LARGEST_PAGE);
    for (let n = 2; n <= 101; n += 1) await owe(n, 10);
    await tick();
    const lastOfOthers = owners().findLastIndex((owner) => owner !== id(1));
    expect(lastOfOthers).toBeLessThan(LARGEST_PAGE + 1000);
    expect(owners()).toHaveLength(3 * LARGEST_PAGE + 1000);
  });

  test('large organizations alternate, and organizations within a page do', async () => {
    for (const n of [1, 2]) await owe(n, 2 * LARGEST_PAGE);
    await owe(3, 2);
    await owe(4, 3);
    await tick();
    const all = owners();
    expect(all.slice(2 * LARGEST_PAGE, 2 * LARGEST_PAGE + 5)).toEqual([3, 4, 3, 4, 4].map(id));
    const turns = all.slice(2 * LARGEST_PAGE + 5).filter((owner, place, rest) => owner !== rest[place - 1]);
    expect(turns).toEqual([1, 2, 1, 2].map(id));
  });

  test('rows that come and go between two pages make no other one fall out or come twice', async () => {
    await owe(1, LARGEST_PAGE + 1000);
    const changing: PeriodicJob = {
      ...debts,
      async select(...given) {
        const page = await debts.select(...given);
        await sql`delete from debts where name like '%-00000_'`;
        await owe(1, 20, '2024-02-29T00:00:00Z').catch(() => {}); // stored by the first page already
        return page;
      },
    };
    await runTick(deps(), { ...registry, periodicJobs: [changing] }, { job: 'debts', at: TICK }, info);
    expect(new Set(ids()).size).toBe(LARGEST_PAGE + 1000);
    expect(ids()).toHaveLength(LARGEST_PAGE + 1000);
  });

  test('the tick waits while the queue is full, and goes on where it was when there is room', async () => {
    await owe(1, 2 * LARGEST_PAGE);
    await owe(2, 5);
    waiting = () => MOST_WAITING + producer.added.length;
    expect(await tick()).toBe(false);
    // A first page has room of its own, so that a small job does not wait behind a large one.
    expect(producer.added).toHaveLength(LARGEST_PAGE);
    expect(await sql`select finished_at from schedule_ticks`).toMatchObject([{ finished_at: null }]);
    expect(await tick()).toBe(false);
    expect(producer.added).toHaveLength(LARGEST_PAGE);
    let worked = 0;
    waiting = () => producer.added.length - worked;
    while (!(await tick())) {
      expect(waiting()).toBe(MOST_WAITING);
      worked += 4000;
    }
    expect(worked).toBeGreaterThan(0);
    expect(new Set(ids()).size).toBe(2 * LARGEST_PAGE + 5);
    expect(ids()).toHaveLength(2 * LARGEST_PAGE + 5);
    expect(await sql`select error, finished_at is not null as is_done from schedule_ticks`).toMatchObject([
      { error: null, is_done: true },
    ]);
  });

  test('a tick that waits for room is found when its job is lost with Redis', async () => {
    await owe(1, 2 * LARGEST_PAGE);
    waiting = () => MOST_WAITING + producer.added.length;
    await tick(TICK, { lifeMs: 50, renewEveryMs: 3_600_000 });
    producer.added.length = 0;
    await until(async () => {
      await nudgeAbandonedTicks(deps());
      return producer.added.length > 0;
    });
    expect(producer.added[0]!.payload).toEqual({ job: 'debts', at: TICK });
  });

  test('a newer tick goes on in the place of one that waits, and hands out what fell due since', async () => {
    await owe(1, 2 * LARGEST_PAGE);
    await owe(2, 3);
    waiting = () => MOST_WAITING + producer.added.length;
    await tick();
    const before = producer.added.length;
    await owe(2, 4, '2024-03-01T01:00:00Z');
    waiting = () => 0;
    expect(await tick(LATER)).toBe(true);
    const since = producer.added.slice(before).map(({ payload }) => payload as { at: string });
    expect(new Set(since.map((payload) => payload.at))).toEqual(new Set([LATER]));
    expect(new Set(ids()).size).toBe(2 * LARGEST_PAGE + 7);
    expect(await tick()).toBe(true);
    expect(await sql`select from schedule_ticks where finished_at is null`).toHaveLength(0);
    expect(producer.added.slice(before)).toHaveLength(since.length);
  });

  test('the next holder of a lost lease goes on where the former one was (SC1)', async () => {
    await owe(1, 2 * LARGEST_PAGE + 5);
    const added = producer.addMany;
    let pages = 0;
    const dying: Pick<typeof producer, 'addMany'> = {
      async addMany(...given) {
        pages += 1;
        if (pages > LARGEST_PAGE / 1000) throw new Error('killed');
        await added(...given);
      },
    };
    const killed = { ...deps(), producer: { ...deps().producer, ...dying } };
    await claimTick(sql, 'debts', { tickAt: at(TICK), realNow: realNow() });
    await expect(runTick(killed, registry, { job: 'debts', at: TICK }, info)).rejects.toThrow('killed');
    expect(producer.added).toHaveLength(LARGEST_PAGE);
    expect((await leftAt()).large[0][0]).toBe(id(1));
    await tick();
    expect(ids()).toHaveLength(2 * LARGEST_PAGE + 5);
    expect(new Set(ids()).size).toBe(2 * LARGEST_PAGE + 5);
  });
});

// The same with 1 000 000 customers: test/scale/ticks.test.ts.
test('20 000 customers due at one midnight are handed out once each, in bounded memory (SC14)', async () => {
  const service = await startService({ pools: ['writes'] });
  try {
    const [large, small] = [await dueOrganization(service, 18_000), await dueOrganization(service, 2000)];
    const { sql, redis } = service;
    const producer = service.ingress.producer;
    const queue = producer.queue('billing');
    const registry: Registry = { rows: [], periodicJobs: [bill], sweepJobs: [] };
    const deps = { ...scratchDeps(sql), redis, producer };
    await drain(redis, queue);
    await forgetDrained(redis, queue);
    const before = process.memoryUsage();
    let jobs = 0;
    for (let isOver = false; !isOver; ) {
      isOver = await runTick(deps, registry, { job: 'bill', at: TICK }, info);
      const after = process.memoryUsage();
      expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(200 * 1024 ** 2);
      const drained = await drain(redis, queue);
      expect(drained.again).toBe(0);
      jobs += drained.jobs;
    }
    expect(jobs).toBe(20_000);
    const seen = await listDrained(redis, queue);
    for (const [organizationId, count] of [
      [large, 18_000],
      [small, 2000],
    ] as const)
      expect(seen.filter((job) => job.startsWith(`bill-${organizationId}-`))).toHaveLength(count);
  } finally {
    await service.stop();
  }
});

async function dueOrganization(service: TestService, count: number): Promise<string> {
  const client = await service.org();
  const words = wordsOf(client);
  await words.plan({ amount_cents: 1000 });
  await words.customer();
  await ok(words.subscribe({ subscription_at: '2024-02-01T00:00:00Z' }));
  const { organization_id: organizationId } = client.organization;
  await copyDueCustomer(service.sql, organizationId, count);
  return organizationId;
}
