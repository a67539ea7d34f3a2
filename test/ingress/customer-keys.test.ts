import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCustomerKeys } from '../../src/ingress/customer-keys.ts';
import { newId } from '../../src/platform/ids.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let org: Awaited<ReturnType<TestService['org']>>;
let wallet: string;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  org = await service.org();
  await org.post('/customers', { customer: { external_id: 'ada', currency: 'EUR' } });
  const made = await org.post('/wallets', {
    wallet: { external_customer_id: 'ada', name: 'w', rate_amount: '1', currency: 'EUR' },
  });
  wallet = made.body.wallet.svc_id;
});
afterAll(() => service.stop());

test.each([
  ['/customers', { body: { external_id: 'ada', name: 'Ada' } }, 'customer/ada'],
  ['/customers/:external_id', { external_id: 'ada' }, 'customer/ada'],
  ['/wallets', { body: { external_customer_id: 'ada' } }, 'customer/ada'],
  ['/subscriptions', { body: { external_id: 'sub', external_customer_id: 'ada' } }, 'customer/ada'],
  ['/subscriptions/:external_id', { external_id: 'sub', body: { name: 'S' } }, 'subscriptions/sub'],
  ['/plans', { body: { code: 'p' } }, undefined],
  ['/invoices/:svc_id', { svc_id: 'no id' }, undefined],
  ['/invoices/finalize_all', {}, undefined],
])('a command at %s with %j locks %s', (path, input, key) => {
  expect(createCustomerKeys(service.sql).keyOf(path, org.organization.organization_id, input)).toBe(key);
});

test('a record stands for itself until its customer is known, within its own organization', async () => {
  const keys = createCustomerKeys(service.sql);
  const { organization_id } = org.organization;
  const keyOf = (organizationId: string, id: string) => keys.keyOf('/wallets/:svc_id', organizationId, { svc_id: id });
  expect(keyOf(organization_id, wallet)).toBe(`wallets/${wallet}`);
  await until(() => keyOf(organization_id, wallet) === 'customer/ada');
  expect(keys.keyOf('/wallet_transactions', organization_id, { body: { wallet_id: wallet } })).toBe('customer/ada');
  const other = await service.org();
  keyOf(other.organization.organization_id, wallet);
  expect(keyOf(other.organization.organization_id, wallet)).toBe(`wallets/${wallet}`);
  const unknown = newId();
  expect(keyOf(organization_id, unknown)).toBe(`wallets/${unknown}`);
});
