import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// What corrections give back of usage that was billed before its period ended: CO13 and CO14 of event-corrections.md.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/**
 * March at 1.00 a unit and 10 % tax, with thresholds; each event is billed as they ask before the next is sent. It is
 * over, unless units are grouped by team.
 */
async function march(
  thresholds: object[],
  events: readonly [transaction: string, n: string][],
  { isGrouped = false } = {},
): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } });
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const properties = { amount: '1', ...(isGrouped ? { pricing_group_keys: ['team'] } : {}) };
  await story.plan({
    amount_cents: 0,
    usage_thresholds: thresholds,
    charges: [{ billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties }],
  });
  await story.subscribe();
  for (const [index, [transaction_id, n]] of events.entries()) {
    const hour = String(10 + index).padStart(2, '0');
    await story.advanceTo(`2024-03-10T${hour}:00:00Z`);
    const event = { transaction_id, external_subscription_id: 'sub', code: 'units', properties: { n } };
    expect((await client.post('/events', { event })).status).toBe(200);
    await story.advanceTo(`2024-03-10T${hour}:15:00Z`);
  }
  if (!isGrouped) await story.advanceTo('2024-04-02T00:00:00Z');
  return story;
}

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'double', external_subscription_id: 'sub', policy: 'credit_note', ...fields },
  });
  expect([status, body.correction?.status]).toEqual([200, 'settled']);
  return body.correction;
}

const retract = (story: Story, transaction_id: string) => correct(story, { kind: 'retract', transaction_id });

/** Notes, oldest first: their invoice, and what they give back without and with tax. */
const notes = async (story: Story) =>
  (await story.client.get('/credit_notes?per_page=100')).body.credit_notes
    .reverse()
    .map((note: Record<string, unknown>) => [
      note.svc_invoice_id,
      note.sub_total_excluding_taxes_amount_cents,
      note.total_amount_cents,
    ]);

async function audited(story: Story) {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

test('a correction gives back on the progressive invoice what that invoice had billed (CO13)', async () => {
  const story = await march([{ amount_cents: 1000 }], [['twelve', '12']]);
  const [progressive, month] = await story.invoices(2);
  expect(progressive).toMatchObject({ invoice_type: 'progressive_billing', total_amount_cents: 1320 });
  expect(month).toMatchObject({
    fees_amount_cents: 1200,
    progressive_billing_credit_amount_cents: 1200,
    total_amount_cents: 0,
  });
  const { adjustments } = await retract(story, 'twelve');
  expect(adjustments).toMatchObject([
    {
      svc_invoice_id: month.svc_id,
      delta_amount_cents: -1200,
      booked_as: 'credit_note',
      svc_credit_note_id: expect.any(String),
      uncreditable_amount_cents: 0,
    },
  ]);
  expect(await notes(story)).toEqual([[progressive.svc_id, 1200, 1320]]);
  await audited(story);
});

test('a correction gives back first what was billed last (CO14)', async () => {
  const story = await march(
    [{ amount_cents: 1000 }],
    [
      ['one', '12'],
      ['two', '12'],
    ],
  );
  const [progressive, month] = await story.invoices(2);
  expect(month).toMatchObject({ fees_amount_cents: 2400, sub_total_excluding_taxes_amount_cents: 1200 });
  const first = await correct(story, { kind: 'amend', transaction_id: 'two', properties: { n: '5' } });
  expect(first.adjustments).toMatchObject([{ delta_amount_cents: -700, uncreditable_amount_cents: 0 }]);
  expect(await notes(story)).toEqual([[month.svc_id, 700, 770]]);
  // 5 more of the month's own 12, and 7 of the progressive one.
  const second = await retract(story, 'one');
  expect(second.adjustments).toMatchObject([
    { delta_amount_cents: -700, uncreditable_amount_cents: 0 },
    { delta_amount_cents: -500, uncreditable_amount_cents: 0 },
  ]);
  await retract(story, 'two');
  expect(await notes(story)).toEqual([
    [month.svc_id, 700, 770],
    [month.svc_id, 500, 550],
    [progressive.svc_id, 700, 770],
    [progressive.svc_id, 500, 550],
  ]);
  await audited(story);
});

test('each of several progressive invoices of a period gives back what it billed itself', async () => {
  const story = await march(
    [{ amount_cents: 1000 }, { amount_cents: 2000 }],
    [
      ['one', '12'],
      ['two', '12'],
      ['three', '6'],
    ],
  );
  const [first, second, month] = await story.invoices(3);
  expect([first, second, month].map((each) => each.sub_total_excluding_taxes_amount_cents)).toEqual([1200, 1200, 600]);
  await correct(story, { kind: 'amend', transaction_id: 'two', properties: { n: '1' } });
  expect(await notes(story)).toEqual([
    [month.svc_id, 600, 660],
    [second.svc_id, 500, 550],
  ]);
  await retract(story, 'one');
  await retract(story, 'two');
  await retract(story, 'three');
  const given = await notes(story);
  const sum = (id: string) =>
    given.reduce((total: number, [of, cents]: [string, number]) => total + (of === id ? cents : 0), 0);
  expect([first, second, month].map(({ svc_id }) => sum(svc_id))).toEqual([1200, 1200, 600]);
  await audited(story);
});

test('an amount of a progressive invoice that was given back by hand is not given back twice', async () => {
  const story = await march([{ amount_cents: 1000 }], [['twelve', '12']]);
  const [progressive] = await story.invoices(2);
  const credit_note = {
    invoice_id: progressive.svc_id,
    reason: 'other',
    credit_amount_cents: 880,
    items: [{ fee_id: progressive.fees[0].svc_id, amount_cents: 800 }],
  };
  expect((await story.client.post('/credit_notes', { credit_note })).status).toBe(200);
  expect((await retract(story, 'twelve')).adjustments).toMatchObject([
    { delta_amount_cents: -1200, booked_as: 'credit_note', uncreditable_amount_cents: 800 },
  ]);
  expect(await notes(story)).toEqual([
    [progressive.svc_id, 800, 880],
    [progressive.svc_id, 400, 440],
  ]);
  await audited(story);
});

test('what a group took over is given back once, however often its usage falls', async () => {
  const teams = await march([{ amount_cents: 1000 }], [], { isGrouped: true });
  const { client } = teams;
  await teams.advanceTo('2024-03-10T10:00:00Z');
  await teams.use('units', { n: '5', team: 'red' }, { transaction_id: 'five' });
  await teams.use('units', { n: '7', team: 'red' }, { transaction_id: 'seven' });
  await teams.advanceTo('2024-03-10T10:15:00Z');
  await correct(teams, { kind: 'amend', transaction_id: 'seven', properties: { n: '7', team: 'blue' } });
  await teams.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await teams.invoices(2);
  // Blue took over 7.00 of what red was billed, and is taxed on it again.
  expect([progressive, month].map(({ total_amount_cents }) => total_amount_cents)).toEqual([1320, 70]);

  const red = (n: string, policy: string) =>
    correct(teams, { kind: 'amend', transaction_id: 'five', properties: { n, team: 'red' }, policy });
  /** Red rises to eight units by an invoice of its own, which is given back by hand. */
  const riseAndGiveBack = async (amount_cents: number, credit_amount_cents: number) => {
    await red('8', 'debit_invoice');
    const [{ svc_id: invoice_id }] = (await ok(client.get('/invoices?per_page=1'))).invoices;
    const { fees } = await teams.invoice(invoice_id);
    const items = [{ fee_id: fees[0].svc_id, amount_cents }];
    const credit_note = { invoice_id, reason: 'other', credit_amount_cents, items };
    await ok(client.post('/credit_notes', { credit_note }));
    return invoice_id;
  };
  const first = await riseAndGiveBack(300, 330);
  expect((await red('0', 'credit_note')).adjustments).toMatchObject([
    { delta_amount_cents: -800, uncreditable_amount_cents: 300 },
  ]);
  // 3.00 are still owed, so that 5.00 are billed.
  const second = await riseAndGiveBack(500, 550);
  expect((await red('0', 'credit_note')).adjustments).toMatchObject([
    { delta_amount_cents: -800, uncreditable_amount_cents: 800 },
  ]);
  const { adjustments } = await retract(teams, 'seven');
  // Red's 8.00 are still owed.
  expect(adjustments).toMatchObject([800, 0, 0].map((uncreditable_amount_cents) => ({ uncreditable_amount_cents })));
  const given = (await notes(teams)).sort();
  expect(given).toEqual(
    [
      [first, 300, 330],
      [progressive.svc_id, 500, 550],
      [second, 500, 550],
      [progressive.svc_id, 700, 770],
      [month.svc_id, 0, 70],
    ].sort(),
  );
  await audited(teams);
});
