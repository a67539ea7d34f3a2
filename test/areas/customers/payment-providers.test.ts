import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CAPABILITIES } from '../../../src/platform/payments/capabilities.ts';
import { CONTRACT_PROVIDERS, contractOf } from '../../../src/platform/payments/contract-providers.ts';
import { PROVIDERS } from '../../../src/platform/payments/providers.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// The table of the types of connection and what they can do: provider-connections.md#types,
// provider-connections.md#capabilities.
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
});

const connect = (fields: object) =>
  story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'a', name: 'A', ...fields } });

test('the table of types says what each type needs and can do', async () => {
  const { payment_provider_types: types } = await ok(story.client.get('/payment_providers/types'));
  expect(types.map(({ type }: { type: string }) => type)).toEqual(PROVIDERS.map(({ type }) => type));
  expect(types).toContainEqual({
    type: 'stripe',
    sandbox_only: false,
    emulates: null,
    secrets: [{ name: 'secret_key', mandatory: true, made: false }],
    settings: [
      { name: 'supports_3ds', mandatory: false },
      { name: 'require_terms_of_service_consent', mandatory: false },
    ],
    capabilities: [...CAPABILITIES],
  });
});

test('a connection shows its settings, what it can do and that it moves no real money', async () => {
  const { payment_provider: made } = await ok(connect({ emulates: 'gocardless', supports_3ds: true }));
  expect(made).toMatchObject({ live: false, settings: { supports_3ds: true }, supports_3ds: true });
  expect(made.capabilities).toContain('mandate');
  expect(made.capabilities).not.toContain('payment_page');
});

test.each([
  ['a secret of another type', { secret_key: 'sk_test_1' }, { secret_key: ['value_is_invalid'] }],
  ['the code that is the path of the table', { code: 'types' }, { code: ['value_is_invalid'] }],
])('a connection with %s is refused', async (_, fields, details) => {
  expect((await connect(fields)).body.error_details).toEqual(details);
});

test('a connection cannot get the code that is the path of the table', async () => {
  await ok(connect({}));
  const renamed = await story.client.put('/payment_providers/a', { payment_provider: { code: 'types' } });
  expect(renamed.body.error_details).toEqual({ code: ['value_is_invalid'] });
});

/** A customer of a sandbox that behaves like `emulates`, with a card and an invoice of 1200. */
async function invoiceOf(emulates: string) {
  await ok(connect({ emulates }));
  await ok(
    story.client.post('/customers', {
      customer: {
        external_id: 'acme',
        currency: 'USD',
        billing_configuration: { payment_provider: emulates, payment_provider_code: 'a', sync_with_provider: true },
      },
    }),
  );
  await ok(
    story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: '4242424242424242' } }),
  );
  await ok(
    story.client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' },
    }),
  );
  const { invoice } = await ok(
    story.client.post('/invoices', {
      invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
    }),
  );
  return invoice;
}

const statusOf = async (id: string) => (await ok(story.client.get(`/invoices/${id}`))).invoice.payment_status;

// payments.md#providers has the columns of this table.
test.each([
  // name         charges by itself  checkout url             payment url
  ['stripe', true, 200, 200],
  ['gocardless', true, 200, 'invalid_payment_provider'],
  ['adyen', true, 200, 200],
  ['cashfree', false, 'feature_not_supported', 200],
  ['flutterwave', false, 'feature_not_supported', 200],
  ['moneyhash', true, 200, 200],
])('what %s cannot do is answered by the words of the interface', async (name, charges, checkout, page) => {
  const invoice = await invoiceOf(name);
  const said = ({ status, body }: { status: number; body: { code?: string; error_details?: { base?: string[] } } }) =>
    status === 200 ? 200 : (body.error_details?.base?.[0] ?? body.code);
  expect(said(await story.client.post('/customers/acme/checkout_url', {}))).toEqual(checkout);
  if (charges) await until(async () => (await statusOf(invoice.svc_id)) === 'succeeded');
  else {
    await story.advanceTo('2024-05-01T11:00:00Z');
    expect(await statusOf(invoice.svc_id)).toBe('pending');
    expect(said(await story.client.post(`/invoices/${invoice.svc_id}/payment_url`, {}))).toEqual(page);
    return;
  }
  const answer = said(await story.client.post(`/invoices/${invoice.svc_id}/payment_url`, {}));
  expect(answer).toEqual(page === 200 ? 'invalid_invoice_status_or_payment_status' : page);
});

test('each name of the interface has words for every state of a payment, none of them twice', async () => {
  for (const name of CONTRACT_PROVIDERS) {
    const words = Object.values(contractOf(name).words.payment).flat();
    expect([name, new Set(words).size]).toEqual([name, words.length]);
  }
});
