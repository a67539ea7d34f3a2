import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// Current usage: usage-reads.md#current-usage.
let service: TestService;
let story: Story;
const NOW = '2024-03-10T12:00:00Z';

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-02-10T08:30:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer({ timezone: 'Europe/Paris' });
  const calls = await metric({ name: 'calls', code: 'calls', aggregation_type: 'count_agg' });
  const storage = await metric({
    name: 'Bytes',
    code: 'storage',
    aggregation_type: 'sum_agg',
    field_name: 'gb',
    filters: [{ key: 'region', values: ['eu', 'us'] }],
  });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: calls,
        code: 'calls',
        charge_model: 'standard',
        properties: { amount: '0.01', pricing_group_keys: ['team'] },
      },
      {
        billable_metric_id: storage,
        code: 'storage',
        charge_model: 'standard',
        invoice_display_name: 'Storage',
        properties: { amount: '1' },
        filters: [{ values: { region: ['eu'] }, properties: { amount: '2' }, invoice_display_name: 'Europe' }],
      },
    ],
  });
  await story.subscribe();
  await send('calls', '2024-02-20T00:00:00Z', { team: 'old' });
  await story.advanceTo(NOW);
  for (const team of ['red', 'red', 'blue', '']) await send('calls', '2024-03-05T00:00:00Z', { team });
  await send('storage', '2024-03-06T00:00:00Z', { gb: '10', region: 'eu' });
  await send('storage', '2024-03-06T00:00:00Z', { gb: '1.5', region: 'mars' });
  await send('storage', '2024-03-30T00:00:00Z', { gb: 3, region: 'us' });
});
afterAll(() => service.stop());

const metric = async (fields: object): Promise<string> =>
  (await story.client.post('/billable_metrics', { billable_metric: fields })).body.billable_metric.svc_id;

let sent = 0;
const send = async (code: string, at: string, properties: object): Promise<void> => {
  sent += 1;
  await story.use(code, properties, { at, transaction_id: `t${sent}` });
};

const usage = async (query = '') =>
  (await story.client.get(`/customers/acme/current_usage?external_subscription_id=sub${query}`)).body;

test('current usage shows the period in progress and the charges by name of their metric, with tax', async () => {
  const { customer_usage } = await usage();
  expect(customer_usage).toMatchObject({
    from_datetime: '2024-02-29T23:00:00Z',
    to_datetime: '2024-03-31T21:59:59Z',
    issuing_date: '2024-03-31',
    currency: 'USD',
    svc_invoice_id: null,
    amount_cents: 2454,
    taxes_amount_cents: 491,
    total_amount_cents: 2945,
  });
  expect(customer_usage.charges_usage.map((each: { charge: { code: string } }) => each.charge.code)).toEqual([
    'storage',
    'calls',
  ]);
});

test('current usage is shown by filter, with the default bucket last', async () => {
  const [storage] = (await usage()).customer_usage.charges_usage;
  expect(storage).toMatchObject({
    units: '14.5',
    total_aggregated_units: '14.5',
    events_count: 3,
    amount_cents: 2450,
    pricing_unit_details: null,
    charge: { charge_model: 'standard', invoice_display_name: 'Storage' },
    billable_metric: { name: 'Bytes', code: 'storage', aggregation_type: 'sum_agg' },
    grouped_usage: [],
    presentation_breakdowns: [],
  });
  expect(storage.filters).toEqual([
    {
      units: '10.0',
      total_aggregated_units: '10.0',
      events_count: 1,
      amount_cents: 2000,
      pricing_unit_details: null,
      invoice_display_name: 'Europe',
      values: { region: ['eu'] },
      presentation_breakdowns: [],
    },
    {
      units: '4.5',
      total_aggregated_units: '4.5',
      events_count: 2,
      amount_cents: 450,
      pricing_unit_details: null,
      values: {},
      presentation_breakdowns: [],
    },
  ]);
});

test('current usage is shown by group in order of the values, with the group without value last', async () => {
  const [, calls] = (await usage()).customer_usage.charges_usage;
  expect(calls).toMatchObject({ units: '4.0', events_count: 4, amount_cents: 4, filters: [] });
  expect(
    calls.grouped_usage.map((each: { grouped_by: object; units: string }) => [each.grouped_by, each.units]),
  ).toEqual([
    [{ team: 'blue' }, '1.0'],
    [{ team: 'red' }, '2.0'],
    [{ team: null }, '1.0'],
  ]);
});

test('current usage may be read without taxes, for one charge, for one group and for the whole life', async () => {
  expect((await usage('&apply_taxes=false')).customer_usage).toMatchObject({
    taxes_amount_cents: 0,
    total_amount_cents: 2454,
  });
  expect((await usage('&charge_code=storage')).customer_usage).toMatchObject({ amount_cents: 2450 });
  expect((await usage('&filter_by_metric_code=calls')).customer_usage.charges_usage).toHaveLength(1);
  const red = (await usage('&charge_code=calls&group[team]=red')).customer_usage.charges_usage[0];
  expect(red).toMatchObject({ units: '2.0', grouped_usage: [] });
  const asText = encodeURIComponent(JSON.stringify({ team: 'blue' }));
  expect((await usage(`&charge_code=calls&filter_by_group=${asText}`)).customer_usage.charges_usage[0].units).toBe(
    '1.0',
  );
  const several = await usage('&charge_code=calls&group[team][]=blue&group[team][]=red&group[team][]=none');
  expect(several.customer_usage.charges_usage[0]).toMatchObject({ units: '3.0', grouped_usage: [] });
  const whole = (await usage('&charge_code=calls&full_usage=true')).customer_usage;
  expect(whole).toMatchObject({ from_datetime: '2024-02-10T08:30:00Z', amount_cents: 5 });
});

test.each([
  ['/customers/none/current_usage?external_subscription_id=sub', { status: 404, resource: 'customer' }],
  ['/customers/acme/current_usage?external_subscription_id=none', { status: 405, code: 'no_active_subscription' }],
  ['/customers/acme/current_usage?external_subscription_id=sub&charge_code=none', { status: 404, resource: 'charge' }],
  [
    '/customers/acme/current_usage?external_subscription_id=sub&full_usage=true',
    { status: 405, code: 'full_usage_not_allowed' },
  ],
])('a usage read is refused: %s', async (path, body) => {
  expect((await story.client.get(path)).body).toMatchObject(body);
});

test('projected usage extrapolates each part by the ratio of days', async () => {
  // The 10th of 31 days.
  const { body } = await story.client.get('/customers/acme/projected_usage?external_subscription_id=sub');
  const projected = body.customer_projected_usage;
  expect(projected).toMatchObject({
    amount_cents: 2454,
    taxes_amount_cents: 491,
    from_datetime: '2024-02-29T23:00:00Z',
  });
  const [storage, calls] = projected.charges_usage;
  expect(storage).toMatchObject({ units: '14.5', projected_units: '44.95', projected_amount_cents: 6200 + 1395 });
  expect(storage.filters).toMatchObject([
    { projected_units: '31.0', projected_amount_cents: 6200, projected_presentation_breakdowns: [] },
    { projected_units: '13.95', projected_amount_cents: 1395 },
  ]);
  expect(calls.grouped_usage.map((each: { projected_units: string }) => each.projected_units)).toEqual([
    '3.1',
    '6.2',
    '3.1',
  ]);
  expect(projected.projected_amount_cents).toBe(6200 + 1395 + 3 + 6 + 3);
  expect((await story.client.get('/customers/acme/projected_usage?external_subscription_id=none')).body).toMatchObject({
    status: 405,
    code: 'no_active_subscription',
  });
});

test.each(['current_usage', 'projected_usage?external_subscription_id=', 'past_usage'])(
  '%s without a subscription names what is missing, also of an unknown customer',
  async (path) => {
    for (const customer of ['acme', 'none']) {
      const { status, body } = await story.client.get(`/customers/${customer}/${path}`);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        error_details: { external_subscription_id: ['value_is_mandatory'] },
        error_places: [{ path: 'query.external_subscription_id', code: 'value_is_mandatory' }],
      });
    }
  },
);

test('past usage shows billed periods, newest first', async () => {
  const path = '/customers/acme/past_usage?external_subscription_id=sub';
  const { body } = await story.client.get(path);
  expect(body.meta).toMatchObject({ total_count: 1 });
  expect(body.usage_periods).toMatchObject([
    {
      from_datetime: '2024-02-10T08:30:00Z',
      to_datetime: '2024-02-29T22:59:59Z',
      issuing_date: '2024-03-01',
      currency: 'USD',
      amount_cents: 1,
      charges_usage: [
        {
          units: '1.0',
          events_count: 1,
          amount_cents: 1,
          charge: { code: 'calls' },
          grouped_usage: [{ grouped_by: { team: 'old' }, units: '1.0' }],
        },
      ],
    },
  ]);
  expect((await story.client.get(`${path}&billable_metric_code=storage`)).body.usage_periods[0].charges_usage).toEqual(
    [],
  );
  expect((await story.client.get(`${path}&billable_metric_code=none`)).body).toMatchObject({
    status: 404,
    resource: 'billable_metric',
  });
  for (const count of ['1', '0', 'all'])
    expect((await story.client.get(`${path}&periods_count=${count}`)).body.usage_periods).toHaveLength(1);
  expect((await story.client.get(`${path}&page=2`)).body).toEqual({
    usage_periods: [],
    meta: { current_page: 2, next_page: null, prev_page: 1, total_pages: 1, total_count: 1 },
  });
  expect((await story.client.get('/customers/acme/past_usage')).body).toMatchObject({
    error_details: { external_subscription_id: ['value_is_mandatory'] },
  });
  expect((await story.client.get('/customers/none/past_usage?external_subscription_id=sub')).body).toMatchObject({
    usage_periods: [],
    meta: { total_count: 0 },
  });
});

test.each([
  ['findCustomerCurrentUsage', 6],
  ['findCustomerProjectedUsage', 6],
  ['findAllCustomerPastUsage', 3],
])('%s takes at most %i round trips', async (operation, most) => {
  const { statements } = await countStatements(service, story.organizationId, operation, {
    now: NOW,
    external_customer_id: 'acme',
    query: { external_subscription_id: 'sub' },
  });
  expect(statements.length).toBeLessThanOrEqual(most);
});
