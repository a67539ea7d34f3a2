import { fork } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bill } from '../../src/areas/billing/bill-subscriptions/bill.ts';
import { claimTick } from '../../src/jobs/periodic-jobs/queries.ts';
import { runTick } from '../../src/jobs/run-periodic/run-tick.ts';
import { nudgeAbandonedTicks } from '../../src/jobs/sweep-rows/lost-ticks.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { recordingProducer, scratchDeps } from '../jobs/advance-clock/scratch.ts';
import { copyDueCustomer, drain, forgetDrained, TICK } from '../jobs/run-periodic/due-customers.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ok, wordsOf } from '../support/words.ts';

// What takes longer than `npm test` should. Rules: periodic-jobs.md#leases, periodic-jobs.md#paging.
let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
});
afterAll(() => service.stop());

const MIB = 1024 ** 2;
const CUSTOMERS = 1_000_000;
const OF_LARGE = 900_000;
const SMALL_ORGANIZATIONS = 10;

describe('a million customers due at one midnight', () => {
  test('are handed out in one tick, once each, in bounded memory, and no small organization waits (SC14)', async () => {
    const { sql, redis } = service;
    const own = service.ingress.producer;
    const queue = own.queue('billing');
    const large = await dueOrganization(OF_LARGE);
    for (let n = 0; n < SMALL_ORGANIZATIONS; n += 1)
      await dueOrganization((CUSTOMERS - OF_LARGE) / SMALL_ORGANIZATIONS);
    await drain(redis, queue);
    await forgetDrained(redis, queue);

    const used = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
    const before = used();
    let [most, jobs, ofLarge, largeBeforeLastSmall] = [0, 0, 0, 0];
    const producer: typeof own = {
      ...own,
      async addMany(name, items) {
        await own.addMany(name, items);
        const owners = items.map(({ payload }) => (payload as { organization_id: string }).organization_id);
        ofLarge += owners.filter((owner) => owner === large).length;
        if (owners.some((owner) => owner !== large)) largeBeforeLastSmall = ofLarge;
        most = Math.max(most, used() - before);
      },
    };
    const deps = { ...scratchDeps(sql), redis, producer };
    const registry = { rows: [], periodicJobs: [bill], sweepJobs: [] };
    await claimTick(sql, 'bill', { tickAt: realNow(), realNow: realNow() });
    const started = performance.now();
    for (let isOver = false; !isOver; ) {
      isOver = await runTick(deps, registry, { job: 'bill', at: TICK }, { lastAttempt: false });
      const drained = await drain(redis, queue);
      expect(drained.again).toBe(0);
      expect(drained.jobs).toBeLessThanOrEqual(30_000);
      jobs += drained.jobs;
    }
    const seconds = (performance.now() - started) / 1000;
    console.log(`${jobs} items in ${seconds.toFixed(0)} s, at most ${(most / MIB).toFixed(0)} MiB beyond the start`);
    expect(jobs).toBe(CUSTOMERS);
    expect(most).toBeLessThan(200 * MIB);
    expect(largeBeforeLastSmall).toBeLessThanOrEqual(30_000);
  });
});

describe('another process takes over the tick of one', () => {
  const pagesOf = async (worker: string) => (await service.sql`select from pages where worker = ${worker}`).length;

  /** A process in its tick: it has written its first page. */
  async function startPaging(worker: string) {
    const { sql, config } = service;
    const at = realNow();
    await claimTick(sql, 'pages', { tickAt: at, realNow: at });
    await sql`
      create table if not exists pages (
        worker text not null, made_at timestamptz not null default clock_timestamp())`;
    const settings = JSON.stringify({ url: config.DATABASE_URL, at: at.toString() });
    const paging = fork(new URL('support/paging-process.ts', import.meta.url).pathname, [worker, settings], {
      execArgv: ['--import', 'tsx'],
    });
    const ended = new Promise<void>((resolve) => paging.once('exit', () => resolve()));
    await until(async () => (await pagesOf(worker)) > 0);
    return { at, paging, ended };
  }

  /** What a scheduler does until it has the tick of another one; how long that took since `stoppedAt`. */
  async function takeOver(at: ReturnType<typeof realNow>, stoppedAt: number): Promise<number> {
    const { sql, redis } = service;
    const scheduler = { ...scratchDeps(sql), redis, producer: recordingProducer() };
    await until(
      async () => {
        await nudgeAbandonedTicks(scheduler);
        return scheduler.producer.added.length > 0;
      },
      60_000,
      1000,
    );
    const sweep = async () => void (await sql`insert into pages (worker) values ('other')`);
    const registry = { rows: [], periodicJobs: [], sweepJobs: [{ name: 'pages', sweep }] };
    await runTick(scheduler, registry, { job: 'pages', at: at.toString() }, { lastAttempt: false });
    const tookOverMs = performance.now() - stoppedAt;
    console.log(`taken over after ${(tookOverMs / 1000).toFixed(0)} s`);
    expect(tookOverMs).toBeLessThan(60_000);
    expect(await sql`select error from schedule_ticks where job = 'pages' and tick_at = ${at}`).toMatchObject([
      { error: null },
    ]);
    return tookOverMs;
  }

  test('that is frozen for 90 s, within 60 s, and what was frozen does nothing twice (SC1)', async () => {
    const { at, paging, ended } = await startPaging('frozen');
    try {
      paging.kill('SIGSTOP');
      const tookOverMs = await takeOver(at, performance.now());
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 90_000 - tookOverMs)));
      const before = await pagesOf('frozen');
      paging.kill('SIGCONT');
      await ended;
      // The page that it had begun when it was frozen may end; no other one begins.
      expect((await pagesOf('frozen')) - before).toBeLessThanOrEqual(1);
    } finally {
      paging.kill('SIGKILL');
    }
  });

  test('that is ended with SIGKILL, within 60 s', async () => {
    const { at, paging, ended } = await startPaging('killed');
    paging.kill('SIGKILL');
    const killedAt = performance.now();
    await ended;
    const before = await pagesOf('killed');
    await takeOver(at, killedAt);
    expect(await pagesOf('killed')).toBe(before);
  });
});

async function dueOrganization(count: number): Promise<string> {
  const client = await service.org();
  const words = wordsOf(client);
  await words.plan({ amount_cents: 1000 });
  await words.customer();
  await ok(words.subscribe({ subscription_at: '2024-02-01T00:00:00Z' }));
  const { organization_id: organizationId } = client.organization;
  await copyDueCustomer(service.sql, organizationId, count);
  return organizationId;
}
