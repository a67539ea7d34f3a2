import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { queues } from '../../../src/queues.ts';
import { startPools } from '../../../workers/pools.ts';
import { buildOnce, builtProgram } from '../../support/build-once.ts';
import { startService, TEST_SECRETS_KEYS, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const LAST = queues.billing.attempts;

let service: TestService;
const children: ChildProcess[] = [];
const standIns: { close(): Promise<void> }[] = [];

// The pool that runs steps has processes of its own.
beforeAll(async () => {
  await buildOnce();
  service = await startService({ pools: UNSCHEDULED.filter((name) => name !== 'billing') });
});
afterAll(() => service.stop());
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(standIns.splice(0).map((each) => each.close()));
});

function startWorker(): ChildProcess {
  const { DATABASE_URL, REDIS_URL, REDIS_PREFIX } = service.config;
  const env = { DATABASE_URL, REDIS_URL, REDIS_PREFIX, LOG_LEVEL: 'silent', SECRETS_KEYS: TEST_SECRETS_KEYS };
  const child = spawn(process.execPath, builtProgram('workers/billing.ts'), {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

const queue = () => service.ingress.producer.queue('billing');

/** A step that would double money if it took effect twice: the credits that a wallet is made with. */
async function oweFirstCredits() {
  const client = await service.org();
  expect((await client.post('/customers', { customer: { external_id: 'acme', currency: 'USD' } })).status).toBe(200);
  const made = await client.post('/wallets', {
    wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '10' },
  });
  const path = `/wallets/${made.body.wallet.svc_id}`;
  const organizationId = client.organization.organization_id;
  const [step] = await service.sql<{ id: string }[]>`
    select id from after_steps where organization_id = ${organizationId} and job = 'book-first-credits'`;
  return {
    organizationId,
    stepId: step!.id,
    wallet: async () => (await client.get(path)).body.wallet,
    transactions: async () => (await client.get(`${path}/wallet_transactions`)).body.wallet_transactions,
  };
}

/** Puts a step and its job at their last attempt: one more failure would end both. */
async function spendAttempts(stepId: string): Promise<void> {
  await service.sql`update after_steps set attempts = ${LAST - 1} where id = ${stepId}`;
  const jobs = await queue().getJobs(['waiting', 'prioritized', 'delayed']);
  const job = jobs.find(({ data }) => data.step_id === stepId);
  await service.redis.hset(`{${service.config.REDIS_PREFIX}:billing}:billing:${job!.id}`, 'atm', LAST - 1);
}

/** Holds what a step writes last, so that all else of it is done and not committed. */
async function holdAudit() {
  const holder = await service.sql.reserve();
  await holder`begin`;
  await holder`lock table activity_logs in access exclusive mode`;
  return async () => {
    await holder`rollback`;
    holder.release();
  };
}

const waitingBackends = async () =>
  (
    await service.sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into activity_logs%'`
  ).length;

test('a step whose worker is killed in its last attempt is neither lost nor done twice', async () => {
  const { organizationId, stepId, wallet, transactions } = await oweFirstCredits();
  await spendAttempts(stepId);
  const release = await holdAudit();
  const worker = startWorker();
  await until(async () => (await waitingBackends()) === 1, 90_000);
  worker.kill('SIGKILL');
  await until(() => worker.signalCode === 'SIGKILL');
  await release();
  await until(async () => (await waitingBackends()) === 0);
  expect(await transactions()).toEqual([]);
  expect(await service.sql`select attempts, failed_at from after_steps where id = ${stepId}`).toEqual([
    { attempts: LAST - 1, failed_at: null },
  ]);

  // Two minutes later another process comes up, and finds what has lost its job.
  await service.sql`update after_steps set enqueued_at = ${realNow().subtract({ minutes: 3 })} where id = ${stepId}`;
  standIns.push(await startPools(service.config, ['billing'], createLog({ level: 'silent', process: 'test' })));
  await until(async () => (await service.sql`select from after_steps where id = ${stepId}`).length === 0, 60_000);
  await Promise.all(
    Array.from({ length: 5 }, () =>
      service.ingress.producer.add('step.run', { organization_id: organizationId, step_id: stepId }),
    ),
  );
  await until(async () => {
    const counts = await queue().getJobCounts('waiting', 'prioritized', 'active', 'delayed');
    return Object.values(counts).every((count) => count === 0);
  }, 60_000);
  expect(await transactions()).toMatchObject([{ amount: '10.0', status: 'settled' }]);
  expect(await wallet()).toMatchObject({ balance_cents: 1000 });
}, 240_000);
