import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyticsOperations } from '../../../src/areas/reporting/analytics/routes.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Reports over HTTP: analytics.md.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-01-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  const { body } = await client.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'sum_agg', field_name: 'n' },
  });
  await story.customer({ country: 'FR', customer_type: 'company' });
  await story.customer({ external_id: 'other' });
  await story.plan({
    amount_cents: 10_000,
    charges: [
      { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard', properties: { amount: '2' } },
    ],
  });
  await story.subscribe();
  await story.subscribe({ external_customer_id: 'other', external_id: 'other' });
  await story.advanceTo('2024-01-05T13:00:00Z');
  await client.post('/events', {
    event: {
      transaction_id: 't1',
      external_subscription_id: 'sub',
      code: 'calls',
      timestamp: Date.parse('2024-01-05T12:00:00Z') / 1000,
      properties: { n: 7 },
    },
  });
  await story.advanceTo('2024-03-02T00:00:00Z');
  await story.invoices(2);
});
afterAll(() => service.stop());

const get = (path: string) => story.client.get(`/analytics${path}`);
const month = (text: string): string => `${text}-01T00:00:00.000Z`;

test('every report shows what was billed', async () => {
  const { client, organizationId } = story;
  const { body: entities } = await client.get('/billing_entities');
  const entity = entities.billing_entities[0].svc_id;
  const gross = (of: string, amount_cents: number, invoices_count: number) => ({
    month: month(of),
    amount_cents,
    currency: 'USD',
    invoices_count,
    billing_entity_id: entity,
  });
  expect((await get('/gross_revenue')).body).toEqual({
    gross_revenues: [gross('2024-02', 21_400, 2), gross('2024-03', 20_000, 2)],
  });
  expect((await get('/gross_revenue?external_customer_id=acme&months=2')).body).toEqual({
    gross_revenues: [gross('2024-02', 11_400, 1), gross('2024-03', 10_000, 1)],
  });
  expect((await get('/invoice_collection')).body).toEqual({
    invoice_collections: [
      { month: month('2024-01'), invoices_count: 0, amount_cents: 0 },
      { month: month('2024-02'), payment_status: 'pending', invoices_count: 2, amount_cents: 25_680, currency: 'USD' },
      { month: month('2024-03'), payment_status: 'pending', invoices_count: 2, amount_cents: 24_000, currency: 'USD' },
    ],
  });
  expect((await get('/invoice_collection?currency=EUR')).body).toEqual({ invoice_collections: [] });
  expect((await get('/invoiced_usage')).body).toEqual({
    invoiced_usages: [{ month: month('2024-02'), code: 'calls', currency: 'USD', amount_cents: 1400 }],
  });
  expect((await get('/mrr?months=0')).body).toEqual({
    mrrs: [{ month: month('2024-03'), amount_cents: 20_000, currency: 'USD' }],
  });
  expect((await get('/overdue_balance')).body.overdue_balances).toMatchObject([
    { month: month('2024-02'), amount_cents: 25_680, svc_invoice_ids: [expect.any(String), expect.any(String)] },
  ]);
  expect((await get('/overdue_balance?months=x')).body).toEqual({ overdue_balances: [] });
  const usage = '/usage?from_date=2024-01-01&time_granularity=weekly';
  expect((await get(usage)).body).toEqual({
    usages: [
      {
        organization_id: organizationId,
        start_of_period_dt: '2024-01-01',
        end_of_period_dt: '2024-01-07',
        amount_currency: 'USD',
        amount_cents: 1400,
        billable_metric_code: 'calls',
        units: '7.0',
        is_billable_metric_deleted: false,
      },
    ],
  });
  expect((await get('/mrr_movements?from_date=2024-02-01&time_granularity=monthly')).body.mrr_movements).toMatchObject([
    { start_of_period_dt: '2024-02-01', starting_mrr: 0, mrr_new: 20_000, mrr_change: 20_000, ending_mrr: 20_000 },
    { start_of_period_dt: '2024-03-01', starting_mrr: 20_000, mrr_new: 0, mrr_change: 0, ending_mrr: 20_000 },
  ]);
  expect((await get('/revenue_streams?from_date=2024-02-01&to_date=2024-02-29')).body.revenue_streams).toMatchObject([
    {
      start_of_period_dt: '2024-02-01',
      usage_based_fee_amount_cents: 1400,
      subscription_fee_amount_cents: 20_000,
      gross_revenue_amount_cents: 21_400,
      net_revenue_amount_cents: 21_400,
    },
  ]);
});

test('filters narrow a report', async () => {
  const usages = async (query: string) => (await get(`/usage?from_date=2024-01-01&${query}`)).body.usages.length;
  const matching = [
    'currency=usd',
    'customer_type=company',
    'external_customer_id=acme',
    'customer_country=fr',
    'external_subscription_id=sub',
    'is_billable_metric_recurring=false',
    'plan_code=plan',
    'billable_metric_code=calls',
    'to_date=2024-01-05',
  ];
  const others = [
    'currency=EUR',
    'customer_type=individual',
    'external_customer_id=other',
    'external_customer_id=nobody',
    'customer_country=DE',
    'external_subscription_id=other',
    'is_billable_metric_recurring=true',
    'plan_code=other',
    'billable_metric_code=other',
    'to_date=2024-01-04',
    'to_date=1066-10-14',
  ];
  for (const query of matching) expect(await usages(query), query).toBe(1);
  for (const query of others) expect(await usages(query), query).toBe(0);
  expect((await get('/usage')).body.usages).toEqual([]); // January is more than 30 days ago
  expect((await get('/gross_revenue?external_customer_id=nobody')).body).toEqual({ gross_revenues: [] });
  expect((await get('/gross_revenue?billing_entity_code=nowhere')).body).toMatchObject({ resource: 'billing_entity' });
});

describe('refused reports', () => {
  test.each([
    ['/mrr?currency=XXX', { currency: ['value_is_invalid'] }],
    ['/usage?from_date=yesterday', { from_date: ['invalid_date'] }],
    ['/usage?to_date=2024-02-30', { to_date: ['invalid_date'] }],
    ['/usage?time_granularity=hourly', { time_granularity: ['value_is_invalid'] }],
    ['/usage?customer_type=robot', { customer_type: ['value_is_invalid'] }],
    ['/usage?customer_country=Narnia', { customer_country: ['value_is_invalid'] }],
    ['/prepaid_credits?plan_code=plan', { plan_code: ['unsupported_value'] }],
    ['/mrr_movements?billable_metric_code=calls', { billable_metric_code: ['unsupported_value'] }],
  ])('a report is refused: %s', async (path, error_details) => {
    const { status, body } = await get(path);
    expect(status).toBe(422);
    expect({ ...body, error_places: undefined }).toEqual({
      status: 422,
      error: 'Unprocessable Entity',
      code: 'validation_errors',
      error_details,
    });
  });

  test.each([
    '/mrr?months=999999999999999',
    '/mrr?months=-4',
    '/mrr?months[]=2&months[]=3',
    '/gross_revenue?external_customer_id=%00',
    '/gross_revenue?external_customer_id=%F0%9F%A6%8A',
    '/gross_revenue?currency[a]=EUR',
    '/usage?from_date=0001-01-01&to_date=9999-12-31',
    '/usage?from_date=2024-03-01&to_date=2024-01-01',
    '/usage?external_subscription_id=%00&plan_code=%00',
    '/mrr_movements?from_date=0001-01-01&to_date=9999-12-31',
    "/revenue_streams?plan_code='%20or%20true",
  ])('%s is a harmless query of a report', async (path) => {
    const { status } = await get(path);
    expect([200, 422]).toContain(status);
  });
});

test('a key without the permission reads no report, and another organization reads none of ours', async () => {
  const stranger = await service.org({ sandbox: true });
  const forbidden = await service.org();
  await service.sql`
    update api_keys set permissions = permissions - 'analytic'
    where organization_id = ${forbidden.organization.organization_id}`;
  for (const { path } of analyticsOperations) {
    const refused = await forbidden.get(path);
    expect([refused.status, refused.body.code], path).toEqual([403, 'read_action_not_allowed_for_analytic']);
    expect((await service.client('nobody').get(path)).status, path).toBe(401);
    const { status, text } = await stranger.get(`${path}?external_customer_id=acme&external_subscription_id=sub`);
    expect([200, 422], text).toContain(status);
    expect(text, path).not.toContain('calls');
  }
  expect((await stranger.get('/analytics/gross_revenue?external_customer_id=acme')).body.gross_revenues).toEqual([]);
  expect((await stranger.get('/analytics/overdue_balance')).body.overdue_balances).toEqual([]);
  expect(
    (await stranger.get('/analytics/usage?from_date=2020-01-01&external_subscription_id=sub')).body.usages,
  ).toEqual([]);
});

test.each(analyticsOperations.map(({ name }) => name))('%s takes at most two round trips', async (name) => {
  const { roundTrips } = await countStatements(service, story.organizationId, name, {
    now: '2024-03-02T00:00:00Z',
    query: { external_customer_id: 'acme', currency: 'USD', from_date: '2024-01-01' },
  });
  expect(roundTrips).toBeLessThanOrEqual(2);
});

test('the analytics pool counts what was billed without being asked', async () => {
  await until(async () => (await service.sql`select from analytics_marks`).length === 0);
  const before = (await get('/gross_revenue')).body;
  expect(before.gross_revenues).toHaveLength(2);
  const [sums] = await service.sql`
    select count(*) from analytics_totals where report = 'gross_revenue' and entries_count > 0`;
  expect(sums!.count).toBeGreaterThan(0);
});
