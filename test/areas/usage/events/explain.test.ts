import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';

let service: TestService;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  service = await startService({ pools: ['events', 'writes', 'billing', 'aggregation'] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.org();
});

const NOW = Math.floor(Date.now() / 1000);

async function made(path: string, body: object) {
  const answer = await client.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function subscribed(charges: object[], metric: object = {}) {
  const { billable_metric } = await made('/billable_metrics', {
    billable_metric: {
      code: 'calls',
      name: 'Calls',
      aggregation_type: 'sum_agg',
      field_name: 'n',
      filters: [{ key: 'region', values: ['eu', 'us'] }],
      ...metric,
    },
  });
  await made('/plans', {
    plan: {
      code: 'pro',
      name: 'Pro',
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'USD',
      charges: charges.map((charge) => ({
        billable_metric_id: billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '1' },
        ...charge,
      })),
    },
  });
  await made('/customers', { customer: { external_id: 'c1' } });
  return made('/subscriptions', {
    subscription: {
      external_customer_id: 'c1',
      plan_code: 'pro',
      external_id: 'sub',
      subscription_at: new Date((NOW - 86_400) * 1000).toISOString(),
    },
  });
}

const event = (changes: object = {}) => ({
  transaction_id: 't1',
  external_subscription_id: 'sub',
  code: 'calls',
  timestamp: NOW - 60,
  properties: { n: 3, region: 'eu' },
  ...changes,
});
const explained = async (changes: object = {}) =>
  (await client.post('/events?explain=true', { event: event(changes) })).body.verdict;

describe('verdicts of events', () => {
  test('a verdict names charge, filter, group, value and period', async () => {
    const { subscription } = await subscribed([
      {
        code: 'api',
        properties: { amount: '1', pricing_group_keys: ['tier'] },
        filters: [
          {
            invoice_display_name: 'Europe',
            properties: { amount: '2', pricing_group_keys: ['cloud'] },
            values: { region: ['eu'] },
          },
        ],
      },
    ]);
    const { status, body } = await client.post(
      '/events',
      { event: event({ properties: { n: '3', region: 'eu', cloud: 'aws' } }) },
      { headers: { 'X-Svc-Explain': 'true' } },
    );
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['event', 'verdict']);
    const start = new Date((NOW - 60) * 1000);
    expect(body.verdict).toEqual({
      outcome: 'counted',
      reasons: [],
      warnings: [],
      billable_metric_code: 'calls',
      svc_subscription_id: subscription.svc_id,
      external_customer_id: 'c1',
      plan_code: 'pro',
      period: { from: expect.any(String), to: expect.any(String), invoiced: false },
      charges: [
        {
          svc_charge_id: expect.any(String),
          charge_code: 'api',
          charge_model: 'standard',
          pay_in_advance: false,
          svc_charge_filter_id: expect.any(String),
          filter_display_name: 'Europe',
          grouped_by: { cloud: 'aws' },
          value: '3.0',
        },
      ],
    });
    expect(body.verdict.period.from <= start.toISOString()).toBe(true);
    expect(body.verdict.period.to > start.toISOString()).toBe(true);
  });

  test.each(['/events', '/events/batch', '/events/bulk'])(
    '%s refuses to explain what an event adds to an amount',
    async (path) => {
      const body = { event: event(), events: [event()] };
      const line = { raw: JSON.stringify(event()), headers: { 'content-type': 'application/x-ndjson' } };
      const refused = await client.post(`${path}?explain=amount`, body, path === '/events/bulk' ? line : {});
      expect(refused).toMatchObject({ status: 422, body: { error_details: { explain: ['unsupported_value'] } } });
      expect((await client.get('/events')).body.events).toEqual([]);
    },
  );

  test('a verdict is given only on request', async () => {
    expect(Object.keys((await client.post('/events', { event: event() })).body)).toEqual(['event']);
    expect(Object.keys((await client.post('/events?explain=false', { event: event() })).body)).toEqual(['event']);
  });

  test('a verdict names the missing metric (EV1)', async () => {
    expect(await explained()).toMatchObject({
      outcome: 'not_counted',
      reasons: ['metric_not_found'],
      billable_metric_code: null,
      period: null,
      charges: [],
    });
  });

  test('a verdict warns of an undeclared value and of the default bucket (EV4)', async () => {
    await subscribed([{ filters: [{ properties: { amount: '2' }, values: { region: ['eu'] } }] }]);
    expect(await explained({ properties: { n: 1, region: 'mars' } })).toMatchObject({
      outcome: 'counted',
      warnings: ['filter_value_not_declared', 'default_bucket'],
    });
  });

  test('a text that is not a plain decimal does not count (EV5)', async () => {
    await subscribed([{}]);
    expect(await explained({ properties: { n: '1e3' } })).toMatchObject({
      outcome: 'not_counted',
      reasons: ['property_not_numeric'],
      charges: [],
    });
  });

  test.each<[string, object]>([
    ['subscription_missing', { external_subscription_id: '' }],
    ['subscription_not_found', { external_subscription_id: 'other' }],
    ['before_subscription', { timestamp: NOW - 90_000 }],
    ['property_missing', { properties: {} }],
  ])('the verdict of an event that is not counted gives the reason %s', async (reason, changes) => {
    await subscribed([{}]);
    expect(await explained(changes)).toMatchObject({ outcome: 'not_counted', reasons: [reason] });
  });

  test('a verdict warns of a future time, an absent group key and an expression', async () => {
    await subscribed([{ properties: { amount: '1', pricing_group_keys: ['cloud'] } }], {
      expression: 'event.properties.a + 1',
    });
    const verdict = await explained({ timestamp: NOW + 3600, properties: { a: 1 } });
    expect(verdict).toMatchObject({
      outcome: 'counted',
      warnings: ['in_future', 'expression_applied', 'group_key_missing'],
      charges: [{ grouped_by: { cloud: null }, value: '2.0' }],
    });
  });

  test('the verdict of a replayed event explains the stored one', async () => {
    await subscribed([{}]);
    await explained();
    const { body, headers } = await client.post('/events?explain=true', { event: event() });
    expect(headers['x-svc-replayed']).toBe('true');
    expect(body.verdict).toMatchObject({ outcome: 'replayed', reasons: [], charges: [{ value: '3.0' }] });
  });

  test('a batch has one verdict for each event in its order', async () => {
    await subscribed([{}]);
    const { body } = await client.post('/events/batch?explain=true', {
      events: [event(), event({ transaction_id: 't2', code: 'x' })],
    });
    expect(body.verdicts.map((verdict: { outcome: string }) => verdict.outcome)).toEqual(['counted', 'not_counted']);
  });

  test('verdicts are also given with an Idempotency-Key, which records who sent the event', async () => {
    await subscribed([{}]);
    const headers = { 'Idempotency-Key': 'k', 'User-Agent': 'meter/1' };
    const first = await client.post('/events?explain=true', { event: event() }, { headers });
    expect(first.body.verdict.outcome).toBe('counted');
    const again = await client.post('/events?explain=true', { event: event() }, { headers });
    expect(again.text).toBe(first.text);
    const [stored] = await service.sql`
      select user_agent, remote_address from events where organization_id = ${client.organization.organization_id}`;
    expect(stored).toEqual({ user_agent: 'meter/1', remote_address: expect.stringMatching(/127\.0\.0\.1$/) });
  });
});
