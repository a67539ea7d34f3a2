import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await startService();
  client = await service.org();
  await client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR' } });
  await client.post('/billable_metrics', {
    billable_metric: { name: 'Api', code: 'api', aggregation_type: 'count_agg' },
  });
  const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 0, amount_currency: 'EUR' };
  await client.post('/plans', { plan: { ...plan, pay_in_advance: false } });
  for (const external_id of ['one', 'two', 'refusals', 'batch', 'race', 'changing'])
    await client.post('/subscriptions', {
      subscription: { external_customer_id: 'acme', external_id, plan_code: 'p' },
    });
});
afterAll(() => service.stop());

const alertOf = (fields: object = {}) => ({
  alert_type: 'current_usage_amount',
  code: 'total',
  thresholds: [{ code: 'warn', value: '1500' }],
  ...fields,
});
const create = (subscription: string, fields: object) =>
  client.post(`/subscriptions/${subscription}/alerts`, { alert: alertOf(fields) });

test('an alert is created, shown, listed, changed and deleted', async () => {
  const made = await create('one', { name: 'Total', thresholds: [{ code: 'warn', value: 1500 }, { value: '20.50' }] });
  expect(made.status).toBe(200);
  expect(made.body.alert).toEqual({
    svc_id: expect.any(String),
    svc_organization_id: expect.any(String),
    subscription_external_id: 'one',
    external_subscription_id: 'one',
    svc_wallet_id: null,
    wallet_code: null,
    alert_type: 'current_usage_amount',
    code: 'total',
    name: 'Total',
    direction: 'increasing',
    previous_value: 0,
    last_processed_at: null,
    thresholds: [
      { code: 'warn', value: '1500.0', recurring: false },
      { code: null, value: '20.5', recurring: false },
    ],
    created_at: expect.any(String),
    billable_metric: null,
  });
  const metered = await create('one', {
    alert_type: 'billable_metric_current_usage_units',
    code: 'units',
    billable_metric_code: 'api',
  });
  expect(metered.body.alert.billable_metric.code).toBe('api');

  const list = await client.get('/subscriptions/one/alerts?per_page=1');
  expect(list.body.alerts.map(({ code }: { code: string }) => code)).toEqual(['units']);
  expect(list.body.meta).toMatchObject({ total_count: 2, total_pages: 2 });

  const changed = await client.put('/subscriptions/one/alerts/total', {
    alert: { code: 'sum', name: null, thresholds: [{ value: 7, recurring: true }] },
  });
  expect(changed.body.alert).toMatchObject({
    svc_id: made.body.alert.svc_id,
    code: 'sum',
    name: null,
    thresholds: [{ code: null, value: '7.0', recurring: true }],
  });
  expect((await client.get('/subscriptions/one/alerts/total')).body.resource).toBe('alert');
  expect((await client.delete('/subscriptions/one/alerts/sum')).body.alert.code).toBe('sum');
  expect((await client.get('/subscriptions/one/alerts/sum')).status).toBe(404);
  expect((await create('one', { code: 'sum' })).status).toBe(200);

  const emptied = await client.delete('/subscriptions/one/alerts');
  expect([emptied.status, emptied.text]).toEqual([200, '']);
  expect((await client.get('/subscriptions/one/alerts')).body.meta.total_count).toBe(0);
});

describe('refused alerts', () => {
  const many = Array.from({ length: 21 }, (_, value) => ({ value }));
  beforeAll(async () => {
    await create('refusals', { code: 'taken' });
    const metric = { billable_metric_code: 'api' };
    await create('refusals', { code: 'units', alert_type: 'billable_metric_current_usage_units', ...metric });
  });
  test.each([
    ['no type', { alert_type: '' }, { alert_type: ['value_is_mandatory', 'value_is_invalid'] }],
    ['an unknown type', { alert_type: 'x' }, { alert_type: ['invalid_type'] }],
    ['a wallet type', { alert_type: 'wallet_balance_amount' }, { alert_type: ['invalid_type'] }],
    ['no thresholds', { thresholds: [] }, { thresholds: ['value_is_mandatory'] }],
    ['too many thresholds', { thresholds: many }, { thresholds: ['too_many_thresholds'] }],
    [
      'a threshold twice',
      { thresholds: [{ value: 1 }, { value: '1.0' }] },
      { thresholds: ['duplicate_threshold_values'] },
    ],
    ['no value', { thresholds: [{ code: 'x' }] }, { 'thresholds:value': ['value_is_mandatory'] }],
    ['a word as value', { thresholds: [{ value: 'x' }] }, { 'thresholds:value': ['value_is_invalid'] }],
    [
      'a step of nothing',
      { thresholds: [{ value: 0, recurring: true }] },
      { 'thresholds:value': ['recurring_value_is_negative'] },
    ],
    [
      'two steps',
      {
        thresholds: [
          { value: 1, recurring: true },
          { value: 2, recurring: true },
        ],
      },
      { thresholds: ['too_many_recurring_thresholds'] },
    ],
    ['no metric', { alert_type: 'billable_metric_current_usage_amount' }, { billable_metric: ['value_is_mandatory'] }],
    ['a metric too many', { billable_metric_code: 'api' }, { billable_metric: ['value_must_be_blank'] }],
    ['no code', { code: null, alert_type: 'lifetime_usage_amount' }, { code: ['value_is_mandatory'] }],
    ['a code in use', { code: 'taken', alert_type: 'lifetime_usage_amount' }, { code: ['value_already_exist'] }],
    ['a type in use', {}, { base: ['alert_already_exists'] }],
    [
      'a type and metric in use',
      { alert_type: 'billable_metric_current_usage_units', billable_metric_code: 'api' },
      { base: ['alert_already_exists'] },
    ],
  ])('an alert is refused: %s', async (_name, fields, details) => {
    const { status, body } = await create('refusals', fields);
    expect([status, body.error_details]).toEqual([422, details]);
  });

  test('an unknown subscription, metric or alert is refused with 404, a request without any alert with 400', async () => {
    expect((await create('nobody', {})).body).toMatchObject({ status: 404, resource: 'subscription' });
    const unknown = await create('refusals', {
      alert_type: 'billable_metric_lifetime_usage_units',
      billable_metric_code: 'x',
    });
    expect(unknown.body).toMatchObject({ status: 404, resource: 'billable_metric' });
    expect((await client.get('/subscriptions/refusals/alerts/x')).body.resource).toBe('alert');
    expect((await client.post('/subscriptions/refusals/alerts', {})).status).toBe(400);
  });

  test('the type of an alert cannot change', async () => {
    await create('changing', {});
    const put = (alert: object) => client.put('/subscriptions/changing/alerts/total', { alert });
    expect((await put({ alert_type: 'current_usage_amount', name: 'N' })).body.alert.name).toBe('N');
    expect((await put({ alert_type: 'lifetime_usage_amount' })).body.error_details).toEqual({
      alert_type: ['value_is_frozen'],
    });
    expect((await put({ billable_metric_code: 'api' })).body.error_details).toEqual({
      billable_metric: ['value_must_be_blank'],
    });
    expect((await put({ thresholds: [] })).body.alert.thresholds).toHaveLength(1);
  });
});

test('several alerts are created together or not at all', async () => {
  const post = (alerts: unknown[]) => client.post('/subscriptions/batch/alerts', { alerts });
  expect((await post([])).body.error_details).toEqual({ alerts: ['no_alerts'] });
  const bad = alertOf({ code: 'b', alert_type: 'x' });
  const refused = await post([alertOf({ code: 'a' }), bad]);
  expect([refused.status, refused.body.error_details]).toEqual([
    422,
    { 1: { params: bad, errors: { alert_type: ['invalid_type'] } } },
  ]);
  const twice = await post([alertOf({ code: 'a' }), alertOf({ code: 'a' })]);
  expect(twice.body.error_details[1].errors).toEqual({
    code: ['value_already_exist'],
    base: ['alert_already_exists'],
  });
  expect((await client.get('/subscriptions/batch/alerts')).body.meta.total_count).toBe(0);
  const made = await post([alertOf({ code: 'a' }), alertOf({ code: 'b', alert_type: 'lifetime_usage_amount' })]);
  expect(made.body.alerts.map(({ code }: { code: string }) => code)).toEqual(['a', 'b']);
});

test('of ten identical creations of an alert at the same time one succeeds', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => create('race', {})));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
  expect((await client.get('/subscriptions/race/alerts')).body.meta.total_count).toBe(1);
});
