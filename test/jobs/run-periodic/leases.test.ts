import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { claimTick, finishTick, listSkippedJobs, SKIPPED } from '../../../src/jobs/periodic-jobs/queries.ts';
import type { Registry } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { nudgeAbandonedTicks, nudgeLostTicks } from '../../../src/jobs/sweep-rows/lost-ticks.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { LeaseLost, takeLease } from '../../../src/platform/leases/lease.ts';
import type { SweepDeps, SweepJob } from '../../../src/platform/periodic-job.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { gate, recordingProducer, scratchDeps } from '../advance-clock/scratch.ts';

// periodic-jobs.md#leases
const TICK = '2024-04-01T02:00:00Z';
const NEXT = '2024-04-01T03:00:00Z';
const at = (text: string) => Temporal.Instant.from(text);

/** A holder that renews nothing is as good as frozen or killed. */
const FROZEN = { lifeMs: 200, renewEveryMs: 3_600_000 };
const LIVELY = { lifeMs: 400, renewEveryMs: 40 };

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.sql;
});
afterAll(() => database.drop());
beforeEach(() => sql`truncate schedule_ticks, periodic_leases`);

const leaseOf = async (job: string) => {
  const [row] = await sql`select *, until < clock_timestamp() as is_over from periodic_leases where job = ${job}`;
  return row;
};
const untilOver = (job: string) => until(async () => (await leaseOf(job))?.is_over);

describe('the lease of a job', () => {
  test('is taken by one of many processes, and by the next one when it is released', async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeLease(sql, 'job')));
    const [lease, ...others] = taken.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    await lease!.release();
    const next = await takeLease(sql, 'job');
    expect(next).toBeDefined();
    next!.stop();
  });

  test('is renewed as long as its holder lives', async () => {
    const lease = await takeLease(sql, 'job', { times: LIVELY });
    const first = (await leaseOf('job'))!.until as Temporal.Instant;
    await until(async () => {
      const row = await leaseOf('job');
      return Temporal.Instant.compare(row!.until, first.add({ milliseconds: LIVELY.lifeMs })) > 0;
    });
    expect(await takeLease(sql, 'job')).toBeUndefined();
    await lease!.hold();
    await lease!.release();
  });

  test('may be taken once its holder has not renewed it in time, which the holder finds at its next page', async () => {
    const frozen = await takeLease(sql, 'job', { times: FROZEN });
    expect(await takeLease(sql, 'job')).toBeUndefined();
    await untilOver('job');
    const other = await takeLease(sql, 'job');
    expect(other).toBeDefined();
    await expect(frozen!.hold()).rejects.toBeInstanceOf(LeaseLost);
    await frozen!.release();
    expect(await leaseOf('job')).toMatchObject({ holder: other!.holder, is_over: false });
    other!.stop();
  });

  test('needs no lock of a session, which a pooler of transactions would lend to others', async () => {
    const lease = await takeLease(sql, 'job');
    expect(
      await sql`
      select from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`,
    ).toHaveLength(0);
    lease!.stop();
  });
});

describe('the tick of a job', () => {
  const deps = (): SweepDeps & { producer: ReturnType<typeof recordingProducer> } => ({
    ...scratchDeps(sql),
    redis: undefined as never,
    producer: recordingProducer(),
  });
  const info = { lastAttempt: false };
  const sweeping = (sweep: SweepJob['sweep']): Registry => ({
    rows: [],
    periodicJobs: [],
    sweepJobs: [{ name: 'pages', sweep }],
  });
  const tickAt = (text: string) => ({ job: 'pages', at: text });
  const claim = (text: string) => claimTick(sql, 'pages', { tickAt: at(text), realNow: realNow() });

  test('is done by another process once its own is frozen, and the frozen one does nothing more (SC1)', async () => {
    await claim(TICK);
    const [begun, thawed] = [gate(), gate()];
    const pages: string[] = [];
    const frozen = runTick(
      deps(),
      sweeping(async (_deps, _at, hold) => {
        await hold?.();
        pages.push('first page of the frozen one');
        begun.resolve();
        await thawed.promise;
        await hold?.();
        pages.push('second page of the frozen one');
      }),
      tickAt(TICK),
      info,
      FROZEN,
    );
    await begun.promise;
    await untilOver('pages');

    const scheduler = deps();
    await nudgeAbandonedTicks(scheduler);
    await nudgeAbandonedTicks(scheduler);
    const nudged = scheduler.producer.added;
    expect(nudged).toMatchObject([{ payload: tickAt(TICK) }, { payload: tickAt(TICK) }]);
    expect(new Set(nudged.map(({ id }) => id)).size).toBe(1);

    const other = sweeping(async (_deps, _at, hold) => {
      await hold?.();
      pages.push('all pages of the other one');
    });
    await runTick(deps(), other, tickAt(TICK), info);
    thawed.resolve();
    await frozen;
    expect(pages).toEqual(['first page of the frozen one', 'all pages of the other one']);
    expect(await sql`select error, finished_at is not null as is_done from schedule_ticks`).toMatchObject([
      { error: null, is_done: true },
    ]);
    expect(await leaseOf('pages')).toMatchObject({ holder: null, tick_at: null });
    await nudgeAbandonedTicks(scheduler);
    expect(scheduler.producer.added).toHaveLength(2);
  });

  test('is worked once, however often its job is sent', async () => {
    await claim(TICK);
    const [begun, mayEnd] = [gate(), gate()];
    let runs = 0;
    const slow = sweeping(async () => {
      runs += 1;
      begun.resolve();
      await mayEnd.promise;
    });
    const first = runTick(deps(), slow, tickAt(TICK), info);
    await begun.promise;
    await runTick(deps(), slow, tickAt(TICK), info);
    mayEnd.resolve();
    await first;
    await runTick(deps(), slow, tickAt(TICK), info);
    expect(runs).toBe(1);
    expect(await sql`select error from schedule_ticks`).toMatchObject([{ error: null }]);
  });

  test('that begun and failed is tried again, and its lease is free meanwhile', async () => {
    await claim(TICK);
    const failing = sweeping(() => Promise.reject(new Error('no luck')));
    await expect(runTick(deps(), failing, tickAt(TICK), info)).rejects.toThrow('no luck');
    expect(await leaseOf('pages')).toMatchObject({ holder: null, tick_at: at(TICK), is_over: false });
    await expect(runTick(deps(), failing, tickAt(TICK), { ...info, lastAttempt: true })).rejects.toThrow('no luck');
    expect(await leaseOf('pages')).toMatchObject({ holder: null, tick_at: null });
    expect(await sql`select error from schedule_ticks`).toMatchObject([{ error: 'no luck' }]);
  });

  test('that begun is not nudged as a lost one, however long it works', async () => {
    const ago = realNow().subtract({ seconds: 600 });
    const text = ago.toString();
    await claimTick(sql, 'pages', { tickAt: ago, realNow: ago });
    const run = deps();
    const looking = sweeping(() => nudgeLostTicks(run, realNow()));
    await runTick(deps(), looking, tickAt(text), info);
    expect(run.producer.added).toEqual([]);
  });

  test('that a newer one has overtaken is finished with it', async () => {
    await claim(TICK);
    await claim(NEXT);
    const ticks: string[] = [];
    const sweep = sweeping(async (_deps, tick) => {
      ticks.push(tick.toString());
    });
    await runTick(deps(), sweep, tickAt(NEXT), info);
    await runTick(deps(), sweep, tickAt(TICK), info);
    expect(ticks).toEqual([NEXT]);
    expect(await sql`select from schedule_ticks where finished_at is null`).toHaveLength(0);
  });
});

test('a job is reported whose newest ticks were skipped, until one of its runs ends', async () => {
  const end = (job: string, hour: number, error: string | null) => {
    const tick = at(`2024-04-01T${String(hour).padStart(2, '0')}:00:00Z`);
    return claimTick(sql, job, { tickAt: tick, realNow: tick }).then(() =>
      finishTick(sql, job, { tickAt: tick, end: { realNow: realNow(), error } }),
    );
  };
  const skipped = () => listSkippedJobs(sql, ['stuck', 'fine', 'other'], 3);
  await claim('stuck', '2024-04-01T01:00:00Z');
  for (const hour of [2, 3]) await end('stuck', hour, SKIPPED);
  for (const [hour, error] of [SKIPPED, SKIPPED, null, SKIPPED].entries()) await end('fine', hour, error);
  await end('other', 1, 'no luck');
  expect(await skipped()).toEqual([]);
  await end('stuck', 4, SKIPPED);
  expect(await skipped()).toEqual([{ job: 'stuck', skipped: 3, since: at('2024-04-01T02:00:00Z') }]);
  const ended = { realNow: realNow(), error: null };
  await finishTick(sql, 'stuck', { tickAt: at('2024-04-01T01:00:00Z'), end: ended });
  expect(await skipped()).toEqual([]);

  function claim(job: string, tick: string) {
    return claimTick(sql, job, { tickAt: at(tick), realNow: realNow() });
  }
});
