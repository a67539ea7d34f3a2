import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

// Invoices of a period with progressive billing, voided and made anew: progressive-billing.md#credit-in-steps,
// invoice-operations.md#regenerate. Usage costs 1.00 a unit and 10 % tax, so the invoices less their notes come to 1.10
// for each unit.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const THRESHOLDS = [{ amount_cents: 1000 }, { amount_cents: 2000 }, { amount_cents: 3000 }];

type Used = readonly [transaction: string, n: string, team?: string];

/** A subscription in March; each event is billed as thresholds ask before the next is sent. */
async function march(events: readonly Used[], isGrouped = false): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } });
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const properties = { amount: '1', ...(isGrouped ? { pricing_group_keys: ['team'] } : {}) };
  await story.plan({
    amount_cents: 0,
    usage_thresholds: THRESHOLDS,
    charges: [{ billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties }],
  });
  await story.subscribe();
  for (const [index, event] of events.entries()) await use(story, index, event);
  return story;
}

async function use(story: Story, hours: number, [transaction_id, n, team = 'red']: Used): Promise<void> {
  const at = Temporal.Instant.from('2024-03-10T00:00:00Z').add({ hours });
  await story.advanceTo(`${at}`);
  await story.use('units', { n, team }, { transaction_id });
  await story.advanceTo(`${at.add({ minutes: 15 })}`);
}

async function correct(story: Story, fields: object): Promise<void> {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'double', external_subscription_id: 'sub', ...fields },
  });
  expect([status, body.correction?.status]).toEqual([200, 'settled']);
}

const voidInvoice = async (story: Story, { svc_id }: Invoice) =>
  expect((await story.client.post(`/invoices/${svc_id}/void`)).status).toBe(200);

const regenerate = (story: Story, { svc_id, fees }: Invoice, changes: object = {}) =>
  story.client.post(`/invoices/${svc_id}/regenerate`, {
    invoice: { fees: fees.map((fee: Invoice) => ({ id: fee.svc_id, ...changes })) },
  });

async function makeAnew(story: Story, source: Invoice, changes: object = {}): Promise<Invoice> {
  await voidInvoice(story, source);
  const { status, body, text } = await regenerate(story, source, changes);
  expect(status, text).toBe(200);
  return story.invoice(body.invoice.svc_id);
}

const figures = (invoice: Invoice) => [
  invoice.fees_amount_cents,
  invoice.progressive_billing_credit_amount_cents,
  invoice.sub_total_excluding_taxes_amount_cents,
  invoice.taxes_amount_cents,
];

/** Notes, oldest first: their invoice, and what they give back without and with tax. */
const notes = async (story: Story) =>
  (await story.client.get('/credit_notes?per_page=100')).body.credit_notes
    .reverse()
    .map((note: Record<string, unknown>) => [
      note.svc_invoice_id,
      note.sub_total_excluding_taxes_amount_cents,
      note.total_amount_cents,
    ]);

/** What invoices that stand have billed, less what notes gave back. */
async function billed(story: Story): Promise<number> {
  const { invoices } = (await story.client.get('/invoices?per_page=100')).body;
  const standing = invoices.filter(({ status }: Invoice) => status === 'finalized');
  const given = await notes(story);
  return (
    standing.reduce((sum: number, each: Invoice) => sum + each.sub_total_including_taxes_amount_cents, 0) -
    given.reduce((sum: number, [, , total]: [string, number, number]) => sum + total, 0)
  );
}

async function audited(story: Story): Promise<void> {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

const monthOf = async (story: Story, count: number): Promise<Invoice> => {
  await story.advanceTo('2024-04-02T00:00:00Z');
  return (await story.invoices(count)).find(({ invoice_type }: Invoice) => invoice_type === 'subscription')!;
};

test('what two progressive invoices gave back is not given back once more when the month is made anew', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  await correct(story, { kind: 'retract', transaction_id: 'two' });
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' } });
  const month = await monthOf(story, 3);
  const [first, second] = await story.invoices(3);
  const given = [
    [second.svc_id, 1200, 1320],
    [first.svc_id, 700, 770],
  ];
  expect(await notes(story)).toEqual(given);
  const anew = await makeAnew(story, month);
  expect(figures(anew)).toEqual([500, 500, 0, 0]);
  expect(await notes(story)).toEqual(given);
  expect(await billed(story)).toBe(550);
  await audited(story);
});

test('what one progressive invoice gave back is not billed when the month is made anew', async () => {
  const story = await march([['one', '12']]);
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' } });
  const month = await monthOf(story, 2);
  expect(await billed(story)).toBe(550);
  const anew = await makeAnew(story, month);
  expect(figures(anew)).toEqual([500, 500, 0, 0]);
  expect(await billed(story)).toBe(550);
});

test('a month made anew of more units bills again what was given back of them, with its tax', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  await correct(story, { kind: 'retract', transaction_id: 'two' });
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' } });
  const month = await monthOf(story, 3);
  // 5.50 are paid; 4 units more are 4.40, of which the tax is part of what is billed beyond the taxed amount.
  const nine = await makeAnew(story, month, { units: '9' });
  expect(figures(nine)).toEqual([900, 460, 440, 0]);
  expect(await billed(story)).toBe(990);
  const thirty = await makeAnew(story, nine, { units: '30' });
  expect(figures(thirty)).toEqual([3000, 310, 2690, 60]);
  expect(await billed(story)).toBe(3300);
});

test('a progressive invoice that is made anew after the next one credits only what was billed before it', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  const [first, second] = await story.invoices(2);
  const anew = await makeAnew(story, first);
  expect(figures(anew)).toEqual([1200, 0, 1200, 120]);
  expect(await billed(story)).toBe(2640);
  const month = await monthOf(story, 4);
  expect(figures(month)).toEqual([2400, 2400, 0, 0]);
  expect(month.credits.map(({ item }: Invoice) => item.svc_item_id)).toEqual([second.svc_id]);
  expect(await billed(story)).toBe(2640);
  // The note of the first invoice is one of the invoice that stands in its place.
  await correct(story, { kind: 'retract', transaction_id: 'two', policy: 'credit_note' });
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' }, policy: 'credit_note' });
  expect(await notes(story)).toEqual([
    [second.svc_id, 1200, 1320],
    [anew.svc_id, 700, 770],
  ]);
  expect(await billed(story)).toBe(550);
  await audited(story);
});

test('a threshold looks at the progressive invoice of the most usage, not at the one that was made last', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  const [first] = await story.invoices(2);
  const anew = await makeAnew(story, first);
  await use(story, 2, ['three', '1']);
  const found = await service.sql`select 1 from progressive_runs where organization_id = ${story.organizationId}`;
  expect(found).toHaveLength(2);
  expect(figures(anew)).toEqual([1200, 0, 1200, 120]);
  const month = await monthOf(story, 4);
  expect(figures(month)).toEqual([2500, 2400, 100, 10]);
  expect(await billed(story)).toBe(2750);
});

test('a progressive invoice whose usage was billed since by an invoice that does not credit it is not made anew', async () => {
  const story = await march([['one', '12']]);
  const [first] = await story.invoices(1);
  await voidInvoice(story, first);
  const month = await monthOf(story, 2);
  expect(figures(month)).toEqual([1200, 0, 1200, 120]);
  expect((await regenerate(story, first)).body).toMatchObject({ status: 405, code: 'not_regenerable' });
  expect(await billed(story)).toBe(1320);
  await voidInvoice(story, month);
  const anew = await regenerate(story, first);
  expect(anew.status, anew.text).toBe(200);
  expect((await regenerate(story, month)).body.invoice).toMatchObject({ total_amount_cents: 0 });
  expect(await billed(story)).toBe(1320);
});

test('a progressive invoice whose month stands may be made anew, and stays credited', async () => {
  const story = await march([['one', '12']]);
  const [first] = await story.invoices(1);
  const month = await monthOf(story, 2);
  expect(figures(month)).toEqual([1200, 1200, 0, 0]);
  const anew = await makeAnew(story, first);
  expect(figures(anew)).toEqual([1200, 0, 1200, 120]);
  expect(await billed(story)).toBe(1320);
  const again = await makeAnew(story, month);
  expect(figures(again)).toEqual([1200, 1200, 0, 0]);
  expect(await billed(story)).toBe(1320);
});

test('a progressive invoice made anew takes over again what was given back of it since', async () => {
  const story = await march(
    [
      ['one', '10'],
      ['two', '10', 'blue'],
      ['three', '10'],
    ],
    true,
  );
  await correct(story, { kind: 'retract', transaction_id: 'two' });
  const month = await monthOf(story, 4);
  expect(figures(month)).toEqual([2000, 2000, 0, 0]);
  const [, second, third] = await story.invoices(4);
  const given = [[second.svc_id, 1000, 1100]];
  expect(await notes(story)).toEqual(given);
  expect(await billed(story)).toBe(2200);
  const anew = await makeAnew(story, third);
  expect(figures(anew)).toEqual([3000, 2000, 1000, 100]);
  expect(await billed(story)).toBe(2200);
  expect(figures(await makeAnew(story, month))).toEqual([2000, 2000, 0, 0]);
  expect(await notes(story)).toEqual(given);
  expect(await billed(story)).toBe(2200);
  await audited(story);
});
