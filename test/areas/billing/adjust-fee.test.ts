import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Fees of drafts adjusted by hand: usage-fees.md#adjusted-fees, other-routes.md#records RT3.
let service: TestService;
let story: Story;
let draft: Invoice;

beforeAll(async () => {
  // 50 commands on one record wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

/**
 * March with three calls at 10.00, nothing on the second charge, and a subscription fee of 31.00: a draft on 1 April.
 */
beforeEach(async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer({ billing_configuration: { invoice_grace_period: 10 } });
  const metric = async (code: string) =>
    (
      await story.client.post('/billable_metrics', {
        billable_metric: { name: code, code, aggregation_type: 'count_agg' },
      })
    ).body.billable_metric.svc_id;
  const calls = await metric('calls');
  const mails = await metric('mails');
  await story.plan({
    amount_cents: 3100,
    charges: [
      { billable_metric_id: calls, charge_model: 'standard', properties: { amount: '10' } },
      { billable_metric_id: mails, charge_model: 'standard', properties: { amount: '2' }, min_amount_cents: 1000 },
      { billable_metric_id: mails, charge_model: 'percentage', properties: { rate: '1', fixed_amount: '1' } },
    ],
  });
  await story.subscribe();
  for (const id of ['a', 'b', 'c']) {
    const event = { transaction_id: id, external_subscription_id: 'sub', code: 'calls', timestamp: 1_710_000_000 };
    await story.client.post('/events', { event });
  }
  await story.advanceTo('2024-04-01T02:00:00Z');
  [draft] = await story.invoices(1);
});

const path = () => `/invoices/${draft.svc_id}/adjusted_fees`;
const adjust = (fields: object) => story.client.post(path(), { adjusted_fee: fields });
const read = async (): Promise<Invoice> => (await story.client.get(`/invoices/${draft.svc_id}`)).body.invoice;
const refresh = () => story.client.put(`/invoices/${draft.svc_id}/refresh`);
const feeOf = (invoice: Invoice, code: string): Invoice => invoice.fees.find((fee: Invoice) => fee.item.code === code);
const charges = async () => (await story.client.get('/plans/plan')).body.plan.charges;

test('a fee of 3 units that is adjusted to 5 costs 5000, and 3000 again without the adjustment (RT3)', async () => {
  expect(feeOf(draft, 'calls')).toMatchObject({ amount_cents: 3000, units: '3.0', events_count: 3 });
  const fee_id = feeOf(draft, 'calls').svc_id;
  const { body, status, text } = await adjust({ fee_id, units: '5' });
  expect(status, text).toBe(200);
  expect(body.fee).toMatchObject({ svc_id: fee_id, amount_cents: 5000, units: '5.0', events_count: 0 });
  expect(await read()).toMatchObject({ fees_amount_cents: 3100 + 5000 + 1000, taxes_amount_cents: 1820 });

  const undone = await story.client.delete(`${path()}/${fee_id}`);
  expect(undone.body.fee).toMatchObject({ amount_cents: 3000, units: '3.0', events_count: 3 });
  expect((await read()).fees_amount_cents).toBe(3100 + 3000 + 1000);
  expect((await story.client.delete(`${path()}/${fee_id}`)).body).toMatchObject({ status: 404, resource: 'fee' });
});

test('an adjustment survives refreshes of its draft and becomes final with it', async () => {
  const fee_id = feeOf(draft, 'calls').svc_id;
  await adjust({ fee_id, units: '5', unit_precise_amount: '0.3333', invoice_display_name: 'Agreed' });
  for (let time = 0; time < 2; time += 1) await refresh();
  const { body } = await story.client.put(`/invoices/${draft.svc_id}/finalize`);
  expect(feeOf(body.invoice, 'calls')).toMatchObject({
    svc_id: fee_id,
    units: '5.0',
    amount_cents: 167,
    precise_amount: '1.6665',
    precise_unit_amount: '0.3333',
    amount_details: {},
    item: { invoice_display_name: 'Agreed' },
  });
  const [stored] = await service.sql`select inputs from fee_inputs where fee_id = ${fee_id}`;
  expect(stored!.inputs.manual_adjustment).toMatchObject({ units: '5', unit_precise_amount: '0.3333' });
});

test('an adjustment of the name alone changes no amount', async () => {
  const { svc_id: fee_id, ...before } = feeOf(draft, 'calls');
  const { body } = await adjust({ fee_id, invoice_display_name: 'Calls of March' });
  expect(body.fee).toMatchObject({ amount_cents: before.amount_cents, units: before.units, events_count: 3 });
  expect(body.fee.item.invoice_display_name).toBe('Calls of March');
});

test('adjusted units of a subscription fee multiply its prorated amount', async () => {
  const { body } = await adjust({ fee_id: feeOf(draft, 'plan').svc_id, units: '1.5' });
  expect(body.fee).toMatchObject({ amount_cents: 4650, units: '1.5', precise_unit_amount: '31.0' });
});

test('a charge without usage gets a fee by an adjustment, and loses it with the adjustment', async () => {
  const [, minimum] = await charges();
  const subscription_id = draft.subscriptions[0].svc_id;
  const { body } = await adjust({ subscription_id, charge_id: minimum.svc_id, units: '2' });
  expect(body.fee).toMatchObject({ svc_charge_id: minimum.svc_id, amount_cents: 400, units: '2.0', events_count: 0 });
  const adjusted = await read();
  const trueUp = adjusted.fees.find((fee: Invoice) => fee.svc_true_up_parent_fee_id === body.fee.svc_id);
  expect(trueUp.amount_cents).toBe(600);
  expect(adjusted.fees_amount_cents).toBe(3100 + 3000 + 400 + 600);
  await story.client.delete(`${path()}/${body.fee.svc_id}`);
  expect((await read()).fees_amount_cents).toBe(3100 + 3000 + 1000);
});

test('fixed charges that came to nothing get fees by adjustments, in advance and in arrears, and lose them with the adjustments', async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer({ billing_configuration: { invoice_grace_period: 10 } });
  await story.client.post('/add_ons', {
    add_on: { name: 'Seat', code: 'seat', amount_cents: 1000, amount_currency: 'USD' },
  });
  const seats = { add_on_code: 'seat', charge_model: 'standard', units: 0, properties: { amount: '10' } };
  await story.plan({
    amount_cents: 3100,
    fixed_charges: [
      { ...seats, code: 'ahead', pay_in_advance: true },
      { ...seats, code: 'behind', pay_in_advance: false },
    ],
  });
  await story.subscribe();
  await story.advanceTo('2024-04-01T02:00:00Z');
  // The start made an invoice of its own, of nothing.
  draft = (await story.invoices(2)).find(({ status }) => status === 'draft')!;
  expect(draft.fees_amount_cents).toBe(3100);
  const { plan } = (await story.client.get('/plans/plan')).body;
  const subscription_id = draft.subscriptions[0].svc_id;
  const idOf = (code: string) => plan.fixed_charges.find((each: Invoice) => each.code === code).svc_id;
  const ahead = await adjust({ subscription_id, fixed_charge_id: idOf('ahead'), units: '3' });
  expect(ahead.status, ahead.text).toBe(200);
  expect(ahead.body.fee).toMatchObject({
    svc_fixed_charge_id: idOf('ahead'),
    amount_cents: 3000,
    units: '3.0',
    from_date: '2024-04-01T00:00:00Z',
    to_date: '2024-04-30T23:59:59Z',
  });
  const behind = await adjust({
    subscription_id,
    fixed_charge_id: idOf('behind'),
    units: '2',
    unit_precise_amount: '1.5',
  });
  expect(behind.body.fee).toMatchObject({
    amount_cents: 300,
    from_date: '2024-03-01T00:00:00Z',
    to_date: '2024-03-31T23:59:59Z',
  });
  const again = await adjust({ subscription_id, fixed_charge_id: idOf('behind'), units: '4' });
  expect(again.body.error_details).toEqual({ adjusted_fee: ['already_exists'] });
  await refresh();
  expect((await read()).fees_amount_cents).toBe(3100 + 3000 + 300);
  const undone = await story.client.delete(`${path()}/${behind.body.fee.svc_id}`);
  expect(undone.body).toEqual({ fee: null });
  const { body } = await story.client.put(`/invoices/${draft.svc_id}/finalize`);
  expect(body.invoice.fees_amount_cents).toBe(3100 + 3000);
  const { verification } = (await story.client.post(`/invoices/${draft.svc_id}/verify`)).body;
  expect(verification).toMatchObject({ status: 'equal', differences: [] });
});

test('a preview of an adjustment shows the fee and leaves the draft unchanged', async () => {
  const fee_id = feeOf(draft, 'calls').svc_id;
  const { body } = await story.client.post(`${path()}/preview`, { adjusted_fee: { fee_id, units: '7' } });
  expect(body.fee.amount_cents).toBe(7000);
  expect(await read()).toEqual(draft);
});

test('a preview of an adjustment shows what the adjustment then does, for fees that exist and for one that does not', async () => {
  const [, minimum] = await charges();
  const subscription_id = draft.subscriptions[0].svc_id;
  const priced = { units: '5', unit_precise_amount: '0.3333', invoice_display_name: 'Agreed' };
  const cases: ((now: Invoice) => object)[] = [
    (now) => ({ fee_id: feeOf(now, 'calls').svc_id, ...priced }),
    (now) => ({ fee_id: feeOf(now, 'plan').svc_id, units: '1.5' }),
    () => ({ subscription_id, charge_id: minimum.svc_id, units: '2' }),
  ];
  // What is new each time: the ids of a fee that is not there yet, of its true-up and of taxes.
  const known = (text: string) => JSON.parse(text, (key, value) => (key.endsWith('id') ? undefined : value));
  for (const fieldsOf of cases) {
    const fields = fieldsOf(await read());
    const previewed = await story.client.post(`${path()}/preview`, { adjusted_fee: fields });
    const again = await story.client.post(`${path()}/preview`, { adjusted_fee: fields });
    const adjusted = await adjust(fields);
    expect(previewed.status, previewed.text).toBe(200);
    expect(known(previewed.text)).toEqual(known(adjusted.text));
    expect(known(again.text)).toEqual(known(adjusted.text));
    const refused = await story.client.post(`${path()}/preview`, {
      adjusted_fee: { fee_id: adjusted.body.fee.svc_id, units: '1' },
    });
    expect(refused.body.error_details).toEqual({ adjusted_fee: ['already_exists'] });
  }
});

test('fifty adjustments of one fee at the same time adjust it once', async () => {
  const fee_id = feeOf(draft, 'calls').svc_id;
  const answers = await Promise.all(Array.from({ length: 50 }, () => adjust({ fee_id, units: '5' })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(49);
  expect(feeOf(await read(), 'calls').amount_cents).toBe(5000);
});

describe('refused adjustments', () => {
  const unknown = '00000000-0000-7000-8000-000000000000';
  test('an adjustment with wrong input is refused', async () => {
    const [, , percentage] = await charges();
    const fee_id = feeOf(draft, 'calls').svc_id;
    const subscription_id = draft.subscriptions[0].svc_id;
    const cases: [object, number, string][] = [
      [{ fee_id }, 422, 'value_is_mandatory'],
      [{ fee_id, unit_precise_amount: '1' }, 422, 'value_is_mandatory'],
      [{ fee_id, units: '-1' }, 422, 'value_is_out_of_range'],
      [{ fee_id: unknown, units: '1' }, 404, '"fee"'],
      [{ subscription_id: unknown, units: '1' }, 404, '"subscription"'],
      [{ subscription_id, charge_id: unknown, units: '1' }, 404, '"charge"'],
      [
        { subscription_id, charge_id: percentage.svc_id, charge_filter_id: unknown, units: '1' },
        404,
        '"charge_filter"',
      ],
      [{ subscription_id, fixed_charge_id: unknown, units: '1' }, 404, '"fixed_charge"'],
      [{ subscription_id, charge_id: percentage.svc_id, units: '1' }, 422, 'invalid_charge_model'],
    ];
    for (const [fields, status, code] of cases) {
      const answer = await adjust(fields);
      expect([answer.status, answer.text], JSON.stringify(fields)).toEqual([status, expect.stringContaining(code)]);
    }
  });

  test('a second adjustment of a fee, and one of an invoice that is not a draft, are refused', async () => {
    const fee_id = feeOf(draft, 'calls').svc_id;
    await adjust({ fee_id, units: '5' });
    expect((await adjust({ fee_id, units: '6' })).body.error_details).toEqual({ adjusted_fee: ['already_exists'] });
    await story.client.put(`/invoices/${draft.svc_id}/finalize`);
    expect((await adjust({ fee_id, units: '6' })).body).toMatchObject({ status: 403, code: 'feature_unavailable' });
    expect((await story.client.delete(`${path()}/${fee_id}`)).status).toBe(403);
  });
});
