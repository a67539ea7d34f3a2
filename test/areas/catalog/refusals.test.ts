import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { ok } from '../../support/words.ts';

// Refusals that no test of a room meets, each with its whole body. Rules: api-keys.md#permissions,
// error-bodies.md#codes-of-a-405, error-bodies.md#codes-by-field, customers.md#deletion-portal-checkout,
// customers.md#payment-provider.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2024-05-01T08:00:00Z');
  await story.customer();
  for (const [code, emulates] of [
    ['first', 'stripe'],
    ['second', 'stripe'],
    ['third', 'cashfree'],
  ])
    await ok(
      story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code, name: 'P', emulates } }),
    );
});
afterAll(() => service.stop());

const invalid = (details: object) => ({
  status: 422,
  error: 'Unprocessable Entity',
  code: 'validation_errors',
  error_details: details,
});
const notAllowed = (code: string) => ({ status: 405, error: 'Method Not Allowed', code });
const linked = (external_id: string, payment_provider: string, configuration: object) =>
  story.client.post('/customers', {
    customer: {
      external_id,
      currency: 'USD',
      billing_configuration: { payment_provider, sync_with_provider: true, sync: true, ...configuration },
    },
  });

test('a connection must be named when a provider has several', async () => {
  expect((await linked('torn', 'stripe', {})).body).toEqual(invalid({ base: ['payment_provider_code_missing'] }));
  expect((await linked('torn', 'stripe', { payment_provider_code: 'third' })).body).toEqual(
    invalid({ base: ['payment_provider_not_found'] }),
  );
  expect((await story.client.get('/customers/torn')).status).toBe(404);
});

test('a page to store a payment method is refused when there is nothing to set up or the provider has no such pages', async () => {
  const page = (customer: string) => story.client.post(`/customers/${customer}/checkout_url`);
  await ok(linked('coins', 'stripe', { payment_provider_code: 'first', provider_payment_methods: ['crypto'] }));
  expect((await page('coins')).body).toEqual(
    invalid({ provider_payment_methods: ['no_payment_methods_to_setup_available'] }),
  );
  await ok(linked('links', 'cashfree', {}));
  expect((await page('links')).body).toEqual(notAllowed('feature_not_supported'));
  expect((await page('acme')).body).toEqual(invalid({ base: ['no_linked_payment_provider'] }));
});

test.each(['crypto', 'customer_balance'])(
  'a linked customer cannot be given %s as its only payment method at a provider that offers no such kind',
  async (method) => {
    const external_id = `by-${method}`;
    const refused = { status: 422, body: { error_details: { provider_payment_methods: ['unsupported_value'] } } };
    const only = { provider_payment_methods: [method] };
    expect(await linked(external_id, 'cashfree', only)).toMatchObject(refused);
    expect((await story.client.get(`/customers/${external_id}`)).status).toBe(404);
    await ok(linked(external_id, 'cashfree', {}));
    expect(await linked(external_id, 'cashfree', only)).toMatchObject(refused);
    const billing_configuration = { provider_payment_methods: [method] };
    expect(await story.client.post('/customers', { customer: { external_id, billing_configuration } })).toMatchObject(
      refused,
    );
  },
);

test('the purchase order number of a subscription that has ended cannot change', async () => {
  await story.plan({ amount_cents: 100 });
  await story.subscribe({ purchase_order_number: 'PO-1' });
  await ok(story.client.delete('/subscriptions/sub'));
  const change = (number: string) =>
    story.client.put('/subscriptions/sub?status=terminated', { subscription: { purchase_order_number: number } });
  expect((await change('PO-2')).body).toEqual(notAllowed('purchase_order_number_not_editable'));
  expect((await change('PO-1')).status).toBe(200);
});

test('a payment request accepts overdue invoices of one currency and one billing entity', async () => {
  const { client } = story;
  await ok(client.post('/billing_entities', { billing_entity: { name: 'Branch', code: 'branch' } }));
  await ok(
    client.post('/add_ons', { add_on: { name: 'Item', code: 'item', amount_cents: 100, amount_currency: 'USD' } }),
  );
  const invoice = async (fields: object): Promise<string> =>
    (
      await ok(
        client.post('/invoices', {
          invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'item' }], ...fields },
        }),
      )
    ).invoice.svc_id;
  const ask = async (...svc_invoice_ids: string[]) =>
    (
      await client.post('/payment_requests', {
        payment_request: { external_customer_id: 'acme', email: 'a@b.co', svc_invoice_ids },
      })
    ).body;
  const [dollars, euros] = [await invoice({}), await invoice({ currency: 'EUR' })];
  const branch = await invoice({ billing_entity_code: 'branch' });
  expect(await ask(dollars)).toEqual(notAllowed('invoices_not_overdue'));
  for (const [sent, code] of [
    [undefined, 'value_is_mandatory'],
    ['all', 'value_is_invalid'],
  ])
    expect(
      (
        await client.post('/payment_requests', {
          payment_request: { external_customer_id: 'acme', svc_invoice_ids: sent },
        })
      ).body,
    ).toEqual({
      ...invalid({ svc_invoice_ids: [code] }),
      error_places: [{ path: 'payment_request.svc_invoice_ids', code: expect.any(String) }],
    });
  await story.advanceTo('2024-05-03T08:00:00Z');
  expect(await ask(dollars, euros)).toEqual(notAllowed('invoices_have_different_currencies'));
  expect(await ask(dollars, branch)).toEqual(notAllowed('invoices_have_different_billing_entities'));
  await service.sql`update invoices set ready_for_payment_processing = false where id = ${dollars}`;
  expect(await ask(dollars)).toEqual(notAllowed('invoices_not_ready_for_payment_processing'));
});

test('a key that may read payment receipts or invoices may read receipts', async () => {
  const read = async (permissions: object) => {
    const { api_key } = await ok(story.client.post('/api_keys', { api_key: { permissions } }));
    return (await service.client(api_key.value).get('/payment_receipts')).body;
  };
  expect(await read({ invoice: ['read'] })).toMatchObject({ payment_receipts: [] });
  expect(await read({ payment_receipt: ['read'] })).toMatchObject({ payment_receipts: [] });
  expect(await read({ invoice: ['write'] })).toEqual({
    status: 403,
    error: 'Forbidden',
    code: 'read_action_not_allowed_for_payment_receipt',
  });
});
