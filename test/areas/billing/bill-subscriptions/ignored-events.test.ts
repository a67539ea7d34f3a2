import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Events that an aggregation must ignore open no group, make no fee and are in no count (everywhere.md#ignored-events).
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** March in `story`: the one event that counts and three that do not, each of a team of its own. */
const MARCH: [transaction: string, at: string, properties: object][] = [
  ['good', '2024-03-01T00:00:00Z', { value: 2, team: 'a' }],
  ['word', '2024-03-02T10:00:00Z', { value: 'abc', team: 'b' }],
  ['exponent', '2024-03-02T11:30:00Z', { value: '1e3', team: 'c' }],
  ['absent', '2024-03-31T23:59:59Z', { team: 'd' }],
];
const FLAT = { from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '50' };
const GRADUATED = { charge_model: 'graduated', properties: { graduated_ranges: [FLAT], pricing_group_keys: ['team'] } };
const VOLUME = { charge_model: 'volume', properties: { volume_ranges: [FLAT], pricing_group_keys: ['team'] } };
const REASONS = [
  ['absent', 'property_missing'],
  ['exponent', 'property_not_numeric'],
  ['word', 'property_not_numeric'],
];

async function march(metric: object, charge: object, events = MARCH): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Items', code: 'items', field_name: 'value', ...metric },
  });
  const billable_metric_id = body.billable_metric.svc_id;
  await story.plan({ amount_cents: 0, charges: [{ billable_metric_id, ...charge }] });
  await story.subscribe();
  for (const [transaction_id, at, properties] of events) {
    const event = { transaction_id, external_subscription_id: 'sub', code: 'items', properties };
    const { status } = await story.client.post('/events', { event: { ...event, timestamp: Date.parse(at) / 1000 } });
    expect(status).toBe(200);
  }
  return story;
}

/** What the current period shows and then bills. */
async function billed(story: Story, to: string, count: number): Promise<Invoice[]> {
  const { body } = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
  const [usage] = body.customer_usage.charges_usage;
  await story.advanceTo(to);
  const invoice = (await story.invoices(count)).at(-1);
  const fees = invoice.fees.filter((fee: Invoice) => fee.item.type === 'charge');
  const sum = (name: string) => fees.reduce((total: number, fee: Invoice) => total + fee[name], 0);
  expect([sum('amount_cents'), sum('events_count')]).toEqual([usage.amount_cents, usage.events_count]);
  const { body: verified } = await story.client.post(`/invoices/${invoice.svc_id}/verify`, { level: 'events' });
  expect(verified.verification).toMatchObject({ status: 'equal', differences: [] });
  return fees;
}

/** Transaction and reason of the events that nothing takes. */
const unmatched = (story: Story, count: number): Promise<[string, string][]> =>
  until(async () => {
    const { body } = await story.client.get('/events/unmatched');
    const rows = body.unmatched_events.map(({ event, reason }: Invoice) => [event.transaction_id, reason]);
    return rows.length === count ? rows.sort() : undefined;
  });

test.each<[string, object, object]>([
  ['sum', { aggregation_type: 'sum_agg' }, GRADUATED],
  ['sum by volume', { aggregation_type: 'sum_agg' }, VOLUME],
  ['maximum', { aggregation_type: 'max_agg' }, GRADUATED],
  ['latest value', { aggregation_type: 'latest_agg' }, GRADUATED],
  ['weighted sum', { aggregation_type: 'weighted_sum_agg', weighted_interval: 'seconds' }, GRADUATED],
])('three events without a number make no group under the aggregation %s', async (_name, metric, charge) => {
  const story = await march(metric, charge);
  expect(await unmatched(story, 3)).toEqual(REASONS);
  const fees = await billed(story, '2024-04-01T01:00:00Z', 1);
  expect(fees).toMatchObject([{ units: '2.0', events_count: 1, amount_cents: 5200 }]);
  expect(fees[0].item.grouped_by).toEqual({ team: 'a' });
});

test.each<[string, object, object]>([
  ['sum', { aggregation_type: 'sum_agg' }, GRADUATED],
  ['prorated sum', { aggregation_type: 'sum_agg' }, { ...GRADUATED, prorated: true }],
  ['prorated sum by volume', { aggregation_type: 'sum_agg' }, { ...VOLUME, prorated: true }],
  ['weighted sum', { aggregation_type: 'weighted_sum_agg', weighted_interval: 'seconds' }, GRADUATED],
])(
  'events without a number make no group in the next period either under the recurring aggregation %s',
  async (_name, metric, charge) => {
    const story = await march({ ...metric, recurring: true }, charge);
    expect(await billed(story, '2024-04-01T01:00:00Z', 1)).toMatchObject([{ units: '2.0', amount_cents: 5200 }]);
    const fees = await billed(story, '2024-05-01T01:00:00Z', 2);
    expect(fees).toMatchObject([{ units: '2.0', amount_cents: 5200 }]);
    expect(fees[0].item.grouped_by).toEqual({ team: 'a' });
  },
);

test('a unique count accepts any text and ignores an event without the property', async () => {
  const story = await march({ aggregation_type: 'unique_count_agg' }, GRADUATED);
  expect(await unmatched(story, 1)).toEqual([['absent', 'property_missing']]);
  const fees = await billed(story, '2024-04-01T01:00:00Z', 1);
  expect(fees.map((fee: Invoice) => [fee.item.grouped_by.team, fee.amount_cents])).toEqual([
    ['a', 5100],
    ['b', 5100],
    ['c', 5100],
  ]);
});

test('events without a number make no group of a filter, and a filter with only such events has no usage', async () => {
  const filters = [
    { values: { team: ['a', 'b'] }, properties: { ...GRADUATED.properties, pricing_group_keys: ['team', 'user'] } },
    { values: { team: ['c'] }, properties: { amount: '7' } },
  ];
  const standard = { charge_model: 'standard', properties: { amount: '1', pricing_group_keys: ['user'] } };
  const withFlats = { ...GRADUATED, filters: filters.slice(0, 1) };
  const metric = { aggregation_type: 'sum_agg', filters: [{ key: 'team', values: ['a', 'b', 'c'] }] };
  const graduated = await billed(await march(metric, withFlats), '2024-04-01T01:00:00Z', 1);
  // The filter's group a, and the default bucket without any event, which owes its first flat amount once.
  expect(graduated.map((fee: Invoice) => [fee.item.grouped_by, fee.units, fee.amount_cents])).toEqual([
    [{ team: 'a', user: null }, '2.0', 5200],
    [{ team: null }, '0.0', 5000],
  ]);
  const plain = { ...standard, filters: filters.slice(1) };
  const fees = await billed(await march(metric, plain), '2024-04-01T01:00:00Z', 1);
  expect(fees.map((fee: Invoice) => [fee.item.filters, fee.events_count, fee.amount_cents])).toEqual([[null, 1, 200]]);
});

test('events without a number make no fee in advance, and the first event that counts pays the first flat amount', async () => {
  const [good, ...junk] = MARCH;
  const charge = { ...GRADUATED, pay_in_advance: true, invoiceable: false };
  const story = await march({ aggregation_type: 'sum_agg' }, charge, [...junk, good!]);
  expect(await unmatched(story, 3)).toEqual(REASONS);
  const fees = await until(async () => {
    const { body } = await story.client.get('/fees?external_subscription_id=sub');
    return body.fees.length > 0 ? body.fees : undefined;
  });
  expect(fees).toMatchObject([{ event_transaction_id: 'good', units: '2.0', events_count: 1, amount_cents: 5200 }]);
  const { body } = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
  expect(body.customer_usage.charges_usage).toMatchObject([{ units: '2.0', events_count: 1, amount_cents: 5200 }]);
});

test('a correction that makes the only event of a group unusable closes the group', async () => {
  const story = await march({ aggregation_type: 'sum_agg' }, GRADUATED, [
    MARCH[0]!,
    ['late', '2024-03-05T00:00:00Z', { value: 4, team: 'b' }],
  ]);
  const { status } = await story.client.post('/events/corrections', {
    correction: {
      kind: 'amend',
      reason: 'typo',
      external_subscription_id: 'sub',
      transaction_id: 'late',
      properties: { value: 'four', team: 'b' },
    },
  });
  expect(status).toBe(200);
  expect(await billed(story, '2024-04-01T01:00:00Z', 1)).toMatchObject([{ units: '2.0', amount_cents: 5200 }]);
});
