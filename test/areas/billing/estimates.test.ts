import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';

// Rules and golden figures of estimates.md#fees, estimates.md#instant-fees.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const SUM = { aggregation_type: 'sum_agg', field_name: 'v' };
const STANDARD = { charge_model: 'standard', properties: { amount: '10' }, invoiceable: false };

async function subscribed(metric: object, charge: object): Promise<Story> {
  const story = await openStory(service, '2025-09-01T10:00:00Z');
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Metric', code: 'm', ...metric },
  });
  await story.customer();
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: body.billable_metric.svc_id, pay_in_advance: true, ...charge }],
  });
  await story.subscribe();
  return story;
}

const event = (properties: object = {}, more: object = {}) => ({
  event: { code: 'm', external_subscription_id: 'sub', properties, ...more },
});

test('an estimate shows the fee with its taxes and stores nothing', async () => {
  const story = await subscribed(SUM, STANDARD);
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  const { status, body } = await story.client.post('/events/estimate_fees', event({ v: 4 }));
  expect(status).toBe(200);
  expect(body.fees).toEqual([
    expect.objectContaining({
      svc_id: null,
      created_at: null,
      amount_cents: 4000,
      taxes_amount_cents: 800,
      total_amount_cents: 4800,
      units: '4.0',
      events_count: 1,
      pay_in_advance: true,
      event_transaction_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    }),
  ]);
  expect(body.fees[0]).not.toHaveProperty('amount_details');
  expect((await story.client.get('/fees')).body.meta.total_count).toBe(0);
});

test.each([
  ['no subscription', { external_subscription_id: '' }, 404, { resource: 'subscription' }],
  ['an unknown subscription', { external_subscription_id: 'x' }, 404, { resource: 'subscription' }],
  [
    'a timestamp that is no time',
    { timestamp: 'soon', code: 'x' },
    422,
    { error_details: { timestamp: ['invalid_format'] } },
  ],
  ['an unknown metric', { code: 'x' }, 404, { resource: 'billable_metric' }],
  [
    'a value that is no number',
    { properties: { v: 'many' } },
    422,
    { error_details: { properties: ['value_is_not_valid_number'] } },
  ],
])('an estimate is refused: %s', async (_what, fields, status, body) => {
  const story = await subscribed(SUM, STANDARD);
  const answer = await story.client.post('/events/estimate_fees', event({ v: 1 }, fields));
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject(body);
});

test.each([[[1]], ['x'], [5], [false]])(
  'properties that are no object are refused by every estimate: %j',
  async (properties) => {
    const story = await subscribed(SUM, STANDARD);
    const sent = event({ v: 1 }, { properties });
    const details = { properties: ['value_is_invalid'] };
    for (const [route, body, wanted] of [
      ['estimate_fees', sent, details],
      ['estimate_instant_fees', sent, details],
      ['batch_estimate_instant_fees', { events: [sent] }, { 0: details }],
    ] as const) {
      const answer = await story.client.post(`/events/${route}`, body);
      expect([answer.status, answer.body.error_details], route).toEqual([422, wanted]);
    }
  },
);

test('a metric whose charge is in arrears has no estimate', async () => {
  const story = await subscribed(SUM, { charge_model: 'standard', properties: { amount: '1' }, pay_in_advance: false });
  for (const route of ['estimate_fees', 'estimate_instant_fees']) {
    const { status, body } = await story.client.post(`/events/${route}`, event({ v: 1 }));
    expect([status, body.error_details]).toEqual([422, { code: ['does_not_match_an_instant_charge'] }]);
  }
});

test('an estimate of a unique count knows the values already in use', async () => {
  const story = await subscribed({ aggregation_type: 'unique_count_agg', field_name: 'v' }, STANDARD);
  const sent = { ...event({ v: 'a' }).event, transaction_id: 't' };
  expect((await story.client.post('/events', { event: sent })).status).toBe(200);
  const known = await story.client.post('/events/estimate_fees', event({ v: 'a' }));
  const other = await story.client.post('/events/estimate_fees', event({ v: 'b' }));
  expect([known.body.fees[0].amount_cents, other.body.fees[0].amount_cents]).toEqual([0, 1000]);
});

test.each([
  ['20', { rate: '2.99' }, 60, 0.598],
  ['20', { rate: '2.99', fixed_amount: '10' }, 1060, 10.598],
  ['20', { rate: '2.99', per_transaction_max_amount: '0.1' }, 10, 0.1],
  ['20', { rate: '2.99', per_transaction_min_amount: '5.5' }, 550, 5.5],
  ['-1', { rate: '2.99' }, 0, 0],
  ['400', { rate: '0.1' }, 40, 0.4],
])('an instant estimate of %s units at %j costs %i', async (v, properties, cents, precise) => {
  const story = await subscribed(SUM, { charge_model: 'percentage', properties, invoiceable: false });
  const { status, body } = await story.client.post('/events/estimate_instant_fees', event({ v }));
  expect(status).toBe(200);
  expect(body.fees).toMatchObject([
    {
      amount_cents: cents,
      precise_amount: precise,
      precise_total_amount: precise,
      taxes_amount_cents: 0,
      events_count: 1,
    },
  ]);
});

test('a batch of instant estimates leaves out events without a charge', async () => {
  const story = await subscribed(SUM, STANDARD);
  const { status, body } = await story.client.post('/events/batch_estimate_instant_fees', {
    events: [event({ v: 1 }, { transaction_id: 'a' }), event({ v: 1 }, { code: 'x' }), event({ v: 2 }).event],
  });
  expect(status).toBe(200);
  expect(body.fees.map((fee: { amount_cents: number }) => fee.amount_cents)).toEqual([1000, 2000]);
  expect(body.fees[0].event_transaction_id).toBe('a');

  const many = { events: Array.from({ length: 101 }, () => event()) };
  const refusals = await Promise.all(
    [many, { events: [] }, {}].map((sent) => story.client.post('/events/batch_estimate_instant_fees', sent)),
  );
  expect(refusals.map((answer) => [answer.status, answer.body.error_details])).toEqual([
    [422, { events: ['too_many_events'] }],
    [422, { events: ['no_events'] }],
    [422, { events: ['no_events'] }],
  ]);
  for (const item of ['x', { event: 'x' }, { event: [] }, null]) {
    const answer = await story.client.post('/events/batch_estimate_instant_fees', { events: [event(), item] });
    expect(answer, JSON.stringify(item)).toMatchObject({ status: 404, body: { resource: 'subscription' } });
  }
});
