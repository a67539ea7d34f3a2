import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { balances, booked, notesOf } from './credit-notes/support.ts';

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2024-05-02T08:00:00Z');
  await story.customer({ name: 'Acme Ltd' });
});

const PARALLEL = 50;
const atOnce = <Answer>(call: () => Promise<Answer>) => Promise.all(Array.from({ length: PARALLEL }, call));

test('a credit note shows what it gives back, is announced and is booked', async () => {
  await story.tax(20);
  await story.client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/hook' } });
  const invoice = await story.oneOff(1000);
  const made = await story.credit(invoice, 500, {
    credit_amount_cents: 600,
    description: 'sorry',
    metadata: { a: '1' },
  });
  expect(made.status).toBe(200);
  expect(made.body.credit_note).toMatchObject({
    sequential_id: 1,
    number: `${invoice.number}-CN001`,
    svc_invoice_id: invoice.svc_id,
    invoice_number: invoice.number,
    issuing_date: '2024-05-02',
    reason: 'other',
    description: 'sorry',
    credit_status: 'available',
    refund_status: null,
    currency: 'USD',
    total_amount_cents: 600,
    precise_total_amount_cents: '600.0',
    credit_amount_cents: 600,
    balance_amount_cents: 600,
    sub_total_excluding_taxes_amount_cents: 500,
    taxes_amount_cents: 100,
    precise_taxes_amount_cents: '100.0',
    taxes_rate: 20,
    coupons_adjustment_amount_cents: 0,
    self_billed: false,
    metadata: { a: '1' },
    customer: { external_id: 'acme' },
    items: [{ amount_cents: 500, precise_amount_cents: '500.0', fee: { svc_id: invoice.fees[0].svc_id } }],
    applied_taxes: [{ tax_code: 'vat', base_amount_cents: 500, amount_cents: 100 }],
  });
  const { svc_id: id } = made.body.credit_note;
  expect((await story.client.get(`/credit_notes/${id}`)).body).toEqual(made.body);
  expect(await booked(service.sql, story.organizationId, 'credit_note_created')).toEqual([
    'sales_returns debit 500',
    'tax_payable debit 100',
    'customer_credit credit 600',
  ]);
  const told = await service.sql`
    select webhook_type, object_type, object_id from webhook_events
    where organization_id = ${story.organizationId} and webhook_type like 'credit_note%'`;
  expect(told).toMatchObject([{ webhook_type: 'credit_note.created', object_type: 'credit_note', object_id: id }]);
  const logged = await service.sql`
    select activity_type, resource_type, external_customer_id from activity_logs
    where organization_id = ${story.organizationId} and resource_id = ${id}`;
  expect(logged).toMatchObject([
    { activity_type: 'credit_note.created', resource_type: 'CreditNote', external_customer_id: 'acme' },
  ]);
});

describe('refused credit notes', () => {
  const of = (body: object) => story.client.post('/credit_notes', { credit_note: body });

  test('refusals of a credit note come in the documented order', async () => {
    const invoice = await story.oneOff(1000);
    const [fee] = invoice.fees;
    const invoice_id = invoice.svc_id;
    const item = { fee_id: fee.svc_id, amount_cents: 100 };
    expect((await of({ items: [item] })).body).toMatchObject({ status: 404, resource: 'invoice' });
    expect((await of({ invoice_id: fee.svc_id, items: [] })).body).toMatchObject({ status: 404, resource: 'invoice' });
    expect((await of({ invoice_id, items: { 0: item } })).body.error_details).toEqual({ items: ['must_be_an_array'] });
    expect((await of({ invoice_id, reason: 'whim', items: [item] })).body.error_details).toEqual({
      reason: ['value_is_invalid'],
    });
    expect((await of({ invoice_id, items: [{ ...item, fee_id: invoice_id }] })).body).toMatchObject({
      status: 404,
      resource: 'fee',
    });
    for (const amount_cents of [-1, 1.5, 'many', null])
      expect((await of({ invoice_id, items: [{ ...item, amount_cents }] })).body.error_details).toEqual({
        amount_cents: ['invalid_value'],
      });
    const twice = { invoice_id, items: [item, { ...item, amount_cents: 901 }], credit_amount_cents: 1001 };
    expect((await of(twice)).body.error_details).toEqual({ amount_cents: ['higher_than_remaining_fee_amount'] });
    for (const items of [[null], ['x'], [{}]]) expect((await of({ invoice_id, items })).status).toBe(404);
    const negative = await of({ invoice_id, items: [item], credit_amount_cents: -1 });
    expect(negative.body.error_details).toEqual({ credit_amount_cents: ['value_is_out_of_range'] });
    expect((await story.client.post('/credit_notes', {})).status).toBe(400);
    expect(await notesOf(story)).toEqual([]);
  });

  test('a refused credit note names every error of the whole note together', async () => {
    const invoice = await story.oneOff(1000);
    const refused = await story.credit(invoice, 1000, { credit_amount_cents: 1002, refund_amount_cents: 5 });
    expect(refused.body.error_details).toEqual({
      refund_amount_cents: ['cannot_refund_unpaid_invoice', 'higher_than_remaining_invoice_amount'],
      base: ['does_not_match_item_amounts', 'higher_than_remaining_invoice_amount'],
      credit_amount_cents: ['higher_than_remaining_invoice_amount'],
    });
  });
});

test('an offset settles its invoice: nothing is due and the total stays (golden case 45)', async () => {
  const invoice = await story.oneOff(500);
  const made = await story.credit(invoice, 500, { offset_amount_cents: 500 });
  expect(made.body.credit_note).toMatchObject({ offset_amount_cents: 500, balance_amount_cents: 0 });
  expect((await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice).toMatchObject({
    total_amount_cents: 500,
    total_offsetted_credit_note_amount_cents: 500,
    total_due_amount_cents: 0,
    payment_status: 'succeeded',
  });
  expect(await balances(service.sql, story.organizationId, invoice.svc_id)).toEqual({
    'revenue.add_on': -500,
    sales_returns: 500,
  });
  const rows = await service.sql`
    select settlement_type, amount_cents from invoice_settlements where invoice_id = ${invoice.svc_id}`;
  expect(rows).toMatchObject([{ settlement_type: 'credit_note', amount_cents: 500 }]);
});

test('payments and offsets reduce the due amount of one invoice (example F, golden case 88)', async () => {
  const invoice = await story.oneOff(40000);
  const due = async () => (await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice;
  await story.credit(invoice, 15000, { offset_amount_cents: 15000 });
  expect(await due()).toMatchObject({ total_due_amount_cents: 25000, payment_status: 'pending' });
  await story.pay(invoice.svc_id, 5000);
  expect(await due()).toMatchObject({ total_due_amount_cents: 20000, payment_status: 'pending' });
  await story.pay(invoice.svc_id, 20000);
  expect(await due()).toMatchObject({ total_due_amount_cents: 0, payment_status: 'succeeded' });
  expect((await balances(service.sql, story.organizationId, invoice.svc_id)).receivable).toBeUndefined();
});

test('a refund that is paid out by hand may fail and come back', async () => {
  const invoice = await story.oneOff(1000);
  await story.pay(invoice.svc_id, 1000);
  const made = await story.credit(invoice, 400, { refund_amount_cents: 400 });
  expect(made.body.credit_note).toMatchObject({ refund_status: 'pending', balance_amount_cents: 0 });
  const put = (refund_status: string) =>
    story.client.put(`/credit_notes/${made.body.credit_note.svc_id}`, { credit_note: { refund_status } });
  expect((await put('lost')).body.error_details).toEqual({ refund_status: ['value_is_invalid'] });
  expect((await put('succeeded')).body.credit_note.refund_status).toBe('succeeded');
  await put('succeeded');
  expect(await booked(service.sql, story.organizationId, 'refund_succeeded')).toEqual([
    'refunds_payable debit 400',
    'cash credit 400',
  ]);
  expect((await put('failed')).body.credit_note.refund_status).toBe('failed');
  expect((await balances(service.sql, story.organizationId)).refunds_payable).toBe(-400);
  const plain = await story.credit(invoice, 100);
  const refused = await story.client.put(`/credit_notes/${plain.body.credit_note.svc_id}`, {
    credit_note: { refund_status: 'pending' },
  });
  expect(refused.body.error_details).toEqual({ refund_status: ['value_is_invalid'] });
});

test('what is left of a credit note can be voided once', async () => {
  const invoice = await story.oneOff(1000);
  const { svc_id: id } = (await story.credit(invoice, 300)).body.credit_note;
  const answers = await atOnce(() => story.client.put(`/credit_notes/${id}/void`));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.find(({ status }) => status !== 200)!.body).toMatchObject({ status: 405, code: 'no_voidable_amount' });
  expect(answers.find(({ status }) => status === 200)!.body.credit_note).toMatchObject({
    credit_status: 'voided',
    balance_amount_cents: 0,
    credit_amount_cents: 300,
  });
  expect(await booked(service.sql, story.organizationId, 'credit_note_voided')).toEqual([
    'customer_credit debit 300',
    'breakage credit 300',
  ]);
  expect((await story.client.put('/credit_notes/x/void')).body).toMatchObject({ status: 404, resource: 'credit_note' });
});

test('of 50 credit notes over a whole fee at the same time one is created', async () => {
  const invoice = await story.oneOff(1000);
  const answers = await atOnce(() => story.credit(invoice, 1000));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await balances(service.sql, story.organizationId)).customer_credit).toBe(-1000);
});

test('one credit note on 50 invoices finalized at the same time is spent once', async () => {
  const invoice = await story.oneOff(700);
  const { svc_id: id } = (await story.credit(invoice, 700)).body.credit_note;
  await story.plan({ pay_in_advance: true, amount_cents: 100, interval: 'weekly' });
  let next = 0;
  await atOnce(() => {
    next += 1;
    return story.subscribe({ external_id: `s${next}`, billing_time: 'anniversary' });
  });
  // 50 bills of one customer wait for each other, and for whatever else the machine does.
  await until(async () => {
    const { body } = await story.client.get('/invoices?per_page=1');
    return body.meta.total_count === PARALLEL + 1 || undefined;
  }, 60_000);
  const invoices = (await story.invoices(PARALLEL + 1)).filter((each) => each.svc_id !== invoice.svc_id);
  const used = invoices.map((each) => each.credit_notes_amount_cents);
  expect(used.reduce((a, b) => a + b, 0)).toBe(700);
  expect(used.filter((amount) => amount === 100)).toHaveLength(7);
  expect((await story.client.get(`/credit_notes/${id}`)).body.credit_note).toMatchObject({
    credit_status: 'consumed',
    balance_amount_cents: 0,
  });
  const ledger = await balances(service.sql, story.organizationId);
  expect(ledger.customer_credit).toBeUndefined();
  expect(ledger.receivable).toBe(700 + PARALLEL * 100 - 700);
}, 90_000);

describe('voiding an invoice with credit notes', () => {
  const voided = (invoice: { svc_id: string }, body?: object) =>
    story.client.post(`/invoices/${invoice.svc_id}/void`, body);

  test('a paid invoice with a note of 500 of 1200 is voided (LG9)', async () => {
    await story.tax(20);
    const invoice = await story.oneOff(1000);
    await story.pay(invoice.svc_id, 1200);
    const answer = await voided(invoice, { generate_credit_note: true, credit_amount: 500 });
    expect(answer.body.invoice).toMatchObject({ status: 'voided', total_due_amount_cents: 0 });
    expect(await notesOf(story)).toMatchObject([
      { total_amount_cents: 500, taxes_amount_cents: 83, credit_status: 'available', balance_amount_cents: 500 },
      { total_amount_cents: 700, taxes_amount_cents: 117, credit_status: 'voided', balance_amount_cents: 0 },
    ]);
    expect(await balances(service.sql, story.organizationId, invoice.svc_id)).toEqual({
      breakage: -700,
      cash: 1200,
      customer_credit: -500,
    });
  });

  test('an unpaid invoice is voided and its note of 300 stays (LG17)', async () => {
    await story.tax(20);
    const invoice = await story.oneOff(1000);
    await story.credit(invoice, 250, { credit_amount_cents: 300 });
    await voided(invoice);
    expect(await balances(service.sql, story.organizationId, invoice.svc_id)).toEqual({
      customer_credit: -300,
      write_offs: 300,
    });
    expect(await notesOf(story)).toMatchObject([{ balance_amount_cents: 300, credit_status: 'available' }]);
  });

  test('a void restores the notes that paid the invoice and is refused when one of them was voided since', async () => {
    const first = await story.oneOff(1000);
    const { svc_id: id } = (await story.credit(first, 300)).body.credit_note;
    await story.plan({ pay_in_advance: true, amount_cents: 200, interval: 'weekly' });
    await story.subscribe({ billing_time: 'anniversary' });
    const paid = (await story.invoices(2)).find((each) => each.svc_id !== first.svc_id);
    expect(paid).toMatchObject({ credit_notes_amount_cents: 200, total_amount_cents: 0, payment_status: 'succeeded' });
    await voided(paid);
    const note = async () => (await story.client.get(`/credit_notes/${id}`)).body.credit_note;
    expect(await note()).toMatchObject({ balance_amount_cents: 300, credit_status: 'available' });
    expect(await balances(service.sql, story.organizationId, paid.svc_id)).toEqual({});

    await story.subscribe({ external_id: 'two', billing_time: 'anniversary' });
    const again = (await story.invoices(3)).find((each) => ![first.svc_id, paid.svc_id].includes(each.svc_id));
    expect(again.credit_notes_amount_cents).toBe(200);
    await story.client.put(`/credit_notes/${id}/void`);
    expect((await voided(again)).body).toMatchObject({ status: 405, code: 'credit_note_voided' });
    expect((await story.client.get(`/invoices/${again.svc_id}`)).body.invoice.status).toBe('finalized');
  });

  test('a voided invoice that was paid may still be credited (L13)', async () => {
    const invoice = await story.oneOff(1000);
    await story.pay(invoice.svc_id, 1000);
    await voided(invoice);
    const offset = await story.credit(invoice, 100, { offset_amount_cents: 100 });
    expect(offset.body.error_details).toEqual({ offset_amount_cents: ['higher_than_remaining_invoice_amount'] });
    const made = await story.credit(invoice, 400);
    expect(made.body.credit_note).toMatchObject({ credit_status: 'available', credit_amount_cents: 400 });
    expect(await balances(service.sql, story.organizationId, invoice.svc_id)).toEqual({
      cash: 1000,
      customer_credit: -400,
      unapplied_receipts: -600,
    });
  });
});

describe('credit notes on top-ups', () => {
  async function topUp() {
    const made = await story.client.post('/wallets', {
      wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', name: 'Main' },
    });
    const wallet = made.body.wallet.svc_id;
    await story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: wallet, paid_credits: '15' } });
    const [invoice] = await story.invoices(1);
    return { wallet, invoice };
  }

  test('a paid top-up is refunded out of its wallet (golden case 56, LG5)', async () => {
    const { wallet, invoice } = await topUp();
    const early = await story.credit(invoice, 500, { refund_amount_cents: 500 });
    expect(early.body).toMatchObject({ status: 405, code: 'invalid_type_or_status' });
    await story.pay(invoice.svc_id, 1500);
    const credited = await story.credit(invoice, 500);
    expect(credited.body.error_details).toEqual({ credit_amount_cents: ['cannot_credit_invoice'] });
    const made = await story.credit(invoice, 500, { refund_amount_cents: 500 });
    expect(made.body.credit_note).toMatchObject({ refund_amount_cents: 500, refund_status: 'pending' });
    expect((await story.client.get(`/wallets/${wallet}`)).body.wallet.balance_cents).toBe(1000);
    expect(await booked(service.sql, story.organizationId, 'credit_note_created')).toEqual([
      'prepaid_purchased debit 500',
      'refunds_payable credit 500',
    ]);
    await story.client.put(`/credit_notes/${made.body.credit_note.svc_id}`, {
      credit_note: { refund_status: 'succeeded' },
    });
    expect(await balances(service.sql, story.organizationId)).toEqual({ cash: 1000, prepaid_purchased: -1000 });
  });

  test('an unpaid top-up is settled as a whole and gives no credits', async () => {
    const { wallet, invoice } = await topUp();
    const part = await story.credit(invoice, 500, { offset_amount_cents: 500 });
    expect(part.body.error_details).toEqual({ offset_amount_cents: ['not_equal_to_total_amount'] });
    expect((await story.credit(invoice, 1500, { offset_amount_cents: 1500 })).status).toBe(200);
    expect((await story.client.get(`/invoices/${invoice.svc_id}`)).body.invoice).toMatchObject({
      payment_status: 'succeeded',
      total_due_amount_cents: 0,
    });
    const { body } = await story.client.get(`/wallets/${wallet}/wallet_transactions`);
    expect(body.wallet_transactions).toMatchObject([{ status: 'failed', transaction_status: 'purchased' }]);
    expect((await story.client.get(`/wallets/${wallet}`)).body.wallet.balance_cents).toBe(0);
    expect(await balances(service.sql, story.organizationId)).toEqual({});
  });
});

test('the document of a credit note is drawn when it is first requested', async () => {
  await story.tax(20);
  const invoice = await story.oneOff(1000);
  const { svc_id: id } = (await story.credit(invoice, 500, { credit_amount_cents: 600 })).body.credit_note;
  const download = await story.client.post(`/credit_notes/${id}/download`);
  expect(download.status).toBe(200);
  const { pathname, search } = new URL(download.body.credit_note.file_url);
  const file = await fetch(`${service.url}${pathname}${search}`);
  expect(file.status).toBe(200);
  expect(
    Buffer.from(await file.arrayBuffer())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');
  const told = await until(async () => {
    const rows = await service.sql`
      select object_id from webhook_events
      where organization_id = ${story.organizationId} and webhook_type = 'credit_note.generated'`;
    return rows.length > 0 ? rows : undefined;
  });
  expect(told).toMatchObject([{ object_id: id }]);
  const logs = await story.client.get('/activity_logs?activity_types[]=credit_note.generated');
  expect(logs.body.activity_logs).toMatchObject([{ resource_id: id, activity_object: { items: [{}] } }]);
  expect((await story.client.post('/credit_notes/x/download')).status).toBe(404);
});

test('metadata of a credit note is replaced, merged and deleted (credit-notes.md#metadata)', async () => {
  const invoice = await story.oneOff(1000);
  const { svc_id: id } = (await story.credit(invoice, 300)).body.credit_note;
  const path = `/credit_notes/${id}/metadata`;
  expect((await story.client.delete(`${path}/a`)).body).toMatchObject({ status: 404, resource: 'metadata' });
  expect((await story.client.post(path, { metadata: { a: '1', b: null } })).body).toEqual({
    metadata: { a: '1', b: null },
  });
  expect((await story.client.patch(path, { metadata: { c: '3' } })).body.metadata).toEqual({ a: '1', b: null, c: '3' });
  expect((await story.client.delete(`${path}/b`)).body.metadata).toEqual({ a: '1', c: '3' });
  await story.client.put(`/credit_notes/${id}`, { credit_note: { metadata: { d: '4' } } });
  expect((await story.client.get(`/credit_notes/${id}`)).body.credit_note.metadata).toEqual({ a: '1', c: '3', d: '4' });
  const long = await story.client.post(path, { metadata: { a: 'x'.repeat(256) } });
  expect(long.body.error_details).toEqual({ value: ['value_is_invalid'] });
  expect((await story.client.delete(path)).body).toEqual({ metadata: null });
  expect((await story.client.get(`/credit_notes/${id}`)).body.credit_note).not.toHaveProperty('metadata');
});

test('credit notes are filtered and listed newest first', async () => {
  await story.customer({ external_id: 'other', name: 'Zed' });
  const [invoice, foreign] = [await story.oneOff(1000), await story.oneOff(900, 'other')];
  await story.pay(invoice.svc_id, 1000);
  await story.credit(invoice, 300, { credit_amount_cents: 300, reason: 'order_change' });
  await story.advanceTo('2024-05-03T08:00:00Z');
  await story.credit(invoice, 200, { refund_amount_cents: 200 });
  await story.credit(foreign, 100, { offset_amount_cents: 100 });
  const totals = async (query: string, path = '/credit_notes') => {
    const { body } = await story.client.get(`${path}?${query}`);
    return body.credit_notes.map((note: { total_amount_cents: number }) => note.total_amount_cents);
  };
  expect(await totals('')).toEqual([100, 200, 300]);
  expect(await totals('external_customer_id=acme')).toEqual([200, 300]);
  expect(await totals('', '/customers/acme/credit_notes')).toEqual([200, 300]);
  expect(await totals('issuing_date_from=2024-05-03')).toEqual([100, 200]);
  expect(await totals('issuing_date_to=2024-05-02')).toEqual([300]);
  expect(await totals('issuing_date_to=soon')).toEqual([100, 200, 300]);
  expect(await totals('search_term=zED')).toEqual([100]);
  expect(await totals(`search_term=${invoice.number}-CN002`)).toEqual([200]);
  expect(await totals('currency=EUR')).toEqual([]);
  expect(await totals('reason=order_change')).toEqual([300]);
  expect(await totals('reason[]=order_change&reason[]=other&reason[]=whim')).toEqual([100, 200, 300]);
  expect(await totals('credit_status=voided')).toEqual([]);
  expect(await totals('refund_status=pending')).toEqual([200]);
  expect(await totals(`invoice_number=${foreign.number}`)).toEqual([100]);
  expect(await totals('purchase_order_number=PO')).toEqual([]);
  expect(await totals('amount_from=200&amount_to=299')).toEqual([200]);
  expect(await totals('self_billed=true')).toEqual([]);
  expect(await totals('types[]=credit&types[]=offset')).toEqual([100, 300]);
  expect(await totals('per_page=1&page=2')).toEqual([200]);
  expect((await story.client.get('/credit_notes?billing_entity_codes[]=nobody')).body).toMatchObject({
    status: 404,
    resource: 'billing_entity',
  });
  expect((await story.client.get('/customers/nobody/credit_notes')).status).toBe(404);
});

test('reads of credit notes stay within their budget of statements, however many notes there are', async () => {
  const invoice = await story.oneOff(1000);
  for (let made = 0; made < 5; made += 1) await story.credit(invoice, 100);
  const count = (operation: string, input: object) =>
    countStatements(service, story.organizationId, operation, { now: '2024-05-02T08:00:00Z', ...input });
  const all = await count('findAllCreditNotes', { query: { external_customer_id: 'acme', search_term: 'acme' } });
  expect(all.body.credit_notes).toHaveLength(5);
  expect(all.statements.length).toBeLessThanOrEqual(4);
  const one = await count('findCreditNote', { svc_id: all.body.credit_notes[0].svc_id });
  expect(one.statements.length).toBeLessThanOrEqual(3);
});

test('a self-billed credit note is booked on the other side (L24)', async () => {
  await story.customer({ external_id: 'partner', account_type: 'partner' });
  const invoice = await story.oneOff(800, 'partner');
  expect((await story.credit(invoice, 800)).body.credit_note.self_billed).toBe(true);
  expect(await balances(service.sql, story.organizationId, invoice.svc_id)).toEqual({
    partner_credit: 800,
    partner_payable: -800,
  });
});

test('a draft may be credited, and its note is shown once it is final', async () => {
  await story.customer({ external_id: 'graceful', billing_configuration: { invoice_grace_period: 5 } });
  await story.plan({ pay_in_advance: true, amount_cents: 700, interval: 'weekly' });
  await story.subscribe({ external_customer_id: 'graceful', billing_time: 'anniversary' });
  const [draft] = await story.invoices(1, 'graceful');
  const made = await story.credit(draft, 100);
  expect(made.status).toBe(200);
  const { svc_id: id } = made.body.credit_note;
  expect((await story.client.get(`/credit_notes/${id}`)).status).toBe(404);
  expect((await story.client.put(`/credit_notes/${id}/void`)).status).toBe(404);
  await story.client.put(`/invoices/${draft.svc_id}/finalize`);
  expect((await story.client.get(`/credit_notes/${id}`)).body.credit_note).toMatchObject({ total_amount_cents: 100 });
});
