import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// One more fee, log or delivery than are counted one by one.
const MANY = 10_001;

let service: TestService;
let org: Awaited<ReturnType<TestService['org']>>;
let endpoint: string;

beforeAll(async () => {
  service = await startService();
  org = await service.org();
  const webhook_endpoint = { webhook_url: 'https://hooks.example.com/a', signature_algo: 'hmac' };
  endpoint = (await org.post('/webhook_endpoints', { webhook_endpoint })).body.webhook_endpoint.svc_id;
  await org.post('/add_ons', { add_on: { name: 'A', code: 'a', amount_cents: 1, amount_currency: 'EUR' } });
  await org.post('/customers', { customer: { external_id: 'ada', currency: 'EUR' } });
  await org.post('/invoices', {
    invoice: { external_customer_id: 'ada', currency: 'EUR', fees: [{ add_on_code: 'a', units: 1 }] },
  });
});
afterAll(() => service.stop());

/** Makes many rows of a table out of one that is there. */
async function multiply(table: string): Promise<void> {
  const { organization_id } = org.organization;
  const { sql } = service;
  const one = () => sql<{ id: string }[]>`
    select id from ${sql(table)} where organization_id = ${organization_id} limit 1`;
  const { id } = await until(async () => (await one())[0]);
  await sql`
    insert into ${sql(table)}
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'invoice_id', null))).*
    from ${sql(table)} one cross join generate_series(1, ${MANY})
    where one.id = ${id}`;
}

test('records are counted one by one up to 100 000, and estimated beyond', async () => {
  const make = (count: number) => service.sql`
    insert into mails (id, organization_id, is_automatic, recipients, cc, bcc, subject, body, status, created_at)
    select gen_random_uuid(), ${org.organization.organization_id}, false, '{}', '{}', '{}', 'S', 'B', 'sent', now()
    from generate_series(1, ${count}::int)`;
  const counted = async () => (await org.get('/mails?per_page=1')).body.meta;
  await make(100_000);
  expect(await counted()).toMatchObject({ total_count: 100_000 });
  expect(await counted()).not.toHaveProperty('total_count_estimated');
  await make(1);
  const { total_count, total_count_estimated } = await counted();
  expect(total_count_estimated).toBe(true);
  expect(total_count).toBeGreaterThan(100_000);
});

test.each([
  ['fees', 'fees', () => '/fees'],
  ['api_logs', 'api_logs', () => '/api_logs'],
  ['activity_logs', 'activity_logs', () => '/activity_logs'],
  ['webhook_deliveries', 'webhooks', () => `/webhook_endpoints/${endpoint}/webhooks`],
])('pages of many %s stop after 50 000 rows', async (table, root, path) => {
  await multiply(table);
  const page = (number: number) => org.get(`${path()}?per_page=1000&page=${number}`);
  const first = await page(1);
  expect(first.body[root]).toHaveLength(1000);
  expect(first.body.meta).toMatchObject({ current_page: 1, next_page: 2, total_count_estimated: true });
  expect(await page(51)).toMatchObject({ status: 200, body: { [root]: [] } });
  expect(await page(52)).toMatchObject({
    status: 422,
    body: { code: 'validation_errors', error_details: { page: ['value_is_out_of_range'] } },
  });
});
