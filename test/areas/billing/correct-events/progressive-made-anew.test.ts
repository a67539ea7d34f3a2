import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Corrections of usage that was billed before its period ended, where invoices of the period are voided and
// regenerated: event-corrections.md#regenerated-invoices, event-corrections.md#usage-billed-progressively. Usage costs
// 1.00 a unit and 10 % tax.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const THRESHOLDS = [{ amount_cents: 1000 }, { amount_cents: 2000 }, { amount_cents: 3000 }];

/** A subscription in March to a charge by team for each metric. */
async function march(metrics: readonly string[] = ['units'], thresholds: object[] = THRESHOLDS): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await ok(story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } }));
  await story.customer();
  const charges = [];
  for (const code of metrics) {
    const metric = await story.metric(code, { aggregation_type: 'sum_agg', field_name: 'n' });
    const properties = { amount: '1', ...(metrics.length > 1 ? {} : { pricing_group_keys: ['team'] }) };
    charges.push({ billable_metric_id: metric.svc_id, code, charge_model: 'standard', properties });
  }
  await story.plan({ amount_cents: 0, usage_thresholds: thresholds, charges });
  await story.subscribe();
  return story;
}

type Used = readonly [transaction: string, n: number, team: string];

/** Sends events within an hour, at whose end thresholds are looked at. */
async function use(story: Story, hours: number, events: readonly Used[], code = 'units'): Promise<void> {
  const at = Temporal.Instant.from('2024-03-10T00:00:00Z').add({ hours });
  await story.advanceTo(`${at}`);
  for (const [transaction_id, n, team] of events) await story.use(code, { n: `${n}`, team }, { transaction_id });
}
const look = (story: Story, hours: number) =>
  story.advanceTo(`${Temporal.Instant.from('2024-03-10T00:15:00Z').add({ hours })}`);
const april = (story: Story) => story.advanceTo('2024-04-02T00:00:00Z');

async function correct(story: Story, fields: object): Promise<Shown> {
  const { correction } = await ok(
    story.client.post('/events/corrections', {
      correction: { reason: 'wrong', external_subscription_id: 'sub', policy: 'debit_invoice', ...fields },
    }),
  );
  return until(async () => {
    const { correction: found } = await ok(story.client.get(`/events/corrections/${correction.svc_id}`));
    expect(found.status).not.toBe('failed');
    return found.status === 'settled' ? found : undefined;
  });
}
const amend = (story: Story, [transaction_id, n, team]: Used) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}`, team } });
const retract = (story: Story, transaction_id: string) => correct(story, { kind: 'retract', transaction_id });
const retractAll = (story: Story) =>
  correct(story, { kind: 'retract_range', timestamp_from: '2024-03-01', timestamp_to: '2024-03-31' });

const monthOf = async (story: Story): Promise<Invoice> => {
  const { invoices } = await ok(story.client.get('/invoices?per_page=100&statuses[]=finalized'));
  return story.invoice(invoices.find((each: Invoice) => each.invoice_type === 'subscription').svc_id);
};

/** Voids an invoice and regenerates it with its fees, changed by team; those of null are left out. */
async function anew(story: Story, source: Invoice, changes: Record<string, object | null> = {}): Promise<Invoice> {
  await ok(story.client.post(`/invoices/${source.svc_id}/void`));
  const fees = source.fees.flatMap((fee: Shown) => {
    const change = changes[fee.item.grouped_by?.team];
    return change === null ? [] : [{ id: fee.svc_id, ...change }];
  });
  const { invoice } = await ok(story.client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: { fees } }));
  return story.invoice(invoice.svc_id);
}

const figures = (invoice: Invoice) => [
  invoice.fees_amount_cents,
  invoice.progressive_billing_credit_amount_cents,
  invoice.total_amount_cents,
];

/** Notes, oldest first: their invoice, and what they give back without and with tax. */
const notes = async (story: Story): Promise<[string, number, number][]> =>
  (await ok(story.client.get('/credit_notes?per_page=100'))).credit_notes
    .reverse()
    .map((note: Shown) => [note.svc_invoice_id, note.sub_total_excluding_taxes_amount_cents, note.total_amount_cents]);

/** What invoices that stand have billed, less what notes gave back of them. */
async function billed(story: Story): Promise<number> {
  const { invoices } = await ok(story.client.get('/invoices?per_page=100&statuses[]=finalized'));
  const given = (await notes(story)).filter(([id]) => invoices.some(({ svc_id }: Invoice) => svc_id === id));
  return (
    invoices.reduce((sum: number, each: Invoice) => sum + each.sub_total_including_taxes_amount_cents, 0) -
    given.reduce((sum, [, , total]) => sum + total, 0)
  );
}

/** The auditor finds nothing. */
async function sound(story: Story): Promise<void> {
  await ok(story.client.post('/audits', {}));
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

describe('a fee that is reached by several ways', () => {
  test('gives back by one adjustment: two groups of a progressive invoice had taken it over', async () => {
    const story = await march();
    await use(story, 0, [
      ['eight', 8, 'red'],
      ['four', 4, 'red'],
    ]);
    await look(story, 0);
    await use(story, 1, [['twelve', 12, 'blue']]);
    await amend(story, ['four', 4, 'blue']);
    await look(story, 1);
    await amend(story, ['four', 4, 'red']);
    await amend(story, ['twelve', 12, 'red']);
    await april(story);
    const [first, second, month] = await story.invoices(3);
    expect([first, second, month].map(figures)).toEqual([
      [1200, 0, 1320],
      [2400, 1200, 1360],
      [2400, 2400, 160],
    ]);
    const { adjustments } = await retractAll(story);
    expect(adjustments.map((each: Shown) => each.uncreditable_amount_cents)).toEqual(adjustments.map(() => 0));
    expect((await notes(story)).sort()).toEqual(
      [
        [first.svc_id, 1200, 1320],
        [second.svc_id, 1200, 1360],
        [month.svc_id, 0, 160],
      ].sort(),
    );
    expect(await billed(story)).toBe(0);
    await sound(story);
  });

  test('gives back to two charges at once', async () => {
    const story = await march(['calls', 'mails'], [{ amount_cents: 1000 }, { amount_cents: 1500 }]);
    await use(story, 0, [['twelve', 12, '']], 'calls');
    await use(story, 0, [['ten', 1, '']], 'mails');
    await look(story, 0);
    await use(story, 1, [['four', 4, '']], 'calls');
    await look(story, 1);
    await retract(story, 'four');
    await amend(story, ['twelve', 10, '']);
    await amend(story, ['ten', 10, '']);
    await april(story);
    const [first, second, month] = await story.invoices(3);
    expect([first, second, month].map(figures)).toEqual([
      [1300, 0, 1430],
      [1700, 1300, 440],
      [2000, 1700, 390],
    ]);
    await retractAll(story);
    expect(await billed(story)).toBe(0);
    await sound(story);
  });
});

describe('notes of a progressive invoice that was voided', () => {
  test('leave the invoice that was made anew whole where their invoice was paid', async () => {
    const story = await march();
    await use(story, 0, [['twelve', 12, 'red']]);
    await april(story);
    const [first] = await story.invoices(2);
    const payment = { invoice_id: first.svc_id, amount_cents: 1320, reference: 'cash', paid_at: '2024-04-02' };
    await ok(story.client.post('/payments', { payment }));
    await amend(story, ['twelve', 5, 'red']);
    const again = await anew(story, first);
    expect((await retract(story, 'twelve')).adjustments).toMatchObject([
      { delta_amount_cents: -1200, uncreditable_amount_cents: 0 },
    ]);
    expect(await notes(story)).toEqual([
      [first.svc_id, 700, 770],
      [again.svc_id, 1200, 1320],
    ]);
    expect(await billed(story)).toBe(0);
    await sound(story);
  });

  test('count as given back of the invoice that was made anew where nothing was paid', async () => {
    const story = await march();
    await use(story, 0, [['twelve', 12, 'red']]);
    await april(story);
    const [first] = await story.invoices(2);
    await amend(story, ['twelve', 5, 'red']);
    const again = await anew(story, first);
    expect((await retract(story, 'twelve')).adjustments).toMatchObject([
      { delta_amount_cents: -500, uncreditable_amount_cents: 0 },
    ]);
    expect(await notes(story)).toEqual([
      [first.svc_id, 700, 770],
      [again.svc_id, 500, 550],
    ]);
  });
});

describe('a correction before the month was regenerated', () => {
  /** 34 units billed progressively, of which red has given 12 back. */
  async function corrected(): Promise<{ story: Story; progressive: Invoice; month: Invoice }> {
    const story = await march();
    await use(story, 0, [
      ['one', 12, 'red'],
      ['two', 12, 'red'],
      ['ten', 10, 'blue'],
    ]);
    await april(story);
    const [progressive, month] = await story.invoices(2);
    expect([progressive, month].map(figures)).toEqual([
      [3400, 0, 3740],
      [3400, 3400, 0],
    ]);
    await retract(story, 'two');
    expect(await notes(story)).toEqual([[progressive.svc_id, 1200, 1320]]);
    return { story, progressive, month };
  }

  test('stays settled where the fee of another group is changed', async () => {
    const { story, progressive, month } = await corrected();
    expect(figures(await anew(story, month, { blue: { units: '5' } }))).toEqual([2900, 2900, 0]);
    expect(await notes(story)).toEqual([
      [progressive.svc_id, 1200, 1320],
      [progressive.svc_id, 500, 550],
    ]);
    expect(await billed(story)).toBe(1870);
    expect((await amend(story, ['one', 13, 'red'])).adjustments).toMatchObject([{ delta_amount_cents: 100 }]);
    expect(await billed(story)).toBe(1980);
    await sound(story);
  });

  test('stays settled where a note by hand lowers what the month is credited with', async () => {
    const { story, progressive, month } = await corrected();
    const blue = progressive.fees.find((fee: Shown) => fee.item.grouped_by.team === 'blue');
    const items = [{ fee_id: blue.svc_id, amount_cents: 200 }];
    const credit_note = { invoice_id: progressive.svc_id, reason: 'other', credit_amount_cents: 220, items };
    await ok(story.client.post('/credit_notes', { credit_note }));
    await anew(story, month);
    expect(await billed(story)).toBe(2420);
    expect((await amend(story, ['one', 13, 'red'])).adjustments).toMatchObject([{ delta_amount_cents: 100 }]);
    expect(await billed(story)).toBe(2530);
    await sound(story);
  });

  test.each([
    ['12', 2200, 2420, 1],
    ['30', 4000, 4400, 1],
    ['5', 1500, 1650, 2],
  ])('lowers the credit where its own fee is changed to %s units', async (units, fees, total, count) => {
    const { story, month } = await corrected();
    const again = await anew(story, month, { red: { units } });
    expect(again.fees_amount_cents).toBe(fees);
    expect(await billed(story)).toBe(total);
    expect(await notes(story)).toHaveLength(count);
    expect((await amend(story, ['ten', 11, 'blue'])).adjustments).toMatchObject([{ delta_amount_cents: 100 }]);
    expect(await billed(story)).toBe(total + 110);
    // A copy of the changed fee comes to the same.
    await anew(story, again);
    expect(await billed(story)).toBe(total + 110);
    await sound(story);
  });

  test('lowers the credit where its own fee is left out: the rest of it is given back', async () => {
    const { story, month } = await corrected();
    expect(figures(await anew(story, month, { red: null }))).toEqual([1000, 1000, 0]);
    expect(await billed(story)).toBe(1100);
    await sound(story);
  });

  test('of two groups by one note counts by group', async () => {
    const { story, progressive, month } = await corrected();
    await retractAll(story);
    expect(await billed(story)).toBe(0);
    const again = await anew(story, month, { blue: { units: '4' } });
    expect(again.fees_amount_cents).toBe(2800);
    expect(await billed(story)).toBe(440);
    await sound(story);
    expect((await notes(story)).every(([id]) => id === progressive.svc_id)).toBe(true);
  });
});

test('the excess of a progressive invoice that failed is given back once', async () => {
  const story = await march();
  await use(story, 0, [['twelve', 12, 'red']]);
  await look(story, 0);
  await amend(story, ['twelve', 5, 'red']);
  const { organizationId } = story;
  await service.sql`
    update invoices set status = 'failed', finalized_at = null
    where organization_id = ${organizationId} and invoice_type = 'progressive_billing'`;
  await april(story);
  const drafts = () => service.sql<{ credit_amount_cents: number }[]>`
    select credit_amount_cents from credit_notes where organization_id = ${organizationId} and status = 'draft'`;
  expect(await drafts()).toEqual([{ credit_amount_cents: 770 }]);
  const again = await anew(story, await monthOf(story));
  expect(figures(again)).toEqual([500, 500, 0]);
  expect(await drafts()).toEqual([{ credit_amount_cents: 770 }]);
});

test('a note by hand on a voided invoice does not stand for what had paid it', async () => {
  const story = await march(['units'], []);
  const wallet = { rate_amount: '1', name: 'Prepaid', currency: 'USD', granted_credits: '20' };
  await ok(story.client.post('/wallets', { wallet: { ...wallet, external_customer_id: 'acme' } }));
  await use(story, 0, [
    ['ten', 10, 'red'],
    ['two', 2, 'red'],
  ]);
  await april(story);
  const month = await monthOf(story);
  const usage = month.fees.find((fee: Shown) => fee.amount_cents === 1200);
  expect(month).toMatchObject({ prepaid_credit_amount_cents: 1320, total_amount_cents: 0 });
  await retract(story, 'two');
  await ok(story.client.post(`/invoices/${month.svc_id}/void`));
  const items = [{ fee_id: usage.svc_id, amount_cents: 100 }];
  const credit_note = { invoice_id: month.svc_id, reason: 'other', credit_amount_cents: 110, items };
  await ok(story.client.post('/credit_notes', { credit_note }));
  const fees = [{ id: usage.svc_id }];
  await ok(story.client.post(`/invoices/${month.svc_id}/regenerate`, { invoice: { fees } }));
  // The credits were returned, so that the 2.00 of the first note were a gift.
  expect((await amend(story, ['ten', 11, 'red'])).adjustments).toMatchObject([
    { old_amount_cents: 1000, new_amount_cents: 1100, delta_amount_cents: 100 },
  ]);
});
