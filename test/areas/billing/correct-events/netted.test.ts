import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// What was netted within an invoice is given back by the fee that billed it: event-corrections.md#difference. 13 units
// of the team red cost 10.00 each and are invoiced on 1 April; prices and taxes are those of each case.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Sent = [transaction_id: string, n: number, team: string];

async function april(events: readonly Sent[], { charge = {}, plan = {} }: { charge?: object; plan?: object } = {}) {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await ok(story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } }));
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '10', pricing_group_keys: ['team'] },
        ...charge,
      },
    ],
    ...plan,
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const [transaction_id, n, team] of events) {
    await story.use('units', { n: `${n}`, team }, { transaction_id });
    await story.advanceTo(
      new Date(
        Date.parse('2024-03-10T00:00:00Z') + events.findIndex(([id]) => id === transaction_id) * 3_600_000 + 3_600_000,
      ).toISOString(),
    );
  }
  await story.advanceTo('2024-04-02T00:00:00Z');
  return story;
}

const RED: Sent[] = [
  ['ten', 10, 'red'],
  ['three', 3, 'red'],
];

const correct = async (story: Story, fields: object): Promise<Shown> =>
  (
    await ok(
      story.client.post('/events/corrections', {
        correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
      }),
    )
  ).correction;
const retract = (story: Story, transaction_id: string, fields: object = {}) =>
  correct(story, { kind: 'retract', transaction_id, ...fields });
const set = (story: Story, [transaction_id, n, team]: Sent, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}`, team }, ...fields });

/** The auditor finds nothing. */
async function sound(story: Story): Promise<void> {
  await ok(story.client.post('/audits', {}));
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

/** Notes without and with their tax, in cents, oldest first. */
async function notes(story: Story): Promise<[number, number][]> {
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  return credit_notes
    .map((each: Shown) => [each.sub_total_excluding_taxes_amount_cents, each.total_amount_cents])
    .reverse();
}

describe.each([
  ['in arrears', {}],
  ['in advance', { charge: { pay_in_advance: true, invoiceable: true } }],
])('usage %s', (_name, terms) => {
  test('that moved to a group without a fee and was then retracted is given back by the fee of the first group (CO22)', async () => {
    const story = await april(RED, terms);
    await set(story, ['three', 3, 'blue']);
    expect(await notes(story)).toEqual([]);
    expect((await retract(story, 'three')).adjustments).toMatchObject([
      {
        delta_amount_cents: -3000,
        booked_as: 'credit_note',
        uncreditable_amount_cents: 0,
        svc_fee_id: expect.any(String),
      },
    ]);
    expect(await notes(story)).toEqual([[3000, 3300]]);
    // All of the first fee is given back, and not more.
    expect((await retract(story, 'ten')).adjustments).toMatchObject([
      { delta_amount_cents: -10_000, booked_as: 'credit_note', uncreditable_amount_cents: 0 },
    ]);
    expect((await notes(story)).reduce((sum, [, total]) => sum + total, 0)).toBe(14_300);
    await sound(story);
  });

  test('that moved, grew there and was retracted: the growth by what billed it, the rest by the first fee', async () => {
    const story = await april(RED, terms);
    await set(story, ['three', 3, 'blue']);
    await set(story, ['three', 5, 'blue'], { policy: 'debit_invoice' });
    expect((await retract(story, 'three')).adjustments.map((each: Shown) => each.uncreditable_amount_cents)).toEqual([
      0, 0,
    ]);
    expect((await notes(story)).sort()).toEqual([
      [2000, 2200],
      [3000, 3300],
    ]);
    await sound(story);
  });

  test('that moved twice is given back once', async () => {
    const story = await april(RED, terms);
    await set(story, ['three', 3, 'blue']);
    await set(story, ['three', 3, 'green']);
    await set(story, ['three', 1, 'green']);
    expect(await notes(story)).toEqual([[2000, 2200]]);
    await retract(story, 'three');
    expect(await notes(story)).toEqual([
      [2000, 2200],
      [1000, 1100],
    ]);
    await sound(story);
  });
});

test('what moved out of two groups is given back by each as far as it moved', async () => {
  const story = await april([
    ['red', 8, 'red'],
    ['red-moves', 2, 'red'],
    ['blue', 7, 'blue'],
    ['blue-moves', 1, 'blue'],
  ]);
  await set(story, ['red-moves', 2, 'green']);
  await set(story, ['blue-moves', 1, 'green']);
  const correction = await correct(story, {
    kind: 'retract_range',
    timestamp_from: '2024-03-01',
    timestamp_to: '2024-03-31',
    properties: { team: 'green' },
  });
  await until(async () => {
    const { correction: found } = await ok(story.client.get(`/events/corrections/${correction.svc_id}`));
    return found.status === 'settled' ? found : undefined;
  });
  const { credit_notes } = await ok(story.client.get('/credit_notes'));
  const { credit_note } = await ok(story.client.get(`/credit_notes/${credit_notes[0].svc_id}`));
  expect(credit_note.items.map((each: Shown) => each.amount_cents).sort()).toEqual([1000, 2000]);
  expect(await notes(story)).toEqual([[3000, 3300]]);
  await sound(story);
});

test('a true-up that was netted and falls alone is given back by the fee of the usage', async () => {
  const story = await april(RED, {
    charge: { properties: { amount: '10' }, min_amount_cents: 12_000 },
  });
  // 130.00 → 100.00 with a true-up of 20.00: 10.00 are given back.
  await retract(story, 'three');
  expect(await notes(story)).toEqual([[1000, 1100]]);
  // The usage rises by 20.00 and the true-up falls by as much: nothing is booked.
  await set(story, ['ten', 12, 'red']);
  expect(await notes(story)).toEqual([[1000, 1100]]);
  await retract(story, 'ten');
  expect(await notes(story)).toEqual([[1000, 1100]]);
  await sound(story);
});

test.each([
  ['in arrears', {}],
  ['in advance', { charge: { pay_in_advance: true, invoiceable: true } }],
])('usage %s: what waits in the group that it left is lowered before anything is given back', async (_name, terms) => {
  const story = await april(RED, terms);
  await set(story, ['three', 8, 'red']);
  await set(story, ['three', 8, 'blue']);
  const { adjustments } = await set(story, ['three', 2, 'blue']);
  expect(adjustments.map((each: Shown) => [each.delta_amount_cents, each.booked_as])).toEqual([
    [0, 'fee'],
    [-6000, 'credit_note'],
  ]);
  // 50.00 waited; 10.00 of the first fee are given back.
  expect(await notes(story)).toEqual([[1000, 1100]]);
  await retract(story, 'three');
  expect(await notes(story)).toEqual([
    [1000, 1100],
    [2000, 2200],
  ]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { invoices } = await ok(story.client.get('/invoices?per_page=100'));
  expect(invoices.reduce((sum: number, each: Shown) => sum + each.fees_amount_cents, 0)).toBe(13_000);
  await sound(story);
});

test('of what waits in another group the rest is billed, with its units', async () => {
  const story = await april(RED);
  await set(story, ['three', 8, 'red']);
  await set(story, ['three', 8, 'blue']);
  await set(story, ['three', 6, 'blue']);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [, next] = await story.invoices(2);
  expect(next!.fees.filter((fee: Shown) => fee.svc_correction_id)).toMatchObject([
    { amount_cents: 3000, units: '3.0' },
  ]);
  expect(await notes(story)).toEqual([]);
  await sound(story);
});
