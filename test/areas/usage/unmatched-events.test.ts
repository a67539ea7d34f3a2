import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

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

const send = (changes: object = {}) =>
  made('/events', {
    event: {
      transaction_id: 't1',
      external_subscription_id: 'sub',
      code: 'calls',
      timestamp: NOW - 60,
      properties: { n: 2 },
      ...changes,
    },
  });
const metric = (changes: object = {}) =>
  made('/billable_metrics', {
    billable_metric: { code: 'calls', name: 'Calls', aggregation_type: 'count_agg', ...changes },
  });
const plan = (billableMetricIds: string[]) =>
  made('/plans', {
    plan: {
      code: 'pro',
      name: 'Pro',
      interval: 'monthly',
      pay_in_advance: false,
      amount_cents: 0,
      amount_currency: 'USD',
      charges: billableMetricIds.map((id) => charge(id)),
    },
  });
const charge = (id: string) => ({ billable_metric_id: id, charge_model: 'standard', properties: { amount: '1' } });
async function subscribe(days = 1) {
  await made('/customers', { customer: { external_id: 'c1' } });
  return made('/subscriptions', {
    subscription: {
      external_customer_id: 'c1',
      plan_code: 'pro',
      external_id: 'sub',
      subscription_at: new Date((NOW - days * 86_400) * 1000).toISOString(),
    },
  });
}
const unmatched = async (query = '') => (await client.get(`/events/unmatched${query}`)).body.unmatched_events;
const reasons = async (query = '') => (await unmatched(query)).map((row: { reason: string }) => row.reason);
const untilReasons = (expected: string[], query = '') =>
  until(async () => JSON.stringify(await reasons(query)) === JSON.stringify(expected));

describe('the list of unmatched events', () => {
  test('unmatched events are listed with the event and the reason (EV1)', async () => {
    const { event } = await send();
    await untilReasons(['metric_not_found']);
    expect(await unmatched()).toEqual([
      {
        event,
        reason: 'metric_not_found',
        status: 'open',
        first_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
        healed_at: null,
      },
    ]);
  });

  test('unmatched events are found by reason, code, subscription, status and timestamp', async () => {
    await metric({ code: 'known' });
    await send();
    await send({ transaction_id: 't2', code: 'known' });
    await until(async () => (await unmatched()).length === 2);
    const found = async (query: string) =>
      (await unmatched(query)).map((row: { event: { transaction_id: string } }) => row.event.transaction_id);
    expect(await found('?reasons[]=metric_not_found')).toEqual(['t1']);
    expect(await found('?code=known')).toEqual(['t2']);
    expect(await found('?external_subscription_id=other')).toEqual([]);
    expect(await found('?statuses[]=healed')).toEqual([]);
    expect(await found('?per_page=1&page=2')).toEqual(['t1']);
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    expect(await found(`?from=${at(NOW - 60)}&to=${at(NOW - 60)}`)).toEqual(['t2', 't1']);
    expect(await found(`?from=${at(NOW - 59)}`)).toEqual([]);
    expect((await client.get('/events/unmatched?from=x')).body.error_details).toEqual({ from: ['invalid_date'] });
  });

  test('unmatched events are summed by reason and code, the largest sum first', async () => {
    for (const id of ['a', 'b', 'c']) await send({ transaction_id: id });
    await send({ transaction_id: 'd', code: 'other' });
    const summary = await until(async () => {
      const { body } = await client.get('/events/unmatched/summary');
      return body.unmatched_summary.length === 2 && body.unmatched_summary[0].count === 3 ? body : undefined;
    });
    expect(Object.keys(summary)).toEqual(['unmatched_summary']);
    expect(summary.unmatched_summary[0]).toEqual({
      reason: 'metric_not_found',
      code: 'calls',
      count: 3,
      first_seen_at: expect.any(String),
      last_seen_at: expect.any(String),
      sample_transaction_ids: ['c', 'b', 'a'],
    });
  });

  test('unmatched events are read in two statements', async () => {
    const { statements } = await countStatements(service, client.organization.organization_id, 'findUnmatchedEvents', {
      now: '2024-01-01T00:00:00Z',
    });
    expect(statements).toHaveLength(2);
  });
});

describe('healing of unmatched events', () => {
  test('creating the metric and the charge heals unmatched events, and usage includes them (EV2)', async () => {
    await plan([]);
    await subscribe();
    await send();
    await untilReasons(['metric_not_found']);
    const { billable_metric } = await metric();
    await untilReasons(['no_charge']);
    await made('/plans/pro/charges', { charge: charge(billable_metric.svc_id) });
    await untilReasons([]);
    const [healed] = await unmatched('?statuses[]=healed');
    expect(healed).toMatchObject({ status: 'healed', reason: 'no_charge', healed_at: expect.any(String) });
    expect((await client.get('/events/unmatched/summary')).body.unmatched_summary).toEqual([]);
    const usage = await client.get('/customers/c1/current_usage?external_subscription_id=sub');
    expect(usage.status, usage.text).toBe(200);
    expect(usage.body.customer_usage.charges_usage[0]).toMatchObject({ events_count: 1, units: '1.0' });
  });

  test('the start of a subscription, also a backdated one, heals its unmatched events', async () => {
    const { billable_metric } = await metric();
    await plan([billable_metric.svc_id]);
    await send();
    await untilReasons(['subscription_not_found']);
    await subscribe();
    await untilReasons([]);
    const [marked] = await service.sql`
      select usage_may_have_changed from subscriptions where organization_id = ${client.organization.organization_id}`;
    expect(marked).toEqual({ usage_may_have_changed: true });
  });

  test('healing may be requested and reports what it did', async () => {
    await send();
    await untilReasons(['metric_not_found']);
    const { status, body } = await client.post('/events/unmatched/heal', { heal: { code: 'calls' } });
    expect(status).toBe(200);
    expect(body.heal).toEqual({
      svc_id: expect.any(String),
      status: 'succeeded',
      progress: { done: 1, total: 1, percent: 100 },
      result: { examined: 1, healed: 0, still_open: 1, fees_created: 0 },
      error: null,
      created_at: expect.any(String),
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect((await client.get(`/events/unmatched/heal/${body.heal.svc_id}`)).body).toEqual(body);
    const stranger = await service.org();
    for (const id of [body.heal.svc_id, 'x'])
      expect((await stranger.get(`/events/unmatched/heal/${id}`)).body).toMatchObject({ status: 404, resource: 'run' });
    const none = await client.post('/events/unmatched/heal', { heal: { code: 'x' } });
    expect(none.body.heal.result).toMatchObject({ examined: 0 });
    const unstorable = await client.post('/events/unmatched/heal', { heal: { code: '\0' } });
    expect(unstorable.body.error_details).toEqual({ code: ['invalid_format'] });
    const refused = await client.post('/events/unmatched/heal', { heal: { bill_in_advance: true } });
    expect(refused.body.error_details).toEqual({ bill_in_advance: ['unsupported_value'] });
  });

  test('healing goes through its events in pages', async () => {
    const events = Array.from({ length: 1000 }, (_, index) => ({
      transaction_id: `t${index}`,
      external_subscription_id: 'sub',
      code: 'calls',
      timestamp: NOW - 60,
    }));
    await made('/events/batch?mode=tolerant', { events });
    await send({ transaction_id: 'last' });
    const count = async () => (await client.get('/events/unmatched?per_page=1')).body.meta.total_count;
    await until(async () => (await count()) === 1001);
    const { body } = await client.post('/events/unmatched/heal');
    expect(body.heal.result).toEqual({ examined: 1001, healed: 0, still_open: 1001, fees_created: 0 });
    const { billable_metric } = await metric();
    await plan([billable_metric.svc_id]);
    await subscribe();
    await until(async () => (await count()) === 0);
  });
});
