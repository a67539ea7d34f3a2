import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Several corrections that wait for the same invoice, which waits for its taxes: each settles what it changed, by its
// own policy (event-corrections.md#corrections-that-wait). One organization; each row is a customer of its own, whose
// invoice of March fails because the tax engine refuses the address, and is final once that is right.
type Plan = keyof typeof PLANS;
/** Cents that corrections billed, gave back and left. */
type Money = [billed: number, credited: number, left: number];
/** Its play: what happens one after the other, in words of `perform`. */
type Row = [plan: Plan, play: string, money: Money];

// By hand. March: `ten` is 10 units and `three` is 3, both of red. Plain and grouped: 10.00 a unit. Graduated: 10.00
// each up to 10, then 5.00. Stock: 1.00 a unit and month; `ten` since February, whose invoice is final. In advance, and
// in advance by steps, which are graduated: both in April, on an invoice each.
const AMENDED_TWICE: Row[] = [
  // Two amendments, 3 → 8 → 6: what falls comes off what waits; what the first left is no longer left.
  ['plain', 'amend three 8 next_invoice, amend three 6 next_invoice', [3000, 0, 0]],
  ['plain', 'amend three 8 next_invoice, amend three 6 ignore', [5000, 0, -2000]],
  ['plain', 'amend three 8 debit_invoice, amend three 6 next_invoice', [5000, 2000, 0]],
  ['plain', 'amend three 8 debit_invoice, amend three 6 ignore', [5000, 0, -2000]],
  ['plain', 'amend three 8 credit_note, amend three 6 next_invoice', [0, 0, 3000]],
  ['plain', 'amend three 8 ignore, amend three 6 next_invoice', [0, 0, 3000]],
  // 3 → 1 → 6: what the first did not give back is no longer left either.
  ['plain', 'amend three 1 next_invoice, amend three 6 next_invoice', [5000, 2000, 0]],
  ['plain', 'amend three 1 credit_note, amend three 6 credit_note', [0, 2000, 5000]],
  ['plain', 'amend three 1 next_invoice, amend three 6 ignore', [0, 2000, 5000]],
  ['plain', 'amend three 1 ignore, amend three 6 debit_invoice', [3000, 0, 0]],
  // 3 → 8 → 11, and 3 → 2 → 0: each its own.
  ['plain', 'amend three 8 next_invoice, amend three 11 ignore', [5000, 0, 3000]],
  ['plain', 'amend three 8 ignore, amend three 11 next_invoice', [3000, 0, 5000]],
  ['plain', 'amend three 2 next_invoice, amend three 0 ignore', [0, 1000, -2000]],
  ['plain', 'amend three 2 ignore, amend three 0 credit_note', [0, 2000, -1000]],
  // 3 → 8 → 11 → 4: what the third takes comes off what waits of the first, as the second was no longer left.
  ['plain', 'amend three 8 next_invoice, amend three 11 ignore, amend three 4 next_invoice', [1000, 0, 0]],
];
const OTHERS: Row[] = [
  // Amended, then retracted.
  ['plain', 'amend three 8 next_invoice, retract three ignore', [5000, 0, -8000]],
  ['plain', 'amend three 8 ignore, retract three next_invoice', [0, 3000, 0]],
  // Another event has nothing to do with it.
  ['plain', 'amend three 8 ignore, amend ten 9 next_invoice', [0, 1000, 5000]],
  // 13 units are 115.00, 18 are 140.00, 12 are 110.00, 7 are 70.00.
  ['graduated', 'amend three 8 next_invoice, amend ten 4 ignore', [2500, 0, -3000]],
  ['graduated', 'amend ten 4 ignore, amend three 8 next_invoice', [4000, 0, -4500]],
  // A range retracts all events of so many units.
  ['plain', 'range 3 next_invoice, amend ten 14 ignore', [0, 3000, 4000]],
  ['plain', 'amend ten 14 next_invoice, range 3 ignore', [4000, 0, -3000]],
  ['plain', 'amend three 8 next_invoice, range 8 ignore', [5000, 0, -8000]],
  // Moved to blue: red falls and blue rises, which is netted; what falls in blue is given back by red.
  ['grouped', 'amend three 3 ignore blue, amend three 2 next_invoice blue', [0, 1000, 0]],
  ['grouped', 'amend three 8 next_invoice, amend three 6 ignore blue', [5000, 0, -2000]],
  // Late while the invoice waits, by the policy of the plan: next_invoice.
  ['plain', 'late five 5, amend five 8 ignore', [5000, 0, 3000]],
  ['plain', 'late five 5, retract five ignore', [5000, 0, -5000]],
  ['plain', 'late five 5, amend three 1 ignore', [5000, 0, -2000]],
  // Late for February, which is final, and for March, which waits: in each month.
  ['stock', 'late five 5, amend five 8 ignore', [1000, 0, 600]],
  ['stock', 'late five 5, retract five ignore', [1000, 0, -1000]],
  ['stock', 'late five 5, amend five 8 ignore, amend five 9 next_invoice', [1200, 0, 600]],
];
const OF_ALL_KINDS: Row[] = [
  // A weighted sum goes on from the total of the month before. Of `held` the invoice of February waits as well.
  ['weighted', 'late five 5, amend five 8 ignore', [1000, 0, 600]],
  ['weighted', 'late five 5, amend five 8 ignore, retract five next_invoice', [0, 0, 0]],
  ['held', 'amend ten 14 next_invoice, amend ten 16 ignore', [800, 0, 400]],
  ['held', 'amend ten 14 ignore, amend ten 16 next_invoice, amend ten 11 next_invoice', [0, 0, 200]],
  // A minimum of 160.00: 13 units and 30.00 beside; 18 units; 16 units. A commitment of 200.00: 18 units and 20.00
  // beside; 25 units.
  ['minimum', 'amend three 8 ignore, amend three 6 next_invoice', [0, 0, 0]],
  ['minimum', 'amend three 8 next_invoice, amend three 5 ignore', [2000, 0, -2000]],
  ['commitment', 'amend three 8 next_invoice, amend three 15 ignore', [0, 0, 5000]],
  ['commitment', 'amend three 8 ignore, amend three 15 next_invoice', [5000, 0, 0]],
  // Red 10.00, all others 20.00: 3 units moved are 30.00 less and 60.00 more.
  ['filtered', 'amend three 3 ignore blue, retract three next_invoice', [0, 3000, 0]],
  ['filtered', 'amend three 3 next_invoice blue, retract three ignore', [3000, 0, -6000]],
  // The greatest: 10, 20, 15. The number of different ones: 2, 1, 2.
  ['peak', 'amend three 20 next_invoice, amend three 15 ignore', [10000, 0, -5000]],
  ['peak', 'amend three 20 ignore, amend ten 30 next_invoice', [10000, 0, 10000]],
  ['unique', 'amend three 10 ignore, amend ten 4 next_invoice', [1000, 0, -1000]],
  // In advance, each event on its own invoice.
  ['advance', 'amend three 8 next_invoice, amend three 6 ignore', [5000, 0, -2000]],
  ['advance', 'amend three 8 next_invoice, amend three 3 next_invoice', [0, 0, 0]],
  ['advance', 'amend three 8 next_invoice, amend three 3 ignore', [5000, 0, -5000]],
  ['advance', 'amend three 1 ignore, amend three 6 debit_invoice', [3000, 0, 0]],
  ['advance', 'amend three 8 ignore, retract three next_invoice', [0, 3000, 0]],
  ['advance', 'amend three 8 next_invoice, retract three ignore', [5000, 0, -8000]],
  // `ten` is 100.00 and `three` 15.00; 8 units after it are 40.00; 3 after 4 are 30.00, 8 after 4 are 70.00.
  ['steps', 'amend ten 4 ignore, amend three 8 next_invoice', [4000, 0, -4500]],
  ['steps', 'amend three 8 next_invoice, amend ten 4 ignore', [2500, 0, -3000]],
  // A correction that no cents can hold has failed; what it has not settled falls to the next one.
  ['plain', 'amend three 1000000000000000000 next_invoice, amend three 6 ignore, retry', [0, 0, 3000]],
  ['plain', 'amend three 1000000000000000000 ignore, amend three 6 next_invoice, retry', [3000, 0, 0]],
];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const GRADUATED = {
  graduated_ranges: [
    { from_value: 0, to_value: 10, per_unit_amount: '10', flat_amount: '0' },
    { from_value: 11, to_value: null, per_unit_amount: '5', flat_amount: '0' },
  ],
};
const AT_TEN = { charge_model: 'standard', properties: { amount: '10' } };
const AT_ONE = { charge_model: 'standard', properties: { amount: '1' } };
const PLANS = {
  plain: { metric: 'units', charge: AT_TEN },
  grouped: {
    metric: 'units',
    charge: { charge_model: 'standard', properties: { amount: '10', pricing_group_keys: ['team'] } },
  },
  graduated: { metric: 'units', charge: { charge_model: 'graduated', properties: GRADUATED } },
  minimum: { metric: 'units', charge: { ...AT_TEN, min_amount_cents: 16_000 } },
  commitment: {
    metric: 'units',
    charge: AT_TEN,
    plan: { minimum_commitment: { amount_cents: 20_000, invoice_display_name: 'Commitment' } },
  },
  filtered: {
    metric: 'units',
    charge: {
      charge_model: 'standard',
      properties: { amount: '20' },
      filters: [{ properties: { amount: '10' }, values: { team: ['red'] } }],
    },
  },
  peak: { metric: 'peak', charge: AT_TEN },
  unique: { metric: 'unique', charge: AT_TEN },
  stock: { metric: 'stock', charge: AT_ONE },
  weighted: { metric: 'weighted', charge: AT_ONE },
  held: { metric: 'weighted', charge: AT_ONE },
  advance: { metric: 'units', charge: { ...AT_TEN, pay_in_advance: true, invoiceable: true } },
  steps: {
    metric: 'units',
    charge: { charge_model: 'graduated', properties: GRADUATED, pay_in_advance: true, invoiceable: true },
  },
} satisfies Record<string, { metric: string; charge: object; plan?: object }>;
const METRICS = {
  units: { aggregation_type: 'sum_agg', filters: [{ key: 'team', values: ['red'] }] },
  peak: { aggregation_type: 'max_agg' },
  unique: { aggregation_type: 'unique_count_agg' },
  stock: { aggregation_type: 'sum_agg', recurring: true },
  weighted: { aggregation_type: 'weighted_sum_agg', recurring: true, weighted_interval: 'seconds' },
};
const isRecurring = (plan: Plan) => 'recurring' in METRICS[PLANS[plan].metric as keyof typeof METRICS];
const isInAdvance = (plan: Plan) => plan === 'advance' || plan === 'steps';
const codeOf = (plan: Plan) => PLANS[plan].metric;
const IN_MARCH = '2024-03-20T00:00:00Z';
const IN_FEBRUARY = '2024-02-01T00:00:00Z';

const address = (story: Story, external_id: string, address_line1: string) =>
  story.customer({ external_id, address_line1 });

/** 2 April: the invoices of March wait. */
async function april(rows: readonly Row[]): Promise<Story> {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  const engine = { type: 'anrok', code: 'engine', name: 'Engine', api_key: 'sandbox' };
  await ok(story.client.post('/integrations', { integration: engine }));
  const metrics = new Map<string, string>();
  for (const [code, fields] of Object.entries(METRICS))
    metrics.set(code, (await story.metric(code, { field_name: 'n', ...fields })).svc_id);
  for (const [code, { metric, charge, ...more }] of Object.entries(PLANS))
    await story.plan({
      code,
      amount_cents: 0,
      usage_policies: { late_events: 'next_invoice' },
      charges: [{ billable_metric_id: metrics.get(metric), code: 'charge', ...charge }],
      ...('plan' in more ? more.plan : {}),
    });
  for (const [n, [plan]] of rows.entries()) {
    const name = `c${n}`;
    await story.customer({
      external_id: name,
      country: 'US',
      state: 'CO',
      address_line1: plan === 'held' ? '1 fail street' : '1 good street',
      integration_customers: [{ integration_type: 'anrok', integration_code: 'engine', sync_with_provider: true }],
    });
    await story.subscribe({ external_customer_id: name, external_id: name, plan_code: plan });
    if (isInAdvance(plan)) continue;
    const at = isRecurring(plan) ? IN_FEBRUARY : '2024-03-10T00:00:00Z';
    await story.use(codeOf(plan), { n: '10', team: 'red' }, { by: name, at, transaction_id: 'ten' });
    if (!isRecurring(plan))
      await story.use(codeOf(plan), { n: '3', team: 'red' }, { by: name, at: IN_MARCH, transaction_id: 'three' });
  }
  await story.advanceTo('2024-03-02T00:00:00Z');
  for (const n of rows.keys()) await address(story, `c${n}`, '1 fail street');
  await story.advanceTo('2024-04-02T00:00:00Z');
  for (const [n, [plan]] of rows.entries())
    if (isInAdvance(plan))
      for (const [transaction_id, units] of [
        ['ten', '10'],
        ['three', '3'],
      ] as const) {
        await story.use('units', { n: units, team: 'red' }, { by: `c${n}`, transaction_id });
        await until(async () => {
          const query = `external_customer_id=c${n}&event_transaction_id=${transaction_id}`;
          const { fees } = await ok(story.client.get(`/fees?${query}`));
          return fees.length > 0 ? fees : undefined;
        });
      }
  return story;
}

/**
 * A part of a play: `late EVENT UNITS`, `amend EVENT UNITS POLICY [TEAM]`, `retract EVENT POLICY`, `range UNITS
 * POLICY`, or `retry`, of those that failed.
 */
async function perform(story: Story, name: string, plan: Plan, part: string): Promise<void> {
  const [kind, subject, ...rest] = part.split(' ') as [string, string, ...string[]];
  const correct = async (fields: object) => {
    const correction = { reason: 'wrong', external_subscription_id: name, ...fields };
    return (await ok(story.client.post('/events/corrections', { correction }))).correction;
  };
  if (kind === 'late') {
    const at = isRecurring(plan) ? IN_FEBRUARY : IN_MARCH;
    await story.use(codeOf(plan), { n: rest[0], team: 'red' }, { by: name, at, transaction_id: subject });
  } else if (kind === 'amend') {
    const [n, policy, team = 'red'] = rest;
    await correct({ kind, transaction_id: subject, properties: { n, team }, policy });
  } else if (kind === 'retry') {
    const failed = `/events/corrections?statuses[]=failed&external_subscription_id=${name}`;
    const [correction] = (await ok(story.client.get(failed))).corrections;
    expect(correction.error).toMatchObject({ code: 'value_is_out_of_range' });
    await ok(story.client.post(`/events/corrections/${correction.svc_id}/retry`));
  } else if (kind === 'retract') await correct({ kind, transaction_id: subject, policy: rest[0] });
  else {
    const range = { timestamp_from: '2024-03-01', timestamp_to: '2024-04-01', properties: { n: subject } };
    const { svc_id } = await correct({ kind: 'retract_range', policy: rest[0], ...range });
    await until(async () => {
      const { correction } = await ok(story.client.get(`/events/corrections/${svc_id}`));
      return correction.status === 'pending' ? undefined : correction;
    });
  }
}

/** What corrections billed, gave back and left of a customer. */
async function moneyOf(story: Story, name: string): Promise<Money> {
  const { client } = story;
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  const { invoices } = await ok(client.get(`/invoices?per_page=100&external_customer_id=${name}&statuses[]=finalized`));
  const whole: Shown[] = await Promise.all(invoices.map(({ svc_id }: Shown) => story.invoice(svc_id)));
  const fees = whole.flatMap((invoice) => invoice.fees).filter(({ svc_correction_id: of }) => of !== undefined);
  const { credit_notes } = await ok(client.get(`/credit_notes?per_page=100&external_customer_id=${name}`));
  const { corrections } = await ok(client.get(`/events/corrections?per_page=100&external_subscription_id=${name}`));
  expect(corrections.map(({ status }: Shown) => status)).toEqual(corrections.map(() => 'settled'));
  const shown: Shown[] = await Promise.all(
    corrections.map(({ svc_id }: Shown) => ok(client.get(`/events/corrections/${svc_id}/adjustments?per_page=100`))),
  );
  const left = shown.reduce((total, { adjustments }) => total + sum(adjustments, 'left_amount_cents'), 0);
  return [sum(fees, 'amount_cents'), sum(credit_notes, 'sub_total_excluding_taxes_amount_cents'), left];
}

test.each([
  ['of two amendments', AMENDED_TWICE],
  ['of an amendment and something else', OTHERS],
  ['of what is measured, charged and billed otherwise', OF_ALL_KINDS],
])('each correction settles what it changed, by its own policy: %s', { timeout: 200_000 }, async (_title, rows) => {
  const story = await april(rows);
  const plays = rows.map(([plan, play], n) => ({ name: `c${n}`, plan, parts: play.split(', ') }));
  // Late usage is looked at within the hour.
  for (const { name, plan, parts } of plays) await perform(story, name, plan, parts[0]!);
  await story.advanceTo('2024-04-02T02:00:00Z');
  for (const { name, plan, parts } of plays) for (const part of parts.slice(1)) await perform(story, name, plan, part);
  for (const { name } of plays) await address(story, name, '1 good street');
  await until(async () => {
    const { meta } = await ok(story.client.get('/invoices?statuses[]=failed&statuses[]=pending'));
    return meta.total_count === 0 ? true : undefined;
  }, 60_000);
  await story.advanceTo('2024-04-03T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const found: Row[] = [];
  for (const [n, [plan, play]] of rows.entries()) found.push([plan, play, await moneyOf(story, `c${n}`)]);
  expect(found).toEqual(rows);
  await ok(story.client.post('/audits', {}));
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
});
