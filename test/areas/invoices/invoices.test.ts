import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Lists and single reads of invoices and fees: invoice-operations.md#payload, invoice-operations.md#list-filters,
// usage-fees.md#endpoints.
let service: TestService;
let story: Story;
let first: Invoice;
let draft: Invoice;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-01-01T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer({ name: 'Acme Ltd', email: 'pay@acme.test' });
  await story.customer({ external_id: 'grace', currency: 'EUR', billing_configuration: { invoice_grace_period: 400 } });
  await story.plan({ amount_cents: 1000 });
  await story.plan({ amount_cents: 500, code: 'euro', amount_currency: 'EUR' });
  await story.subscribe({ name: 'zeta', purchase_order_number: 'PO-7' });
  await story.subscribe({ external_id: 'alpha', name: 'alpha', purchase_order_number: 'PO-7' });
  await story.subscribe({ external_customer_id: 'grace', external_id: 'draft', plan_code: 'euro' });
  await story.advanceTo('2024-04-02T00:00:00Z');
  [first] = await story.invoices(3);
  [draft] = await story.invoices(3, 'grace');
});
afterAll(() => service.stop());

const list = async (query: string) => (await story.client.get(`/invoices?${query}`)).body;
const count = async (query: string): Promise<number> => (await list(query)).meta.total_count;

describe('one invoice', () => {
  test('an invoice shows its customer, its periods by name, its fees and its taxes', () => {
    expect(first).toMatchObject({
      status: 'finalized',
      invoice_type: 'subscription',
      payment_status: 'pending',
      currency: 'USD',
      version_number: 4,
      self_billed: false,
      purchase_order_number: 'PO-7',
      fees_amount_cents: 2000,
      coupons_amount_cents: 0,
      taxes_amount_cents: 400,
      total_amount_cents: 2400,
      total_due_amount_cents: 2400,
      prepaid_granted_credit_amount_cents: null,
      credits: [],
      metadata: [],
      error_details: [],
      applied_invoice_custom_sections: [],
      customer: { external_id: 'acme', name: 'Acme Ltd' },
    });
    expect(first.billing_periods.map((each: Invoice) => each.external_subscription_id)).toEqual(['alpha', 'sub']);
    expect(first.subscriptions).toHaveLength(2);
    expect(first.fees[0]).toMatchObject({
      svc_invoice_id: first.svc_id,
      total_amount_cents: 1200,
      taxes_rate: 20,
      precise_amount: '10.0',
      precise_total_amount: '12.0',
      taxes_precise_amount: '2.0',
      precise_unit_amount: '10.0',
      units: '1.0',
      events_count: null,
      applied_taxes: [{ tax_code: 'vat', amount_cents: 200 }],
    });
  });

  test('an unknown, malformed or hidden invoice id is refused with 404', async () => {
    const hidden = draft.svc_id;
    await service.sql`update invoices set status = 'closed' where id = ${hidden}`;
    for (const id of ['x', '00000000-0000-7000-8000-000000000000', hidden])
      expect((await story.client.get(`/invoices/${id}`)).body).toMatchObject({ status: 404, resource: 'invoice' });
    expect((await story.client.get(`/fees/${draft.fees[0].svc_id}`)).body).toMatchObject({ resource: 'fee' });
    await service.sql`update invoices set status = 'draft' where id = ${hidden}`;
  });

  test('an invoice of another organization is refused with 404', async () => {
    const other = await service.org();
    expect((await other.get(`/invoices/${first.svc_id}`)).status).toBe(404);
    expect((await other.get(`/fees/${first.fees[0].svc_id}`)).status).toBe(404);
    expect((await other.get('/invoices')).body.meta.total_count).toBe(0);
  });
});

describe('lists of invoices', () => {
  test('invoices are listed latest issued first, with customer, metadata and taxes', async () => {
    const { invoices, meta } = await list('per_page=3');
    expect(meta.total_count).toBe(6);
    const dates = invoices.map((invoice: Invoice) => invoice.issuing_date);
    expect(dates).toEqual([...dates].sort().reverse());
    expect(invoices[0]).toMatchObject({ customer: {}, metadata: [], applied_taxes: [{ tax_code: 'vat' }] });
    expect(invoices[0]).not.toHaveProperty('fees');
  });

  test.each([
    ['external_customer_id=acme', 3],
    ['customer_external_id=grace', 3],
    ['search_term=ACME', 3],
    ['search_term=pay@', 3],
    ['search_term=100%25', 0],
    ['currency=EUR', 3],
    ['invoice_type=subscription', 6],
    ['invoice_type=credit', 0],
    ['issuing_date_from=2024-04-01&issuing_date_to=2024-04-30', 1],
    ['issuing_date_from=nonsense', 6],
    ['status=draft', 3],
    ['statuses[]=draft&statuses[]=finalized', 6],
    ['payment_statuses[]=succeeded', 0],
    ['payment_overdue=true', 2],
    ['payment_dispute_lost=false', 6],
    ['partially_paid=true', 0],
    ['self_billed=false', 6],
    ['amount_from=2400&amount_to=2400', 3],
    ['purchase_order_number=po-7', 3],
    ['metadata[color]=', 6],
    ['metadata[color]=red', 0],
    ['settlements[]=payment', 0],
  ])('the invoice filter %s finds %i', async (query, expected) => {
    expect(await count(query)).toBe(expected);
  });

  test.each([
    ['status=generating', 'status'],
    ['statuses[]=draft&statuses[]=closed', 'statuses'],
    ['payment_status=strange', 'payment_status'],
    ['payment_overdue=perhaps', 'payment_overdue'],
    ['invoice_type=strange', 'invoice_type'],
  ])('the invoice filter %s is refused', async (query, field) => {
    const { status, body } = await story.client.get(`/invoices?${query}`);
    expect(status).toBe(422);
    expect(body.error_details).toEqual({ [field]: ['value_is_invalid'] });
  });

  test('invoices are listed by customer, and unknown customers and entities are refused with 404', async () => {
    expect((await story.client.get('/customers/acme/invoices?per_page=1')).body.meta.total_pages).toBe(3);
    expect((await story.client.get('/customers/none/invoices')).body.resource).toBe('customer');
    expect((await story.client.get('/invoices?billing_entity_codes[]=none')).body.resource).toBe('billing_entity');
    expect(await count(`search_term=${first.svc_id}`)).toBe(1);
    expect(await count(`search_term=${first.number}`)).toBe(1);
  });
});

describe('lists of fees', () => {
  test.each([
    ['', 9],
    ['fee_type=subscription', 9],
    ['fee_type=charge', 0],
    ['external_subscription_id=alpha', 3],
    ['external_customer_id=grace', 3],
    ['currency=eur', 3],
    ['payment_status=pending', 9],
    ['created_at_from=2024-03-01&created_at_to=2024-03-01', 3],
    ['succeeded_at_from=2024-01-01', 0],
    ['event_transaction_id=x', 0],
  ])('the fee filter %s finds %i, oldest first', async (query, expected) => {
    const { body } = await story.client.get(`/fees?${query}`);
    expect(body.meta.total_count).toBe(expected);
    const times = body.fees.map((fee: Invoice) => fee.created_at);
    expect(times).toEqual([...times].sort());
  });

  test.each([
    ['fee_type=strange', { fee_type: ['value_is_invalid'] }],
    ['payment_status=open', { payment_status: ['value_is_invalid'] }],
    ['created_at_from=soon', { created_at_from: ['invalid_date'] }],
  ])('the fee filter %s is refused', async (query, details) => {
    expect((await story.client.get(`/fees?${query}`)).body.error_details).toEqual(details);
  });
});

test.each([
  ['findAllInvoices', {}],
  ['findAllCustomerInvoices', { external_customer_id: 'acme' }],
  ['findAllFees', {}],
  ['findAllSubscriptions', {}],
  ['findAllCustomerSubscriptions', { external_customer_id: 'acme' }],
  ['findSubscription', { external_id: 'sub' }],
])('%s takes at most six round trips', async (operation, params) => {
  const { roundTrips } = await countStatements(service, story.organizationId, operation, {
    now: '2024-04-02T00:00:00Z',
    ...params,
  });
  expect(roundTrips).toBeLessThanOrEqual(6);
});

test('reading one invoice, whose page is drawn, takes at most six round trips', async () => {
  await ok(story.client.post(`/invoices/${first.svc_id}/download`));
  await until(async () => (await ok(story.client.get(`/invoices/${first.svc_id}`))).invoice.file_url);
  const { roundTrips, body } = await countStatements(service, story.organizationId, 'findInvoice', {
    now: '2024-04-02T00:00:00Z',
    svc_id: first.svc_id,
  });
  expect(body.invoice.fees).toHaveLength(2);
  expect(roundTrips).toBeLessThanOrEqual(6);
});
