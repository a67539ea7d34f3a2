import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClientAnswer } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-05T10:00:00Z');
  await story.customer({ currency: 'EUR' });
  for (const [code, rate] of [
    ['vat_20', '20'],
    ['vat_10', '10'],
  ])
    await story.client.post('/taxes', { tax: { name: code, code, rate } });
  const addOn = { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'EUR', description: 'Once' };
  await story.client.post('/add_ons', { add_on: addOn });
  await story.client.post('/add_ons', { add_on: { ...addOn, code: 'taxed', tax_codes: ['vat_20'] } });
});
afterAll(() => service.stop());

const invoice = (fees: object[] | undefined, more: object = {}): Promise<ClientAnswer> =>
  story.client.post('/invoices', { invoice: { external_customer_id: 'acme', fees, ...more } });

test('taxes named on the line replace all others (G77)', async () => {
  const fee = { add_on_code: 'taxed', unit_amount_cents: 10000, tax_codes: ['vat_20', 'vat_10'] };
  const { status, body } = await invoice([fee]);
  expect(status).toBe(200);
  expect(body.invoice).toMatchObject({
    invoice_type: 'one_off',
    status: 'finalized',
    issuing_date: '2024-05-05',
    fees_amount_cents: 10000,
    taxes_amount_cents: 3000,
    total_amount_cents: 13000,
    billing_periods: [],
    subscriptions: [],
  });
  expect(body.invoice.fees).toHaveLength(1);
  expect(body.invoice.fees[0]).toMatchObject({
    item: { type: 'add_on', code: 'taxed', item_type: 'AddOn', invoice_display_name: 'Setup' },
    description: 'Once',
    units: '1.0',
    taxes_rate: 30,
    from_date: '2024-05-05T10:00:00Z',
    to_date: '2024-05-05T10:00:00Z',
  });
  // A single read adds what was given up.
  expect((await story.client.get(`/invoices/${body.invoice.svc_id}`)).body).toEqual(body);
});

test.each([
  ['2 × 5000 and 1 × 3333', [{ units: 2 }, { unit_amount_cents: 3333 }], ['vat_20'], [13333, 2667, 16000]],
  ['1.5 × 999', [{ units: '1.5', unit_amount_cents: 999 }], [], [1499, 0, 1499]],
])('a one-off invoice of %s is totaled', async (_name, fees, tax_codes, [amount, tax, total]) => {
  const { body } = await invoice(fees.map((fee) => ({ add_on_code: 'setup', tax_codes, ...fee })));
  expect(body.invoice).toMatchObject({
    fees_amount_cents: amount,
    taxes_amount_cents: tax,
    total_amount_cents: total,
  });
});

test('a line of a one-off invoice may give its own time, name and description', async () => {
  const { body } = await invoice([
    {
      add_on_code: 'setup',
      invoice_display_name: 'Move',
      description: 'Two vans',
      from_datetime: '2024-04-01T00:00:00Z',
      to_datetime: '2024-04-30T23:59:59Z',
    },
  ]);
  expect(body.invoice.fees[0]).toMatchObject({
    item: { invoice_display_name: 'Move' },
    description: 'Two vans',
    from_date: '2024-04-01T00:00:00Z',
    to_date: '2024-04-30T23:59:59Z',
  });
});

test('a one-off invoice is numbered, booked once and announced as such', async () => {
  const { body } = await invoice([{ add_on_code: 'setup' }], { skip_psp: true, purchase_order_number: 'PO 7' });
  const id = body.invoice.svc_id;
  expect(body.invoice).toMatchObject({ purchase_order_number: 'PO 7' });
  expect(body.invoice.number).toMatch(/-\d{3}-\d{3}$/);
  const [stored] = await service.sql`
    select skip_psp, (select count(*) from ledger_transactions where source_id = invoices.id) as booked,
      (select sum(amount_cents) from ledger_entries
       where invoice_id = invoices.id and account_code = 'revenue.add_on') as revenue
    from invoices where id = ${id}`;
  expect(stored).toMatchObject({ skip_psp: true, booked: 1 });
  expect(Number(stored!.revenue)).toBe(5000);
  const [told] = await service.sql`select webhook_type from webhook_events where object_id = ${id}`;
  expect(told).toMatchObject({ webhook_type: 'invoice.one_off_created' });
});

test.each([
  [{ external_customer_id: 'nobody', fees: [] }, 404, { resource: 'customer' }],
  [{ fees: [], payment_method: { payment_method_type: 'x' } }, 404, { resource: 'fees' }],
  [{ fees: undefined }, 404, { resource: 'fees' }],
  [{ fees: [{ add_on_code: 'nothing' }], payment_method: { payment_method_type: 'x' } }, 404, { resource: 'add_on' }],
  [
    { payment_method: { payment_method_type: 'x' }, billing_entity_code: 'nowhere' },
    422,
    { error_details: { payment_method: ['invalid_payment_method'] } },
  ],
  [
    { billing_entity_code: 'nowhere', fees: [{ add_on_code: 'setup', from_datetime: 'x' }] },
    404,
    { resource: 'billing_entity' },
  ],
  [
    { fees: [{ add_on_code: 'setup', from_datetime: '2024-01-01T00:00:00Z', tax_codes: ['nope'] }] },
    422,
    { error_details: { boundaries: ['values_are_invalid'] } },
  ],
  [
    {
      fees: [{ add_on_code: 'setup', from_datetime: '2024-01-02T00:00:00Z', to_datetime: '2024-01-01T00:00:00Z' }],
    },
    422,
    { error_details: { boundaries: ['values_are_invalid'] } },
  ],
  [{ fees: [{ add_on_code: 'setup', tax_codes: ['nope'] }] }, 404, { resource: 'tax' }],
])('a one-off invoice with %j is refused with status %i', async (more, status, body) => {
  const refused = await invoice([{ add_on_code: 'setup' }], more);
  expect(refused.status).toBe(status);
  expect(refused.body).toMatchObject(body);
});

test('the first invoice sets the currency of its customer, and a request must name one when there is none', async () => {
  await story.client.post('/customers', { customer: { external_id: 'new' } });
  const fees = [{ add_on_code: 'setup' }];
  const asked = await invoice(fees, { external_customer_id: 'new' });
  expect(asked.body.error_details).toEqual({ currency: ['value_is_mandatory'] });
  expect((await invoice(fees, { external_customer_id: 'new', currency: 'USD' })).body.invoice.currency).toBe('USD');
  expect((await story.client.get('/customers/new')).body.customer.currency).toBe('USD');
});
