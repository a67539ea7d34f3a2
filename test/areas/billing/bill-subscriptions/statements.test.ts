import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { billCustomer } from '../../../../src/areas/billing/bill-subscriptions/bill.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { systemTransaction } from '../../../../src/platform/records/system-transaction.ts';
import { reactions } from '../../../../src/reactions.ts';
import { countingPool } from '../../../support/count-statements.ts';
import { startService, type TestService } from '../../../support/service.ts';

// What the month's end costs of each invoice: storing-events.md#statement (6).
const MOST_STATEMENTS = 24;
const MOST_ROUND_TRIPS = 10;
const TICK = Temporal.Instant.from('2024-03-01T00:10:00Z');

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CHARGES = 12;

/** Subscriptions of a plan with 12 charges, each of its own customer, due at the tick. */
async function organization(names: readonly string[]) {
  const client = await service.org();
  const metric = { name: 'a', code: 'a', aggregation_type: 'sum_agg', field_name: 'n' };
  const { body } = await client.post('/billable_metrics', { billable_metric: metric });
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1000, amount_currency: 'USD' };
  const charge = { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard' };
  const charges = Array.from({ length: CHARGES }, (_, n) => ({
    ...charge,
    code: `charge-${n}`,
    properties: { amount: String(n + 1) },
  }));
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await client.post('/plans', { plan: { ...plan, pay_in_advance: false, charges } });
  const started = '2024-02-01T00:00:00Z';
  for (const name of names) {
    const subscription = { external_customer_id: name, external_id: name, plan_code: 'p', subscription_at: started };
    expect((await client.post('/subscriptions', { subscription })).status).toBe(200);
    const event = { transaction_id: name, external_subscription_id: name, code: 'a', properties: { n: 4 } };
    const sent = await client.post('/events', {
      event: { ...event, timestamp: Date.parse('2024-02-10T00:00:00Z') / 1000 },
    });
    expect(sent.status).toBe(200);
  }
  const id = client.organization.organization_id;
  await service.sql`
    update subscriptions set next_billing_at = '2024-03-01T00:00:00Z', created_at = ${started}
    where organization_id = ${id}`;
  return { client, id };
}

test('a periodic run makes an invoice of 13 fees in few statements and fewer round trips', async () => {
  const { client, id } = await organization(['first', 'second']);
  const { sql, statements, roundTrips, restart } = countingPool(service, 1);
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const deps = {
    sql,
    producer,
    config: service.config,
    reactions,
    log: createLog({ level: 'silent', process: 'test' }),
  };
  const customers = await service.sql<{ id: string }[]>`
    select id from customers where organization_id = ${id} order by external_id`;
  for (const customer of customers) {
    restart();
    await systemTransaction(
      deps,
      { id, sandbox: false },
      async () => TICK,
      (ctx) => billCustomer(ctx, customer.id, TICK),
    );
  }
  await sql.end();
  await producer.close();

  const { invoices } = (await client.get('/invoices')).body;
  expect(invoices).toHaveLength(2);
  expect(invoices[0]).toMatchObject({ total_amount_cents: 38_640, status: 'finalized' });
  expect([statements.shift(), statements.pop()]).toEqual(['begin ', 'commit']);
  expect(statements.length).toBeLessThanOrEqual(MOST_STATEMENTS);
  expect(roundTrips() - 2).toBeLessThanOrEqual(MOST_ROUND_TRIPS);
}, 60_000);
