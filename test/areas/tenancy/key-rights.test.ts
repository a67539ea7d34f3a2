import { afterAll, beforeAll, expect, test } from 'vitest';
import { PERMISSION_RESOURCES } from '../../../src/areas/tenancy/organizations/permissions.ts';
import { operations } from '../../../src/operations.ts';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

// No key obtains a permission that it was not given: api-keys.md#record, other-routes.md#records. Every permission is
// tried by every route.
let service: TestService;
let org: Client;
let manager: { client: Client; svc_id: string };

const made = async (permissions: object) => (await org.post('/api_keys', { api_key: { permissions } })).body.api_key;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  org = await service.org();
  const key = await made({ api_key: ['read', 'write'] });
  manager = { client: service.client(key.value), svc_id: key.svc_id };
});
afterAll(() => service.stop());

const wanted = PERMISSION_RESOURCES.filter((resource) => resource !== 'api_key').flatMap((resource) =>
  (['read', 'write'] as const).map((mode) => [`${resource}:${mode}`, resource, mode] as const),
);

test.each(wanted)('a key that only manages keys cannot obtain %s', async (_, resource, mode) => {
  const { client, svc_id } = manager;
  const permissions = { [resource]: [mode] };
  const more = { api_key: ['read', 'write'], ...permissions };
  const holder = await made(permissions);
  const lesser = await made({ api_key: ['read'] });
  const refused = [
    await client.post('/api_keys', { api_key: { permissions } }),
    await client.put(`/api_keys/${svc_id}`, { api_key: { permissions: more } }),
    await client.patch(`/api_keys/${lesser.svc_id}`, { api_key: { permissions: more } }),
    await client.put(`/api_keys/${holder.svc_id}`, { api_key: { name: 'mine' } }),
    await client.post(`/api_keys/${holder.svc_id}/rotate`),
    await client.delete(`/api_keys/${holder.svc_id}`),
  ];
  const body = { status: 403, error: 'Forbidden', code: `${mode}_action_not_allowed_for_${resource}` };
  expect(refused.map((answer) => answer.body)).toEqual(refused.map(() => body));
  const { permissions: left } = (await org.get(`/api_keys/${svc_id}`)).body.api_key;
  expect(left).toEqual({ api_key: ['read', 'write'] });
});

test('a key that may not write keys reaches no route that creates or changes one', async () => {
  const everythingElse = Object.fromEntries(PERMISSION_RESOURCES.map((resource) => [resource, ['read', 'write']]));
  const key = await made({ ...everythingElse, api_key: ['read'] });
  const client = service.client(key.value);
  const path = `/api_keys/${key.svc_id}`;
  for (const answer of [
    await client.post('/api_keys', { api_key: { permissions: { plan: ['read'] } } }),
    await client.put(path, { api_key: { permissions: everythingElse } }),
    await client.patch(path, { api_key: { name: 'x' } }),
    await client.post(`${path}/rotate`),
    await client.delete(path),
  ])
    expect([answer.status, answer.body.code]).toEqual([403, 'write_action_not_allowed_for_api_key']);
});

// What hands out a secret, a key or a link, and what a caller must hold for it: a new one is to be added on purpose.
test('the operations that hand out access are listed with their permissions', () => {
  const HANDS_OUT = /api_keys|hmac_key|rotate|portal_url|secret|members|embed|token|checkout_url|payment_url/;
  const handed = operations
    .filter(({ path, revealsSecret, hidden }) => !hidden && (revealsSecret || HANDS_OUT.test(path)))
    .map(
      ({ name, method, mode, permission }) => `${name} ${permission}:${mode ?? (method === 'get' ? 'read' : 'write')}`,
    );
  expect(handed.sort()).toEqual([
    'createApiKey api_key:write',
    'createPaymentProvider payment_provider:write',
    'createWebhookEndpoint webhook_endpoint:write',
    'destroyApiKey api_key:write',
    'fetchHmacKey webhook_endpoint:write',
    'findAllApiKeys api_key:read',
    'findApiKey api_key:read',
    // Whoever has a key may ask what it is; the answer holds its last digits only.
    'findCurrentApiKey null:read',
    'finishSandboxCheckout payment:write',
    'generateCustomerCheckoutURL customer:write',
    'getCustomerPortalUrl customer:read',
    'invoicePaymentUrl invoice:write',
    'paymentRequestPaymentUrl payment_request:write',
    'rotateApiKey api_key:write',
    'rotateHmacKey webhook_endpoint:write',
    'rotateWebhookEndpointSecret webhook_endpoint:write',
    'updateApiKey api_key:write',
    'walletTransactionPaymentUrl wallet_transaction:write',
  ]);
});
