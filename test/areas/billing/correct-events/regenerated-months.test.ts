import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Corrections of a month whose invoice was voided and regenerated: event-corrections.md#regenerated-invoices. 13 units
// of March cost 10.00 each and are invoiced on 1 April.
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const IN_MARCH = '2024-03-20T00:00:00Z';

interface Terms {
  charge?: object;
  plan?: object;
  metric?: object;
  properties?: object;
}

/** 2 April: March is invoiced with the events `ten` and `three`. */
async function april({ charge = {}, plan = {}, metric: ofMetric = {}, properties = {} }: Terms = {}): Promise<Story> {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  const metric = await story.metric('units', { aggregation_type: 'sum_agg', field_name: 'n', ...ofMetric });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metric.svc_id,
        code: 'units',
        charge_model: 'standard',
        properties: { amount: '10' },
        ...charge,
      },
    ],
    ...plan,
  });
  await story.subscribe();
  await story.advanceTo('2024-03-10T00:00:00Z');
  await story.use('units', { n: '10', ...properties }, { transaction_id: 'ten' });
  await story.use('units', { n: '3', ...properties }, { transaction_id: 'three' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  return story;
}

const tick = (story: Story, hour: number) => story.advanceTo(`2024-04-02T${String(hour).padStart(2, '0')}:00:00Z`);

const lateOf = (story: Story, transaction_id: string, n: number) =>
  story.use('units', { n: `${n}` }, { transaction_id, at: IN_MARCH });

const policy = (story: Story, late_events: string) =>
  ok(story.client.put('/organizations/settings', { settings: { usage_policies: { late_events } } }));

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
const amend = (story: Story, transaction_id: string, n: number, fields: object = {}) =>
  correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}` }, ...fields });
const deltas = ({ adjustments }: Shown) => adjustments.map((each: Shown) => each.delta_amount_cents);

/** The invoice of a period that counts, by the month in which it was used. */
async function monthOf(story: Story, from = '2024-03-01'): Promise<Invoice> {
  const { invoices } = await ok(story.client.get('/invoices?per_page=100&statuses[]=finalized'));
  const whole: Invoice[] = await Promise.all(invoices.map((each: Invoice) => story.invoice(each.svc_id)));
  return whole.find(
    ({ billing_periods: [period] }) =>
      period.invoicing_reason !== 'in_advance_charge' && period.charges_from_datetime.startsWith(from),
  )!;
}

/** Voids the invoice of March and regenerates it, with all fees as they are unless others are given. */
async function anew(story: Story, changes: (fees: Shown[]) => object[] = (fees) => fees.map(copied)): Promise<Invoice> {
  const { svc_id, fees } = await monthOf(story);
  await ok(story.client.post(`/invoices/${svc_id}/void`));
  return regenerate(story, svc_id, changes(fees.filter((fee: Shown) => fee.item.type === 'charge')));
}

const copied = ({ svc_id }: Shown) => ({ id: svc_id });

const regenerate = async (story: Story, id: string, fees: object[]): Promise<Invoice> =>
  (await ok(story.client.post(`/invoices/${id}/regenerate`, { invoice: { fees } }))).invoice;

/** What all invoices that count billed less what notes gave back, in cents, once April is invoiced too. */
async function billed(story: Story): Promise<number> {
  await story.advanceTo('2024-05-02T00:00:00Z');
  const { invoices } = await ok(story.client.get('/invoices?per_page=100&statuses[]=finalized'));
  const { credit_notes } = await ok(story.client.get('/credit_notes?per_page=100'));
  const sum = (list: Shown[], key: string) => list.reduce((total: number, each) => total + each[key], 0);
  await ok(story.client.post('/audits', {}));
  await until(async () => (await story.client.get('/audits')).body.audits[0]?.finished_at ?? undefined);
  expect((await story.client.get('/audits/findings')).body.audit_findings).toEqual([]);
  return (
    sum(invoices, 'fees_amount_cents') -
    sum(invoices, 'progressive_billing_credit_amount_cents') -
    sum(credit_notes, 'sub_total_excluding_taxes_amount_cents')
  );
}

describe('what corrections settled about a month before it was regenerated', () => {
  test('is not billed again: three made eight, regenerated, ten made eleven (CO20)', async () => {
    const story = await april();
    await amend(story, 'three', 8);
    await anew(story);
    expect((await amend(story, 'ten', 11)).adjustments).toMatchObject([
      { old_amount_cents: 18_000, new_amount_cents: 19_000, delta_amount_cents: 1000, booked_as: 'fee' },
    ]);
    expect(await billed(story)).toBe(19_000);
  });

  test('is not given back again: three retracted, regenerated, ten retracted', async () => {
    const story = await april();
    await retract(story, 'three');
    await anew(story);
    expect(deltas(await retract(story, 'ten'))).toEqual([-10_000]);
    expect(await billed(story)).toBe(0);
  });

  test('stays settled when the month is regenerated twice, the second time from the first invoice', async () => {
    const story = await april();
    const { svc_id: first, fees } = await monthOf(story);
    await amend(story, 'three', 8, { policy: 'debit_invoice' });
    await anew(story);
    await amend(story, 'three', 9, { policy: 'debit_invoice' });
    const { svc_id: second } = await monthOf(story);
    await ok(story.client.post(`/invoices/${second}/void`));
    await regenerate(story, first, fees.map(copied));
    expect(deltas(await amend(story, 'three', 4))).toEqual([-5000]);
    expect(await billed(story)).toBe(14_000);
  });

  test('stays left by its policy: five left, regenerated, one billed', async () => {
    const story = await april();
    await amend(story, 'three', 8, { policy: 'ignore' });
    await anew(story);
    expect(deltas(await amend(story, 'ten', 11))).toEqual([1000]);
    expect((await retract(story, 'three')).adjustments).toMatchObject([
      { delta_amount_cents: -8000, left_amount_cents: -5000 },
    ]);
    expect(await billed(story)).toBe(11_000);
  });

  test('comes off what still waits for the next invoice', async () => {
    const story = await april();
    await amend(story, 'three', 8);
    await anew(story);
    expect((await amend(story, 'three', 6)).adjustments).toMatchObject([
      { delta_amount_cents: -2000, booked_as: 'fee', svc_credit_note_id: null },
    ]);
    expect(await billed(story)).toBe(16_000);
  });

  test('is given back through the invoice that billed it, when that was regenerated too', async () => {
    const story = await april();
    await amend(story, 'three', 8, { policy: 'debit_invoice' });
    const [, own] = await story.invoices(2);
    await ok(story.client.post(`/invoices/${own!.svc_id}/void`));
    await regenerate(story, own!.svc_id, own!.fees.map(copied));
    await anew(story);
    const correction = await correct(story, {
      kind: 'retract_range',
      timestamp_from: '2024-03-01',
      timestamp_to: '2024-03-31',
    });
    await until(async () => {
      const { correction: found } = await ok(story.client.get(`/events/corrections/${correction.svc_id}`));
      return found.status === 'settled' ? found : undefined;
    });
    expect(await billed(story)).toBe(0);
  });

  test('was given back with the whole invoice where that was paid: 3 units come back of the new one too', async () => {
    const story = await april();
    const { svc_id } = await monthOf(story);
    await ok(
      story.client.post('/payments', {
        payment: { invoice_id: svc_id, amount_cents: 13_000, reference: 'cash', paid_at: '2024-04-02' },
      }),
    );
    await retract(story, 'three');
    await anew(story);
    expect(deltas(await amend(story, 'ten', 11))).toEqual([-2000]);
  });
});

describe('fees of a regenerated month', () => {
  test('are priced by the terms of the first invoice: a price raised since does not count', async () => {
    const story = await april();
    const { charges } = (await ok(story.client.get('/plans/plan'))).plan;
    const [{ svc_id: id, billable_metric_id, svc_billable_metric_id = billable_metric_id }] = charges;
    await ok(
      story.client.put('/plans/plan', {
        plan: {
          charges: [
            {
              id,
              billable_metric_id: svc_billable_metric_id,
              code: 'units',
              charge_model: 'standard',
              properties: { amount: '20' },
            },
          ],
        },
      }),
    );
    await anew(story);
    expect(deltas(await amend(story, 'ten', 11, { policy: 'debit_invoice' }))).toEqual([1000]);
  });

  test('stay as they were set by hand, whatever was settled before', async () => {
    const story = await april();
    await amend(story, 'three', 8);
    await anew(story, ([fee]) => [{ id: fee!.svc_id, units: '20' }]);
    expect(deltas(await amend(story, 'ten', 11))).toEqual([0]);
    const { svc_id, fees } = await monthOf(story);
    await ok(story.client.post(`/invoices/${svc_id}/void`));
    await regenerate(story, svc_id, fees.map(copied));
    expect(deltas(await amend(story, 'ten', 12))).toEqual([0]);
    expect(await billed(story)).toBe(25_000);
  });

  test('bill usage that a correction moves to a group without a fee, and give back that of the group it left', async () => {
    const grouped = { properties: { amount: '10', pricing_group_keys: ['team'] } };
    const story = await april({ charge: grouped, properties: { team: 'red' } });
    const move = (transaction_id: string, n: number, team: string) =>
      correct(story, { kind: 'amend', transaction_id, properties: { n: `${n}`, team }, policy: 'debit_invoice' });
    await move('three', 3, 'blue');
    await anew(story);
    // Ten units of the red fee of 130.00 are left in it: three of blue have no fee of their own.
    expect(deltas(await move('ten', 11, 'red'))).toEqual([1000]);
    expect(deltas(await move('three', 4, 'green')).sort()).toEqual([-3000, 4000].sort());
    expect(await billed(story)).toBe(15_000);
  });

  test('that were left out stay so', async () => {
    const grouped = { properties: { amount: '10', pricing_group_keys: ['team'] } };
    const story = await april({ charge: grouped, properties: { team: 'red' } });
    await correct(story, { kind: 'amend', transaction_id: 'three', properties: { n: '3', team: 'blue' } });
    await correct(story, {
      kind: 'amend',
      transaction_id: 'ten',
      properties: { n: '12', team: 'red' },
      policy: 'debit_invoice',
    });
    const { svc_id } = await monthOf(story);
    await ok(story.client.post(`/invoices/${svc_id}/void`));
    const { subscriptions, charges } = await ok(story.client.get('/subscriptions/sub')).then(
      async ({ subscription }) => ({
        subscriptions: subscription,
        charges: (await ok(story.client.get('/plans/plan'))).plan.charges,
      }),
    );
    const added = { charge_id: charges[0].svc_id, subscription_id: subscriptions.svc_id, units: '1' };
    await regenerate(story, svc_id, [added]);
    expect(deltas(await retract(story, 'ten'))).not.toContain(-12_000);
    expect(await billed(story)).toBe(1000 + 2000);
  });
});

describe('late usage of a regenerated month', () => {
  test('that was ignored stays out: 13 invoiced, 5 late, regenerated, 3 retracted (CO21)', async () => {
    const story = await april();
    await lateOf(story, 'late', 5);
    await tick(story, 1);
    await anew(story);
    expect(deltas(await retract(story, 'three'))).toEqual([-3000]);
    expect(await billed(story)).toBe(10_000);
  });

  test('that was not looked at before is billed by the policy under which it came', async () => {
    const story = await april();
    await policy(story, 'next_invoice');
    await lateOf(story, 'late', 5);
    await anew(story);
    await tick(story, 1);
    expect(await billed(story)).toBe(18_000);
  });

  test('that was looked at while the month was voided is billed once that is regenerated', async () => {
    const story = await april();
    await policy(story, 'next_invoice');
    await lateOf(story, 'late', 5);
    const { svc_id, fees } = await monthOf(story);
    await ok(story.client.post(`/invoices/${svc_id}/void`));
    await lateOf(story, 'later', 2);
    await tick(story, 3);
    await regenerate(story, svc_id, fees.map(copied));
    await tick(story, 5);
    expect(await billed(story)).toBe(20_000);
  });

  test('that was settled before is not billed again', async () => {
    const story = await april();
    await policy(story, 'next_invoice');
    await lateOf(story, 'late', 5);
    await tick(story, 1);
    await anew(story);
    await lateOf(story, 'later', 2);
    await tick(story, 2);
    expect(await billed(story)).toBe(20_000);
  });
});
