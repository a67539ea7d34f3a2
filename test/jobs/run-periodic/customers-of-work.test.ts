import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { registryOf } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runTick } from '../../../src/jobs/run-periodic/run-tick.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { PeriodicJob } from '../../../src/platform/periodic-job.ts';
import type { JobPayload } from '../../../src/queues.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { recordingProducer } from '../advance-clock/scratch.ts';

// everywhere.md#bounded-cost: at most two jobs of one customer are in flight, so a job says whose it is.
let service: TestService;
let client: Awaited<ReturnType<TestService['org']>>;
let organizationId: string;
let customerId: string;

beforeAll(async () => {
  service = await startService();
  client = await service.org();
  organizationId = client.organization.organization_id;
  const customer = { external_id: 'ada', currency: 'EUR' };
  customerId = (await ok(client.post('/customers', { customer }))).customer.svc_id;
});
afterAll(() => service.stop());

/** A job that finds these items due, and what it does with one of them. */
const jobOf = (items: object[], work: PeriodicJob['work'] = async () => {}): PeriodicJob => ({
  name: 'chore',
  item: z.looseObject({}),
  select: async () => ({
    items: items.map((item, place) => ({ organization_id: organizationId, sandbox: false, item, key: `${place}` })),
    next: null,
  }),
  work,
  nextDueAt: async () => null,
});

async function fannedOut(items: object[]): Promise<(string | undefined)[]> {
  const { sql, redis, config } = service;
  const producer = recordingProducer();
  const log = { info() {}, warn() {}, error() {} };
  const deps = { sql, redis, config, producer, log, reactions: {} } as unknown as Parameters<typeof runTick>[0];
  const registry = { rows: [], periodicJobs: [jobOf(items)], sweepJobs: [] };
  await runTick(deps, registry, { job: 'chore', at: realNow().toString() }, { lastAttempt: true });
  return producer.added.map(({ payload }) => (payload as JobPayload<'periodic.work'>).customer_key);
}

test('the job of a periodic item names the customer of the record that the item names', async () => {
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 100, amount_currency: 'EUR' };
  await ok(client.post('/plans', { plan: { ...plan, pay_in_advance: true } }));
  const { subscription } = await ok(
    client.post('/subscriptions', {
      subscription: { external_customer_id: 'ada', plan_code: 'p', external_id: 'sub' },
    }),
  );
  const { wallet } = await ok(
    client.post('/wallets', {
      wallet: { external_customer_id: 'ada', name: 'W', rate_amount: '1', currency: 'EUR', granted_credits: '10' },
    }),
  );
  const invoice = await until(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from invoices where organization_id = ${organizationId} and invoice_type = 'subscription'`;
    return row;
  });
  const items = [
    { customer_id: customerId },
    { subscription_id: subscription.svc_id },
    { invoice_id: invoice.id },
    { wallet_id: wallet.svc_id },
    { invoice_id: randomUUID() },
    { timezone: 'UTC' },
    {},
  ];
  const own = customerId;
  expect(await fannedOut(items)).toEqual([own, own, own, own, undefined, undefined, undefined]);
  const many = Array.from({ length: 1500 }, (_, n) => items[n % 2]!);
  expect(new Set(await fannedOut(many))).toEqual(new Set([own]));
});

/** Jobs whose items name no record of one customer, and what they are about. */
const OF_NO_CUSTOMER: Readonly<Record<string, string>> = {
  'eu-tax-rates': 'a time zone of the organization',
  'validate-events': 'a span of time',
  'late-events': 'the organization',
  'budget-sweep': 'the organization',
  'expire-coupons': 'a coupon, whose row it locks alone',
  'expire-holds': 'holds of any wallets, which are closed in one statement',
  'expire-order-forms': 'an order form, whose row it locks alone',
  'retry-taxes': 'a question to a tax engine, which it only asks for again',
  'execute-orders': 'an order, which locks its customer when its turn comes',
};

test('the items of all other periodic jobs name such a record', async () => {
  const known = ['customer_id', 'subscription_id', 'invoice_id', 'wallet_id'];
  const { periodicJobs } = registryOf(service.config);
  const unnamed = periodicJobs
    .filter(({ item }) => !Object.keys((item as z.ZodObject).shape).some((name) => known.includes(name)))
    .map(({ name }) => name);
  expect(unnamed.toSorted()).toEqual(Object.keys(OF_NO_CUSTOMER).toSorted());
});

test('looks at usage that a new alert and events ask for name the customer', async () => {
  const queue = service.ingress.producer.queue('billing');
  const looks = async () =>
    (await queue.getJobs(['waiting', 'prioritized', 'delayed'])).filter(({ data }) => data.job === 'usage-activity');
  const metric = { name: 'M', code: 'm', aggregation_type: 'count_agg' };
  await ok(client.post('/billable_metrics', { billable_metric: metric }));
  await queue.pause();
  try {
    const thresholds = [{ code: 'first', value: '1' }];
    const alert = { alert_type: 'current_usage_amount', code: 'spend', name: 'Spend', thresholds };
    await ok(client.post('/subscriptions/sub/alerts', { alert }));
    const asked = await until(async () => ((await looks()).length > 0 ? looks() : undefined));
    expect(asked.map(({ data }) => data.customer_key)).toEqual(asked.map(() => customerId));
    await ok(client.post('/events', { event: { transaction_id: 't', external_subscription_id: 'sub', code: 'm' } }));
    const all = await until(async () => ((await looks()).length > asked.length ? looks() : undefined));
    expect(all.map(({ data }) => data.customer_key)).toEqual(all.map(() => customerId));
  } finally {
    await queue.resume();
  }
});
