import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// What progressive invoices billed beyond the usage that their period came to, since events were taken back before it
// ended: progressive-billing.md#credit-in-steps, event-corrections.md#usage-billed-progressively.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const THRESHOLDS = [{ amount_cents: 1000 }, { amount_cents: 2000 }, { amount_cents: 3000 }];

/** March at 1.00 a unit and 10 % tax; each event is billed as thresholds ask before the next is sent. */
async function march(events: readonly [transaction: string, n: string][], grouped = false): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 10, applied_to_organization: true } });
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n' });
  const properties = { amount: '1', ...(grouped ? { pricing_group_keys: ['team'] } : {}) };
  await story.plan({
    amount_cents: 0,
    usage_thresholds: THRESHOLDS,
    charges: [{ billable_metric_id: metric.svc_id, code: 'units', charge_model: 'standard', properties }],
  });
  await story.subscribe();
  for (const [index, [transaction_id, n]] of events.entries()) {
    const hour = String(10 + index).padStart(2, '0');
    await story.advanceTo(`2024-03-10T${hour}:00:00Z`);
    const event = {
      transaction_id,
      external_subscription_id: 'sub',
      code: 'units',
      properties: { n, team: transaction_id },
    };
    expect((await client.post('/events', { event })).status).toBe(200);
    await story.advanceTo(`2024-03-10T${hour}:15:00Z`);
  }
  return story;
}

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'double', external_subscription_id: 'sub', ...fields },
  });
  expect([status, body.correction?.status]).toEqual([200, 'settled']);
}

const retract = (story: Story, transaction_id: string) => correct(story, { kind: 'retract', transaction_id });

const figures = ({
  fees_amount_cents,
  progressive_billing_credit_amount_cents,
  sub_total_excluding_taxes_amount_cents,
  taxes_amount_cents,
}: Invoice) => [
  fees_amount_cents,
  progressive_billing_credit_amount_cents,
  sub_total_excluding_taxes_amount_cents,
  taxes_amount_cents,
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

async function audited(story: Story) {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

test('usage that falls below the first of two progressive invoices is given back of both', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  await retract(story, 'two');
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' } });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first, second, month] = await story.invoices(3);
  expect([first, second, month].map(figures)).toEqual([
    [1200, 0, 1200, 120],
    [2400, 1200, 1200, 120],
    [500, 500, 0, 0],
  ]);
  expect(await notes(story)).toEqual([
    [second.svc_id, 1200, 1320],
    [first.svc_id, 700, 770],
  ]);
  await audited(story);
});

test('usage that falls to nothing is given back of three', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
    ['three', '8'],
  ]);
  for (const id of ['one', 'two', 'three']) await retract(story, id);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first, second, third, month] = await story.invoices(4);
  expect(figures(month)).toEqual([0, 0, 0, 0]);
  expect(await notes(story)).toEqual([
    [third.svc_id, 800, 880],
    [second.svc_id, 1200, 1320],
    [first.svc_id, 1200, 1320],
  ]);
  await audited(story);
});

test('groups are given back of the invoices that billed them', async () => {
  const story = await march(
    [
      ['one', '12'],
      ['two', '14'],
    ],
    true,
  );
  await retract(story, 'one');
  await correct(story, { kind: 'amend', transaction_id: 'two', properties: { n: '4', team: 'two' } });
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first, second, month] = await story.invoices(3);
  expect([first, second, month].map(figures)).toEqual([
    [1200, 0, 1200, 120],
    [2600, 1200, 1400, 140],
    [400, 400, 0, 0],
  ]);
  expect(await notes(story)).toEqual([
    [first.svc_id, 1200, 1320],
    [second.svc_id, 1000, 1100],
  ]);
  await audited(story);
});

test('of two groups the one that has fallen is given back, so that the other one still can be', async () => {
  const story = await march(
    [
      ['one', '4'],
      ['two', '31'],
    ],
    true,
  );
  expect((await story.invoices(1)).map(figures)).toEqual([[3500, 0, 3500, 350]]);
  await retract(story, 'one');
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [progressive, month] = await story.invoices(2);
  expect(figures(month)).toEqual([3100, 3100, 0, 0]);
  expect(await notes(story)).toEqual([[progressive.svc_id, 400, 440]]);
  await retract(story, 'two');
  expect(await notes(story)).toEqual([
    [progressive.svc_id, 400, 440],
    [progressive.svc_id, 3100, 3410],
  ]);
  await audited(story);
});

test('a subscription that ends without an invoice gives back what was billed beyond its usage, and bills no more', async () => {
  const story = await march([
    ['one', '12'],
    ['two', '12'],
  ]);
  await retract(story, 'two');
  await correct(story, { kind: 'amend', transaction_id: 'one', properties: { n: '5' } });
  expect(await notes(story)).toEqual([]);
  await ok(story.client.delete('/subscriptions/sub?on_termination_invoice=skip'));
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [first, second] = await story.invoices(2);
  expect(await notes(story)).toEqual([
    [second.svc_id, 1200, 1320],
    [first.svc_id, 700, 770],
  ]);
  await audited(story);
});

test('a subscription that ends without an invoice leaves usage unbilled that no progressive invoice has', async () => {
  const story = await march([['one', '12']]);
  await story.use('units', { n: '3', team: 'one' });
  await ok(story.client.delete('/subscriptions/sub?on_termination_invoice=skip'));
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect((await story.invoices(1)).map(figures)).toEqual([[1200, 0, 1200, 120]]);
  expect(await notes(story)).toEqual([]);
  await audited(story);
});
