import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../../support/client.ts';
import { ANROK_KEY, type FakeAnrok, fakeAnrok } from '../../../support/fakes/anrok.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// What a customer shows and what rests while the taxes of an invoice are unknown: customers.md#tax-errors.

let service: TestService;
let anrok: FakeAnrok;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  anrok = await fakeAnrok();
  service = await startService({ settings: { ANROK_API_URL: anrok.url } });
  client = await service.org();
});
afterAll(async () => {
  await service.stop();
  await anrok.close();
});

const errors = async (): Promise<Shown[]> => (await ok(client.get('/customers/acme'))).customer.error_details;
const wallet = async (id: string): Promise<Shown> => (await ok(client.get(`/wallets/${id}`))).wallet;

test('an invoice whose taxes are unknown shows at its customer, whose wallets rest until a mapping ends that', async () => {
  await ok(
    client.post('/integrations', {
      integration: { type: 'anrok', code: 'main', name: 'Main', api_key: ANROK_KEY },
    }),
  );
  await ok(
    client.post('/customers', {
      customer: {
        external_id: 'acme',
        currency: 'USD',
        country: 'US',
        state: 'CO',
        city: 'Denver',
        zipcode: '80204',
        integration_customers: [{ integration_type: 'anrok', integration_code: 'main', sync_with_provider: true }],
      },
    }),
  );
  await ok(
    client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 15000, amount_currency: 'USD' },
    }),
  );
  const { wallet: made } = await ok(
    client.post('/wallets', {
      wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', granted_credits: '50' },
    }),
  );
  const id = made.svc_id;
  await until(async () => (await wallet(id)).ongoing_balance_cents === 5000 || undefined);
  expect(await errors()).toEqual([]);

  anrok.products.add('saas');
  const { invoice } = await ok(
    client.post('/invoices', {
      invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
    }),
  );
  await until(async () => (await errors())[0]);
  expect(await errors()).toMatchObject([
    { error_code: 'tax_error', details: { tax_error: 'productExternalIdUnknown' } },
  ]);
  expect((await ok(client.get(`/invoices/${invoice.svc_id}`))).invoice.status).toBe('failed');

  // A balance that only a computation puts right.
  await service.sql`update wallets set ongoing_balance_cents = -777 where id = ${id}`;
  await ok(client.put(`/wallets/${id}`, { wallet: { name: 'Credits' } }));
  await until(async () => {
    const marks = await service.sql`
      select from wallet_marks where organization_id = ${client.organization.organization_id}`;
    return marks.length === 0 || undefined;
  });
  expect((await wallet(id)).ongoing_balance_cents).toBe(-777);

  await ok(
    client.put('/integrations/main/mappings', {
      mappings: [{ resource_type: 'add_on', resource_code: 'setup', external_id: 'saas' }],
    }),
  );
  await until(async () => (await wallet(id)).ongoing_balance_cents === 5000 || undefined);
  expect(await errors()).toEqual([]);
  expect((await ok(client.get(`/invoices/${invoice.svc_id}`))).invoice.error_details).toEqual([]);
});
