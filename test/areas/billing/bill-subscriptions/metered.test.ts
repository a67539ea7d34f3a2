import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Every aggregation and model in arrears, from events to the invoice: golden cases of golden-usage.md.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const SUM = { aggregation_type: 'sum_agg', field_name: 'value' };
const UNIQUE = { aggregation_type: 'unique_count_agg', field_name: 'value' };
const WEIGHTED = { aggregation_type: 'weighted_sum_agg', field_name: 'value', weighted_interval: 'seconds' };

interface Case {
  metric: object;
  charge: object;
  now: string;
  subscription?: object;
}

/** A subscription of a plan with one charge. */
async function subscribed({ metric, charge, now, subscription = {} }: Case): Promise<Story> {
  const story = await openStory(service, now);
  await story.customer();
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Items', code: 'items', ...metric },
  });
  const billable_metric_id = body.billable_metric.svc_id;
  await story.plan({ amount_cents: 0, charges: [{ billable_metric_id, charge_model: 'standard', ...charge }] });
  await story.subscribe(subscription);
  return story;
}

let sent = 0;
async function send(story: Story, at: string, properties: object, amount?: string): Promise<void> {
  sent += 1;
  const { status, text } = await story.client.post('/events', {
    event: {
      transaction_id: `t${sent}`,
      external_subscription_id: 'sub',
      code: 'items',
      timestamp: Date.parse(at) / 1000,
      properties,
      ...(amount === undefined ? {} : { precise_total_amount_cents: amount }),
    },
  });
  if (status !== 200) throw new Error(text);
}

const charged = async (story: Story): Promise<Invoice> => {
  const { body } = await story.client.get('/customers/acme/current_usage?external_subscription_id=sub');
  return body.customer_usage.charges_usage[0];
};

const feesOf = (invoice: Invoice) => invoice.fees.filter((fee: Invoice) => fee.item.type === 'charge');

/**
 * Bills the period in progress; current usage just before is what is billed (golden-usage.md#invariants, invariant 7).
 */
async function billed(story: Story, to: string, count: number): Promise<Invoice[]> {
  const usage = await charged(story);
  await story.advanceTo(to);
  const fees = feesOf((await story.invoices(count)).at(-1)!);
  expect(fees.reduce((total: number, fee: Invoice) => total + fee.amount_cents, 0)).toBe(usage.amount_cents);
  return fees;
}

const standard = (amount: string, fields: object = {}) => ({ properties: { amount }, ...fields });
const PERCENTAGE = { charge_model: 'percentage' };
const FREE = { free_units_per_events: 3, free_units_per_total_aggregation: '250' };

test.each<[string, object, object, (object | [object, string])[], object]>([
  [
    '8',
    { ...SUM, aggregation_type: 'max_agg' },
    standard('1'),
    [{ value: 3 }, { value: 7 }, { value: 5 }],
    { units: '7.0', amount_cents: 700 },
  ],
  [
    '9',
    { ...SUM, aggregation_type: 'latest_agg' },
    standard('1'),
    [{ value: 3 }, { value: 7 }, { value: 5 }],
    { units: '5.0', amount_cents: 500 },
  ],
  [
    '10',
    { ...SUM, aggregation_type: 'latest_agg' },
    standard('1'),
    [{ value: 5 }, { value: -2 }],
    { units: '0.0', amount_cents: 0, events_count: 2 },
  ],
  ['5', SUM, standard('10'), [{ value: -3 }], { units: '0.0', amount_cents: 0, events_count: 1 }],
  [
    '11',
    SUM,
    standard('1'),
    [{ value: '5' }, { value: 'abc' }, { value: '1e3' }, { value: 2 }],
    { units: '7.0', amount_cents: 700, events_count: 2 },
  ],
  [
    '12',
    SUM,
    { charge_model: 'dynamic', properties: {} },
    [
      [{ value: 5 }, '1234.56'],
      [{ value: 1 }, '2.1'],
    ],
    { units: '6.0', amount_cents: 1237 },
  ],
  [
    '49',
    SUM,
    { ...PERCENTAGE, properties: { rate: '1.3', fixed_amount: '2', ...FREE } },
    [50, 100, 250, 400].map((value) => ({ value })),
    { units: '800.0', amount_cents: 1115 },
  ],
  [
    '59',
    SUM,
    {
      ...PERCENTAGE,
      properties: {
        rate: '2.99',
        fixed_amount: '0',
        per_transaction_min_amount: '1.75',
        per_transaction_max_amount: '12',
      },
    },
    [10, 80, 10000].map((value) => ({ value })),
    { units: '10090.0', amount_cents: 1614 },
  ],
  [
    'C.4',
    UNIQUE,
    standard('1'),
    [
      { value: 'A' },
      { value: 'A', operation_type: 'remove' },
      { value: 'A' },
      { value: 'B' },
      { value: 'C', operation_type: 'remove' },
    ],
    { units: '2.0', events_count: 2, amount_cents: 200 },
  ],
])(
  'usage of case %s costs the same in current usage and on the invoice',
  async (_name, metric, charge, events, expected) => {
    const story = await subscribed({ metric, charge, now: '2024-03-01T00:00:00Z' });
    for (const [index, each] of events.entries()) {
      const [properties, amount] = Array.isArray(each) ? each : [each];
      await send(story, `2024-03-02T00:00:0${index}Z`, properties, amount);
    }
    expect(await charged(story)).toMatchObject(expected);
    const [fee] = await billed(story, '2024-04-01T02:00:00Z', 1);
    expect(fee).toMatchObject(expected);
  },
);

const CLOUDS = { filters: [{ key: 'cloud', values: ['aws', 'gcp'] }] };
const priced = (amount: string, values: object) => ({ values, properties: { amount } });

test.each<[string, object[], [string | null, string, number][]]>([
  [
    '102: the narrower of two filters takes its events',
    [priced('5', { cloud: ['aws', 'gcp'] }), priced('3', { cloud: ['aws'] })],
    [
      ['aws, gcp', '7.0', 3500],
      ['aws', '10.0', 3000],
    ],
  ],
  [
    '103: of two like filters the older takes all events',
    [
      { ...priced('5', { cloud: ['aws'] }), invoice_display_name: 'older' },
      { ...priced('3', { cloud: ['aws'] }), invoice_display_name: 'younger' },
    ],
    [['older', '10.0', 5000]],
  ],
])('metered usage of a month: %s', async (_name, filters, expected) => {
  const story = await subscribed({
    metric: { ...SUM, ...CLOUDS },
    charge: standard('0', { filters }),
    now: '2024-03-01T00:00:00Z',
  });
  await send(story, '2024-03-02T00:00:00Z', { value: 10, cloud: 'aws' });
  if (expected.length > 1) await send(story, '2024-03-02T00:00:01Z', { value: 7, cloud: 'gcp' });
  const { filters: shown } = await charged(story);
  expect(shown).toHaveLength(3);
  expect(shown.at(-1)).toMatchObject({ values: {}, units: '0.0', amount_cents: 0 });
  const fees = await billed(story, '2024-04-01T02:00:00Z', 1);
  expect(
    fees.map(({ item, units, amount_cents }: Invoice) => [item.filter_invoice_display_name, units, amount_cents]),
  ).toEqual(expected);
});

test('a charge has one fee for each group of its events (golden case 105)', async () => {
  const story = await subscribed({
    metric: SUM,
    charge: { properties: { amount: '0.5', pricing_group_keys: ['region'] } },
    now: '2024-03-01T00:00:00Z',
  });
  await send(story, '2024-03-02T00:00:00Z', { value: 100, region: 'us' });
  await send(story, '2024-03-02T00:00:01Z', { value: 200, region: 'eu' });
  const fees = await billed(story, '2024-04-01T02:00:00Z', 1);
  expect(fees.map(({ item, amount_cents }: Invoice) => [item.grouped_by, amount_cents])).toEqual([
    [{ region: 'eu' }, 10000],
    [{ region: 'us' }, 5000],
  ]);
});

test('a recurring weighted sum carries its total from fee to fee (golden cases 80, 81)', async () => {
  const story = await subscribed({
    metric: { ...WEIGHTED, recurring: true },
    charge: standard('1', { properties: { amount: '1', pricing_group_keys: ['disk'] } }),
    now: '2023-03-05T00:00:00Z',
  });
  await send(story, '2023-03-05T00:00:00Z', { value: 2500, disk: 'a' });
  const [march] = await billed(story, '2023-04-01T02:00:00Z', 1);
  expect(march).toMatchObject({
    units: '2177.41935483870967741936',
    amount_cents: 217742,
    total_aggregated_units: '2500.0',
    item: { grouped_by: { disk: 'a' } },
  });
  expect((await charged(story)).grouped_usage).toMatchObject([
    { grouped_by: { disk: 'a' }, units: '2500.0', total_aggregated_units: '2500.0' },
  ]);
  await send(story, '2023-04-04T00:00:00Z', { value: -2000, disk: 'a' });
  await send(story, '2023-04-06T00:00:00Z', { value: -200, disk: 'a' });
  const [april] = await billed(story, '2023-05-01T02:00:00Z', 2);
  expect(april).toMatchObject({ amount_cents: 53333, total_aggregated_units: '300.0', events_count: 2 });
  const fees = await billed(story, '2023-06-01T02:00:00Z', 3);
  expect(fees).toHaveLength(1);
  expect(fees[0]).toMatchObject({
    units: '300.0',
    amount_cents: 30000,
    events_count: 0,
    item: { grouped_by: { disk: 'a' } },
  });
});

test('a weighted sum after an upgrade starts from the values before it', async () => {
  const story = await subscribed({
    metric: { ...WEIGHTED, recurring: true },
    charge: standard('1'),
    now: '2023-03-01T00:00:00Z',
  });
  await send(story, '2023-03-05T00:00:00Z', { value: 310 });
  await story.advanceTo('2023-03-11T00:00:00Z');
  const { body } = await story.client.get('/billable_metrics/items');
  await story.plan({
    code: 'larger',
    amount_cents: 100,
    charges: [
      { billable_metric_id: body.billable_metric.svc_id, charge_model: 'standard', properties: { amount: '1' } },
    ],
  });
  await story.subscribe({ plan_code: 'larger' });
  expect(await charged(story)).toMatchObject({ units: '210.0', total_aggregated_units: '310.0', events_count: 0 });
});

test('a prorated sum shows full units and bills days (golden case 82)', async () => {
  const story = await subscribed({
    metric: { ...SUM, recurring: true },
    charge: standard('10', { prorated: true }),
    now: '2023-04-10T00:00:00Z',
  });
  await send(story, '2023-04-12T00:00:00Z', { value: 5 });
  await story.advanceTo('2023-05-01T02:00:00Z');
  for (const at of ['2023-05-26T10:00:00Z', '2023-05-26T11:00:00Z']) await send(story, at, { value: 12 });
  expect(await charged(story)).toMatchObject({ units: '29.0', amount_cents: 9645 });
  expect(await billed(story, '2023-06-01T02:00:00Z', 2)).toMatchObject([{ units: '29.0', amount_cents: 9645 }]);
});

test('a prorated unique count counts days of use (golden case 83)', async () => {
  const story = await subscribed({
    metric: { ...UNIQUE, recurring: true },
    charge: standard('10', { prorated: true }),
    now: '2023-04-10T00:00:00Z',
  });
  await send(story, '2023-04-12T00:00:00Z', { value: 'a' });
  await story.advanceTo('2023-05-01T02:00:00Z');
  await send(story, '2023-05-11T10:00:00Z', { value: 'b' });
  expect(await billed(story, '2023-06-01T02:00:00Z', 2)).toMatchObject([{ units: '2.0', amount_cents: 1677 }]);
  const [stored] = await service.sql`
    select input.inputs -> 'usage' as usage from fee_inputs input join fees fee on fee.id = input.fee_id
    where fee.organization_id = ${story.organizationId} and fee.fee_type = 'charge' and fee.amount_cents = 1677`;
  expect(stored!.usage).toMatchObject({
    aggregated_units: '1.67742',
    full_units: '2',
    pieces: {
      divisor: 31,
      list: [
        { full: '1', weighed: '31' },
        { full: '1', weighed: '21' },
      ],
    },
  });
});

test('a recurring sum is billed every period, with or without events (golden case 86)', async () => {
  const story = await subscribed({
    metric: { ...SUM, recurring: true },
    charge: standard('1'),
    now: '2024-01-01T00:00:00Z',
  });
  await send(story, '2024-01-10T00:00:00Z', { value: 10 });
  expect(await billed(story, '2024-02-01T02:00:00Z', 1)).toMatchObject([{ units: '10.0', amount_cents: 1000 }]);
  await send(story, '2024-02-10T00:00:00Z', { value: -4 });
  expect(await billed(story, '2024-03-01T02:00:00Z', 2)).toMatchObject([{ units: '6.0', amount_cents: 600 }]);
  expect(await billed(story, '2024-04-01T02:00:00Z', 3)).toMatchObject([{ units: '6.0', amount_cents: 600 }]);
});

test('a prorated graduated sum is priced in ranges, carried over at full price and then upgraded (golden cases 62 to 71)', async () => {
  const story = await subscribed({
    metric: { ...SUM, recurring: true },
    charge: {
      charge_model: 'graduated',
      prorated: true,
      properties: {
        graduated_ranges: [
          { from_value: 0, to_value: 5, per_unit_amount: '10', flat_amount: '100' },
          { from_value: 6, to_value: 15, per_unit_amount: '5', flat_amount: '50' },
          { from_value: 16, to_value: null, per_unit_amount: '2', flat_amount: '0' },
        ],
      },
    },
    now: '2023-09-01T00:00:00Z',
  });
  expect(await charged(story)).toMatchObject({ units: '0.0', amount_cents: 10000 });
  for (const [day, value, units, amount_cents] of [
    ['10', 2, '2.0', 11400],
    ['16', 5, '7.0', 18400],
    ['20', -6, '1.0', 16567],
    ['25', 10, '11.0', 17967],
    ['26', 4, '15.0', 18300],
    ['30', 60, '75.0', 18700],
  ] as const) {
    await send(story, `2023-09-${day}T00:00:00Z`, { value });
    expect(await charged(story)).toMatchObject({ units, amount_cents });
  }
  await billed(story, '2023-10-01T02:00:00Z', 1);
  expect(await charged(story)).toMatchObject({ units: '75.0', amount_cents: 37000 });
  await send(story, '2023-10-17T00:00:00Z', { value: 20 });
  expect(await charged(story)).toMatchObject({ units: '95.0', amount_cents: 38935 });
  await story.advanceTo('2023-10-18T00:00:00Z');
  const { plan } = (await story.client.get('/plans/plan')).body;
  const [{ svc_billable_metric_id: billable_metric_id, properties }] = plan.charges;
  await story.plan({
    code: 'larger',
    amount_cents: 100,
    charges: [{ billable_metric_id, charge_model: 'graduated', prorated: true, properties }],
  });
  await story.subscribe({ plan_code: 'larger' });
  expect(await charged(story)).toMatchObject({ units: '95.0', amount_cents: 26742 });
  const closing = (await story.invoices(2)).at(-1)!;
  expect(feesOf(closing)).toMatchObject([{ units: '95.0', amount_cents: 27194 }]);
});
