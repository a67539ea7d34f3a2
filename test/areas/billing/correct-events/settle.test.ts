import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// What corrections of invoiced periods come to: the golden cases CO1 to CO12 of event-corrections.md. Each tells its
// story in an organization of its own.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Event = [transaction: string, n: string, at?: string];

/** March with events; `at` is the local instant at which each was sent. */
async function march(charge: object, events: readonly Event[], terms: { metric?: object; plan?: object } = {}) {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  const { client } = story;
  await client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20, applied_to_organization: true } });
  await story.customer();
  const { body } = await client.post('/billable_metrics', {
    billable_metric: { name: 'units', code: 'units', aggregation_type: 'sum_agg', field_name: 'n', ...terms.metric },
  });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: body.billable_metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '10' },
        ...charge,
      },
    ],
    ...terms.plan,
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  for (const event of events) await send(story, event);
  return story;
}

const send = (story: Story, [transaction_id, n, at]: Event) =>
  story.client.post('/events', {
    event: {
      transaction_id,
      external_subscription_id: 'sub',
      code: 'units',
      properties: { n },
      ...(at === undefined ? {} : { timestamp: Date.parse(at) / 1000 }),
    },
  });

async function correct(story: Story, fields: object) {
  const { status, body } = await story.client.post('/events/corrections', {
    correction: { reason: 'double', external_subscription_id: 'sub', ...fields },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.correction;
}

const retract = (story: Story, transaction_id: string, fields: object = {}) =>
  correct(story, { kind: 'retract', transaction_id, ...fields });
const amend = (story: Story, transaction_id: string, n: string, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n }, ...fields });

const notes = async (story: Story) =>
  (await story.client.get('/credit_notes?per_page=100')).body.credit_notes.reverse();

/** The auditor finds nothing, and every issued invoice verifies. */
async function sound(story: Story, invoices: readonly Invoice[]) {
  for (const { svc_id, status, fees } of invoices) {
    if (status !== 'finalized') continue;
    const { body } = await story.client.post(`/invoices/${svc_id}/verify`, {});
    expect(body.verification).toMatchObject({ status: 'equal' });
    for (const fee of fees) {
      const { body: told } = await story.client.get(`/fees/${fee.svc_id}/explanation`);
      expect(told.explanation.check).toMatchObject({ equal: true });
    }
  }
  const { body } = await story.client.get('/ledger/trial_balance');
  for (const { balanced } of body.trial_balance.currencies) expect(balanced).toBe(true);
  expect((await story.client.post('/audits', {})).status).toBe(200);
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
}

const TWELVE: Event[] = [
  ['ten', '10'],
  ['two', '2'],
];
const GRADUATED_A = {
  charge_model: 'graduated',
  properties: {
    graduated_ranges: [
      { from_value: 0, to_value: 10, per_unit_amount: '10', flat_amount: '2' },
      { from_value: 11, to_value: 20, per_unit_amount: '5', flat_amount: '3' },
      { from_value: 21, to_value: null, per_unit_amount: '5', flat_amount: '3' },
    ],
  },
};

test('a retracted event is credited with its tax, once (CO1, CO9)', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const correction = await retract(story, 'two');
  expect(correction).toMatchObject({ status: 'settled', invoices_count: 1 });
  expect(correction.adjustments).toMatchObject([
    {
      old_amount_cents: 12000,
      new_amount_cents: 10000,
      delta_amount_cents: -2000,
      booked_as: 'credit_note',
      uncreditable_amount_cents: 0,
    },
  ]);
  const [note, ...others] = await notes(story);
  expect(others).toEqual([]);
  expect(note).toMatchObject({
    svc_id: correction.adjustments[0].svc_credit_note_id,
    reason: 'other',
    description: 'double',
    total_amount_cents: 2400,
    taxes_amount_cents: 400,
    credit_amount_cents: 2400,
  });
  const again = await story.client.post('/events/corrections', {
    correction: { kind: 'retract', reason: 'double', external_subscription_id: 'sub', transaction_id: 'two' },
  });
  expect(again).toMatchObject({ status: 404, body: { resource: 'event' } });
  await sound(story, await story.invoices(1));
});

test('an increase becomes a fee on the next invoice with the dates of its own period (CO2)', async () => {
  const story = await march(GRADUATED_A, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const correction = await amend(story, 'ten', '19');
  expect(correction.adjustments).toMatchObject([
    { old_amount_cents: 11500, delta_amount_cents: 4800, booked_as: 'fee', svc_new_fee_id: null },
  ]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [march_, april] = await story.invoices(2);
  expect(march_.fees_amount_cents).toBe(11500);
  const fee = april.fees.find((each: { svc_correction_id?: string }) => each.svc_correction_id);
  expect(fee).toMatchObject({
    svc_correction_id: correction.svc_id,
    amount_cents: 4800,
    taxes_amount_cents: 960,
    units: '9.0',
    events_count: 0,
    amount_details: {},
    from_date: '2024-03-01T00:00:00Z',
    to_date: '2024-03-31T23:59:59Z',
    item: { type: 'charge', invoice_display_name: 'units (correction)' },
  });
  const { body } = await story.client.get(`/events/corrections/${correction.svc_id}`);
  expect(body.correction.adjustments).toMatchObject([{ svc_new_fee_id: fee.svc_id }]);
  await sound(story, await story.invoices(2));
});

test('each correction of a period bills the units that it adds itself', async () => {
  const story = await march({ properties: { amount: '0.5' } }, [['some', '37']]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await amend(story, 'some', '43', { policy: 'debit_invoice' });
  await amend(story, 'some', '47', { policy: 'debit_invoice' });
  await amend(story, 'some', '40', { policy: 'debit_invoice' });
  await amend(story, 'some', '42', { policy: 'debit_invoice' });
  const [, ...own] = await story.invoices(4);
  expect(
    own.map(({ fees: [fee] }) => [fee.units, fee.precise_unit_amount, fee.amount_cents].map((value) => `${value}`)),
  ).toEqual([
    ['6.0', '0.5', '300'],
    ['4.0', '0.5', '200'],
    ['2.0', '0.5', '100'],
  ]);
});

test('corrections that wait for the same invoice make one fee of all their units', async () => {
  const story = await march({ properties: { amount: '0.5' } }, [['some', '37']]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  for (const n of ['43', '47', '45']) await amend(story, 'some', n);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [, april] = await story.invoices(2);
  expect(april.fees.filter((fee: { svc_correction_id?: string }) => fee.svc_correction_id)).toMatchObject([
    { units: '8.0', amount_cents: 400, precise_unit_amount: '0.5' },
  ]);
});

test('the policy of an own invoice bills an increase at once (CO3)', async () => {
  const story = await march(GRADUATED_A, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await amend(story, 'ten', '19', { policy: 'debit_invoice' });
  const invoices = await story.invoices(2);
  expect(invoices[1]).toMatchObject({
    status: 'finalized',
    invoice_type: 'subscription',
    fees_amount_cents: 4800,
    taxes_amount_cents: 960,
    total_amount_cents: 5760,
    billing_periods: [{ invoicing_reason: 'in_advance_charge' }],
  });
  await sound(story, invoices);
});

test('a decrease that a true-up absorbs is not booked (CO4)', async () => {
  const story = await march({ properties: { amount: '1' }, min_amount_cents: 1000 }, [
    ['five', '5'],
    ['three', '3'],
  ]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const correction = await retract(story, 'three');
  expect(correction.status).toBe('settled');
  const deltas = correction.adjustments.map((each: { delta_amount_cents: number; booked_as: string }) => [
    each.delta_amount_cents,
    each.booked_as,
  ]);
  expect(deltas.sort()).toEqual([
    [-300, 'recorded'],
    [300, 'recorded'],
  ]);
  expect(await notes(story)).toEqual([]);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const [, april] = await story.invoices(2);
  expect(april.fees.some((fee: { svc_correction_id?: string }) => fee.svc_correction_id)).toBe(false);
});

test('fewer units in as many packages change nothing (CO5)', async () => {
  const story = await march(
    { charge_model: 'package', properties: { amount: '100', package_size: 10, free_units: 0 } },
    [
      ['twelve', '12'],
      ['three', '3'],
    ],
  );
  await story.advanceTo('2024-04-02T00:00:00Z');
  const correction = await retract(story, 'three');
  expect(correction.adjustments).toMatchObject([
    { old_amount_cents: 20000, new_amount_cents: 20000, delta_amount_cents: 0, booked_as: 'recorded' },
  ]);
  expect(await notes(story)).toEqual([]);
});

test('sending the first payload of a retracted event again is a replay, and nothing is settled again (CO10)', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await retract(story, 'two');
  const again = await send(story, ['two', '2']);
  expect(again.status).toBe(200);
  expect(await notes(story)).toHaveLength(1);
});

test('a retracted event of a recurring metric is credited in each period from it on (CO12)', async () => {
  const story = await openStory(service, '2024-01-01T00:00:00Z');
  await story.customer();
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'units', code: 'units', aggregation_type: 'sum_agg', field_name: 'n', recurring: true },
  });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: body.billable_metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '1' },
      },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-01-10T00:00:00Z');
  await send(story, ['ten', '10']);
  await story.advanceTo('2024-03-05T00:00:00Z');
  expect((await story.invoices(2)).map(({ fees_amount_cents }) => fees_amount_cents)).toEqual([1000, 1000]);
  const correction = await amend(story, 'ten', '6');
  expect(correction.adjustments.map((each: { delta_amount_cents: number }) => each.delta_amount_cents)).toEqual([
    -400, -400,
  ]);
  expect((await notes(story)).map((note: { total_amount_cents: number }) => note.total_amount_cents)).toEqual([
    400, 400,
  ]);
});

test('a dry run answers the same and changes nothing', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const preview = await retract(story, 'two', { dry_run: true });
  expect(preview).toMatchObject({ status: 'previewed', invoices_count: 1 });
  expect(preview.adjustments).toMatchObject([
    { delta_amount_cents: -2000, booked_as: 'credit_note', svc_credit_note_id: null },
  ]);
  const raise = await amend(story, 'two', '7', { dry_run: true });
  expect(raise.adjustments).toMatchObject([{ delta_amount_cents: 5000, booked_as: 'fee' }]);
  const range = { kind: 'retract_range', timestamp_from: '2024-03-01', timestamp_to: '2024-03-31' };
  expect((await correct(story, { ...range, dry_run: true })).adjustments).toMatchObject([
    { delta_amount_cents: -12000 },
  ]);
  expect(await notes(story)).toEqual([]);
  expect((await story.client.get('/events')).body.meta.total_count).toBe(2);
  await story.advanceTo('2024-05-02T00:00:00Z');
  expect((await story.invoices(2))[1].fees_amount_cents).toBe(0);
});

test.each([
  ['next_invoice', 5000],
  ['ignore', 0],
])('five late units with the policy %s add %i to the next invoice (CO8)', async (late_events, cents) => {
  const story = await march({}, TWELVE, { plan: { usage_policies: { late_events } } });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['late', '5', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices[1].fees_amount_cents).toBe(cents);
  const { body } = await story.client.get('/events/corrections?kinds[]=late_events');
  expect(body.corrections).toMatchObject(
    cents === 0 ? [] : [{ kind: 'late_events', status: 'settled', policy: 'next_invoice', events_count: 1 }],
  );
  await sound(story, invoices);
});

const NEXT_INVOICE = { usage_policies: { late_events: 'next_invoice' } };
test.each([
  ['its plan', (story: Story) => story.client.put('/plans/plan', { plan: NEXT_INVOICE })],
  ['its organization', (story: Story) => story.client.put('/organizations/settings', { settings: NEXT_INVOICE })],
])('a policy of %s bills no event that came late before it', async (_name, switchOn) => {
  const story = await march({}, TWELVE);
  // Another plan's policy has late events looked at all along.
  await story.plan({ code: 'other', amount_cents: 0, ...NEXT_INVOICE });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['before', '5', '2024-03-20T00:00:00Z']);
  expect((await switchOn(story)).status).toBe(200);
  await send(story, ['after', '3', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices[1].fees_amount_cents).toBe(3000);
  await sound(story, invoices);
});

test('what was late while a policy was off is not billed once it is on again, and nothing between is lost', async () => {
  const story = await march({}, TWELVE, { plan: NEXT_INVOICE });
  const put = (plan: object) => story.client.put('/plans/plan', { plan });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['on', '1', '2024-03-20T00:00:00Z']);
  // What was late before has its turn under the policy that it came under.
  await put({ usage_policies: { late_events: 'debit_invoice' } });
  await story.advanceTo('2024-04-02T02:00:00Z');
  await put({ usage_policies: { late_events: 'ignore' } });
  await send(story, ['off', '20', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-04-02T04:00:00Z');
  await put({ usage_policies: { late_events: 'debit_invoice' } });
  await send(story, ['again', '3', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(3);
  expect(invoices.map(({ fees_amount_cents }) => fees_amount_cents)).toEqual([12000, 3000, 1000]);
  await sound(story, invoices);
});

test('in real time each event is looked at once, whether it is late or not', async () => {
  const client = await service.org();
  const organization = client.organization.organization_id;
  expect((await client.put('/organizations/settings', { settings: NEXT_INVOICE })).status).toBe(200);
  const event = { transaction_id: 'in-time', external_subscription_id: 'unknown', code: 'units' };
  const { svc_id } = (await client.post('/events', { event })).body.event;
  const at = new Date().toISOString();
  const payload = { job: 'late-events', organization_id: organization, at, item: {} };
  await service.ingress.producer.add('periodic.work', payload, { id: `late-${organization}` });
  await until(async () => {
    const [seen] = await service.sql<{ seen_id: string }[]>`
      select seen_id from late_event_cursors where organization_id = ${organization}`;
    return seen !== undefined && seen.seen_id > svc_id;
  });
});

test('a correction leaves out late events that the policy ignored and says how many', async () => {
  const story = await march({ properties: { amount: '1' } }, [
    ['ten', '10'],
    ['three', '3'],
  ]);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['late', '5', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-04-03T00:00:00Z');
  expect(await retract(story, 'ten')).toMatchObject({
    adjustments: [
      {
        old_amount_cents: 1300,
        new_amount_cents: 300,
        delta_amount_cents: -1000,
        booked_as: 'credit_note',
        late_events_left_out: 1,
      },
    ],
  });
  // Who amends the late event itself means it to be billed; from then on it counts.
  expect(await amend(story, 'late', '8')).toMatchObject({
    adjustments: [{ old_amount_cents: 300, new_amount_cents: 1100, delta_amount_cents: 800, late_events_left_out: 0 }],
  });
  expect(await amend(story, 'three', '4')).toMatchObject({
    adjustments: [{ old_amount_cents: 1100, new_amount_cents: 1200, delta_amount_cents: 100, late_events_left_out: 0 }],
  });
  await sound(story, await story.invoices(1));
});

test('a late event is counted by its policy even where it changes no amount', async () => {
  const packages = { charge_model: 'package', properties: { amount: '100', package_size: 10, free_units: 0 } };
  const story = await march(packages, TWELVE, { plan: { usage_policies: { late_events: 'next_invoice' } } });
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['late', '5', '2024-03-20T00:00:00Z']);
  await story.advanceTo('2024-04-03T00:00:00Z');
  // 12 and 5 are two packages; 12 alone less 2 would be one.
  expect(await retract(story, 'two')).toMatchObject({
    adjustments: [{ old_amount_cents: 20000, new_amount_cents: 20000, late_events_left_out: 0 }],
  });
});

test.each([
  ['unique_count_agg', 3, 2],
  ['max_agg', 9, 4],
  ['latest_agg', 4, 9],
])('late events are left out of %s too', async (aggregation_type, before, after) => {
  const story = await march({ properties: { amount: '1' } }, [], { metric: { aggregation_type } });
  await send(story, ['a', '9', '2024-03-10T00:00:00Z']);
  await send(story, ['b', '4', '2024-03-11T00:00:00Z']);
  await send(story, ['c', '2', aggregation_type === 'latest_agg' ? '2024-03-09T00:00:00Z' : '2024-03-10T01:00:00Z']);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await send(story, ['late', '70', '2024-03-20T00:00:00Z']);
  const gone = aggregation_type === 'latest_agg' ? 'b' : 'a';
  expect(await retract(story, gone)).toMatchObject({
    adjustments: [{ old_amount_cents: before * 100, new_amount_cents: after * 100, late_events_left_out: 1 }],
  });
});

test('a retracted range reduces the waiting increase as well as the invoice', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await amend(story, 'ten', '15');
  const range = { kind: 'retract_range', timestamp_from: '2024-03-01', timestamp_to: '2024-03-31' };
  expect((await correct(story, range)).status).toBe('pending');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices[1].fees_amount_cents).toBe(0);
  expect((await notes(story)).map((note: { total_amount_cents: number }) => note.total_amount_cents)).toEqual([14400]);
  await sound(story, invoices);
});

test('an increase is invoiced at once when its subscription has ended', async () => {
  const story = await march({}, TWELVE);
  await story.client.delete('/subscriptions/sub');
  expect((await story.invoices(1))[0].fees_amount_cents).toBe(12000);
  const correction = await amend(story, 'ten', '11');
  expect(correction.adjustments).toMatchObject([{ delta_amount_cents: 1000, booked_as: 'invoice' }]);
  const invoices = await story.invoices(2);
  expect(invoices[1]).toMatchObject({ status: 'finalized', fees_amount_cents: 1000 });
  await sound(story, invoices);
});

test('nothing is settled on a voided invoice', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const [invoice] = await story.invoices(1);
  expect((await story.client.post(`/invoices/${invoice.svc_id}/void`, {})).status).toBe(200);
  expect(await retract(story, 'two')).toMatchObject({ status: 'settled', invoices_count: 0, adjustments: [] });
  expect(await notes(story)).toEqual([]);
});

test('one event retracted and amended many times at the same time ends in one price', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  const post = (fields: object) =>
    story.client.post('/events/corrections', {
      correction: { reason: 'at once', external_subscription_id: 'sub', ...fields },
    });
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, (_, n) =>
      post({ kind: 'amend', transaction_id: 'ten', properties: { n: `${11 + n}` } }),
    ),
    ...Array.from({ length: 6 }, () => post({ kind: 'retract', transaction_id: 'two' })),
  ]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
  expect((await amend(story, 'ten', '20')).status).toBe('settled');
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(2);
  const credited = (await notes(story)).reduce(
    (sum: number, note: { sub_total_excluding_taxes_amount_cents: number }) =>
      sum + note.sub_total_excluding_taxes_amount_cents,
    0,
  );
  expect(12000 + invoices[1].fees_amount_cents - credited).toBe(20000);
  await sound(story, invoices);
});

test('an increase that waits for the next invoice is billed at once when the subscription ends without one', async () => {
  const story = await march({}, TWELVE);
  await story.advanceTo('2024-04-02T00:00:00Z');
  await amend(story, 'ten', '11');
  await story.client.delete('/subscriptions/sub?on_termination_invoice=skip');
  const invoices = await story.invoices(2);
  expect(invoices[1]).toMatchObject({ status: 'finalized', fees_amount_cents: 1000 });
});

test('a coupon keeps its share of what is given back (CO11)', async () => {
  const story = await march({ properties: { amount: '0.01' } }, [
    ['much', '26260'],
    ['rest', '13640'],
  ]);
  const coupon = {
    name: 'c',
    code: 'c',
    coupon_type: 'fixed_amount',
    amount_cents: 25000,
    amount_currency: 'USD',
    frequency: 'once',
    expiration: 'no_expiration',
  };
  expect((await story.client.post('/coupons', { coupon })).status).toBe(200);
  const applied_coupon = { external_customer_id: 'acme', coupon_code: 'c' };
  expect((await story.client.post('/applied_coupons', { applied_coupon })).status).toBe(200);
  await story.advanceTo('2024-04-02T00:00:00Z');
  expect((await story.invoices(1))[0]).toMatchObject({ fees_amount_cents: 39900, coupons_amount_cents: 25000 });
  await retract(story, 'much');
  expect((await notes(story)).map((note: { total_amount_cents: number }) => note.total_amount_cents)).toEqual([11767]);
});
