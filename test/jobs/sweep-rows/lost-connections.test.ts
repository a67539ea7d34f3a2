import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { PING_JOB } from '../../../src/platform/queue/queue-progress.ts';
import type { QueueName } from '../../../src/queues.ts';
import { startPools } from '../../../workers/pools.ts';
import { type Cuttable, cuttable } from '../../support/cuttable.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { testOfOneRedis as test } from '../../support/one-redis.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// A crash of Postgres or Redis takes nudges of rows that are there with it. Nothing here but the sweep after a lost
// connection finds a delivery again: there is no scheduler. What an event owes would be found by the look after 10 s.
let service: TestService;
let way: Cuttable;
let workers: Awaited<ReturnType<typeof startPools>>;
let hooks: HookReceiver;
let org: Awaited<ReturnType<TestService['org']>>;

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'events'] });
  way = await cuttable(service.config.REDIS_URL);
  hooks = await openHookReceiver();
  const log = createLog({ level: 'silent', process: 'test' });
  workers = await startPools({ ...service.config, REDIS_URL: way.url }, ['aggregation', 'billing', 'webhooks'], log);
  org = await service.org();
  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const { billable_metric } = await made('/billable_metrics', { billable_metric: metric });
  const charge = { billable_metric_id: billable_metric.svc_id, charge_model: 'standard', pay_in_advance: true };
  const terms = { interval: 'monthly', amount_cents: 0, amount_currency: 'EUR', pay_in_advance: false };
  const charges = [{ ...charge, properties: { amount: '1' } }];
  await made('/plans', { plan: { name: 'P', code: 'p', ...terms, charges } });
  await made('/customers', { customer: { external_id: 'acme', currency: 'EUR' } });
  await made('/subscriptions', { subscription: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'p' } });
  await made('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: hooks.url, signature_algo: 'hmac', event_types: ['customer.created'] },
  });
  await until(async () => (await owed()) === 0);
}, 60_000);
afterAll(async () => {
  await way.mend().catch(() => {});
  await workers.close();
  await way.close();
  await hooks.close();
  await service.stop();
});

const made = async (path: string, body: object) => {
  const answer = await org.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

const owed = async (): Promise<number> => {
  const [row] = await service.sql<{ count: number }[]>`
    select (select count(*) from event_batches) + (select count(*) from after_steps) as count`;
  return Number(row!.count);
};

const feesOf = async (transactionId: string) =>
  (await org.get('/fees')).body.fees.filter(
    ({ event_transaction_id: id }: { event_transaction_id: string }) => id === transactionId,
  );
const toldOf = (externalId: string) => hooks.hooks.filter(({ body }) => body.includes(externalId));

/** Does what puts jobs into queues, and lets these jobs be lost. */
async function withoutNudges(names: QueueName[], work: () => Promise<unknown>): Promise<void> {
  const queues = names.map((name) => service.ingress.producer.queue(name));
  await Promise.all(queues.map((queue) => queue.pause()));
  await work();
  for (const queue of queues) {
    await until(async () => {
      const jobs = await queue.getJobs(['waiting', 'prioritized']);
      return jobs.some((job) => job && job.name !== PING_JOB);
    });
    await queue.drain();
    await queue.resume();
  }
}

test.each<[string, () => Promise<unknown>]>([
  [
    'connections to Postgres',
    () => service.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'meterstone%'`,
  ],
  [
    'a connection to Redis',
    async () => {
      await way.cut();
      await way.mend();
    },
  ],
])(
  'after the loss of %s an event is billed and a notification sent, though their nudges were lost',
  async (_what, cut) => {
    const id = randomUUID();
    await withoutNudges(['aggregation', 'webhooks'], async () => {
      await made('/events', { event: { transaction_id: id, external_subscription_id: 'sub', code: 'calls' } });
      await made('/customers', { customer: { external_id: id } });
    });
    expect([await feesOf(id), toldOf(id)]).toEqual([[], []]);
    await cut();
    await until(async () => (await feesOf(id)).length > 0 && toldOf(id).length > 0);
    expect(await feesOf(id)).toMatchObject([{ amount_cents: 100 }]);
    await until(async () => (await owed()) === 0);
  },
);
