import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { enterConnector, sayReading } from '../../src/areas/usage/connectors/readers.ts';
import { createReadiness } from '../../src/ingress/readiness.ts';
import { SKIPPED } from '../../src/jobs/periodic-jobs/queries.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { OrganizationId } from '../../src/platform/ids.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';
import { enrol, listEnrolled, mostConnections } from '../../src/platform/process/enrolled-processes.ts';
import { openOutcomes } from '../../src/platform/queue/failing-queues.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { EVERY_POOL, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let redis: Redis;
let prefix: string;
beforeAll(async () => {
  database = await createTestDatabase();
  redis = new Redis(inject('redisUrl'));
});
beforeEach(() => {
  prefix = `t${randomUUID().slice(0, 8)}`;
});
afterAll(async () => {
  redis.disconnect();
  await database.drop();
});

const deps = (settings: Record<string, string> = {}) => ({
  sql: database.sql,
  redis,
  config: loadConfig({ DATABASE_URL: database.url, REDIS_PREFIX: prefix, ...settings }),
  metrics: createMetrics('test'),
});
/** What is found beside metrics, which the processes here do not share. */
const found = async (settings?: Record<string, string>) =>
  (await createReadiness(deps(settings))()).filter(({ check }) => check !== 'metrics');

const log = createLog({ level: 'silent', process: 'test' });
const enrolled = (connections: number) => enrol({ ...deps(), log, connections: () => connections }, 'events');

/** Stores what a process with such a clock says of itself. */
async function enrolClock(clockAheadMs: number): Promise<void> {
  const [seconds] = await redis.time();
  const said = { name: 'events', copy: 'b-7', connections: 1, clockAheadMs, saidAtMs: Number(seconds) * 1000 };
  await redis.hset(`${prefix}:processes`, randomUUID(), JSON.stringify(said));
}

test('the connections of all processes together are compared with those that Postgres lets in', async () => {
  const most = await mostConnections(database.sql);
  const processes = await Promise.all([enrolled(most - 5), enrolled(5)]);
  expect(await listEnrolled(redis, prefix)).toHaveLength(2);
  expect(await found()).toEqual([]);
  const third = await enrolled(1);
  expect(await found()).toEqual([
    {
      check: 'connections',
      reason: `3 processes may open ${most + 1} connections, and Postgres lets ${most} in`,
    },
  ]);
  expect(await found({ DATABASE_PREPARE: 'false' })).toEqual([]);
  await third.close();
  expect(await found()).toEqual([]);
  await Promise.all(processes.map((each) => each.close()));
  expect(await listEnrolled(redis, prefix)).toEqual([]);
});

test('a limit of the role counts like that of the server', async () => {
  await database.sql`select 1`;
  const [{ name }] = (await database.sql`select current_database() as name`) as unknown as [{ name: string }];
  await database.sql.unsafe(`alter database ${name} connection limit 20`);
  expect(await mostConnections(database.sql)).toBe(20);
  await database.sql.unsafe(`alter database ${name} connection limit -1`);
});

test('a process compares its clock with that of Postgres', async () => {
  const process = await enrolled(1);
  const [about] = await listEnrolled(redis, prefix);
  expect(Math.abs(about!.clockAheadMs!)).toBeLessThan(1000);
  await process.close();
});

test.each([
  [900, []],
  [1500, [{ check: 'clocks', reason: 'the clock of events (b-7) is 1.5 s before that of Postgres', stops: false }]],
  [-31_000, [{ check: 'clocks', reason: 'the clock of events (b-7) is 31.0 s behind that of Postgres', stops: true }]],
])('a clock that is %s ms ahead: %j', async (aheadMs, reasons) => {
  await enrolClock(aheadMs);
  expect(await found()).toEqual(reasons);
});

test('a queue of which three jobs failed and none was done is named, until one is done in any process', async () => {
  const [one, two] = [openOutcomes(redis, prefix, 'writes'), openOutcomes(redis, prefix, 'writes')];
  for (const id of ['a', 'b', 'b', 'b']) one.failed(id, new Error('the disk is full'));
  await one.tell();
  expect(await found()).toEqual([]);
  two.failed('c', new Error('no more ids'));
  await two.tell();
  expect(await found()).toEqual([
    { check: 'failing_queues', reason: expect.stringMatching(/^every job of the queue writes fails: (no|the) /) },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  two.done();
  await two.tell();
  expect(await found()).toEqual([]);
  await Promise.all([one.close(), two.close()]);
  expect(await redis.exists(`${prefix}:outcomes`)).toBe(0);
});

test('a job whose last three ticks were skipped is named, until one is done', async () => {
  const end = (tick: number, error: string | null) => {
    const tickAt = Temporal.Instant.from('2030-01-01T00:00:00Z').add({ hours: tick });
    return database.sql`
      insert into schedule_ticks (job, tick_at, claimed_at, finished_at, error)
      values ('bill', ${tickAt}, ${tickAt}, ${tickAt}, ${error})`;
  };
  for (const tick of [1, 2]) await end(tick, SKIPPED);
  expect(await found()).toEqual([]);
  await end(3, SKIPPED);
  const since = 'since 2030-01-01T01:00:00.000Z: the former run still works';
  expect(await found()).toEqual([{ check: 'skipped_jobs', reason: `the last 3 ticks of bill were skipped, ${since}` }]);
  await end(4, null);
  expect(await found()).toEqual([]);
});

test('metrics to which only ingresses add are told of, until a worker does', async () => {
  const metrics = async () => (await createReadiness(deps())()).filter(({ check }) => check === 'metrics');
  const ingress = await enrol({ ...deps(), log, connections: () => 1 }, 'ingress');
  await redis.zadd(`${prefix}:metrics:processes`, 1, 'a');
  expect(await metrics()).toEqual([
    { check: 'metrics', reason: 'no worker process adds to the metrics: they show nothing of jobs' },
  ]);
  await redis.zadd(`${prefix}:metrics:processes`, 2, 'b');
  expect(await metrics()).toEqual([]);
  await ingress.close();
});

test('no synchronous standby stops requests, with the reason', async () => {
  const why = 'no synchronous standby is connected to Postgres';
  const shown = await createReadiness({ ...deps(), standby: { why: () => why } })();
  expect(shown).toContainEqual({
    check: 'synchronous_standby',
    reason: `${why}: writes and events are refused`,
    stops: true,
  });
});

test('a stream that a process tries to read and cannot is named with what is wrong, until it is read', async () => {
  const connector = { organizationId: randomUUID() as OrganizationId, code: 'usage' };
  const reader = randomUUID();
  const lag = { messages: null, seconds: null };
  await enterConnector(database.sql, connector, 'kafka');
  await sayReading(database.sql, connector, reader, {
    status: 'retrying',
    error: 'the topics are missing: calls',
    lag,
  });
  expect(await found()).toEqual([
    {
      check: 'streams',
      reason:
        `the stream usage of the organization ${connector.organizationId} is not read: ` +
        'the topics are missing: calls',
    },
  ]);
  const pause = (isPaused: boolean) => database.sql`
    update ingest_connectors set paused_at = case when ${isPaused} then now() end
    where organization_id = ${connector.organizationId}`;
  await pause(true);
  expect(await found()).toEqual([]); // it is not tried
  await pause(false);
  expect(await found()).toHaveLength(1);
  await sayReading(database.sql, connector, reader, { status: 'running', error: null, lag });
  expect(await found()).toEqual([]);
  // A process that is silent for 30 s is gone: what it last said is no reason.
  await sayReading(database.sql, connector, reader, { status: 'retrying', error: 'away', lag });
  await database.sql`update ingest_readers set said_at = said_at - interval '31 seconds' where id = ${reader}`;
  expect(await found()).toEqual([]);
});

test('a check that fails is a reason too, and each is counted by its name', async () => {
  const given = deps();
  const readiness = createReadiness(given, {
    broken: () => Promise.reject(new Error('no')),
    well: async () => [],
    stopping: async () => [{ reason: 'a', stops: true }, { reason: 'b' }],
  });
  expect(await readiness()).toEqual([
    { check: 'broken', reason: 'it could not be looked at' },
    { check: 'stopping', reason: 'a', stops: true },
    { check: 'stopping', reason: 'b' },
  ]);
  const shown = await given.metrics.registry.getMetricsAsJSON();
  const values = shown.find(({ name }) => name === 'meterstone_ready_troubles')!.values;
  expect(values.map(({ labels, value }) => [labels.check, value])).toEqual([
    ['broken', 1],
    ['well', 0],
    ['stopping', 2],
  ]);
});

test('/ready is 200 and degraded with reasons, and 503 when one of them stops it', async () => {
  const service: TestService = await startService({ pools: EVERY_POOL });
  const ready = async () => {
    const response = await fetch(`${service.url}/ready`);
    return { status: response.status, body: (await response.json()) as { status: string; reasons: unknown[] } };
  };
  await until(async () => (await ready()).body.status === 'ready');
  prefix = service.config.REDIS_PREFIX;
  await enrolClock(2000);
  const degraded = await until(async () => {
    const answer = await ready();
    return answer.body.status === 'degraded' && answer;
  });
  expect(degraded).toMatchObject({ status: 200, body: { reasons: [{ check: 'clocks' }] } });
  await enrolClock(40_000);
  await until(async () => (await ready()).status === 503);
  await service.stop();
});
