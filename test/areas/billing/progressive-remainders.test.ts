import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// What a month bills beyond what it taxes, since a coupon or a note by hand lowered the credit of its progressive
// invoice, is given back by notes: credit-note-amounts.md#billed-beyond-what-is-taxed,
// progressive-billing.md#taken-over, event-corrections.md#usage-billed-progressively.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Events = readonly [transaction: string, n: string, team: string][];

/** March at 1.00 a unit of a team and 10 % tax: usage that a threshold has billed. */
async function march(coupon?: object, events: Events = [['twelve', '12', 'red']]): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } });
  await story.customer();
  if (coupon) {
    const made = { name: 'Off', code: 'off', expiration: 'no_expiration', ...coupon };
    expect((await client.post('/coupons', { coupon: made })).status).toBe(200);
    const applied_coupon = { external_customer_id: 'acme', coupon_code: 'off' };
    expect((await client.post('/applied_coupons', { applied_coupon })).status).toBe(200);
  }
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    usage_thresholds: [{ amount_cents: 1000 }],
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '1', pricing_group_keys: ['team'] },
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T10:00:00Z');
  for (const [transaction_id, n, team] of events) await story.use('units', { n, team }, { transaction_id });
  await story.advanceTo('2024-03-10T10:15:00Z');
  return story;
}

const HALF = { coupon_type: 'percentage', percentage_rate: '50', frequency: 'forever' };
const FIVE = { coupon_type: 'fixed_amount', amount_cents: 500, amount_currency: 'USD', frequency: 'once' };

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: {
      reason: 'double',
      external_subscription_id: 'sub',
      transaction_id: 'twelve',
      policy: 'credit_note',
      ...fields,
    },
  });
  expect([status, body.correction?.status]).toEqual([200, 'settled']);
  return body.correction.adjustments.reduce(
    (sum: number, each: { uncreditable_amount_cents: number }) => sum + each.uncreditable_amount_cents,
    0,
  );
}

async function creditByHand(
  story: Story,
  of: Invoice,
  team: string,
  amount_cents: number,
  credit_amount_cents: number,
) {
  const fee = of.fees.find(({ item }: Invoice) => JSON.stringify(item.grouped_by ?? of.fees).includes(team));
  const credit_note = {
    invoice_id: of.svc_id,
    reason: 'other',
    credit_amount_cents,
    items: [{ fee_id: fee.svc_id, amount_cents }],
  };
  const made = await story.client.post('/credit_notes', { credit_note });
  expect(made.status, made.text).toBe(200);
}

const figures = (invoice: Invoice) => [
  invoice.progressive_billing_credit_amount_cents,
  invoice.coupons_amount_cents,
  invoice.sub_total_excluding_taxes_amount_cents,
  invoice.taxes_amount_cents,
];

/** What notes of an invoice have given back, without and with tax. */
async function given(story: Story, invoice: Invoice) {
  const notes = (await story.client.get('/credit_notes?per_page=100')).body.credit_notes.filter(
    (note: Record<string, unknown>) => note.svc_invoice_id === invoice.svc_id && note.credit_status !== 'voided',
  );
  const sum = (name: string) => notes.reduce((total: number, note: Record<string, number>) => total + note[name]!, 0);
  return [sum('sub_total_excluding_taxes_amount_cents'), sum('total_amount_cents')];
}

async function audited(story: Story) {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
  const { body } = await story.client.get('/ledger/trial_balance');
  for (const { balanced } of body.trial_balance.currencies) expect(balanced).toBe(true);
}

test.each([
  ['50 %', HALF, [0, 600, 600, 60], [600, 300, 300, 0], 300],
  ['5.00 once', FIVE, [0, 500, 700, 70], [700, 0, 500, 0], 500],
])('with a coupon of %s all that was billed is given back', async (_name, coupon, first, second, untaxed) => {
  const story = await march(coupon);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect([progressive, month].map(figures)).toEqual([first, second]);
  expect(await correct(story, { kind: 'retract' })).toBe(0);
  expect(await given(story, month)).toEqual([untaxed, untaxed]);
  expect(await given(story, progressive)).toEqual([first[2], first[2]! + first[3]!]);
  await audited(story);
});

test('what a note by hand had given back, and the month billed again, is given back too', async () => {
  const story = await march();
  const [before] = await story.invoices(1);
  await creditByHand(story, before, 'red', 800, 880);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect(figures(month)).toEqual([320, 0, 880, 0]);
  expect(await correct(story, { kind: 'amend', properties: { n: '6', team: 'red' } })).toBe(0);
  expect(await given(story, month)).toEqual([660, 660]);
  expect(await correct(story, { kind: 'retract' })).toBe(0);
  expect(await given(story, month)).toEqual([880, 880]);
  // 8.80 by hand, and 4.40.
  expect(await given(story, progressive)).toEqual([1200, 1320]);
  await audited(story);
});

test('an invoice that is voided with a note of all gives back all', async () => {
  const story = await march(FIVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [, month] = await story.invoices(2);
  const items = [{ fee_id: month.fees.find((fee: Invoice) => fee.amount_cents === 1200).svc_id, amount_cents: 1200 }];
  const { body } = await story.client.post('/credit_notes/estimate', {
    credit_note: { invoice_id: month.svc_id, items },
  });
  expect(body.estimated_credit_note).toMatchObject({ max_creditable_amount_cents: 500, taxes_amount_cents: 0 });
  const voided = await story.client.post(`/invoices/${month.svc_id}/void`, {
    generate_credit_note: true,
    credit_amount: 500,
  });
  expect(voided.status, voided.text).toBe(200);
  expect(await given(story, month)).toEqual([500, 500]);
  await audited(story);
});

const TWO_TEAMS: Events = [
  ['four', '4', 'red'],
  ['twelve', '12', 'blue'],
];

test('one of two groups gives back its own part of what the month billed beyond what is taxed', async () => {
  const story = await march(FIVE, TWO_TEAMS);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect([progressive, month].map(figures)).toEqual([
    [0, 500, 1100, 110],
    [1100, 0, 500, 0],
  ]);
  expect(await correct(story, { kind: 'retract', transaction_id: 'four' })).toBe(0);
  // A quarter of each.
  expect(await given(story, month)).toEqual([125, 125]);
  expect(await given(story, progressive)).toEqual([275, 303]);
  expect(await correct(story, { kind: 'retract' })).toBe(0);
  expect(await given(story, month)).toEqual([500, 500]);
  expect(await given(story, progressive)).toEqual([1100, 1210]);
  await audited(story);
});

test('a group that was given back by hand gives back nothing of another one', async () => {
  const story = await march(undefined, TWO_TEAMS);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect(figures(month)).toEqual([1600, 0, 0, 0]);
  await creditByHand(story, progressive, 'red', 400, 440);
  expect(await correct(story, { kind: 'retract', transaction_id: 'four' })).toBe(400);
  expect(await given(story, progressive)).toEqual([400, 440]);
  await audited(story);
});

test('usage that has moved to another group is taxed again, and can be given back once', async () => {
  const story = await march();
  const moved = { n: '12', team: 'blue' };
  await correct(story, { kind: 'amend', properties: moved });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect([progressive, month].map(figures)).toEqual([
    [0, 0, 1200, 120],
    [1200, 0, 0, 120],
  ]);
  const blue = month.fees.find((fee: Invoice) => fee.amount_cents === 1200);
  const { body } = await story.client.post('/credit_notes/estimate', {
    credit_note: { invoice_id: month.svc_id, items: [{ fee_id: blue.svc_id, amount_cents: 1200 }] },
  });
  expect(body.estimated_credit_note).toMatchObject({ max_creditable_amount_cents: 120, taxes_amount_cents: 120 });
  expect(await correct(story, { kind: 'amend', properties: { ...moved, n: '6' } })).toBe(0);
  expect(await given(story, month)).toEqual([0, 60]);
  expect(await given(story, progressive)).toEqual([600, 660]);
  expect(await correct(story, { kind: 'retract' })).toBe(0);
  expect(await given(story, month)).toEqual([0, 120]);
  expect(await given(story, progressive)).toEqual([1200, 1320]);
  await audited(story);
});

test('invoices that were issued before take over by the migration what they would have taken over', async () => {
  const story = await march(FIVE, TWO_TEAMS);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [, month] = await story.invoices(2);
  const rows = () => service.sql`
    select grouped_by ->> 'team' as team, untaxed_amount_cents::text, (part ->> 'part_cents')::int as part_cents
    from fees left join lateral jsonb_array_elements(progressive_parts) as part on true
    where invoice_id = ${month.svc_id} and fee_type = 'charge' order by team`;
  const issued = await rows();
  expect(issued).toMatchObject([
    { team: 'blue', untaxed_amount_cents: '375.00000', part_cents: 825 },
    { team: 'red', untaxed_amount_cents: '125.00000', part_cents: 275 },
  ]);
  await service.sql`update fees set untaxed_amount_cents = 0, progressive_parts = null`;
  const migration = readFileSync('migrations/0030_keep_what_progressive_fees_give.sql', 'utf8');
  const [fills] = migration.match(/create temporary table[\s\S]*drop table taken_over;/)!;
  const connection = await service.sql.reserve();
  try {
    await connection.unsafe(fills);
  } finally {
    connection.release();
  }
  expect(await rows()).toEqual(issued);
  expect(await correct(story, { kind: 'retract', transaction_id: 'four' })).toBe(0);
  expect(await given(story, month)).toEqual([125, 125]);
});
