import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { claimTick, finishTick } from '../../src/jobs/periodic-jobs/queries.ts';
import { checked, type Registry, registryOf } from '../../src/jobs/run-periodic/periodic-registry.ts';
import { runWork } from '../../src/jobs/run-periodic/run-item.ts';
import { runTick } from '../../src/jobs/run-periodic/run-tick.ts';
import { startScheduler } from '../../src/jobs/run-periodic/scheduler.ts';
import { cleanIdempotency } from '../../src/jobs/sweep-rows/clean-idempotency.ts';
import { housekeeping } from '../../src/jobs/sweep-rows/housekeeping.ts';
import { nudgeLostTicks } from '../../src/jobs/sweep-rows/lost-ticks.ts';
import { periodicJobs, sweepJobs } from '../../src/periodic-jobs.ts';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { cronOf, isTick, latestTick, nextTick, type Tick } from '../../src/platform/clock/ticks.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import { firstIdAt, newId } from '../../src/platform/ids.ts';
import type { DueItem, PeriodicJob, SweepDeps, SweepJob } from '../../src/platform/periodic-job.ts';
import { connectPatiently } from '../../src/platform/redis/connect.ts';
import { minuteOf, type ScheduleRow, schedule } from '../../src/schedule.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { gate, recordingProducer, scratchDeps } from './advance-clock/scratch.ts';

const at = (text: string) => Temporal.Instant.from(text);

describe('ticks of the schedule', () => {
  test.each<[Tick, string, string, string]>([
    // tick, after, starts to qualify at, due instant (test-clocks.md#advancing)
    [{ everySeconds: 60 }, '2024-04-01T00:10:00Z', '2024-04-01T00:10:00Z', '2024-04-01T00:11:00Z'],
    [{ everySeconds: 60 }, '2024-04-01T00:10:30Z', '2024-04-01T00:10:00Z', '2024-04-01T00:11:00Z'],
    [{ everySeconds: 300 }, '2024-04-01T00:10:00Z', '2024-04-01T00:12:00Z', '2024-04-01T00:15:00Z'],
    [{ everySeconds: 300 }, '2024-04-01T00:10:00Z', '2024-04-01T00:15:00Z', '2024-04-01T00:15:00Z'],
    [{ everySeconds: 5 }, '2024-04-01T00:10:01Z', '2024-04-01T00:10:01Z', '2024-04-01T00:10:05Z'],
    [{ minuteOfHour: 10 }, '2024-03-31T21:00:00Z', '2024-03-31T22:00:00Z', '2024-03-31T22:10:00Z'],
    [{ minuteOfHour: 10 }, '2024-03-31T22:10:00Z', '2024-03-31T22:00:00Z', '2024-03-31T23:10:00Z'],
    [{ minuteOfHour: 20 }, '2024-03-31T22:10:00Z', '2024-04-03T00:00:00Z', '2024-04-03T00:20:00Z'],
    [{ timeOfDay: '02:00' }, '2024-03-31T02:00:00Z', '2024-03-31T01:00:00Z', '2024-04-01T02:00:00Z'],
    [{ minuteOfHour: 10 }, '1969-12-31T23:00:00Z', '1969-12-31T23:00:00Z', '1969-12-31T23:10:00Z'],
  ])('%j after %s, qualifying at %s, is due at %s', (tick, after, from, due) => {
    expect(nextTick(tick, at(after), at(from)).toString()).toBe(due);
    expect(isTick(tick, at(due))).toBe(true);
  });

  test.each<[Tick, string, string]>([
    [{ everySeconds: 60 }, '2024-04-01T00:10:59.999Z', '2024-04-01T00:10:00Z'],
    [{ minuteOfHour: 55 }, '2024-04-01T00:54:59Z', '2024-03-31T23:55:00Z'],
    [{ timeOfDay: '03:30' }, '2024-04-01T03:30:00Z', '2024-04-01T03:30:00Z'],
  ])('%j last ticked before %s at %s', (tick, now, last) => {
    expect(latestTick(tick, at(now)).toString()).toBe(last);
  });

  test.each<[Tick, string]>([
    [{ everySeconds: 60 }, '* * * * *'],
    [{ everySeconds: 300 }, '* * * * *'],
    [{ everySeconds: 15 }, '*/15 * * * * *'],
    [{ everySeconds: 7 }, '* * * * * *'],
    [{ minuteOfHour: 5 }, '5 * * * *'],
    [{ timeOfDay: '03:30' }, '30 3 * * *'],
  ])('%j is the cron expression %s', (tick, expression) => {
    expect(cronOf(tick)).toBe(expression);
  });
});

const row = (job: string, clock: 'B' | 'R' = 'R', catchUp: 'latest' | 'skip' = 'latest'): ScheduleRow => ({
  job,
  tick: { timeOfDay: '02:00' },
  clock,
  catchUp,
  afterMissedTicks: 'by selection',
});
const sweepJob = (name: string, sweep: SweepJob['sweep'] = async () => {}): SweepJob => ({ name, sweep });
const periodicJob = (name: string, parts: Partial<PeriodicJob> = {}): PeriodicJob => ({
  name,
  item: z.unknown(),
  select: async () => ({ items: [], next: null }),
  work: async () => {},
  nextDueAt: async () => null,
  ...parts,
});
const registry = (parts: Partial<Registry>): Registry => ({ rows: [], periodicJobs: [], sweepJobs: [], ...parts });

describe('the table of periodic jobs', () => {
  test('the table of periodic jobs fits its handlers', () => {
    expect(() => registryOf(loadConfig({}))).not.toThrow();
  });

  // periodic-jobs.md, in the order of one instant ("same instant").
  const TABLE = `
    activate               B  every 300
    terminate-ended        B  :05
    bill                   B  :10
    validate-events        B  :05
    expire-gates           B  :20
    finalize               B  :20
    overdue                B  :25
    stuck-invoices         B  :30
    expire-coupons         B  :30
    trial-end              B  :35
    late-events            B  :35
    expire-order-forms     B  :40
    expire-wallets         B  :45
    dunning                B  :45
    execute-orders         B  :45
    termination-alerts     B  :50
    trial-mails            B  :50
    expire-top-up-rules    B  :50
    interval-top-ups       B  :55
    refresh-drafts         B  every 300
    usage-activity         B  every 60
    lifetime-usage         B  every 300
    wallet-ongoing         B  every 300
    daily-usage            B  :15
    budget-sweep           B  every 10
    expire-holds           B  every 60
    retry-taxes            B  every 300
    retry-failed-invoices  B  every 900
    row-sweeper            R  every 60
    webhook-sweeper        R  every 60
    endpoint-health        R  every 300
    retry-provider-events  R  every 900
    heal-prices            R  every 300
    ai-days                R  every 60
    check-providers        R  every 900
    release-authorizations  R  every 60
    key-usage              R  :15
    clean-idempotency      R  :40
    clean-webhooks         R  01:00
    clean-provider-events  R  01:10
    housekeeping           R  02:00
    price-book-age         R  02:45
    audit-recent           R  :55
    rollup-audit           R  03:00
    audit-full             R  03:30`;
  /**
   * Rows of ours beside it: rates of the register, sums by day, what organizations chose to keep, the chain of
   * documents (e-documents.md#archive), secrets (provider-connections.md#secrets), what providers hold.
   */
  const OURS = [
    'eu-tax-rates',
    'ledger-daily',
    'clean-secrets',
    'clean-sessions',
    'volume-hours',
    'retention',
    'archive-roots',
    'send-e-documents',
    'clean-dead-letters',
    'reconcile-providers',
    'resume-reconciliations',
  ];

  test('the table gives the minute of an hourly job and the intervals that settings choose', () => {
    expect([minuteOf('bill'), minuteOf('terminate-ended')]).toEqual([10, 5]);
    const chosen = schedule(loadConfig({ USAGE_ACTIVITY_SECONDS: '7', LIFETIME_USAGE_SECONDS: '8' }));
    const tickOf = (name: string) => chosen.find(({ job }) => job === name)!.tick;
    expect(['usage-activity', 'lifetime-usage', 'wallet-ongoing'].map(tickOf)).toEqual([
      { everySeconds: 7 },
      { everySeconds: 8 },
      { everySeconds: 300 },
    ]);
  });

  test('the table has the rows of the rules with their ticks and clocks', () => {
    const tickText = (tick: Tick): string => {
      if ('everySeconds' in tick) return `every ${tick.everySeconds}`;
      return 'timeOfDay' in tick ? tick.timeOfDay : `:${String(tick.minuteOfHour).padStart(2, '0')}`;
    };
    const rows = registryOf(loadConfig({})).rows.filter(({ job }) => !OURS.includes(job));
    const expected = TABLE.trim()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
    expect(rows.map(({ job, clock, tick }) => [job, clock, tickText(tick)])).toEqual(expected);
    const skipping = rows.filter(({ catchUp }) => catchUp === 'skip').map(({ job }) => job);
    expect(skipping).toEqual(['key-usage', 'audit-full']);
  });

  test('settings change the interval of some periodic jobs', () => {
    const settings = { USAGE_ACTIVITY_SECONDS: '10', LIFETIME_USAGE_SECONDS: '20', WALLET_REFRESH_SECONDS: '30' };
    const ticks = new Map(registryOf(loadConfig(settings)).rows.map(({ job, tick }) => [job, tick]));
    const jobs = ['usage-activity', 'lifetime-usage', 'wallet-ongoing'];
    expect(jobs.map((job) => ticks.get(job))).toEqual([10, 20, 30].map((everySeconds) => ({ everySeconds })));
  });

  test('a periodic job that is missing or defined twice stops the start', () => {
    expect(() => checked(registry({ rows: [row('a')] }))).toThrow('a has no implementation of clock R');
    expect(() => checked(registry({ sweepJobs: [sweepJob('a')] }))).toThrow('a has no row of clock R');
    expect(() => checked(registry({ rows: [row('a'), row('a')], sweepJobs: [sweepJob('a')] }))).toThrow(
      'a stands twice in the schedule',
    );
    expect(() =>
      checked(registry({ rows: [row('a', 'B')], periodicJobs: [periodicJob('a'), periodicJob('a')] })),
    ).toThrow('a is implemented twice');
    expect(() => checked(registry({ rows: [row('a', 'B')], sweepJobs: [sweepJob('a')] }))).toThrow(
      'a has no implementation of clock B',
    );
  });
});

describe('ticks of periodic jobs', () => {
  let database: TestDatabase;
  let sql: Sql;
  beforeAll(async () => {
    database = await createTestDatabase();
    sql = database.sql;
  });
  afterAll(() => database.drop());
  beforeEach(() => sql`truncate schedule_ticks, periodic_leases`);

  test.each(sweepJobs.map((job) => [job.name, job] as const))(
    'a tick of %s finds nothing in an empty database',
    async (_name, job) => {
      const redis = connectPatiently(inject('redisUrl'), 'test');
      await job.sweep({ ...deps(), redis }, realNow());
      redis.disconnect();
    },
  );

  test.each(periodicJobs.map((job) => [job.name, job] as const))(
    'a tick of %s selects nothing in an empty database',
    async (_name, job) => {
      const { organization_id: organizationId } = await createOrganization(sql, { name: 'Empty', sandbox: true });
      const nothing = { items: [], next: null };
      const after = [organizationId] as const;
      expect(await job.select(sql, realNow(), 'real-time', { limit: 10 })).toEqual(nothing);
      expect(await job.select(sql, realNow(), 'real-time', { limit: 10, after })).toEqual(nothing);
      expect(await job.select(sql, realNow(), { organizationId }, { limit: 10 })).toEqual(nothing);
      expect(await job.nextDueAt({ db: sql, organizationId }, realNow())).toBeNull();
    },
  );

  const TICK = '2024-04-01T02:00:00Z';
  const deps = (): SweepDeps & { producer: ReturnType<typeof recordingProducer> } => ({
    ...scratchDeps(sql),
    redis: undefined as never,
    producer: recordingProducer(),
  });
  const first = { lastAttempt: false };

  test('a tick is claimed by one of many schedulers', async () => {
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => claimTick(sql, 'a', { tickAt: at(TICK), realNow: realNow() })),
    );
    expect(claims.filter((claimed) => claimed)).toHaveLength(1);
  });

  test('a missed tick is caught up once by starting schedulers, by the rule of its job', async () => {
    const producers = [recordingProducer(), recordingProducer()];
    const schedulers = producers.map((producer) =>
      startScheduler({ ...scratchDeps(sql), producer }, [row('made-up'), row('skipped', 'R', 'skip')]),
    );
    const added = await until(() => {
      const all = producers.flatMap((producer) => producer.added);
      return all.length > 0 ? all : undefined;
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.close()));
    expect(added).toHaveLength(1);
    expect(added[0]).toMatchObject({
      name: 'periodic.tick',
      payload: { job: 'made-up', at: latestTick({ timeOfDay: '02:00' }, realNow()).toString() },
    });
    expect(added[0]?.id).not.toContain(':');
  });

  test('a tick fans out one keyed job per item over several pages', async () => {
    const organizationId = newId();
    const items: DueItem[] = Array.from({ length: 2500 }, (_, index) => ({
      organization_id: organizationId,
      sandbox: false,
      item: { index },
      key: `k${index}-2024-04-01`,
    }));
    const bill = periodicJob('bill', {
      async select(_sql, _at, _reach, { after }) {
        if (after?.length === 1) return { items: [], next: null }; // behind all of the only organization
        const from = Number(after?.[1] ?? 0);
        const next = from + 1000;
        return {
          items: items.slice(from, next),
          next: next < items.length ? [organizationId, String(next)] : null,
        };
      },
    });
    const run = deps();
    await runTick(run, registry({ periodicJobs: [bill] }), { job: 'bill', at: TICK }, first);
    expect(run.producer.added).toHaveLength(2500);
    expect(run.producer.added[7]).toEqual({
      name: 'periodic.work',
      payload: { job: 'bill', organization_id: organizationId, at: TICK, item: { index: 7 } },
      id: `bill-${organizationId}-k7-2024-04-01`,
    });
  });

  test('a tick is skipped while the former run of its job still works', async () => {
    const [started, mayEnd] = [gate(), gate()];
    let runs = 0;
    const slow = registry({
      sweepJobs: [
        sweepJob('slow', async () => {
          runs += 1;
          started.resolve();
          await mayEnd.promise;
        }),
        sweepJob('other'),
      ],
    });
    await claimTick(sql, 'slow', { tickAt: at(TICK), realNow: realNow() });
    await claimTick(sql, 'slow', { tickAt: at('2024-04-01T03:00:00Z'), realNow: realNow() });
    const former = runTick(deps(), slow, { job: 'slow', at: TICK }, first);
    await started.promise;
    await runTick(deps(), slow, { job: 'slow', at: '2024-04-01T03:00:00Z' }, first);
    await runTick(deps(), slow, { job: 'other', at: TICK }, first);
    expect(runs).toBe(1);
    mayEnd.resolve();
    await former;
    expect(await sql`select error from schedule_ticks where job = 'slow' order by tick_at`).toMatchObject([
      { error: null },
      { error: 'skipped: the former run still works' },
    ]);
    await runTick(deps(), slow, { job: 'slow', at: '2024-04-01T04:00:00Z' }, first);
    expect(runs).toBe(2);
  });

  test('a tick whose claimer died is nudged again, and a finished one is not', async () => {
    const [now, ago] = [realNow(), realNow().subtract({ seconds: 130 })];
    await claimTick(sql, 'lost', { tickAt: ago, realNow: ago });
    await claimTick(sql, 'finished', { tickAt: ago, realNow: ago });
    await finishTick(sql, 'finished', { tickAt: ago, end: { realNow: now, error: null } });
    await claimTick(sql, 'fresh', { tickAt: now, realNow: now });
    const run = deps();
    await nudgeLostTicks(run, now);
    expect(run.producer.added.map((job) => job.payload)).toEqual([{ job: 'lost', at: ago.toString() }]);
  });

  test('a tick does the work of an item in one transaction with what it recorded', async () => {
    const { organization_id: id } = await createOrganization(sql, { name: 'Work', sandbox: false });
    const job = periodicJob('bill', {
      async work(ctx, item, tick) {
        ctx.after({ step: 'next', payload: { item, tick: tick.toString(), actor: ctx.actor.source } } as never);
      },
    });
    await runWork(deps(), registry({ periodicJobs: [job] }), {
      job: 'bill',
      organization_id: id,
      at: TICK,
      item: { n: 1 },
    });
    expect(await sql`select payload from after_steps where organization_id = ${id}`).toMatchObject([
      { payload: { item: { n: 1 }, tick: TICK, actor: 'system' } },
    ]);
  });

  test('a tick skips an item that its schema does not accept', async () => {
    const { organization_id: id } = await createOrganization(sql, { name: 'Work', sandbox: false });
    let worked = 0;
    const job = periodicJob('bill', {
      item: z.object({ n: z.int() }),
      async work() {
        worked += 1;
      },
    });
    const run = (item: unknown) =>
      runWork(deps(), registry({ periodicJobs: [job] }), { job: 'bill', organization_id: id, at: TICK, item });
    await expect(run({ n: 'one' })).rejects.toThrow('expected number');
    await run({ n: 1 });
    expect(worked).toBe(1);
  });

  test('a tick skips an organization that got a test clock meanwhile', async () => {
    const { organization_id: id } = await createOrganization(sql, { name: 'Work', sandbox: true });
    let worked = 0;
    const work = async () => {
      worked += 1;
    };
    const jobs = registry({ periodicJobs: [periodicJob('bill', { work })] });
    const payload = { job: 'bill', organization_id: id, at: TICK, item: {} };
    await runWork(deps(), jobs, payload);
    await sql`insert into test_clocks (organization_id, frozen_time, created_at) values (${id}, ${TICK}, ${realNow()})`;
    await runWork(deps(), jobs, payload);
    expect(worked).toBe(1);
  });

  test('a tick of clean-idempotency deletes expired keys', async () => {
    const { organization_id: id } = await createOrganization(sql, { name: 'Keys', sandbox: false });
    await sql`
      insert into idempotency_keys (organization_id, scope_hash, fingerprint, request_id, created_at, expires_at)
      select ${id}, decode(lpad(to_hex(n), 8, '0'), 'hex'), '\\x00', 'r', now(), ${realNow()}::timestamptz + (case
        when n = 0 then 1 else -1 end) * interval '1 hour'
      from generate_series(0, 5100) n`;
    await cleanIdempotency.sweep(deps(), realNow());
    expect(await sql`select 1 from idempotency_keys`).toHaveLength(1);
  });

  test('a tick of housekeeping deletes runs of the auditor after 90 days', async () => {
    const { organization_id: id } = await createOrganization(sql, { name: 'Old', sandbox: true });
    for (const days of [89, 91])
      await sql`
        insert into audit_runs (id, organization_id, mode, status, created_at, started_at)
        values (${firstIdAt(realNow().subtract({ hours: 24 * days }))}, ${id}, 'full', 'succeeded', '2001-01-01Z',
          '2001-01-01Z')`;
    await housekeeping.sweep(deps(), realNow());
    expect(await sql`select from audit_runs where organization_id = ${id}`).toHaveLength(1);
  });
});
