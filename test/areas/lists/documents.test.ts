import { afterAll, beforeAll, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';
import { ALL, expectLists, unknown } from './reading.ts';

// Filters and order of what customers are asked to pay and have paid (lists.md#filters-and-order). Every amount is
// there once: it is the name of its record.
let service: TestService;
let story: Story;
let [paid, partly, branch, partner]: Invoice[] = [];

async function invoice(customer: string, amount: number, currency: string, fields: object = {}): Promise<Invoice> {
  const fees = [{ add_on_code: 'item', unit_amount_cents: amount }];
  const invoice = { external_customer_id: customer, currency, fees, ...fields };
  return (await ok(story.client.post('/invoices', { invoice }))).invoice;
}

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  const { client } = story;
  for (const code of ['branch', 'closed'])
    await ok(client.post('/billing_entities', { billing_entity: { name: code, code } }));
  await ok(client.post('/billing_entities/closed/archive'));
  await story.customer({
    name: 'Acme',
    firstname: 'Ada',
    lastname: 'Byron',
    legal_name: 'Analytical SA',
    email: 'ada@engines.test',
  });
  await story.customer({ external_id: 'zed', name: 'Zed_100%', currency: 'EUR', billing_entity_code: 'branch' });
  await story.customer({ external_id: 'pal', account_type: 'partner' });
  await ok(
    client.post('/add_ons', { add_on: { name: 'Item', code: 'item', amount_cents: 1, amount_currency: 'USD' } }),
  );

  paid = await invoice('acme', 1000, 'USD', { purchase_order_number: 'PO-7' });
  partly = await invoice('acme', 900, 'USD');
  await ok(story.pay(paid.svc_id, 1000));
  await ok(story.pay(partly.svc_id, 100));
  await ok(story.credit(paid, 300, { credit_amount_cents: 300, reason: 'order_change' }));
  await ok(story.credit(partly, 150, { offset_amount_cents: 150 }));
  const metadata = [{ key: 'tier', value: 'gold' }];
  await ok(client.put(`/invoices/${partly.svc_id}`, { invoice: { metadata } }));

  await story.advanceTo('2024-05-03T08:00:00Z');
  branch = await invoice('zed', 500, 'EUR');
  partner = await invoice('pal', 700, 'USD');
  await ok(story.credit(paid, 200, { refund_amount_cents: 200 }));
  await ok(story.credit(branch, 60, { offset_amount_cents: 60 }));
  await ok(
    client.post(`/invoices/${branch.svc_id}/write_off`, { write_off: { amount_cents: 40, reason: 'goodwill' } }),
  );
  await ok(client.post(`/invoices/${paid.svc_id}/lose_dispute`));

  await ok(client.post('/customers', { customer: { external_id: 'gone', currency: 'USD' } }));
  const former = await invoice('gone', 30, 'USD');
  await ok(story.pay(former.svc_id, 30));
  await ok(client.delete('/customers/gone'));
  await ok(client.post('/customers', { customer: { external_id: 'gone' } }));
});
afterAll(() => service.stop());

test('GET /invoices takes every filter and order of the rules', async () => {
  const total = (row: Invoice) => row.total_amount_cents;
  const own = (await ok(story.client.get('/billing_entities'))).billing_entities[0].code;
  await expectLists(
    story.client,
    '/invoices',
    total,
    [30, 700, 500, 900, 1000],
    [
      ['external_customer_id=zed', [500]],
      ['customer_external_id=zed', [500]],
      ['external_customer_id=gone', []],
      ['search_term=%20zED_%20', [500]],
      ['search_term=100%25', [500]],
      ['search_term=d%25e', []],
      ['search_term=ada', [900, 1000]],
      ['search_term=BYRON', [900, 1000]],
      ['search_term=analytical', [900, 1000]],
      ['search_term=engines', [900, 1000]],
      ['search_term=Acme', [900, 1000]],
      [`search_term=${paid.number.toLowerCase()}`, [1000]],
      [`search_term=${paid.svc_id}`, [1000]],
      [`search_term=${paid.svc_id.slice(0, 30)}`, []],
      ['currency=EUR', [500]],
      ['currency=CHF', []],
      ['invoice_type=one_off', ALL],
      ['invoice_type=credit', []],
      ['issuing_date_from=2024-05-03', [30, 700, 500]],
      ['issuing_date_to=2024-05-01', [900, 1000]],
      ['issuing_date_from=2024-05-02&issuing_date_to=2024-05-02', []],
      ['issuing_date_from=2024-02-30&issuing_date_to=soon', ALL],
      ['status=finalized', ALL],
      ['statuses[]=voided&statuses[]=draft', []],
      ['payment_status=succeeded', [30, 1000]],
      ['payment_statuses[]=succeeded&payment_statuses[]=pending', ALL],
      ['payment_statuses=failed', []],
      ['payment_overdue=true', [900]],
      ['payment_overdue=0', [30, 700, 500, 1000]],
      ['payment_dispute_lost=t', [1000]],
      ['payment_dispute_lost=f', [30, 700, 500, 900]],
      ['partially_paid=1', [900]],
      ['partially_paid=false', [30, 700, 500, 1000]],
      ['self_billed=true', [700]],
      ['self_billed=false', [30, 500, 900, 1000]],
      ['amount_from=900', [900, 1000]],
      ['amount_from=500&amount_to=700', [700, 500]],
      ['amount_from=700.5', [900, 1000]],
      ['amount_from=-5&amount_to=%2B30', [30]],
      ['amount_from=99999999999999999999999', []],
      ['amount_to=99999999999999999999999', ALL],
      ['amount_from=1e99&amount_to=much', ALL],
      ['purchase_order_number=po-7', [1000]],
      ['purchase_order_number=po', []],
      ['settlements[]=payment', [30, 900, 1000]],
      ['settlements[]=credit_note', [500, 900]],
      ['settlements=write_off', [500]],
      ['settlements[]=write_off&settlements[]=payment', [30, 500, 900, 1000]],
      ['billing_entity_codes[]=branch', [500]],
      ['billing_entity_codes=branch', [500]],
      [`billing_entity_codes[]=branch&billing_entity_codes[]=branch&billing_entity_codes[]=${own}`, ALL],
      ['billing_entity_codes[]=closed', []],
      ['billing_entity_codes[]=none', { 404: 'billing_entity' }],
      ['metadata[tier]=gold', [900]],
      ['metadata[tier]=tin', []],
      ['metadata[tier]=', [30, 700, 500, 1000]],
      ['metadata[tier]=gold&metadata[other]=', [900]],
      ['metadata[%00]=gold', []],
      ['per_page=2&page=2', [500, 900]],
      ['status=generating', { status: 'value_is_invalid' }],
      ['payment_statuses[]=lost', { payment_statuses: 'value_is_invalid' }],
      ['settlements[]=gift', { settlements: 'value_is_invalid' }],
      ['self_billed=perhaps', { self_billed: 'value_is_invalid' }],
    ],
  );
  await expectLists(
    story.client,
    '/customers/acme/invoices',
    total,
    [900, 1000],
    [
      ['external_customer_id=zed&customer_external_id=zed', unknown('external_customer_id', 'customer_external_id')],
      ['amount_to=900', [900]],
      ['payment_status=lost', { payment_status: 'value_is_invalid' }],
    ],
  );
});

test('GET /credit_notes takes every filter and order of the rules', async () => {
  const total = (row: { total_amount_cents: number }) => row.total_amount_cents;
  const one = (await ok(story.client.get('/credit_notes?external_customer_id=zed'))).credit_notes[0];
  await expectLists(
    story.client,
    '/credit_notes',
    total,
    [60, 200, 150, 300],
    [
      ['external_customer_id=zed', [60]],
      ['external_customer_id=none', []],
      ['issuing_date_from=2024-05-03', [60, 200]],
      ['issuing_date_to=2024-05-01', [150, 300]],
      ['issuing_date_from=2024-05-99', ALL],
      [`search_term=${one.svc_id.slice(9, 36).toUpperCase()}`, [60]],
      [`search_term=${one.number}`, [60]],
      ['search_term=zed_', [60]],
      ['search_term=analytical', [200, 150, 300]],
      ['search_term=byron', [200, 150, 300]],
      ['currency=eur', [60]],
      ['currency=CHF', []],
      ['reason=order_change', [300]],
      ['reason[]=whim&reason[]=order_change', [300]],
      ['reason[]=whim', ALL],
      ['credit_status=available', ALL],
      ['credit_status[]=consumed', []],
      ['credit_status=lost&credit_status=consumed', []],
      ['credit_status=lost', ALL],
      ['refund_status[]=pending', [200]],
      ['refund_status=failed', []],
      [`invoice_number=${paid.number}`, [200, 300]],
      [`invoice_number=${paid.number.slice(0, 5)}`, []],
      ['purchase_order_number=po-7', [200, 300]],
      ['purchase_order_number=po', []],
      ['amount_from=150&amount_to=200', [200, 150]],
      ['amount_from=199.99', [200, 300]],
      ['amount_to=99999999999999999999999', ALL],
      ['amount_from=99999999999999999999999', []],
      ['amount_from=much', ALL],
      ['self_billed=true', []],
      ['self_billed=f', ALL],
      ['self_billed=perhaps', ALL],
      ['billing_entity_codes[]=branch', [60]],
      ['billing_entity_codes[]=none', { 404: 'billing_entity' }],
      ['types[]=credit', [300]],
      ['types=refund', [200]],
      ['types[]=offset&types[]=refund', [60, 200, 150]],
      ['types[]=gift', ALL],
      ['per_page=1&page=3', [150]],
    ],
  );
  await expectLists(
    story.client,
    '/customers/acme/credit_notes',
    total,
    [200, 150, 300],
    [
      ['external_customer_id=zed', unknown('external_customer_id')],
      ['types=credit', [300]],
    ],
  );
});

test('GET /fees takes every filter and order of the rules', async () => {
  const amount = (row: { amount_cents: number }) => row.amount_cents;
  await expectLists(
    story.client,
    '/fees',
    amount,
    [1000, 900, 500, 700, 30],
    [
      ['fee_type=add_on', ALL],
      ['fee_type=charge', []],
      ['fee_type=gift', { fee_type: 'value_is_invalid' }],
      ['payment_status=succeeded', [1000, 30]],
      ['payment_status=lost', { payment_status: 'value_is_invalid' }],
      ['external_subscription_id=none', []],
      ['external_customer_id=zed', [500]],
      ['external_customer_id=gone', []],
      ['billable_metric_code=item', []],
      ['event_transaction_id=none', []],
      ['currency=eur', [500]],
      ['created_at_from=2024-05-03', [500, 700, 30]],
      ['created_at_to=2024-05-01', [1000, 900]],
      ['created_at_to=2024-05-01T08:00:00Z', [1000, 900]],
      ['created_at_to=2024-05-01T10:00:00%2B02:00', [1000, 900]],
      ['created_at_to=2024-05-01T07:59:59Z', []],
      ['created_at_to=9999-12-31', ALL],
      ['succeeded_at_from=2024-05-03', [30]],
      ['succeeded_at_to=2024-05-01', [1000]],
      ['failed_at_from=2024-01-01', []],
      ['refunded_at_to=2025-01-01', []],
      ...['created_at_from', 'succeeded_at_to', 'failed_at_from', 'refunded_at_to'].map(
        (field) => [`${field}=soon`, { [field]: 'invalid_date' }] as const,
      ),
      ['per_page=2&page=2', [500, 700]],
    ],
  );
});

test('GET /payments and /payment_receipts take every filter and order of the rules', async () => {
  const amount = (row: { amount_cents: number }) => row.amount_cents;
  await expectLists(
    story.client,
    '/payments',
    amount,
    [30, 100, 1000],
    [
      [`invoice_id=${paid.svc_id}`, [1000]],
      [`invoice_id=${partner.svc_id}`, []],
      ['invoice_id=x', { invoice_id: 'is in invalid format' }],
      ['external_customer_id=acme', [100, 1000]],
      ['external_customer_id=zed', []],
      ['external_customer_id=gone', []],
      ['payment_statuses[]=succeeded', ALL],
      ['payment_statuses[]=failed&payment_statuses[]=pending', []],
      ['payment_statuses[]=lost', { payment_statuses: 'value_is_invalid' }],
      ['payment_provider_codes[]=stripe', []],
      ['created_from=2024-05-02', [30]],
      ['created_to=2024-05-01', [100, 1000]],
      ['created_to=soon', { created_to: 'invalid_date' }],
    ],
  );
  await expectLists(
    story.client,
    '/customers/acme/payments',
    amount,
    [100, 1000],
    [
      ['external_customer_id=zed', unknown('external_customer_id')],
      [`invoice_id=${partly.svc_id}`, [100]],
    ],
  );
  const received = ({ payment }: { payment: { amount_cents: number } }) => payment.amount_cents;
  await expectLists(
    story.client,
    '/payment_receipts',
    received,
    [30, 100, 1000],
    [
      [`invoice_id=${partly.svc_id}`, [100]],
      [`invoice_id=${branch.svc_id}`, []],
      ['invoice_id=x', { invoice_id: 'is in invalid format' }],
    ],
  );
});

test('GET /payment_requests takes every filter and order of the rules', async () => {
  const { client } = story;
  await story.advanceTo('2024-05-05T08:00:00Z');
  const ask = (customer: string, of: Invoice) =>
    ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: customer, email: 'ada@engines.test', svc_invoice_ids: [of.svc_id] },
      }),
    );
  await ask('acme', partly);
  await ask('zed', branch);
  const amount = (row: { amount_cents: number }) => row.amount_cents;
  await expectLists(
    client,
    '/payment_requests',
    amount,
    [400, 650],
    [
      ['external_customer_id=acme', [650]],
      ['external_customer_id=none', []],
      ['payment_status=pending', ALL],
      ['payment_status=succeeded', []],
      ['payment_status=lost', { payment_status: 'value_is_invalid' }],
      ['currency=EUR', [400]],
      ['billing_entity_codes[]=branch', [400]],
      ['billing_entity_codes[]=none', { 404: 'billing_entity' }],
    ],
  );
  await expectLists(
    client,
    '/customers/zed/payment_requests',
    amount,
    [400],
    [
      ['external_customer_id=acme', unknown('external_customer_id')],
      ['currency=USD', []],
    ],
  );
});
