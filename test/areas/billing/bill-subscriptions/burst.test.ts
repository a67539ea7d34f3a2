import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTick } from '../../../../src/jobs/run-periodic/run-tick.ts';
import { periodicJobs, sweepJobs } from '../../../../src/periodic-jobs.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { reactions } from '../../../../src/reactions.ts';
import type { Client } from '../../../support/client.ts';
import { inLongRun } from '../../../support/long-run.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

// The month's end of many subscriptions at once: invoices.md#guarantees-of-the-storage, periodic-jobs.md.
/** Many times what one organization may have running at once, and twenty times the few or more. */
const MANY = inLongRun(200, 100);
const FEW = 5;
const TICK = '2024-03-01T00:10:00Z';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** An organization in real time whose subscriptions are all due at the tick, with usage of three charges each. */
async function organization(count: number) {
  const client = await service.org();
  const id = client.organization.organization_id;
  const charges = [];
  for (const code of ['a', 'b', 'c']) {
    const metric = { name: code, code, aggregation_type: 'sum_agg', field_name: 'n' };
    const { body } = await client.post('/billable_metrics', { billable_metric: metric });
    charges.push({
      billable_metric_id: body.billable_metric.svc_id,
      charge_model: 'standard',
      properties: { amount: '0.5' },
    });
  }
  const plan = {
    name: 'P',
    code: 'p',
    interval: 'monthly',
    amount_cents: 1000,
    amount_currency: 'USD',
    pay_in_advance: false,
  };
  await client.post('/plans', { plan: { ...plan, charges } });
  for (let from = 0; from < count; from += 25)
    await Promise.all(Array.from({ length: Math.min(25, count - from) }, (_, n) => subscribe(client, `s${from + n}`)));
  await service.sql`
    update subscriptions set next_billing_at = '2024-03-01T00:00:00Z', created_at = '2024-02-01T00:00:00Z'
    where organization_id = ${id}`;
  return { client, id };
}

async function subscribe(client: Client, name: string) {
  const made = await client.post('/subscriptions', {
    subscription: {
      external_customer_id: name,
      external_id: name,
      plan_code: 'p',
      subscription_at: '2024-02-01T00:00:00Z',
    },
  });
  expect(made.status).toBe(200);
  const events = ['a', 'b', 'c'].map((code) => ({
    transaction_id: `${name}-${code}`,
    external_subscription_id: name,
    code,
    timestamp: Date.parse('2024-02-10T00:00:00Z') / 1000,
    properties: { n: 4 },
  }));
  expect((await client.post('/events/batch', { events })).status).toBe(200);
}

const countInvoices = async (id: string): Promise<number> => {
  const [row] = await service.sql`select count(*) from invoices where organization_id = ${id} and status = 'finalized'`;
  return row!.count;
};

test('a hundred subscriptions due at one instant are billed once each by concurrent sweeps, and no other organization waits for them', async () => {
  const many = await organization(MANY);
  const few = await organization(FEW);
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const deps = {
    sql: service.sql,
    redis: service.redis,
    producer,
    config: service.config,
    reactions,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  const tick = () =>
    runTick(deps, { periodicJobs, sweepJobs } as never, { job: 'bill', at: TICK }, { lastAttempt: true });
  await Promise.all([tick(), tick(), tick()]);
  const whenFewDone = await until(
    async () => ((await countInvoices(few.id)) === FEW ? countInvoices(many.id) : undefined),
    60_000,
  );
  // The few take turns with the many, and a command in the midst of it is not held up.
  expect(whenFewDone).toBeLessThan(MANY / 2);
  await few.client.post('/subscriptions', {
    subscription: {
      external_customer_id: 'new',
      external_id: 'new',
      plan_code: 'p',
      subscription_at: '2024-02-01T00:00:00Z',
    },
  });
  await until(async () => ((await countInvoices(many.id)) === MANY ? true : undefined), 120_000);
  await tick();
  await producer.close();

  const [billed] = await service.sql`
    select count(*) as fees, count(distinct fee.invoice_id) as invoices,
      count(distinct fee.subscription_id) as subscriptions,
      sum(fee.amount_cents) as total
    from fees fee where fee.organization_id = ${many.id} and fee.fee_type in ('charge', 'subscription')`;
  expect(billed).toMatchObject({ fees: MANY * 4, invoices: MANY, subscriptions: MANY });
  expect(Number(billed!.total)).toBe(MANY * 1600);
  const [lines] = await service.sql`
    select count(*) as lines, count(distinct subscription_id) as subscriptions from invoice_subscriptions
    where organization_id = ${many.id} and recurring`;
  expect(lines).toMatchObject({ lines: MANY, subscriptions: MANY });
  const [next] = await service.sql`
    select min(next_billing_at) as at from subscriptions where organization_id = ${many.id}`;
  expect(Temporal.Instant.compare(next!.at, Temporal.Instant.from(TICK))).toBe(1);
}, 300_000);
