import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Manual payments and what they settle: payments.md#payment-object, payments.md#manual-payment, payments.md#receipts,
// invoice-amounts.md#settlement, ledger.md#l16, ledger.md#l18, ledger.md#l20.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await story.customer({ net_payment_term: 3 });
  await story.client.post('/add_ons', {
    add_on: { name: 'Setup', code: 'setup', amount_cents: 20000, amount_currency: 'USD' },
  });
});

const invoice = async (): Promise<Invoice> =>
  (
    await story.client.post('/invoices', {
      invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
    })
  ).body.invoice;
const read = async (made: Invoice): Promise<Invoice> =>
  (await story.client.get(`/invoices/${made.svc_id}`)).body.invoice;
const pay = (made: Invoice, fields: object = {}) =>
  story.client.post('/payments', {
    payment: { invoice_id: made.svc_id, amount_cents: 20000, reference: 'bank', ...fields },
  });

const entries = (rule: string) => service.sql`
  select entry.account_code as account, entry.side, entry.amount_cents as amount
  from ledger_entries entry join ledger_transactions booked on booked.id = entry.transaction_id
  where entry.organization_id = ${story.organizationId} and booked.rule = ${rule} order by entry.position`;

describe('manual payments', () => {
  test('payments of 5000 and 15000 on a due amount of 20000 leave it pending, then succeeded (golden case 75)', async () => {
    const made = await invoice();
    const first = await pay(made, { amount_cents: 5000, paid_at: '2024-04-30' });
    expect(first.status, first.text).toBe(200);
    expect(first.body.payment).toMatchObject({
      invoice_ids: [made.svc_id],
      invoice_numbers: [made.number],
      payable_type: 'Invoice',
      amount_cents: 5000,
      amount_currency: 'USD',
      payment_status: 'succeeded',
      type: 'manual',
      reference: 'bank',
      payment_provider_type: null,
      created_at: '2024-04-30T00:00:00Z',
    });
    expect(await read(made)).toMatchObject({
      payment_status: 'pending',
      total_paid_amount_cents: 5000,
      total_due_amount_cents: 15000,
    });
    const second = await pay(made, { amount_cents: 15000 });
    expect(second.status, second.text).toBe(200);
    const paid = await read(made);
    expect(paid).toMatchObject({
      payment_status: 'succeeded',
      total_paid_amount_cents: 20000,
      total_due_amount_cents: 0,
    });
    expect(paid.fees[0].payment_status).toBe('succeeded');
    expect(await entries('payment_succeeded')).toEqual([
      { account: 'cash', side: 'debit', amount: 5000 },
      { account: 'receivable', side: 'credit', amount: 5000 },
      { account: 'cash', side: 'debit', amount: 15000 },
      { account: 'receivable', side: 'credit', amount: 15000 },
    ]);
  });

  test.each([
    [{ invoice_id: '' }, 422, { invoice_id: ['value_is_mandatory'] }],
    [{ amount_cents: 0 }, 422, { amount_cents: ['invalid_value'] }],
    [{ amount_cents: '1.5' }, 422, { amount_cents: ['invalid_value'] }],
    [{ invoice_id: 'x' }, 404, undefined],
    [{ paid_at: 'someday' }, 422, { paid_at: ['invalid_date'] }],
    [{ reference: undefined }, 422, { reference: ['value_is_mandatory'] }],
    [{ reference: 'x'.repeat(41) }, 422, { reference: ['value_is_too_long'] }],
    [{ amount_cents: 20001 }, 422, { amount_cents: ['value_is_out_of_range'] }],
  ])('a manual payment with %j is refused with %i', async (fields, status, details) => {
    const answer = await pay(await invoice(), fields);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.body.error_details).toEqual(details);
  });

  test('a draft accepts no payment (golden case 77)', async () => {
    await story.customer({ external_id: 'late', billing_configuration: { invoice_grace_period: 5 } });
    await story.plan({ amount_cents: 1000, pay_in_advance: true });
    await story.subscribe({ external_customer_id: 'late' });
    const [draft] = await story.invoices(1, 'late');
    expect(draft.status).toBe('draft');
    expect((await pay(draft, { amount_cents: 1000 })).status).toBe(403);
  });

  test('of identical payments at the same time one pays, and the rest find nothing due', async () => {
    const made = await invoice();
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(made)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(19);
    expect((await read(made)).total_paid_amount_cents).toBe(20000);
    expect(await entries('payment_succeeded')).toHaveLength(2);
  });

  test('an invoice marked as paid elsewhere accepts no more payment (LG16)', async () => {
    const made = await invoice();
    await story.client.put(`/invoices/${made.svc_id}`, { invoice: { payment_status: 'succeeded' } });
    await pay(made);
    expect(await entries('payment_succeeded')).toEqual([
      { account: 'cash', side: 'debit', amount: 20000 },
      { account: 'unrecorded_receipts', side: 'credit', amount: 20000 },
    ]);
  });

  test('a paid invoice is no longer overdue, and each payment has its receipt', async () => {
    const made = await invoice();
    await story.advanceTo('2024-05-05T01:00:00Z');
    expect((await read(made)).payment_overdue).toBe(true);
    await pay(made, { amount_cents: 1 });
    expect((await read(made)).payment_overdue).toBe(true);
    await pay(made, { amount_cents: 19999 });
    expect(await read(made)).toMatchObject({ payment_overdue: false, payment_status: 'succeeded' });
    const { body } = await story.client.get(`/payment_receipts?invoice_id=${made.svc_id}`);
    const numbers = body.payment_receipts.map(({ number }: { number: string }) => number);
    expect(numbers[0]).toMatch(/-001-RCPT-000002$/);
    expect(numbers[1]).toMatch(/-001-RCPT-000001$/);
    const one = await story.client.get(`/payment_receipts/${body.payment_receipts[1].svc_id}`);
    expect(one.body.payment_receipt.payment.amount_cents).toBe(1);
    expect((await story.client.get('/payment_receipts/x')).body.resource).toBe('payment_receipt');
  });

  test('a lost dispute books what had been paid (LG15)', async () => {
    const made = await invoice();
    await pay(made, { amount_cents: 5000 });
    await story.client.post(`/invoices/${made.svc_id}/lose_dispute`);
    await story.client.post(`/invoices/${made.svc_id}/lose_dispute`);
    expect(await entries('dispute_lost')).toEqual([
      { account: 'dispute_losses', side: 'debit', amount: 5000 },
      { account: 'cash', side: 'credit', amount: 5000 },
    ]);
  });
});

test('lists of payments take filters and refuse a malformed invoice id', async () => {
  const [a, b] = [await invoice(), await invoice()];
  await pay(a);
  await pay(b);
  const list = async (path: string) => (await story.client.get(path)).body;
  expect((await list('/payments')).payments.map((each: Invoice) => each.invoice_ids[0])).toEqual([b.svc_id, a.svc_id]);
  expect((await list(`/payments?invoice_id=${a.svc_id}`)).meta.total_count).toBe(1);
  expect((await list('/payments?external_customer_id=other')).meta.total_count).toBe(0);
  expect((await list('/customers/acme/payments')).meta.total_count).toBe(2);
  expect((await list('/payments?invoice_id=x')).error_details).toEqual({ invoice_id: ['is in invalid format'] });
  const [one] = (await list('/payments')).payments;
  expect((await list(`/payments/${one.svc_id}`)).payment).toEqual(one);
  expect((await list('/payments/x')).resource).toBe('payment');
});
