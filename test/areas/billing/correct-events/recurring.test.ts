import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Corrections and late events of metrics whose units go on into later periods: event-corrections.md#effect "recurring
// metric", event-corrections.md#late-events.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A subscription since the fifth of March with a recurring metric at 1.00 a unit; `arrears` bills it a second time. */
async function seats(
  aggregation_type: string,
  charge: object = {},
  { arrears, ...plan }: { arrears?: object; minimum_commitment?: object } = {},
): Promise<Story> {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: {
      name: 'seats',
      code: 'seats',
      aggregation_type,
      field_name: 'n',
      recurring: true,
      ...(aggregation_type === 'weighted_sum_agg' ? { weighted_interval: 'seconds' } : {}),
    },
  });
  const atOne = {
    billable_metric_id: body.billable_metric.svc_id,
    code: 'seats',
    charge_model: 'standard',
    properties: { amount: '1' },
  };
  await story.plan({
    amount_cents: 0,
    charges: [{ ...atOne, ...charge }, ...(arrears === undefined ? [] : [{ ...atOne, code: 'arrears', ...arrears }])],
    ...plan,
  });
  await story.subscribe();
  return story;
}

async function send(story: Story, transaction_id: string, n: string, at: string) {
  const { status } = await story.client.post('/events', {
    event: {
      transaction_id,
      external_subscription_id: 'sub',
      code: 'seats',
      properties: { n },
      timestamp: Date.parse(at) / 1000,
    },
  });
  expect(status).toBe(200);
}

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'wrong', external_subscription_id: 'sub', ...fields },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.correction;
}

const amend = (story: Story, transaction_id: string, n: string, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n }, ...fields });

/** Cents of each fee of an invoice, with what corrections added to it last. */
const cents = (invoice: Invoice) => invoice.fees.filter(isUsage).map((fee: Invoice) => fee.amount_cents);
const isUsage = (fee: Invoice) => fee.item.type === 'charge';
/** What a correction comes to in each period, earliest first. */
function byPeriod({ adjustments }: Invoice): number[] {
  const deltas = new Map<string, number>();
  for (const { from_datetime: from, delta_amount_cents: delta } of adjustments)
    deltas.set(from, (deltas.get(from) ?? 0) + delta);
  return [...deltas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, delta]) => delta);
}

async function sound(story: Story) {
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

/**
 * aggregation.md#weighted-sum, example B: 2500 from the start on, less 2000 on the fourth of April and 200 on the
 * sixth.
 */
async function exampleB(): Promise<Story> {
  const story = await seats('weighted_sum_agg');
  await send(story, 'start', '2500', '2024-03-05T00:00:00Z');
  await story.advanceTo('2024-04-10T00:00:00Z');
  await send(story, 'fourth', '-2000', '2024-04-04T00:00:00Z');
  await send(story, 'sixth', '-200', '2024-04-06T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect((await story.invoices(2)).map(cents)).toEqual([[217742], [53333]]);
  return story;
}

test('correcting a weighted sum settles each issued period from the event on, and later periods continue from the right total', async () => {
  const story = await exampleB();
  const correction = await amend(story, 'start', '3100');
  // 3100 × 27 / 31 = 2700; 3100 × 3 / 30 + 1100 × 2 / 30 + 900 × 25 / 30 = 1133.33.
  expect(byPeriod(correction)).toEqual([52258, 60000]);
  await story.advanceTo('2024-06-02T00:00:00Z');
  const [, , may] = await story.invoices(3);
  expect(cents(may).sort()).toEqual([52258, 60000, 90000]);
  // Back again: what May billed is settled with the others.
  expect(byPeriod(await amend(story, 'start', '2500'))).toEqual([-52258, -60000, -60000]);
  expect(byPeriod(await amend(story, 'sixth', '-200', { timestamp: Date.parse('2024-04-07') / 1000 }))).toEqual(
    // One more day of 500 instead of 300: 200 / 30.
    [667, 0],
  );
  await story.advanceTo('2024-07-02T00:00:00Z');
  expect(cents((await story.invoices(4))[3]).sort()).toEqual([30000, 667]);
  await sound(story);
});

test('with the policy ignore correcting a weighted sum books nothing, and later periods are still right', async () => {
  const story = await exampleB();
  expect(byPeriod(await amend(story, 'start', '3100', { policy: 'ignore' }))).toEqual([52258, 60000]);
  await story.advanceTo('2024-06-02T00:00:00Z');
  expect(cents((await story.invoices(3))[2])).toEqual([90000]);
});

test.each([
  ['sum_agg', [500, 500], [1500]],
  // 5 from the twentieth of March on: 5 × 12 / 31 = 1.935, then in full.
  ['weighted_sum_agg', [194, 500], [1500]],
])('late events of a recurring %s are settled in each period from theirs on', async (aggregation, late, next) => {
  const story = await seats(aggregation);
  await story.client.put('/organizations/settings', { settings: { usage_policies: { late_events: 'next_invoice' } } });
  await send(story, 'start', '10', '2024-03-05T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  await story.invoices(2);
  await send(story, 'late', '5', '2024-03-20T00:00:00Z');
  await story.advanceTo('2024-06-02T00:00:00Z');
  const { corrections } = (await story.client.get('/events/corrections')).body;
  expect(corrections).toMatchObject([{ kind: 'late_events', status: 'settled', invoices_count: 2 }]);
  const [, , may] = await story.invoices(3);
  const sorted = (all: number[]) => all.sort((a, b) => a - b);
  expect(sorted(cents(may))).toEqual(sorted([...late, ...next]));
  await sound(story);
});

/**
 * May: 10 seats since March were invoiced twice, April was voided, and 5 more came late for March. They were settled
 * there; then April was made anew.
 */
async function lateWhileVoided(late_events: string): Promise<Story> {
  const story = await seats('sum_agg');
  await story.client.put('/organizations/settings', { settings: { usage_policies: { late_events } } });
  await send(story, 'start', '10', '2024-03-05T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [, april] = await story.invoices(2);
  expect((await story.client.post(`/invoices/${april.svc_id}/void`)).status).toBe(200);
  await send(story, 'late', '5', '2024-03-20T00:00:00Z');
  await story.advanceTo('2024-05-02T03:00:00Z');
  expect((await story.client.get('/events/corrections')).body.corrections).toMatchObject([{ invoices_count: 1 }]);
  const fees = april.fees.filter(isUsage).map(({ svc_id: id }: Invoice) => ({ id }));
  const { status } = await story.client.post(`/invoices/${april.svc_id}/regenerate`, { invoice: { fees } });
  expect(status).toBe(200);
  await until(async () => {
    const { corrections } = (await story.client.get('/events/corrections')).body;
    return corrections[0].status === 'settled' && corrections[0].invoices_count === 2 ? true : undefined;
  });
  return story;
}

test('late events are settled in a period that was voided when they were, once it is made anew (CO26)', async () => {
  const story = await lateWhileVoided('next_invoice');
  await story.advanceTo('2024-06-02T00:00:00Z');
  const invoices = await story.invoices(4);
  expect(cents(invoices.at(-1)!).sort((a: number, b: number) => a - b)).toEqual([500, 500, 1500]);
  await sound(story);
});

test('what the policy left of late events there is no longer left when they are retracted', async () => {
  const story = await lateWhileVoided('credit_note');
  const { adjustments } = await correct(story, { kind: 'retract', transaction_id: 'late' });
  const figures = ({ delta_amount_cents, left_amount_cents, svc_credit_note_id }: Invoice) => [
    delta_amount_cents,
    left_amount_cents,
    svc_credit_note_id,
  ];
  expect(adjustments.map(figures)).toEqual([
    [-500, -500, null],
    [-500, -500, null],
  ]);
  await story.advanceTo('2024-06-02T00:00:00Z');
  expect(cents((await story.invoices(4)).at(-1)!)).toEqual([1000]);
});

test('a correction that waits for an earlier invoice settles the one that was made in place of a later one meanwhile', async () => {
  const story = await seats('sum_agg');
  await send(story, 'start', '10', '2024-03-05T00:00:00Z');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [march, april] = await story.invoices(2);
  const inStatus = (status: string) => service.sql`update invoices set status = ${status} where id = ${march.svc_id}`;
  // As if it waited for its taxes.
  await inStatus('pending');
  const { svc_id: id, status } = await amend(story, 'start', '6');
  expect(status).toBe('applied');
  expect((await story.client.post(`/invoices/${april.svc_id}/void`)).status).toBe(200);
  const fees = april.fees.filter(isUsage).map((fee: Invoice) => ({ id: fee.svc_id }));
  const anew = await story.client.post(`/invoices/${april.svc_id}/regenerate`, { invoice: { fees } });
  expect(anew.status).toBe(200);
  await inStatus('finalized');
  await story.advanceTo('2024-05-02T02:00:00Z');
  const { correction } = (await story.client.get(`/events/corrections/${id}`)).body;
  expect(correction.status).toBe('settled');
  expect(byPeriod(correction)).toEqual([-400, -400]);
  const { credit_notes } = (await story.client.get('/credit_notes')).body;
  expect(credit_notes.map((note: Invoice) => note.total_amount_cents)).toEqual([400, 400]);
});

const byDelta = ({ adjustments }: Invoice) =>
  adjustments
    .map(({ from_datetime, delta_amount_cents }: Invoice) => `${from_datetime.slice(0, 10)} ${delta_amount_cents}`)
    .sort();
const count = (story: Story, fees: number) =>
  until(async () => {
    const { body } = await story.client.get('/fees?fee_type=charge&per_page=100');
    return body.fees.length === fees ? body.fees.map((fee: Invoice) => fee.amount_cents) : undefined;
  });

test('a correction in advance changes the event’s fee and what each later period opened with', async () => {
  const story = await seats('sum_agg', { pay_in_advance: true });
  await story.advanceTo('2024-03-10T00:00:00Z');
  await send(story, 'ten', '10', '2024-03-10T00:00:00Z');
  expect(await count(story, 1)).toEqual([1000]);
  await story.advanceTo('2024-04-10T00:00:00Z');
  await send(story, 'two', '2', '2024-04-10T00:00:00Z');
  expect(await count(story, 3)).toEqual([1000, 1000, 200]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect(await count(story, 4)).toEqual([1000, 1000, 200, 1200]);
  const correction = await amend(story, 'ten', '6');
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 3 });
  expect(byDelta(correction)).toEqual(['2024-03-05 -400', '2024-04-01 -400', '2024-05-01 -400']);
  expect(byDelta(await amend(story, 'two', '3'))).toEqual(['2024-04-01 100', '2024-05-01 100']);
  await story.advanceTo('2024-06-02T00:00:00Z');
  // June opens with 9; what the third of April adds is billed with it.
  expect((await count(story, 7)).slice(4).sort()).toEqual([100, 100, 900]);
  await sound(story);
});

test('retracting the event of a seat in advance bills the seat at its next use', async () => {
  const story = await seats('unique_count_agg', { pay_in_advance: true });
  await story.advanceTo('2024-03-10T00:00:00Z');
  await send(story, 'first', 'a', '2024-03-10T00:00:00Z');
  await count(story, 1);
  await story.advanceTo('2024-04-10T00:00:00Z');
  await send(story, 'again', 'a', '2024-04-10T00:00:00Z');
  expect(await count(story, 3)).toEqual([100, 100, 0]);
  const correction = await correct(story, { kind: 'retract', transaction_id: 'first', policy: 'debit_invoice' });
  expect(byDelta(correction)).toEqual(['2024-03-05 -100', '2024-04-01 -100', '2024-04-01 100']);
  expect((await count(story, 4)).at(-1)).toBe(100);
  await sound(story);
});

test('an increase of prorated units in advance is weighted by the same days as their fee', async () => {
  const story = await seats('sum_agg', { pay_in_advance: true, prorated: true, properties: { amount: '31' } });
  await story.advanceTo('2024-03-08T00:00:00Z');
  await send(story, 'ten', '10', '2024-03-08T00:00:00Z');
  // 10 × 24 / 31 days.
  expect(await count(story, 1)).toEqual([24000]);
  await send(story, 'less', '-5', '2024-03-08T00:00:00Z');
  expect(await count(story, 2)).toEqual([24000, 0]);
  await send(story, 'more', '2', '2024-03-08T00:00:00Z');
  expect(await count(story, 3)).toEqual([24000, 0, 0]);
  expect(byDelta(await amend(story, 'ten', '12'))).toEqual(['2024-03-05 4800']);
  // Without it the last one rises above 12 by its 2: 2 × 24 / 31 days.
  expect(byDelta(await correct(story, { kind: 'retract', transaction_id: 'less' }))).toEqual(['2024-03-05 4800']);
  await sound(story);
});

/** Fees of usage that stand, oldest first, by the day that their period begins on. */
const standing = (story: Story, count: number): Promise<string[]> =>
  until(async () => {
    const { body } = await story.client.get('/fees?fee_type=charge&per_page=100');
    return body.fees.length === count
      ? body.fees.map((fee: Invoice) => `${fee.from_date.slice(0, 10)} ${fee.amount_cents}`).sort()
      : undefined;
  });
const alone = { pay_in_advance: true, invoiceable: false };

test('a correction in advance without invoices changes the event’s fee and what each later period opened with', async () => {
  const story = await seats('sum_agg', alone);
  await story.advanceTo('2024-03-10T00:00:00Z');
  await send(story, 'ten', '10', '2024-03-10T00:00:00Z');
  await standing(story, 1);
  await story.advanceTo('2024-04-10T00:00:00Z');
  await send(story, 'two', '2', '2024-04-10T00:00:00Z');
  await standing(story, 3);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const opened = ['2024-03-05 1000', '2024-04-01 1000', '2024-04-01 200', '2024-05-01 1200'];
  expect(await standing(story, 4)).toEqual(opened);

  const lowered = ['2024-03-05 -400', '2024-04-01 -400', '2024-05-01 -400'];
  expect(byDelta(await amend(story, 'ten', '6', { dry_run: true }))).toEqual(lowered);
  expect(byDelta(await amend(story, 'ten', '6', { policy: 'ignore' }))).toEqual(lowered);
  expect(await standing(story, 4)).toEqual(opened);
  await amend(story, 'ten', '10', { policy: 'ignore' });
  const correction = await amend(story, 'ten', '6');
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 0 });
  expect(byDelta(correction)).toEqual(lowered);
  expect(await standing(story, 4)).toEqual(['2024-03-05 600', '2024-04-01 200', '2024-04-01 600', '2024-05-01 800']);

  // April's opening is paid: it stays, and what it rises by waits for the next invoice.
  const { fees } = (await story.client.get('/fees?fee_type=charge&per_page=100')).body;
  const paid = fees.find(({ from_date, amount_cents }: Invoice) => from_date > '2024-04' && amount_cents === 600);
  await story.client.put(`/fees/${paid.svc_id}`, { fee: { payment_status: 'succeeded' } });
  expect((await amend(story, 'ten', '8')).adjustments).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ svc_fee_id: paid.svc_id, delta_amount_cents: 200, booked_as: 'fee' }),
    ]),
  );
  await story.advanceTo('2024-06-02T00:00:00Z');
  expect(await standing(story, 6)).toEqual([
    '2024-03-05 800',
    '2024-04-01 200',
    '2024-04-01 200',
    '2024-04-01 600',
    '2024-05-01 1000',
    '2024-06-01 1000',
  ]);
  // 300 less: 200 by a note on what June's invoice billed, the rest was paid and stays.
  const fallen = await amend(story, 'ten', '5');
  expect(byDelta(fallen)).toEqual(['2024-03-05 -300', '2024-04-01 -300', '2024-05-01 -300', '2024-06-01 -300']);
  expect(fallen.adjustments).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ delta_amount_cents: -300, booked_as: 'credit_note', uncreditable_amount_cents: 100 }),
    ]),
  );
  // Nothing else differs another time.
  const again = await amend(story, 'ten', '5', { timestamp: Date.parse('2024-03-11') / 1000 });
  expect(again.adjustments).toMatchObject([{ delta_amount_cents: -100, uncreditable_amount_cents: 100 }]);
  await sound(story);
});

test('corrections of fees on no invoice move units to another group, change a draft and retract a range', async () => {
  const story = await seats('sum_agg', { ...alone, properties: { amount: '1', pricing_group_keys: ['region'] } });
  const regions = async (count: number) => {
    await standing(story, count);
    const { fees } = (await story.client.get('/fees?fee_type=charge&per_page=100')).body;
    return fees
      .map((fee: Invoice) => `${fee.from_date.slice(0, 10)} ${fee.item.grouped_by.region} ${fee.amount_cents}`)
      .sort();
  };
  const inRegion = (transaction_id: string, n: string, region: string, at: string) =>
    story.client.post('/events', {
      event: {
        transaction_id,
        external_subscription_id: 'sub',
        code: 'seats',
        properties: { n, region },
        timestamp: Date.parse(at) / 1000,
      },
    });
  await story.client.post('/customers', {
    customer: { external_id: 'acme', billing_configuration: { invoice_grace_period: 5 } },
  });
  await story.advanceTo('2024-03-10T00:00:00Z');
  await inRegion('ten', '10', 'eu', '2024-03-10T00:00:00Z');
  await standing(story, 1);
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect(await regions(2)).toEqual(['2024-03-05 eu 1000', '2024-04-01 eu 1000']);
  // The invoice of April's line is a draft still.
  const moved = await correct(story, { kind: 'amend', transaction_id: 'ten', properties: { n: '7', region: 'us' } });
  expect(moved).toMatchObject({ status: 'settled', draft_invoices_count: 0 });
  expect(await regions(2)).toEqual(['2024-03-05 us 700', '2024-04-01 us 700']);
  await story.advanceTo('2024-05-02T00:00:00Z');
  await correct(story, { kind: 'amend', transaction_id: 'ten', properties: { n: '3', region: 'eu' } });
  expect(await regions(3)).toEqual(['2024-03-05 eu 300', '2024-04-01 eu 300', '2024-05-01 eu 300']);
  // Somebody takes one away: it stays away.
  const { fees } = (await story.client.get('/fees?fee_type=charge&per_page=100')).body;
  const { svc_id: taken } = fees.find((fee: Invoice) => fee.from_date > '2024-05');
  expect((await story.client.delete(`/fees/${taken}`)).status).toBe(200);
  await correct(story, { kind: 'amend', transaction_id: 'ten', properties: { n: '4', region: 'eu' } });
  expect(await regions(2)).toEqual(['2024-03-05 eu 400', '2024-04-01 eu 400']);
  const { svc_id } = await correct(story, {
    kind: 'retract_range',
    timestamp_from: '2024-03-01',
    timestamp_to: '2024-03-31',
  });
  await until(async () => {
    const { correction } = (await story.client.get(`/events/corrections/${svc_id}`)).body;
    return correction.status === 'settled' || undefined;
  });
  expect(await regions(0)).toEqual([]);
  await sound(story);
});

/** The commitment that an invoice billed, and what a correction comes to on it. */
const onInvoice = (invoice: Invoice, { adjustments }: Invoice) => {
  const [fee] = invoice.fees.filter((each: Invoice) => each.item.type === 'commitment');
  const rows = adjustments.filter((row: Invoice) => row.svc_invoice_id === invoice.svc_id);
  const deltas = rows.map((row: Invoice) => row.delta_amount_cents).sort((a: number, b: number) => a - b);
  return { billed: fee?.amount_cents ?? 0, deltas };
};

test.each([
  // 10000 × 27 / 31 = 8710, less 1000 at once and 1000 in arrears.
  ['that was missing', 10_000, 6710],
  // 2296 × 27 / 31 = 2000: there was none.
  ['that was reached', 2296, 0],
])(
  'a commitment %s follows what its period counts and not what the next period opens with',
  async (_, amount_cents, billed) => {
    const charges = { arrears: {}, minimum_commitment: { amount_cents } };
    const story = await seats('sum_agg', { pay_in_advance: true }, charges);
    await story.advanceTo('2024-03-10T00:00:00Z');
    await send(story, 'ten', '10', '2024-03-10T00:00:00Z');
    await count(story, 1);
    await story.advanceTo('2024-04-02T00:00:00Z');
    const march = (await story.invoices(2)).find(({ fees }: Invoice) => fees.length > 1)!;
    // In arrears, what April opens with, and what the first one leaves missing.
    expect(onInvoice(march, await amend(story, 'ten', '6'))).toEqual({ billed, deltas: [-400, -400, 400] });
    expect(onInvoice(march, await amend(story, 'ten', '5'))).toEqual({ billed, deltas: [-100, -100, 100] });
    expect(onInvoice(march, await amend(story, 'ten', '6'))).toEqual({ billed, deltas: [-100, 100, 100] });
    await sound(story);
  },
);
