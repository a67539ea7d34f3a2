import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { notesOf } from '../credits/credit-notes/support.ts';

// Golden cases of golden-money.md, by number, told over HTTP. The others stand as literals in test/engine/credits and
// test/engine/taxes, in the tests of their rooms, and in the scenarios of money.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const subscribe = async (fields: object) => expect((await story.subscribe(fields)).status).toBe(200);
const taxesOf = (invoice: Invoice) =>
  invoice.fees.map((fee: Invoice) => [fee.item.type, fee.taxes_amount_cents, fee.taxes_rate]).sort();

test('the first level that has a tax wins, and top-ups have none (golden cases 1, 2, 3, 10)', async () => {
  story = await openStory(service, '2024-05-01T08:00:00Z');
  const { client } = story;
  await story.tax(20);
  for (const [code, rate] of [
    ['customer', 20],
    ['plan', 10],
    ['charge', 5],
  ])
    await ok(client.post('/taxes', { tax: { name: code, code, rate } }));
  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const { svc_id: id } = (await ok(client.post('/billable_metrics', { billable_metric: metric }))).billable_metric;
  const charge = {
    billable_metric_id: id,
    charge_model: 'standard',
    properties: { amount: '10' },
    tax_codes: ['charge'],
  };
  await story.customer({ external_id: 'own', tax_codes: ['customer'] });
  await story.customer({ external_id: 'none' });
  await story.plan({ code: 'taxed', amount_cents: 10000, tax_codes: ['plan'], charges: [charge] });
  await story.plan({ code: 'bare', amount_cents: 10000 });
  await subscribe({ external_customer_id: 'own', external_id: 'a', plan_code: 'taxed' });
  await subscribe({ external_customer_id: 'none', external_id: 'b', plan_code: 'bare' });
  const event = { transaction_id: 't', external_subscription_id: 'a', code: 'calls' };
  await ok(client.post('/events', { event }));
  await story.advanceTo('2024-06-01T02:00:00Z');
  expect(taxesOf((await story.invoices(1, 'own'))[0])).toEqual([
    ['charge', 50, 5],
    ['subscription', 1000, 10],
  ]);
  expect(taxesOf((await story.invoices(1, 'none'))[0])).toEqual([['subscription', 2000, 20]]);

  const wallet = { external_customer_id: 'own', name: 'w', rate_amount: '1', currency: 'USD', paid_credits: '100' };
  await ok(client.post('/wallets', { wallet }));
  const bought = (await story.invoices(2, 'own')).find(({ invoice_type }) => invoice_type === 'credit');
  expect(bought).toMatchObject({ fees_amount_cents: 10000, taxes_amount_cents: 0, total_amount_cents: 10000 });
});

test('two coupons are spread over five fees, and so is what may be given back of a hundred of each (golden cases 32, 40)', async () => {
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.tax(10);
  await story.customer();
  for (const [at, amount_cents] of [99290, 299770, 1999, 6360, 6360].entries()) {
    await story.plan({ code: `p${at}`, amount_cents });
    await subscribe({ external_id: `s${at}`, plan_code: `p${at}` });
  }
  const fixed = { coupon_type: 'fixed_amount', amount_cents: 1000, amount_currency: 'USD', frequency: 'once' };
  const coupon = { name: 'Ten', code: 'ten', ...fixed, expiration: 'no_expiration' };
  await ok(story.client.post('/coupons', { coupon }));
  for (const _ of [1, 2])
    await ok(
      story.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'ten' } }),
    );
  await story.advanceTo('2024-06-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({ coupons_amount_cents: 2000, taxes_amount_cents: 41178, total_amount_cents: 452957 });
  const shares = invoice.fees.map((fee: Invoice) => [fee.amount_cents, fee.precise_coupons_amount_cents]);
  expect(shares).toEqual(
    expect.arrayContaining([
      [99290, '479.91802'],
      [299770, '1448.93772'],
      [1999, '9.66216'],
    ]),
  );
  await ok(story.pay(invoice.svc_id, 40));
  const items = invoice.fees.map((fee: Invoice) => ({ fee_id: fee.svc_id, amount_cents: 100 }));
  const asked = { credit_note: { invoice_id: invoice.svc_id, items } };
  expect((await ok(story.client.post('/credit_notes/estimate', asked))).estimated_credit_note).toMatchObject({
    coupons_adjustment_amount_cents: 2,
    sub_total_excluding_taxes_amount_cents: 498,
    taxes_amount_cents: 49,
    max_creditable_amount_cents: 547,
    max_refundable_amount_cents: 40,
  });
});

describe('31.00 of October in advance, 20 % tax, ended on the 15th', () => {
  beforeEach(async () => {
    story = await openStory(service, '2022-09-15T08:00:00Z');
    await story.tax(20);
    await story.customer();
    await story.plan({ amount_cents: 3100, pay_in_advance: true });
    await story.plan({ code: 'big', amount_cents: 9300, pay_in_advance: true });
    await subscribe({ external_id: 'one' });
    await subscribe({ external_id: 'two' });
    await story.advanceTo('2022-10-01T02:00:00Z');
  });
  const october = async () => (await story.invoices(3)).find(({ issuing_date }) => issuing_date === '2022-10-01');
  const end = (choice: string) => ok(story.client.delete(`/subscriptions/one?on_termination_credit_note=${choice}`));
  const note = () => until(async () => (await notesOf(story))[0]);

  test('a termination on the 15th of October credits 16 of 31 days (golden case 48)', async () => {
    await story.advanceTo('2022-10-15T08:00:00Z');
    await end('credit');
    expect(await note()).toMatchObject({
      total_amount_cents: 1920,
      credit_amount_cents: 1920,
      taxes_amount_cents: 320,
      items: [{ amount_cents: 1600 }],
    });
  });

  test('an upgrade also gives back its own day (golden case 49)', async () => {
    await story.advanceTo('2022-10-15T08:00:00Z');
    await subscribe({ external_id: 'one', plan_code: 'big' });
    expect(await note()).toMatchObject({ total_amount_cents: 2040, credit_amount_cents: 2040 });
  });

  test('of 5580 paid of 7440, 990 are refunded and 930 credited (golden case 50)', async () => {
    const invoice = await october();
    expect(invoice.total_amount_cents).toBe(7440);
    await ok(story.pay(invoice.svc_id, 5580));
    await ok(story.client.put(`/invoices/${invoice.svc_id}`, { invoice: { payment_status: 'succeeded' } }));
    await story.advanceTo('2022-10-15T08:00:00Z');
    await end('refund');
    expect(await note()).toMatchObject({ refund_amount_cents: 990, credit_amount_cents: 930 });
  });

  test('of 930 paid of 7440, nothing is refunded and 1920 settle the invoice (golden case 51)', async () => {
    const invoice = await october();
    await ok(story.pay(invoice.svc_id, 930));
    await story.advanceTo('2022-10-15T08:00:00Z');
    await end('offset');
    expect(await note()).toMatchObject({ offset_amount_cents: 1920, refund_amount_cents: 0, credit_amount_cents: 0 });
    expect((await story.invoice(invoice.svc_id)).total_due_amount_cents).toBe(7440 - 930 - 1920);
  });
});

describe('wallets', () => {
  beforeEach(async () => {
    story = await openStory(service, '2024-05-01T08:00:00Z');
    await story.customer({ currency: 'EUR' });
  });
  const give = async (code: string, currency: string, granted_credits: string): Promise<string> => {
    const wallet = { external_customer_id: 'acme', name: code, code, rate_amount: '1', currency, granted_credits };
    const { svc_id } = (await ok(story.client.post('/wallets', { wallet }))).wallet;
    await until(async () => ((await read(svc_id)).balance_cents > 0 ? true : undefined));
    return svc_id;
  };
  const read = async (id: string) => (await ok(story.client.get(`/wallets/${id}`))).wallet;
  const bill = async (amount_cents: number): Promise<Invoice> => {
    await story.plan({ code: 'euro', amount_cents, amount_currency: 'EUR', pay_in_advance: true });
    await subscribe({ plan_code: 'euro' });
    return (await story.invoices(1))[0];
  };

  test('an invoice is paid from wallets in its own currency (golden case 66)', async () => {
    const dollars = await give('usd', 'USD', '100');
    const euros = await give('eur', 'EUR', '50');
    expect(await bill(6000)).toMatchObject({ prepaid_credit_amount_cents: 5000, total_amount_cents: 1000 });
    expect([(await read(dollars)).balance_cents, (await read(euros)).balance_cents]).toEqual([10000, 0]);
  });

  test('a void gives credits back and takes them out of what was consumed (golden case 74)', async () => {
    const id = await give('eur', 'EUR', '10');
    const invoice = await bill(600);
    expect(await read(id)).toMatchObject({ balance_cents: 400, consumed_credits: '6.0' });
    await ok(story.client.post(`/invoices/${invoice.svc_id}/void`));
    expect(await read(id)).toMatchObject({ balance_cents: 1000, consumed_credits: '0.0' });
    const { wallet_transactions: all } = await ok(story.client.get(`/wallets/${id}/wallet_transactions`));
    const back = all.find((each: Invoice) => each.svc_voided_invoice_id === invoice.svc_id);
    expect(back).toMatchObject({ transaction_status: 'granted', credit_amount: '6.0', status: 'settled' });
  });
});

describe('payments', () => {
  const link = async (emulates: string) => {
    story = await openStory(service, '2024-05-01T08:00:00Z');
    const payment_provider = { type: 'sandbox', code: 'test', name: 'Test', emulates };
    await ok(story.client.post('/payment_providers', { payment_provider }));
    const billing_configuration = { payment_provider: emulates, sync_with_provider: true };
    await story.customer({ net_payment_term: 0, billing_configuration });
  };

  test('an invoice with nothing to pay is paid without a payment (golden case 81)', async () => {
    await link('stripe');
    await ok(
      story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: '4242424242424242' } }),
    );
    await story.oneOff(1200);
    const free = {
      external_customer_id: 'acme',
      currency: 'USD',
      fees: [{ add_on_code: 'item1200', unit_amount_cents: 0 }],
    };
    const { invoice } = await ok(story.client.post('/invoices', { invoice: free }));
    expect(invoice).toMatchObject({ total_amount_cents: 0, payment_status: 'succeeded' });
    expect((await ok(story.client.get(`/payments?invoice_id=${invoice.svc_id}`))).payments).toEqual([]);
  });

  test('gocardless has no payment pages (golden case 83)', async () => {
    await link('gocardless');
    const invoice = await story.oneOff(1200);
    const { status, body } = await story.client.post(`/invoices/${invoice.svc_id}/payment_url`);
    expect([status, body.error_details]).toEqual([422, { base: ['invalid_payment_provider'] }]);
  });

  test('a payment request accepts overdue invoices only (golden case 85)', async () => {
    await link('stripe');
    const late = await story.oneOff(1200);
    await story.advanceTo('2024-05-03T08:00:00Z');
    const young = await story.oneOff(600);
    const payment_request = { external_customer_id: 'acme', svc_invoice_ids: [late.svc_id, young.svc_id] };
    const { status, body } = await story.client.post('/payment_requests', { payment_request });
    expect([status, body.code]).toEqual([405, 'invoices_not_overdue']);
  });
});
