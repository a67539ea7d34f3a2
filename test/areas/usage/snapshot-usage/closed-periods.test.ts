import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// What the daily differences of a closed period add up to is what its invoice bills: usage-reads.md#daily-usage.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function open(fields: { customer?: object; charge?: object; subscribes?: boolean } = {}): Promise<Story> {
  const story = await openStory(service, '2025-01-01T00:00:00Z');
  await story.customer({ currency: 'USD', timezone: 'UTC', ...fields.customer });
  const metric = await story.metric('ops', { aggregation_type: 'sum_agg', field_name: 'v' });
  await story.plan({
    interval: 'weekly',
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '1' },
        ...fields.charge,
      },
    ],
  });
  if (fields.subscribes !== false) await story.subscribe();
  return story;
}

let sent = 0;
const use = async (story: Story, v: number, timestamp: string) => {
  sent += 1;
  await story.use('ops', { v }, { at: timestamp, transaction_id: `t${sent}` });
};

interface Told {
  start_of_period_dt: string;
  amount_cents: number;
  units: string;
}

async function told({ client }: Story): Promise<[string, number, string][]> {
  const { body } = await client.get('/analytics/usage?from_date=2025-01-01&to_date=2025-03-01&time_granularity=daily');
  return body.usages.map(({ start_of_period_dt, amount_cents, units }: Told) => [
    start_of_period_dt,
    Number(amount_cents),
    units,
  ]);
}

test.each([
  ['later in the next period', '2025-01-05T00:00:00Z', '2025-01-12T10:00:00Z', '2025-01-06'],
  ['on the next day, which opens a period', '2025-01-05T10:00:00Z', '2025-01-06T10:00:00Z', '2025-01-06'],
  ['two periods ahead', '2025-01-05T10:00:00Z', '2025-01-15T10:00:00Z', '2025-01-13'],
  ['later in the same period', '2025-01-02T10:00:00Z', '2025-01-04T10:00:00Z', '2025-01-02'],
])('an event received before it counts, %s, is in the daily usage', async (_name, receivedAt, timestamp, day) => {
  const story = await open();
  await story.advanceTo(receivedAt);
  await use(story, 51, timestamp);
  await story.advanceTo('2025-01-28T00:00:00Z');
  await until(async () => ((await told(story)).length > 0 ? true : undefined));
  expect(await told(story)).toEqual([[day, 5100, '51.0']]);
});

test('an event received before its subscription exists is in the daily usage', async () => {
  const story = await open({ subscribes: false });
  await use(story, 51, '2025-01-05T10:00:00Z');
  await story.advanceTo('2025-01-03T10:00:00Z');
  await story.subscribe();
  await story.advanceTo('2025-01-14T00:00:00Z');
  expect((await differences(story)).slice(0, 1)).toEqual([['2025-01-05T23:59:59Z', '51', '5100']]);
});

test('an event received while its invoice is a draft is added to the last day of its period', async () => {
  const story = await open({ customer: { billing_configuration: { invoice_grace_period: 3 } } });
  await story.advanceTo('2025-01-04T10:00:00Z');
  await use(story, 2, '2025-01-04T09:00:00Z');
  await story.advanceTo('2025-01-07T10:00:00Z');
  await use(story, 3, '2025-01-05T09:00:00Z');
  await use(story, 4, '2025-01-07T09:00:00Z');
  await story.advanceTo('2025-01-20T00:00:00Z');
  await until(async () => ((await told(story)).length === 3 ? true : undefined));
  expect(await told(story)).toEqual([
    ['2025-01-04', 200, '2.0'],
    ['2025-01-05', 300, '3.0'],
    ['2025-01-07', 400, '4.0'],
  ]);
});

const HOUR_MS = 3_600_000;
const OPENED = Date.parse('2025-01-01T00:00:00Z');

/** Numbers from 0 to below `bound` that look random, the same for a seed every time. */
function numbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * bound);
  };
}

test.each([
  [1, { timezone: 'UTC', billing_configuration: { invoice_grace_period: 3 } }, {}],
  [2, { timezone: 'America/New_York', billing_configuration: { invoice_grace_period: 2 } }, {}],
  [3, { timezone: 'Asia/Tokyo' }, {}],
  [11, { timezone: 'UTC' }, { pay_in_advance: true }],
  [4, { timezone: 'UTC' }, { charge_model: 'package', properties: { amount: '3', free_units: 5, package_size: 10 } }],
])(
  'the days of a closed period add up to its invoice, whenever its events are received (%i)',
  async (seed, customer, charge) => {
    const below = numbers(seed);
    const story = await open({ customer, charge });
    const receipts = Array.from({ length: 12 }, () => 1 + below(27 * 24)).sort((a, b) => a - b);
    for (const hour of receipts) {
      await story.advanceTo(new Date(OPENED + hour * HOUR_MS).toISOString());
      // From a week and a day before the receipt to sixteen days after it.
      const counts = Math.max(0, hour + below(24 * 24) - 8 * 24);
      await use(story, 1 + below(20), new Date(OPENED + counts * HOUR_MS + 60_000).toISOString());
    }
    await story.advanceTo('2025-02-20T00:00:00Z');
    expect(await differences(story)).toEqual(await billed(story));
  },
);

/** What the daily differences of each charges period add up to. */
const differences = async ({ organizationId }: Story) =>
  (
    await service.sql`
      select to_char((to_datetime - interval '1 second') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until,
        trim_scale(sum(added.units))::text as units, sum(added.amount_cents)::text as amount
      from daily_usages, jsonb_to_recordset(usage_diff) as added (units numeric, amount_cents numeric)
      where organization_id = ${organizationId} group by to_datetime order by to_datetime`
  ).map(({ until: end, units, amount }) => [end, units, amount]);

/** The same of the fees for usage. */
const billed = async ({ organizationId }: Story) =>
  (
    await service.sql`
      select to_char((to_datetime - interval '1 second') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until,
        trim_scale(sum(units))::text as units, sum(amount_cents)::text as amount
      from fees where organization_id = ${organizationId} and fee_type = 'charge' and units <> 0
      group by to_datetime order by to_datetime`
  ).map(({ until: end, units, amount }) => [end, units, amount]);
