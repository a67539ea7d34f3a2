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

test('a process frozen for 90 s loses its tick to another one within 60 s, and does nothing twice (SC1)', async () => {
  const { sql, config } = service;
  const at = realNow();
  await claimTick(sql, 'pages', { tickAt: at, realNow: at });
  await sql`create table pages (worker text not null, made_at timestamptz not null default clock_timestamp())`;
  const settings = JSON.stringify({ url: config.DATABASE_URL, at: at.toString() });
  const frozen = fork(new URL('support/paging-process.ts', import.meta.url).pathname, ['frozen', settings], {
    execArgv: ['--import', 'tsx'],
  });
  const ended = new Promise<void>((resolve) => frozen.once('exit', () => resolve()));
  try {
    await until(async () => (await sql`select from pages where worker = 'frozen'`).length > 0);
    frozen.kill('SIGSTOP');
    const stoppedAt = performance.now();
    const scheduler = { ...scratchDeps(sql), redis: service.redis, producer: recordingProducer() };
    await until(
      async () => {
        await nudgeAbandonedTicks(scheduler);
        return scheduler.producer.added.length > 0;
      },
      60_000,
      1000,
    );
    const sweepJobs = [
      {
        name: 'pages',
        sweep: async () => {
          await sql`insert into pages (worker) values ('other')`;
        },
      },
    ];
    const registry = { rows: [], periodicJobs: [], sweepJobs };
    await runTick(scheduler, registry, { job: 'pages', at: at.toString() }, { lastAttempt: false });
    const tookOverMs = performance.now() - stoppedAt;
    expect(tookOverMs).toBeLessThan(60_000);
    console.log(`taken over after ${(tookOverMs / 1000).toFixed(0)} s`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 90_000 - tookOverMs)));
    const [before] = await sql`select count(*)::int as pages from pages where worker = 'frozen'`;
    frozen.kill('SIGCONT');
    await ended;
    const [after] = await sql`select count(*)::int as pages from pages where worker = 'frozen'`;
    // The page that it had begun when it was frozen may end; no other one begins.
    expect(after!.pages - before!.pages).toBeLessThanOrEqual(1);
    expect(await sql`select error from schedule_ticks where job = 'pages'`).toMatchObject([{ error: null }]);
  } finally {
    frozen.kill('SIGKILL');
  }
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
