import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Corrections of events whose fees were made at once: event-corrections.md#effect, the rows about in-advance charges,
// and CO7.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** March with events of a charge in advance, each billed before the next one comes. */
async function march(charge: object, values: readonly (string | object)[], metric: object = {}) {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await story.customer();
  const { body } = await client.post('/billable_metrics', {
    billable_metric: { name: 'units', code: 'units', aggregation_type: 'sum_agg', field_name: 'n', ...metric },
  });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: body.billable_metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '1' },
        pay_in_advance: true,
        ...charge,
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const [index, value] of values.entries()) {
    await send(story, `e${index + 1}`, value);
    await fees(story, index + 1);
  }
  return story;
}

const send = (story: Story, transaction_id: string, value: string | object, more: object = {}) =>
  story.client.post('/events', {
    event: {
      transaction_id,
      external_subscription_id: 'sub',
      code: 'units',
      properties: typeof value === 'string' ? { n: value } : value,
      ...more,
    },
  });

/** Fees of events as they are, oldest first. */
const fees = (story: Story, count: number): Promise<Invoice[]> =>
  until(async () => {
    const { body } = await story.client.get('/fees?fee_type=charge&per_page=100');
    return body.fees.length === count ? body.fees : undefined;
  });
const amounts = async (story: Story, count: number) =>
  (await fees(story, count)).map(({ amount_cents }) => amount_cents);

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.correction;
}

const retract = (story: Story, transaction_id: string, fields: object = {}) =>
  correct(story, { kind: 'retract', transaction_id, ...fields });
const amend = (story: Story, transaction_id: string, n: string, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n }, ...fields });
const notes = async (story: Story) => (await story.client.get('/credit_notes?per_page=100')).body.credit_notes;

async function sound(story: Story) {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

test('correcting an event in advance prices the whole chain of fees again, and only the first fee differs (CO7)', async () => {
  const story = await march({}, ['10', '-4', '8']);
  expect(await amounts(story, 3)).toEqual([1000, 0, 400]);
  const dry = await amend(story, 'e1', '12', { dry_run: true });
  expect(dry).toMatchObject({ status: 'previewed', adjustments: [{ delta_amount_cents: 200 }] });
  const correction = await amend(story, 'e1', '12');
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 1 });
  expect(correction.adjustments).toMatchObject([
    { old_amount_cents: 1000, new_amount_cents: 1200, delta_amount_cents: 200, booked_as: 'fee' },
  ]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [, , , fee] = await fees(story, 4);
  expect(fee).toMatchObject({
    amount_cents: 200,
    units: '2.0',
    events_count: 0,
    svc_correction_id: correction.svc_id,
    from_date: '2024-03-01T00:00:00Z',
    to_date: '2024-03-31T23:59:59Z',
  });
  expect(fee.invoice_display_name ?? fee.item.invoice_display_name).toBe('units (correction)');
  // The next event goes by the corrected height of its own period.
  await send(story, 'e4', '3');
  expect(await amounts(story, 5)).toEqual([1000, 0, 400, 200, 300]);
  await sound(story);
});

test('a retracted event in advance is credited, and later events are priced by the highest units that are left', async () => {
  const story = await march({}, ['10', '-4', '8']);
  const correction = await retract(story, 'e1', { policy: 'debit_invoice' });
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 1 });
  // Without it: −4 in use, then 4.
  expect(await sums(story)).toBe(400);
  expect(correction.adjustments).toMatchObject([
    { old_amount_cents: 1000, delta_amount_cents: -1000, booked_as: 'credit_note' },
  ]);
  expect((await notes(story)).map((note: Invoice) => note.total_amount_cents)).toEqual([1000]);
  await sound(story);
});

test('a decrease by an amendment is credited on the invoice of its event', async () => {
  const story = await march({}, ['10', '5']);
  const correction = await amend(story, 'e1', '7');
  expect(correction.adjustments).toMatchObject([
    { old_amount_cents: 1000, new_amount_cents: 700, delta_amount_cents: -300, booked_as: 'credit_note' },
  ]);
  const again = await amend(story, 'e1', '9');
  expect(again.adjustments).toMatchObject([{ old_amount_cents: 700, new_amount_cents: 900, delta_amount_cents: 200 }]);
  expect((await retract(story, 'e1')).adjustments).toMatchObject([
    { old_amount_cents: 900, new_amount_cents: 0, delta_amount_cents: -900, booked_as: 'credit_note' },
  ]);
  expect(await sums(story)).toBe(500);
  await story.advanceTo('2024-04-02T00:00:00Z');
  // What rose and fell again before the next invoice is never billed.
  expect(await amounts(story, 2)).toEqual([1000, 500]);
  await sound(story);
});

test('an amendment moves the fee of an event to another filter, group or period', async () => {
  const story = await march(
    {
      filters: [{ values: { region: ['eu'] }, properties: { amount: '3' } }],
    },
    [
      { n: '10', region: 'eu' },
      { n: '5', region: 'us' },
    ],
    { filters: [{ key: 'region', values: ['eu', 'us'] }] },
  );
  expect(await amounts(story, 2)).toEqual([3000, 500]);
  const moved = await correct(story, { kind: 'amend', transaction_id: 'e1', properties: { n: '10', region: 'us' } });
  expect(moved.adjustments.map((row: Invoice) => row.delta_amount_cents).sort()).toEqual([-3000, 1000]);
  expect(await sums(story)).toBe(1500);
  const later = await correct(story, {
    kind: 'amend',
    transaction_id: 'e2',
    timestamp: Date.parse('2024-03-02') / 1000,
  });
  expect(later.adjustments).toEqual([]);
  await sound(story);
});

test('retracting an event bills on an own invoice what that event had covered', async () => {
  const story = await march({}, ['10', '-10', '8']);
  expect(await amounts(story, 3)).toEqual([1000, 0, 0]);
  const correction = await retract(story, 'e1', { policy: 'debit_invoice' });
  // −10 in use, then −2: nothing.
  expect(correction.adjustments).toMatchObject([{ delta_amount_cents: -1000 }]);
  const other = await retract(story, 'e2', { policy: 'debit_invoice' });
  expect(other.adjustments).toMatchObject([{ delta_amount_cents: 800, booked_as: 'invoice' }]);
  expect(await sums(story)).toBe(800);
  await sound(story);
});

test('with the policy ignore a difference is recorded, and the next event is priced by the corrected usage', async () => {
  const story = await march({}, ['10']);
  const correction = await retract(story, 'e1', { policy: 'ignore' });
  expect(correction.adjustments).toMatchObject([{ delta_amount_cents: -1000, booked_as: 'recorded' }]);
  await send(story, 'e2', '4');
  expect(await amounts(story, 2)).toEqual([1000, 400]);
  await sound(story);
});

test('a standalone fee that waits for its payment is replaced by a corrected one', async () => {
  const story = await march({ invoiceable: false }, ['10', '-4', '8']);
  const before = await fees(story, 3);
  const correction = await amend(story, 'e1', '12');
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 0 });
  expect(correction.adjustments).toMatchObject([
    { svc_invoice_id: null, svc_fee_id: before[0]!.svc_id, delta_amount_cents: 200, booked_as: 'fee' },
  ]);
  const after = await fees(story, 3);
  expect(after.map(({ amount_cents }) => amount_cents).sort()).toEqual([0, 1200, 400].sort());
  expect(correction.adjustments[0].svc_new_fee_id).toBe(
    after.find(({ amount_cents }) => amount_cents === 1200)!.svc_id,
  );
  expect((await retract(story, 'e1')).adjustments).toMatchObject([{ delta_amount_cents: -1200, svc_new_fee_id: null }]);
  expect((await fees(story, 2)).map(({ amount_cents }) => amount_cents)).toEqual([0, 400]);
  await sound(story);
});

test('a standalone fee that was paid stays: an increase is billed later and a decrease cannot be given back', async () => {
  const story = await march({ invoiceable: false }, ['10', '5']);
  for (const { svc_id } of await fees(story, 2))
    await story.client.put(`/fees/${svc_id}`, { fee: { payment_status: 'succeeded' } });
  const risen = await amend(story, 'e1', '12');
  expect(risen.adjustments).toMatchObject([
    { delta_amount_cents: 200, booked_as: 'fee', uncreditable_amount_cents: 0 },
  ]);
  const fallen = await amend(story, 'e2', '1');
  expect(fallen.adjustments).toMatchObject([
    { delta_amount_cents: -400, booked_as: 'recorded', uncreditable_amount_cents: 400 },
  ]);
  // What waits is taken off first.
  const lowered = await amend(story, 'e1', '9');
  expect(lowered.adjustments).toMatchObject([
    { uncreditable_amount_cents: 400 },
    { old_amount_cents: 1200, delta_amount_cents: -300, booked_as: 'fee', uncreditable_amount_cents: 100 },
  ]);
  expect(await notes(story)).toEqual([]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect(await amounts(story, 2)).toEqual([1000, 500]);
  await sound(story);
});

describe('a standalone fee that waits for its payment, of which a policy left something', () => {
  test('stays when a fall that was left is followed by another correction: 30, 10, then 20 (CO24)', async () => {
    const story = await march({ invoiceable: false }, ['30']);
    expect((await amend(story, 'e1', '10', { policy: 'ignore' })).adjustments).toMatchObject([
      { delta_amount_cents: -2000, left_amount_cents: -2000 },
    ]);
    expect((await amend(story, 'e1', '20')).adjustments).toMatchObject([
      { old_amount_cents: 1000, delta_amount_cents: 1000, left_amount_cents: 1000, booked_as: 'recorded' },
    ]);
    expect(await amounts(story, 1)).toEqual([3000]);
    // All that was left is undone: it has its own price again, and a lower one.
    expect((await amend(story, 'e1', '30')).adjustments).toMatchObject([{ left_amount_cents: 1000 }]);
    expect((await amend(story, 'e1', '25')).adjustments).toMatchObject([
      { delta_amount_cents: -500, booked_as: 'fee' },
    ]);
    expect(await amounts(story, 1)).toEqual([2500]);
    await sound(story);
  });

  test('is lowered by its own correction alone: 30, 50 left, then 10', async () => {
    const story = await march({ invoiceable: false }, ['30']);
    await amend(story, 'e1', '50', { policy: 'ignore' });
    expect((await amend(story, 'e1', '10')).adjustments).toMatchObject([
      { old_amount_cents: 5000, delta_amount_cents: -4000, left_amount_cents: -2000, booked_as: 'fee' },
    ]);
    expect(await amounts(story, 1)).toEqual([1000]);
    await amend(story, 'e1', '12');
    expect(await amounts(story, 1)).toEqual([1200]);
    await sound(story);
  });

  test('keeps what was left when a correction of another event changes it: only the change is billed', async () => {
    const story = await march({ invoiceable: false }, ['10', '-4', '8']);
    expect(await amounts(story, 3)).toEqual([1000, 0, 400]);
    // 10 − 4 + 12 = 18, of which 10 were billed: 8, four more than the fee.
    expect((await amend(story, 'e3', '12', { policy: 'ignore' })).adjustments).toMatchObject([
      { delta_amount_cents: 400, left_amount_cents: 400 },
    ]);
    // 10 − 2 + 12 = 20: ten.
    expect((await amend(story, 'e2', '-2')).adjustments).toMatchObject([
      {
        old_amount_cents: 800,
        new_amount_cents: 1000,
        delta_amount_cents: 200,
        left_amount_cents: 0,
        booked_as: 'fee',
      },
    ]);
    expect(await amounts(story, 3)).toEqual([1000, 0, 400]);
    await story.advanceTo('2024-04-02T00:00:00Z');
    const { invoices } = (await story.client.get('/invoices')).body;
    expect(invoices.map((each: Invoice) => each.fees_amount_cents)).toEqual([200]);
    await sound(story);
  });
});

test('retracting a range takes back the fees of many events', async () => {
  const story = await march({}, ['10', '5', '2']);
  const range = { kind: 'retract_range', timestamp_from: '2024-03-01', timestamp_to: '2024-03-31' };
  const dry = await correct(story, { ...range, dry_run: true });
  expect(dry.adjustments.map((row: Invoice) => row.delta_amount_cents).sort()).toEqual([-1000, -200, -500]);
  const { svc_id } = await correct(story, range);
  const settled = await until(async () => {
    const { correction } = (await story.client.get(`/events/corrections/${svc_id}`)).body;
    return correction.status === 'settled' ? correction : undefined;
  });
  expect(settled).toMatchObject({ invoices_count: 3 });
  expect(await sums(story)).toBe(0);
  await sound(story);
});

test('an event that counted for nothing is billed once it is amended', async () => {
  const story = await march({}, ['10']);
  await send(story, 'e2', {});
  await amend(story, 'e2', '5');
  expect(await amounts(story, 2)).toEqual([1000, 500]);
  expect((await retract(story, 'e2')).adjustments).toMatchObject([{ delta_amount_cents: -500 }]);
});

test('a fee on no invoice is made again when its event counts again, unless it was deleted by hand', async () => {
  const story = await march({ invoiceable: false }, ['10', '5']);
  const blank = (transaction_id: string) =>
    correct(story, { kind: 'amend', transaction_id, properties: { other: 'x' } });
  expect((await blank('e2')).adjustments).toMatchObject([
    { delta_amount_cents: -500, svc_new_fee_id: null },
    { warning: 'property_missing' },
  ]);
  expect(await amounts(story, 1)).toEqual([1000]);
  expect((await amend(story, 'e2', '7', { policy: 'ignore' })).adjustments).toMatchObject([
    { delta_amount_cents: 700, left_amount_cents: 700 },
  ]);
  expect((await amend(story, 'e2', '6')).adjustments).toMatchObject([
    { old_amount_cents: 700, new_amount_cents: 600, left_amount_cents: -100, booked_as: 'recorded' },
  ]);
  expect(await amounts(story, 1)).toEqual([1000]);
  expect((await blank('e2')).adjustments).toMatchObject([
    { delta_amount_cents: -600, left_amount_cents: -600 },
    { warning: 'property_missing' },
  ]);
  expect((await amend(story, 'e2', '6')).adjustments).toMatchObject([
    { old_amount_cents: 0, new_amount_cents: 600, left_amount_cents: 0, booked_as: 'fee' },
  ]);
  const [, again] = await fees(story, 2);
  expect(again).toMatchObject({ amount_cents: 600, event_transaction_id: 'e2', invoiceable: false });
  expect((await story.client.delete(`/fees/${again.svc_id}`)).status).toBe(200);
  expect((await amend(story, 'e2', '7')).adjustments).toEqual([]);
  await blank('e1');
  await retract(story, 'e1');
  expect(await fees(story, 0)).toEqual([]);
  await sound(story);
});

/** Billed for usage less credited. */
async function sums(story: Story): Promise<number> {
  const { body } = await story.client.get('/invoices?per_page=100');
  const add = (sum: number, each: number) => sum + each;
  const billed = body.invoices.map((each: Invoice) => each.fees_amount_cents).reduce(add, 0);
  return billed - (await notes(story)).map((each: Invoice) => each.total_amount_cents).reduce(add, 0);
}
