import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Voided invoices made anew: invoice-operations.md#regenerate.
let service: TestService;
let story: Story;
let source: Invoice;

beforeAll(async () => {
  // 50 commands on one record wait for each other: a busy machine takes its time.
  service = await startService();
});
afterAll(() => service.stop());

/** March: a fee of 31.00 and three calls at 10.00, finalized on 1 April in spite of the tax of 20 %. */
beforeEach(async () => {
  story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer({ net_payment_term: 10 });
  const metric = await story.metric('calls');
  await story.plan({
    amount_cents: 3100,
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: '10' } }],
  });
  await story.subscribe({ purchase_order_number: 'PO-1' });
  for (const id of ['a', 'b', 'c']) {
    const event = { transaction_id: id, external_subscription_id: 'sub', code: 'calls', timestamp: 1_710_000_000 };
    await story.client.post('/events', { event });
  }
  await story.advanceTo('2024-04-01T02:00:00Z');
  [source] = await story.invoices(1);
});

const regenerate = (fields: object) => story.client.post(`/invoices/${source.svc_id}/regenerate`, { invoice: fields });
const voidSource = () => story.client.post(`/invoices/${source.svc_id}/void`);
const feeOf = (invoice: Invoice, code: string): Invoice => invoice.fees.find((fee: Invoice) => fee.item.code === code);
const idOf = (code: string): string => feeOf(source, code).svc_id;

test('regenerating an invoice copies the listed fees with their changes, drops the others and keeps the former dates', async () => {
  await voidSource();
  await story.client.put('/taxes/vat', { tax: { rate: '10' } });
  await story.advanceTo('2024-04-20T00:00:00Z');
  const { body, status, text } = await regenerate({
    fees: [{ id: idOf('calls'), units: '5', invoice_display_name: 'Agreed calls' }],
  });
  expect(status, text).toBe(200);
  const made = body.invoice;
  expect(made).toMatchObject({
    status: 'finalized',
    invoice_type: 'subscription',
    issuing_date: '2024-04-01',
    payment_due_date: '2024-04-11',
    purchase_order_number: 'PO-1',
    sequential_id: 2,
    fees_amount_cents: 5000,
    taxes_amount_cents: 500,
    total_amount_cents: 5500,
    billing_periods: source.billing_periods,
  });
  expect(made.fees).toHaveLength(1);
  expect(made.fees[0]).toMatchObject({
    svc_original_fee_id: idOf('calls'),
    units: '5.0',
    from_date: feeOf(source, 'calls').from_date,
    item: { invoice_display_name: 'Agreed calls' },
  });
  const balances = await service.sql`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries where organization_id = ${story.organizationId} and invoice_id = ${made.svc_id}
    group by 1 order by 1`;
  expect(balances.map(({ account_code, balance }) => [account_code, balance])).toEqual([
    ['receivable', 5500],
    ['revenue.usage', -5000],
    ['tax_payable', -500],
  ]);
});

test('a regenerated invoice may have other units and prices, and usage that it did not have before', async () => {
  await voidSource();
  const { body, text } = await regenerate({
    fees: [
      { id: idOf('plan'), unit_amount_cents: 2000 },
      { id: idOf('calls'), units: '2.5', unit_amount_cents: 333 },
      {
        subscription_id: source.subscriptions[0].svc_id,
        charge_id: feeOf(source, 'calls').svc_charge_id,
        units: '3',
      },
    ],
    purchase_order_number: 'PO-2',
  });
  expect(body.invoice, text).toMatchObject({ purchase_order_number: 'PO-2' });
  expect(body.invoice.fees.map((fee: Invoice) => [fee.item.code, fee.amount_cents, fee.svc_original_fee_id])).toEqual([
    ['plan', 2000, idOf('plan')],
    ['calls', 833, idOf('calls')],
    ['calls', 3000, null],
  ]);
});

test('a chain of regenerated invoices keeps the first fee, and the period is billed once', async () => {
  await voidSource();
  const first = (await regenerate({ fees: [{ id: idOf('calls') }] })).body.invoice;
  expect((await regenerate({ fees: [{ id: idOf('calls') }] })).body).toMatchObject({ code: 'not_regenerable' });
  await story.client.post(`/invoices/${first.svc_id}/void`);
  const again = await story.client.post(`/invoices/${first.svc_id}/regenerate`, {
    invoice: { fees: [{ id: first.fees[0].svc_id }] },
  });
  expect(again.body.invoice.fees[0].svc_original_fee_id).toBe(idOf('calls'));
  await story.advanceTo('2024-05-02T00:00:00Z');
  const invoices = await story.invoices(4);
  expect(invoices.filter(({ issuing_date }: Invoice) => issuing_date === '2024-05-01')).toHaveLength(1);
});

test('fifty regenerations of one invoice at the same time make one', async () => {
  await voidSource();
  const answers = await Promise.all(Array.from({ length: 50 }, () => regenerate({ fees: [{ id: idOf('plan') }] })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 405)).toHaveLength(49);
  expect(await story.invoices(2)).toHaveLength(2);
});

test('an invoice that cannot be regenerated is refused', async () => {
  const unknown = '00000000-0000-7000-8000-000000000000';
  const subscription_id = source.subscriptions[0].svc_id;
  const fees = [{ id: idOf('plan') }];
  expect((await regenerate({ fees })).body).toMatchObject({ status: 405, code: 'not_regenerable' });
  await voidSource();
  const cases: [object, number, string][] = [
    [{ purchase_order_number: 'x' }, 422, 'value_is_mandatory'],
    [{ fees: [], purchase_order_number: 'x' }, 422, 'value_is_mandatory'],
    [{ fees: [{ id: unknown }] }, 404, '"fee"'],
    [{ fees: [{ units: '1' }] }, 404, '"subscription"'],
    [{ fees: [{ subscription_id, charge_id: unknown }] }, 404, '"charge"'],
    [{ fees: [{ id: idOf('plan'), units: '-1' }] }, 422, 'value_is_out_of_range'],
  ];
  for (const [fields, status, code] of cases) {
    const answer = await regenerate(fields);
    expect([answer.status, answer.text], JSON.stringify(fields)).toEqual([status, expect.stringContaining(code)]);
  }
});
