import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { startPools } from '../../../workers/pools.ts';
import { buildOnce, builtProgram } from '../../support/build-once.ts';
import { keysOf, removeAllKeys } from '../../support/redis-keys.ts';
import { startService, TEST_SECRETS_KEYS, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** Commands of the customer: two hold its slots, the others are parked behind them. */
const COMMANDS = 10;
/**
 * What a crash costs is 5 s at most: the lock of a killed worker's job ends after 3 s, and is looked for every
 * 1.5 s. A busy machine takes longer; what is found by its caller's time-out alone takes 60 s.
 */
const WITHIN_MS = 45_000;

let service: TestService;
let client: Awaited<ReturnType<TestService['org']>>;
const children: ChildProcess[] = [];
const standIns: { close(): Promise<void> }[] = [];

// The pool of commands runs in processes of its own.
beforeAll(async () => {
  await buildOnce();
  service = await startService({
    pools: UNSCHEDULED.filter((name) => name !== 'writes'),
    settings: { WRITE_TIMEOUT_SECONDS: '60' },
  });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(standIns.splice(0).map((each) => each.close()));
});

function startWorker(): ChildProcess {
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = service.config;
  const child = spawn(process.execPath, builtProgram('workers/writes.ts'), {
    env: {
      ...process.env,
      DATABASE_URL,
      REDIS_URL,
      REDIS_PREFIX,
      LOG_LEVEL: 'silent',
      SECRETS_KEYS: TEST_SECRETS_KEYS,
    },
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

/** Another process of the pool, ready when this returns: here it is this one. */
async function startStandIn(): Promise<void> {
  standIns.push(await startPools(service.config, ['writes'], createLog({ level: 'silent', process: 'test' })));
}

const rename = (index: number) =>
  client.post('/customers', { customer: { external_id: 'hot', name: `name ${index}` } });
/** The ingress refuses commands until it has seen the worker, which it looks for every second. */
const whenTaken = (ask: () => Promise<{ status: number }>) =>
  until(async () => {
    const answer = await ask();
    return answer.status === 503 ? undefined : answer;
  }, 60_000);
const queue = () => service.ingress.producer.queue('writes');
const parked = async () => (await queue().getDelayedCount()) >= COMMANDS - 2;

/** Has a worker process hold both slots of a customer whose row is locked, with commands parked behind them. */
async function parkBehindLock(): Promise<{ answers: Promise<{ status: number }>[]; release(): Promise<void> }> {
  const made = await whenTaken(() => client.post('/customers', { customer: { external_id: 'hot', currency: 'EUR' } }));
  expect(made.status).toBe(200);
  const holder = await service.sql.reserve();
  await holder`begin`;
  await holder`
    select from customers
    where organization_id = ${client.organization.organization_id} and external_id = 'hot' for update`;
  const answers = Array.from({ length: COMMANDS }, (_, index) => whenTaken(() => rename(index)));
  await until(parked, 30_000);
  return {
    answers,
    async release() {
      await holder`rollback`;
      holder.release();
    },
  };
}

test('commands parked behind those of a killed worker are run by another process before their callers give up', async () => {
  const worker = startWorker();
  await until(async () => (await queue().getWorkersCount()) > 0, 60_000);
  const { answers, release } = await parkBehindLock();
  await startStandIn();
  worker.kill('SIGKILL');
  await until(() => worker.signalCode === 'SIGKILL');
  const killed = performance.now();
  await release();
  const all = await Promise.all(answers);
  expect(performance.now() - killed).toBeLessThan(WITHIN_MS);
  expect(all.map(({ status }) => status)).toEqual(new Array(COMMANDS).fill(200));
});

test('when Redis forgets parked commands, later ones of their customer are not delayed', async () => {
  await startStandIn();
  const { answers, release } = await parkBehindLock();
  // What a flush takes of this service: other tests share the server.
  await removeAllKeys(service.redis, service.config.REDIS_PREFIX);
  const flushed = performance.now();
  await release();
  // Those that held a slot go on, the parked ones are lost with Redis: their callers ask again, and are served at once.
  const again = await Promise.all(Array.from({ length: COMMANDS }, (_, index) => rename(index)));
  expect(performance.now() - flushed).toBeLessThan(WITHIN_MS);
  expect(again.map(({ status }) => status)).toEqual(new Array(COMMANDS).fill(200));
  await until(
    async () => (await keysOf(service.redis, `{${service.config.REDIS_PREFIX}:writes}:parked:*`)).length === 0,
  );
  void Promise.allSettled(answers);
});
