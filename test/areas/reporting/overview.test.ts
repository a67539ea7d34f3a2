import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// console-reads.md#overview.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-10T08:00:00Z');
  await story.customer();
});
afterAll(() => service.stop());

const overview = async (query = '') => (await ok(story.client.get(`/analytics/overview${query}`))).overview;

test('the month is shown by currency, as the reports show it', async () => {
  const before = await overview();
  expect(before).toEqual({
    currencies: [
      {
        currency: 'USD',
        revenue: { month_to_date_cents: 0, same_days_last_month_cents: 0, last_month_cents: 0 },
        mrr: { starting: 0, ending: 0 },
        collection: { succeeded_cents: 0, pending_cents: 0, failed_cents: 0, rate: null },
        overdue: { total_cents: 0, invoices_count: 0, ageing: { '1-30': 0, '31-60': 0, '61-90': 0, '91+': 0 } },
        usage_to_date_cents: 0,
      },
    ],
    customers: { count: 1, more: false },
    active_subscriptions: { count: 0, more: false },
    events_today: { count: 0, more: false },
  });
  await story.metric('calls');
  await story.plan({ amount_cents: 0 });
  await story.subscribe();
  await story.use('calls');
  await story.oneOff(3000);
  await ok(story.pay((await story.oneOff(18_000)).svc_id, 18_000));
  await story.advanceTo('2024-06-09T12:00:00Z');
  await story.oneOff(500);
  const after = await overview();
  expect(after).toMatchObject({ active_subscriptions: { count: 1, more: false }, events_today: { count: 1 } });
  expect(after.currencies[0]).toMatchObject({
    currency: 'USD',
    revenue: { month_to_date_cents: 500, same_days_last_month_cents: 0, last_month_cents: 21_000 },
    collection: { succeeded_cents: 0, pending_cents: 500, failed_cents: 0, rate: '0.0000' },
    overdue: { total_cents: 3000, invoices_count: 1, ageing: { '1-30': 3000, '31-60': 0, '61-90': 0, '91+': 0 } },
  });
  await story.advanceTo('2024-06-10T12:00:00Z');
  expect((await overview()).currencies[0].revenue.same_days_last_month_cents).toBe(21_000);
  const { body } = await story.client.get(
    '/analytics/revenue_streams?time_granularity=monthly&from_date=2024-05-01&to_date=2024-05-31',
  );
  expect(body.revenue_streams[0].net_revenue_amount_cents).toBe(21_000);
});

test('overdue invoices are classed by whole days since their due date (CO14)', async () => {
  const client = await openStory(service, '2024-05-10T08:00:00Z');
  await client.customer();
  const invoices: string[] = [];
  for (const amount of [1000, 2000, 3000, 4000, 5000, 1, 7000]) invoices.push((await client.oneOff(amount)).svc_id);
  const days = [1, 30, 31, 60, 61, 90, 91];
  for (const [at, id] of invoices.entries())
    await service.sql`
      update invoices set payment_overdue = true, payment_due_date = '2024-05-10'::date - ${days[at]!}::int
      where id = ${id}`;
  const { body } = await client.client.get('/analytics/overview');
  expect(body.overview.currencies[0].overdue).toEqual({
    total_cents: 22_001,
    invoices_count: 7,
    ageing: { '1-30': 3000, '31-60': 7000, '61-90': 5001, '91+': 7000 },
  });
});

test('an entity is asked for by its code, and an unknown one is 404', async () => {
  expect((await overview('?billing_entity_code=acme')).currencies).toHaveLength(1);
  const { status, body } = await story.client.get('/analytics/overview?billing_entity_code=none');
  expect({ status, resource: body.resource }).toEqual({ status: 404, resource: 'billing_entity' });
});

test('the overview takes eight statements at most, with ten invoices and with a thousand', async () => {
  const asked = () =>
    countStatements(service, story.organizationId, 'findOverview', {
      now: '2024-06-10T12:00:00Z',
      query: { billing_entity_code: 'acme' },
    });
  const few = await asked();
  expect(few.statements).toHaveLength(8);
  await service.sql`
    insert into invoices select (jsonb_populate_record(invoice, jsonb_build_object(
      'id', gen_random_uuid(), 'number', 'COPY-' || n, 'sequential_id', 1000 + n, 'payment_overdue', true))).*
    from invoices invoice, generate_series(1, 1000) n
    where invoice.id = (select id from invoices where organization_id = ${story.organizationId} limit 1)`;
  const many = await asked();
  expect(many.statements).toHaveLength(8);
  expect(many.body.overview.currencies[0].overdue.invoices_count).toBeGreaterThan(999);
});
