import { type ChildProcess, spawn } from 'node:child_process';
import type { Job, Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  cleanWebhooks,
  endpointHealth,
  webhookSweeper,
} from '../../../../src/areas/messaging/deliver-webhooks/jobs.ts';
import { walkHandlers } from '../../../../src/areas/messaging/deliver-webhooks/walk-endpoint.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import type { SweepDeps } from '../../../../src/platform/periodic-job.ts';
import { PING_JOB } from '../../../../src/platform/queue/queue-progress.ts';
import { reactions } from '../../../../src/reactions.ts';
import { buildOnce, builtProgram } from '../../../support/build-once.ts';
import { type HookReceiver, openHookReceiver } from '../../../support/hook-receiver.ts';
import { until } from '../../../support/until.ts';
import { customers, type Delivery, openStage, type Stage } from './stage.ts';

let stage: Stage;
let hooks: HookReceiver;
const children: ChildProcess[] = [];

beforeAll(async () => {
  await buildOnce();
  hooks = await openHookReceiver();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  hooks.hooks.length = 0;
  hooks.react(200);
  await stage?.close();
});
afterAll(() => hooks.close());

const sweepDeps = (): SweepDeps => ({
  sql: stage.database.sql,
  redis: stage.redis,
  producer: stage.producer,
  config: stage.config,
  reactions,
  log: createLog({ level: 'silent', process: 'test' }),
});

const allSucceeded = (endpointId: string, withinMs?: number): Promise<Delivery[]> =>
  until(async () => {
    const rows = await stage.deliveries(endpointId);
    return rows.every((row) => row.status === 'succeeded') ? rows : undefined;
  }, withinMs);

test('deliveries whose jobs were lost are found by the sweeper after two minutes and sent once', async () => {
  stage = await openStage();
  stage.work();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(25), 'jobs');
  const pass = (seconds: number) => stage.database.sql`
    update webhook_deliveries set next_attempt_at = next_attempt_at - make_interval(secs => ${seconds})`;
  await pass(100);
  await webhookSweeper.sweep(sweepDeps(), realNow());
  expect(await stage.producer.queue('webhooks').getJobCountByTypes('waiting', 'active', 'delayed')).toBeLessThan(2); // a ping
  expect(hooks.hooks).toHaveLength(0);
  await pass(25);
  await webhookSweeper.sweep(sweepDeps(), realNow());
  await webhookSweeper.sweep(sweepDeps(), realNow());
  await allSucceeded(endpointId);
  expect(hooks.hooks).toHaveLength(25);
});

test('a retry whose delayed job was lost is caught up', async () => {
  stage = await openStage({ WEBHOOK_RETRY_SCHEDULE: '60' });
  stage.work();
  hooks.react(500, 200);
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(1));
  await until(async () => (await stage.deliveries(endpointId))[0]?.status === 'retrying');
  await stage.producer.queue('webhooks').obliterate({ force: true });
  await webhookSweeper.sweep(sweepDeps(), realNow());
  expect(hooks.hooks).toHaveLength(1);
  await stage.database.sql`update webhook_deliveries set next_attempt_at = next_attempt_at - interval '5 minutes'`;
  await webhookSweeper.sweep(sweepDeps(), realNow());
  expect((await allSucceeded(endpointId))[0]).toMatchObject({ retries: 1 });
});

test('when a worker is killed during deliveries each arrives at least once under one key, and none is lost', async () => {
  stage = await openStage({ WEBHOOK_TIMEOUT_SECONDS: '5' });
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  const killed = startWorker();
  // The receiver has the events, and says nothing until the worker is gone.
  hooks.react(() => {});
  await stage.emit(organization, customers(20));
  await until(() => hooks.hooks.length >= 5, 60_000);
  killed.kill('SIGKILL');
  await until(() => killed.signalCode === 'SIGKILL');
  expect((await stage.deliveries(endpointId)).every((row) => row.status === 'pending')).toBe(true);
  hooks.react(200);
  startWorker();
  const rows = await allSucceeded(endpointId, 70_000);
  expect(rows).toHaveLength(20);
  const keys = hooks.hooks.map((hook) => hook.headers['x-svc-unique-key']);
  expect(new Set(keys)).toEqual(new Set(rows.map((row) => row.id)));
  expect(keys.length).toBeGreaterThan(20);
}, 120_000);

function startWorker(): ChildProcess {
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = stage.config;
  const child = spawn(process.execPath, builtProgram('workers/webhooks.ts'), {
    env: {
      ...process.env,
      DATABASE_URL,
      REDIS_URL,
      REDIS_PREFIX,
      LOG_LEVEL: 'silent',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      WEBHOOK_TIMEOUT_SECONDS: '5',
    },
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

test('after 20 failures in a row one probe a minute is sent while the others wait, until one succeeds', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  const { sql } = stage.database;
  await sql`
    update webhook_endpoints set consecutive_failures = 19, failures_since = ${realNow()} where id = ${endpointId}`;
  hooks.react(500);
  stage.work();
  await stage.emit(organization, customers(1));
  await until(async () => (await stage.readEndpoint(endpointId)).circuit_open_until !== null);
  expect(await stage.readEndpoint(endpointId)).toMatchObject({ consecutive_failures: 20 });

  await stage.emit(organization, customers(12));
  const queue = stage.producer.queue('webhooks');
  // New events wait as rows; Redis holds the walk that probes after a minute, and the retry of the first.
  await until(async () => (await jobsOf(queue)).length === 0);
  expect((await queue.getDelayed()).map((job) => job.name).sort()).toEqual(['webhook.deliver', 'webhook.walk']);
  expect(hooks.hooks).toHaveLength(1);

  const minuteOver = async () => {
    await sql`update webhook_endpoints set circuit_open_until = ${realNow()} where id = ${endpointId}`;
    await queue.promoteJobs();
  };
  await minuteOver();
  await until(async () => (await stage.readEndpoint(endpointId)).consecutive_failures === 21);
  await until(async () => (await jobsOf(queue)).length === 0);
  expect(hooks.hooks).toHaveLength(2);

  hooks.react(200);
  await sql`update webhook_deliveries set next_attempt_at = next_attempt_at - interval '1 minute'`;
  await minuteOver();
  await until(async () => (await stage.readEndpoint(endpointId)).consecutive_failures === 0);
  expect(await stage.readEndpoint(endpointId)).toMatchObject({ failures_since: null, circuit_open_until: null });
  await allSucceeded(endpointId);
  expect(new Set(hooks.hooks.map((hook) => hook.headers['x-svc-unique-key'])).size).toBe(13);
});

/** Jobs that wait or are under way, without the pings of the pool. */
const jobsOf = async (queue: Queue): Promise<Job[]> =>
  (await queue.getJobs(['waiting', 'prioritized', 'active'])).filter((job) => job && job.name !== PING_JOB);

// Before: 2 223 waiting deliveries made 4 471 Redis commands a second.
test('deliveries behind a dead endpoint wait as rows: Redis holds one job for it, and nothing polls in a loop', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  hooks.react(500);
  await stage.emit(organization, customers(2000), 'jobs');
  const { sql } = stage.database;
  const since = realNow().subtract({ minutes: 10 });
  await sql`update webhook_deliveries set next_attempt_at = ${since}`;
  await sql`
    update webhook_endpoints set consecutive_failures = 20, failures_since = ${since}, circuit_open_until = ${since}
    where id = ${endpointId}`;
  const queue = stage.producer.queue('webhooks');
  const rows = await sql<{ id: string }[]>`select id from webhook_deliveries order by id limit 300`;
  await stage.producer.addMany(
    'webhook.deliver',
    rows.map(({ id }) => ({
      payload: {
        organization_id: organization.organization_id,
        webhook_endpoint_id: endpointId,
        delivery_ids: [id],
      },
    })),
  );
  stage.work();
  for (let minute = 0; minute < 3; minute += 1) {
    await webhookSweeper.sweep(sweepDeps(), realNow());
    await until(async () => (await jobsOf(queue)).length === 0 && hooks.hooks.length === 1);
  }
  const away = async () => (await queue.getDelayed()).map((job) => job.id).sort();
  await until(async () => (await away()).length === 2);
  expect(await away()).toEqual([expect.stringMatching(/^retry-/), `walk-${endpointId}`]);
  const state = async () => (await queue.getDelayed()).map((job) => [job.id, job.delay, job.attemptsStarted]).sort();
  const before = await state();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await state()).toEqual(before);
  expect(hooks.hooks).toHaveLength(1);
});

test('a walk takes the oldest deliveries first, one window at a time, and fails those of a disabled endpoint without an attempt', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(1100), 'jobs');
  const { sql } = stage.database;
  await sql`
    update webhook_deliveries set next_attempt_at = ${realNow().subtract({ minutes: 10 })}::timestamptz
      + (place.number || ' milliseconds')::interval
    from (select id, row_number() over (order by id) as number from webhook_deliveries) place
    where place.id = webhook_deliveries.id`;
  const ids = (await sql<{ id: string }[]>`select id from webhook_deliveries order by id`).map(({ id }) => id);
  const walked: string[][] = [];
  const back: number[] = [];
  const walk = walkHandlers({
    sql,
    producer: {
      async addMany(_name: string, jobs: { payload: unknown }[]) {
        walked.push(jobs.flatMap(({ payload }) => (payload as { delivery_ids: string[] }).delivery_ids));
      },
    } as never,
  });
  const turn = () =>
    walk['webhook.walk'](
      { organization_id: organization.organization_id, webhook_endpoint_id: endpointId, overdue_ms: 120_000 },
      { comeBack: async (ms: number) => void back.push(ms) } as never,
    );
  await turn();
  expect(walked).toEqual([ids.slice(0, 1000)]);
  expect(back).toEqual([1000]);
  await turn();
  expect(walked[1]).toEqual(ids.slice(1000, 1050));
  await sql`update webhook_endpoints set status = 'disabled' where id = ${endpointId}`;
  await turn();
  expect(walked).toHaveLength(2);
  expect(await sql`select distinct status, response from webhook_deliveries`).toEqual([
    { status: 'failed', response: 'the endpoint is disabled' },
  ]);
});

test('the sweeper leaves deliveries behind an open circuit alone until it may be probed', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(3), 'jobs');
  const { sql } = stage.database;
  const later = realNow().add({ minutes: 5 });
  await sql`
    update webhook_endpoints set consecutive_failures = 20, circuit_open_until = ${later.add({ seconds: 1 })}
    where id = ${endpointId}`;
  const waiting = async () => await stage.producer.queue('webhooks').getWaitingCount();
  await webhookSweeper.sweep(sweepDeps(), later);
  expect(await waiting()).toBe(0);
  await webhookSweeper.sweep(sweepDeps(), later.add({ seconds: 2 }));
  expect(await waiting()).toBe(1);
});

test('an endpoint that failed for five days is disabled; one without events since then is not', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const dead = await stage.endpoint(organization, hooks.url);
  const quiet = await stage.endpoint(organization, `${hooks.url}/quiet`);
  const recent = await stage.endpoint(organization, `${hooks.url}/recent`);
  await stage.emit(organization, customers(2), 'jobs');
  const { sql } = stage.database;
  const now = realNow();
  const since = (hours: number) => now.subtract({ hours });
  for (const [id, hours] of [
    [dead, 121],
    [quiet, 121],
    [recent, 119],
  ] as const)
    await sql`update webhook_endpoints set failures_since = ${since(hours)} where id = ${id}`;
  await sql`
    update webhook_deliveries set status = 'failed', next_attempt_at = null
    where id in (select distinct on (webhook_endpoint_id) id from webhook_deliveries)`;
  await sql`update webhook_deliveries set updated_at = ${now} where webhook_endpoint_id = ${dead}`;
  await sql`update webhook_deliveries set updated_at = ${since(100)} where webhook_endpoint_id = ${quiet}`;
  await endpointHealth.sweep(sweepDeps(), now);
  expect(await stage.readEndpoint(dead)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
  expect((await stage.deliveries(dead)).map((row) => row.status)).toEqual(['failed', 'failed']);
  expect(await stage.readEndpoint(quiet)).toMatchObject({ status: 'enabled' });
  expect(await stage.readEndpoint(recent)).toMatchObject({ status: 'enabled' });
});

test('deliveries untouched for 90 days are removed in batches, and the others stay', async () => {
  stage = await openStage();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(2100), 'jobs');
  const { sql } = stage.database;
  const now = realNow();
  await sql`
    update webhook_deliveries set updated_at = ${now.subtract({ hours: 90 * 24 + 1 })}
    where id in (select id from webhook_deliveries order by id limit 2050)`;
  await cleanWebhooks.sweep(sweepDeps(), now);
  expect(await stage.deliveries(endpointId)).toHaveLength(50);
});
