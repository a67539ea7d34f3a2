import { afterAll, beforeAll, expect, test } from 'vitest';
import { json } from '../../../../src/platform/db/values.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Golden cases of golden-usage.md#in-advance; rules in-advance.md#units-of-one-event,
// events.md#subscription-of-an-event and in-advance.md#fees-in-advance.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Fee = any;

const STANDARD = { charge_model: 'standard', properties: { amount: '10' } };
const SUM = { aggregation_type: 'sum_agg', field_name: 'v' };
const FLAT = {
  charge_model: 'graduated',
  properties: { graduated_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '50' }] },
};
const PERCENTAGE = { charge_model: 'percentage', invoiceable: false };

/** A subscription since the first of February whose plan has one charge in advance. */
async function subscribed(metric: object, charge: object, customer: object = {}): Promise<Story> {
  const story = await openStory(service, '2023-02-01T00:00:00Z');
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Metric', code: 'm', ...metric },
  });
  await story.customer(customer);
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: body.billable_metric.svc_id, pay_in_advance: true, ...charge }],
  });
  await story.subscribe();
  return story;
}

const event = (transaction_id: string, properties: object = {}, more: object = {}) => ({
  transaction_id,
  external_subscription_id: 'sub',
  code: 'm',
  properties,
  ...more,
});

async function send(story: Story, ...events: object[]): Promise<void> {
  const { status, text } = await story.client.post('/events/batch', { events });
  if (status !== 200) throw new Error(text);
}

/** Fees of events, in the order in which they were made. */
const fees = (story: Story, count: number): Promise<Fee[]> =>
  until(async () => {
    const { body } = await story.client.get('/fees?fee_type=charge&per_page=100');
    return body.fees.length === count ? body.fees : undefined;
  });

test.each([
  ['87', { aggregation_type: 'count_agg' }, STANDARD, [1, 1], [1000, 1000]],
  ['88', SUM, { charge_model: 'standard', properties: { amount: '1' } }, [10, -4, 8], [1000, 0, 400]],
  [
    '89',
    { aggregation_type: 'count_agg' },
    {
      charge_model: 'graduated',
      properties: {
        graduated_ranges: [
          { from_value: 0, to_value: 2, per_unit_amount: '0', flat_amount: '0' },
          { from_value: 3, to_value: null, per_unit_amount: '2', flat_amount: '0' },
        ],
      },
    },
    [1, 1, 1],
    [0, 0, 200],
  ],
  ['first event negative', SUM, FLAT, [-6, 10, 3], [0, 5400, 300]],
  ['first event negative, recurring', { ...SUM, recurring: true }, FLAT, [-6, 10, 3], [0, 5400, 300]],
  [
    '91',
    SUM,
    { charge_model: 'package', properties: { amount: '100', free_units: 3, package_size: 2 } },
    [3, 1, 2],
    [0, 10000, 10000],
  ],
  [
    '92',
    SUM,
    { ...PERCENTAGE, properties: { rate: '5', fixed_amount: '1', free_units_per_events: 2 } },
    [8, 5, 3],
    [0, 0, 115],
  ],
  [
    '93',
    SUM,
    { ...PERCENTAGE, properties: { rate: '5', fixed_amount: '1', free_units_per_total_aggregation: '120' } },
    [100, 10, 20, 20],
    [0, 0, 150, 200],
  ],
  [
    '95',
    SUM,
    {
      ...PERCENTAGE,
      properties: {
        rate: '1',
        fixed_amount: '0.5',
        per_transaction_min_amount: '1.75',
        per_transaction_max_amount: '2',
      },
    },
    [100, 1000, 10000],
    [175, 200, 200],
  ],
  [
    '96',
    { aggregation_type: 'count_agg' },
    { ...PERCENTAGE, properties: { rate: '1', fixed_amount: '1', free_units_per_events: 1 } },
    [1, 1],
    [0, 101],
  ],
])('events in advance cost what golden case %s says', async (_name, metric, charge, values, amounts) => {
  const story = await subscribed(metric, charge);
  await send(story, ...values.map((v, index) => event(`e${index}`, { v })));
  const made = await fees(story, values.length);
  expect(made.map((fee) => fee.amount_cents)).toEqual(amounts);
  expect(made.map((fee) => fee.event_transaction_id)).toEqual(values.map((_, index) => `e${index}`));
});

test.each([
  ['100: on the filter', '0', { region: ['europe'] }, { region: 'europe' }, [20000, '20.0']],
  [
    '101: on no filter',
    '10',
    { region: ['europe'], cloud: ['AWS'] },
    { region: 'africa', cloud: 'AWS' },
    [10000, null],
  ],
])(
  'charges with filters in advance cost what golden case %s says',
  async (_name, amount, values, properties, expected) => {
    const filters = [
      { key: 'region', values: ['europe', 'africa'] },
      { key: 'cloud', values: ['AWS'] },
    ];
    const story = await subscribed(
      { ...SUM, filters },
      {
        charge_model: 'standard',
        invoiceable: false,
        properties: { amount },
        filters: [{ values, properties: { amount: '20' }, invoice_display_name: '20.0' }],
      },
    );
    await send(story, event('e', { v: 10, ...properties }));
    const [fee] = await fees(story, 1);
    expect([fee.amount_cents, fee.item.filter_invoice_display_name]).toEqual(expected);
  },
);

test('a dynamic charge bills the amount of the event (golden case 98)', async () => {
  const story = await subscribed(SUM, { charge_model: 'dynamic', properties: {} });
  await send(
    story,
    event('a', { v: 1 }, { precise_total_amount_cents: '1234.56' }),
    event('b', { v: 1 }, { precise_total_amount_cents: '2.1' }),
  );
  expect((await fees(story, 2)).map((fee) => fee.amount_cents)).toEqual([1235, 2]);
});

test('an invoiceable event gets its own invoice at once, with taxes and without the grace period', async () => {
  const story = await subscribed(SUM, STANDARD, { billing_configuration: { invoice_grace_period: 5 } });
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.advanceTo('2023-02-10T10:00:00Z');
  await send(story, event('a', { v: 2 }));
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({
    invoice_type: 'subscription',
    status: 'finalized',
    issuing_date: '2023-02-10',
    fees_amount_cents: 2000,
    taxes_amount_cents: 400,
    total_amount_cents: 2400,
    billing_periods: [{ invoicing_reason: 'in_advance_charge' }],
    fees: [
      {
        pay_in_advance: true,
        invoiceable: true,
        units: '2.0',
        events_count: 1,
        event_transaction_id: 'a',
        from_date: '2023-02-01T00:00:00Z',
        to_date: '2023-02-28T23:59:59Z',
      },
    ],
  });
  await story.advanceTo('2023-03-10T00:00:00Z');
  const all = await story.invoices(2);
  expect(all[1]).toMatchObject({ fees_amount_cents: 0 });
});

test('running the work again, or sending the event again, makes no second fee', async () => {
  const story = await subscribed(SUM, { ...STANDARD, invoiceable: false });
  await send(story, event('a', { v: 1 }), event('b', { v: 1 }));
  const [first] = await fees(story, 2);
  await send(story, event('a', { v: 1 }));
  const stored = await service.sql<{ id: string; subscription_id: string }[]>`
    select e.id, s.id as subscription_id from events e
    join subscriptions s on s.organization_id = e.organization_id and s.external_id = e.external_subscription_id
    where e.organization_id = ${story.organizationId}`;
  const step = { subscription_id: stored[0]!.subscription_id, event_ids: stored.map(({ id }) => id).reverse() };
  await service.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    values (gen_random_uuid(), ${story.organizationId}, 'bill-in-advance', ${json(step)}, now(), now())`;
  await story.advanceTo('2023-02-02T00:00:00Z');
  expect(await fees(story, 2)).toHaveLength(2);

  // A deleted fee stays deleted.
  expect((await story.client.delete(`/fees/${first.svc_id}`)).status).toBe(200);
  await service.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    values (gen_random_uuid(), ${story.organizationId}, 'bill-in-advance', ${json(step)}, now(), now())`;
  await story.advanceTo('2023-02-03T00:00:00Z');
  expect(await fees(story, 1)).toHaveLength(1);
});

test('events sent at the same time by many callers add up exactly', async () => {
  const story = await subscribed(SUM, {
    charge_model: 'graduated',
    invoiceable: false,
    properties: {
      graduated_ranges: [
        { from_value: 0, to_value: 20, per_unit_amount: '1', flat_amount: '0' },
        { from_value: 21, to_value: null, per_unit_amount: '0.5', flat_amount: '3' },
      ],
    },
  });
  const values = Array.from({ length: 30 }, (_, index) => (index % 5 === 4 ? -1 : 2));
  await Promise.all(
    values.map((v, index) => send(story, event(`e${index}`, { v }, { timestamp: 1676000000 + index }))),
  );
  const made = await fees(story, values.length);
  expect(new Set(made.map((fee) => fee.event_transaction_id)).size).toBe(30);
  const [record] = await service.sql<{ current: string; records: number }[]>`
    select current::text, count(*) over ()::int as records from in_advance_records
    where organization_id = ${story.organizationId} order by id desc limit 1`;
  expect(record).toEqual({ current: '42', records: 30 });
});

test.each([
  ['before the start', 1675123200, 0],
  ['in the period', 1675900000, 1],
])('an event %s is billed to the subscription that covers it', async (_when, timestamp, count) => {
  const story = await subscribed(SUM, { ...STANDARD, invoiceable: false });
  await send(story, event('late', { v: 1 }, { timestamp }), event('now', { v: 1 }));
  const made = await fees(story, count + 1);
  expect(made.some((fee) => fee.event_transaction_id === 'late')).toBe(count === 1);
});

test.each([
  ['a property that is missing', {}],
  ['a property that is no number', { v: 'abc' }],
  ['a blank property', { v: '' }],
])('an event makes no fee: %s', async (_what, properties) => {
  const story = await subscribed(SUM, { ...STANDARD, invoiceable: false });
  await send(story, event('wrong', properties), event('right', { v: 1 }));
  expect((await fees(story, 1))[0].event_transaction_id).toBe('right');
});

test('units that were given back are not billed again when they are used again, per group and per period', async () => {
  const story = await subscribed(SUM, {
    charge_model: 'standard',
    invoiceable: false,
    properties: { amount: '1', pricing_group_keys: ['team'] },
  });
  await send(story, event('a', { v: 5, team: 'x' }), event('b', { v: -5, team: 'x' }), event('c', { v: 5, team: 'y' }));
  await fees(story, 3); // requests are billed in any order
  await send(story, event('d', { v: 7, team: 'x' }));
  const made = await fees(story, 4);
  expect(made.map((fee) => [fee.event_transaction_id, fee.units, fee.amount_cents, fee.item.grouped_by])).toEqual([
    ['a', '5.0', 500, { team: 'x' }],
    ['b', '0.0', 0, { team: 'x' }],
    ['c', '5.0', 500, { team: 'y' }],
    ['d', '2.0', 200, { team: 'x' }],
  ]);
  await story.advanceTo('2023-03-02T00:00:00Z');
  await send(story, event('e', { v: 3, team: 'x' }));
  expect((await fees(story, 5))[4]).toMatchObject({ units: '3.0', amount_cents: 300 });
});

test('current usage of a group shows what was billed of it, including units given back', async () => {
  const story = await subscribed(SUM, {
    charge_model: 'standard',
    invoiceable: false,
    properties: { amount: '1', pricing_group_keys: ['team'] },
  });
  // One after the other: what an event costs depends on what was billed before it.
  for (const [index, v] of [10, -4].entries()) {
    await send(story, event(`e${index}`, { v, team: 'red' }));
    await fees(story, index + 1);
  }
  await send(story, event('other', { v: 7, team: 'blue' }));
  await fees(story, 3);
  const usage = async (query: string) => {
    const { body } = await story.client.get(`/customers/acme/current_usage?external_subscription_id=sub${query}`);
    const { units, amount_cents } = body.customer_usage.charges_usage[0];
    return [units, amount_cents];
  };
  expect(await usage('')).toEqual(['13.0', 1700]);
  expect(await usage('&group[team]=red')).toEqual(['6.0', 1000]);
});

test('an event in advance announces fee.created and invoice.created', async () => {
  const story = await subscribed(SUM, STANDARD);
  await send(story, event('a', { v: 2 }));
  await story.invoices(1);
  const told = await service.sql<{ webhook_type: string }[]>`
    select webhook_type from webhook_events where organization_id = ${story.organizationId}
      and webhook_type in ('fee.created', 'invoice.created') order by webhook_type`;
  expect(told.map((row) => row.webhook_type)).toEqual(['fee.created', 'invoice.created']);
});
