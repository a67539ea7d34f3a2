import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { json } from '../../../src/platform/db/values.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let hooks: HookReceiver;

beforeAll(async () => {
  hooks = await openHookReceiver();
  service = await startService({ pools: ['writes', 'webhooks'], settings: { WEBHOOK_RETRY_SCHEDULE: '0' } });
});
beforeEach(() => {
  hooks.hooks.length = 0;
  hooks.react(200);
});
afterAll(async () => {
  await service.stop();
  await hooks.close();
});

async function endpointOf(org: Org, fields: object = {}): Promise<string> {
  const answer = await org.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: hooks.url, signature_algo: 'hmac', ...fields },
  });
  return answer.body.webhook_endpoint.svc_id;
}

const settled = (org: Org, endpointId: string, count: number) =>
  until(async () => {
    const { body } = await org.get(`/webhook_endpoints/${endpointId}/webhooks`);
    const done = body.webhooks.filter((each: { status: string }) => ['succeeded', 'failed'].includes(each.status));
    return done.length === count ? body.webhooks : undefined;
  });

test('a new customer is announced, and the log shows the delivery as it was sent', async () => {
  const org = await service.org({ sandbox: true });
  const endpointId = await endpointOf(org);
  const customer = (await org.post('/customers', { customer: { external_id: 'c1', name: 'Ada' } })).body.customer;
  const [delivery] = await settled(org, endpointId, 1);
  expect(delivery).toEqual({
    svc_id: hooks.hooks[0]!.headers['x-svc-unique-key'],
    svc_webhook_endpoint_id: endpointId,
    webhook_type: 'customer.created',
    object_type: 'customer',
    svc_object_id: customer.svc_id,
    endpoint: `${hooks.url}/`,
    status: 'succeeded',
    retries: 0,
    http_status: 200,
    payload: JSON.parse(hooks.hooks[0]!.body),
    response: 'answered 200',
    last_retried_at: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(Object.keys(delivery.payload)).toEqual(['webhook_type', 'object_type', 'organization_id', 'customer']);
  expect(delivery.payload.customer).toMatchObject({ external_id: 'c1', name: 'Ada', svc_id: customer.svc_id });
  expect((await org.get(`/webhooks/${delivery.svc_id}`)).body).toEqual({ webhook: delivery });
  const stranger = await service.org();
  expect(await stranger.get(`/webhooks/${delivery.svc_id}`)).toMatchObject({
    status: 404,
    body: { resource: 'webhook' },
  });
  expect(await stranger.get(`/webhook_endpoints/${endpointId}/webhooks`)).toMatchObject({
    status: 404,
    body: { resource: 'webhook_endpoint' },
  });
});

test('a failed delivery can be resent with the whole schedule; one that succeeded cannot', async () => {
  const org = await service.org();
  const endpointId = await endpointOf(org);
  hooks.react(500);
  await org.post('/customers', { customer: { external_id: 'c1' } });
  const [failed] = await settled(org, endpointId, 1);
  expect(failed).toMatchObject({ status: 'failed', retries: 2, response: 'answered 500' });
  hooks.react(503, 200);
  const retried = await org.post(`/webhooks/${failed.svc_id}/retry`);
  expect(retried).toMatchObject({ status: 200, body: { webhook: { svc_id: failed.svc_id, status: 'pending' } } });
  const done = await until(async () => {
    const { webhook } = (await org.get(`/webhooks/${failed.svc_id}`)).body;
    return webhook.status === 'succeeded' && webhook;
  });
  expect(done).toMatchObject({ retries: 3, http_status: 200 });
  expect(new Set(hooks.hooks.map((hook) => hook.headers['x-svc-unique-key']))).toEqual(new Set([failed.svc_id]));
  expect(await org.post(`/webhooks/${failed.svc_id}/retry`)).toMatchObject({
    status: 405,
    body: { code: 'is_succeeded' },
  });
  expect((await org.post(`/webhooks/${endpointId}/retry`)).body.resource).toBe('webhook');
});

test('the delivery log is filtered by status, type, answer, day and id, newest first', async () => {
  const org = await service.org();
  const endpointId = await endpointOf(org);
  hooks.react(
    404,
    404,
    (response) => response.socket!.destroy(),
    (response) => response.socket!.destroy(),
    201,
  );
  for (const external_id of ['c1', 'c2', 'c3']) {
    const before = (await org.get(`/webhook_endpoints/${endpointId}/webhooks`)).body.meta.total_count;
    await org.post('/customers', { customer: { external_id } });
    await settled(org, endpointId, before + 1);
  }
  const path = `/webhook_endpoints/${endpointId}/webhooks`;
  const all = (await org.get(path)).body.webhooks;
  expect(
    all.map((each: { payload: { customer: { external_id: string } } }) => each.payload.customer.external_id),
  ).toEqual(['c3', 'c2', 'c1']);
  const found = async (query: string) => {
    const answer = await org.get(`${path}?${query}`);
    expect(answer.status).toBe(200);
    return answer.body.webhooks.map(
      (each: { payload: { customer: { external_id: string } } }) => each.payload.customer.external_id,
    );
  };
  expect(await found('statuses[]=failed')).toEqual(['c2', 'c1']);
  expect(await found('statuses=succeeded')).toEqual(['c3']);
  expect(await found('event_types[]=customer.created&event_types[]=plan.created')).toHaveLength(3);
  expect(await found('event_types[]=plan.created')).toEqual([]);
  expect(await found('http_statuses[]=404')).toEqual(['c1']);
  expect(await found('http_statuses[]=4xx&http_statuses[]=200-204')).toEqual(['c3', 'c1']);
  expect(await found('http_statuses[]=timeout')).toEqual(['c2']);
  expect(await found('http_statuses[]=nonsense')).toEqual([]);
  const today = all[0].updated_at.slice(0, 10);
  expect(await found(`from_date=${today}&to_date=${today}`)).toHaveLength(3);
  expect(await found(`to_date=${all[0].updated_at}`)).toHaveLength(3);
  expect(await found('from_date=2999-01-01')).toEqual([]);
  expect(await found('to_date=2001-01-01')).toEqual([]);
  expect(await found(`search_term=${all[1].svc_id}`)).toEqual(['c2']);
  expect(await found(`search_term=${all[2].svc_object_id.toUpperCase()}`)).toEqual(['c1']);
  expect(await found('search_term=c2')).toEqual([]);
  expect((await org.get(`${path}?from_date=yesterday`)).body.error_details).toEqual({ from_date: ['invalid_date'] });
});

test('removing an endpoint removes its deliveries', async () => {
  const org = await service.org();
  const endpointId = await endpointOf(org);
  await org.post('/customers', { customer: { external_id: 'c1' } });
  const [delivery] = await settled(org, endpointId, 1);
  expect((await org.delete(`/webhook_endpoints/${endpointId}`)).status).toBe(200);
  expect((await org.get(`/webhooks/${delivery.svc_id}`)).status).toBe(404);
});

test('the public key is served in Base64, as JSON and as text', async () => {
  const org = await service.org();
  const { webhook, public_keys } = (await org.get('/webhooks/json_public_key')).body;
  expect(Object.keys(webhook)).toEqual(['public_key']); // published clients refuse another key in it
  expect(webhook.public_key).toMatch(/^([A-Za-z0-9+/=]{60}\n)*[A-Za-z0-9+/=]{1,60}\n$/);
  expect(public_keys).toEqual([{ kid: expect.any(String), public_key: webhook.public_key }]);
  const pem = Buffer.from(webhook.public_key, 'base64').toString();
  expect(pem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  expect(createPublicKey(pem).asymmetricKeyType).toBe('rsa');
  const text = await org.get('/webhooks/public_key');
  expect(text.headers['content-type']).toMatch(/^text\/plain/);
  expect(text.text).toBe(webhook.public_key);
});

test('the hmac key is shown only to a key that may write endpoints', async () => {
  const org = await service.org();
  expect((await org.get('/webhooks/hmac_key')).body).toEqual({
    webhook: { hmac_key: org.organization.hmac_key, former_expires_at: null },
  });
  const reader = await service.org();
  await service.sql`
    update api_keys set permissions = ${json({ webhook_endpoint: ['read'] })}
    where organization_id = ${reader.organization.organization_id}`;
  expect(await reader.get('/webhooks/hmac_key')).toMatchObject({
    status: 403,
    body: { code: 'write_action_not_allowed_for_webhook_endpoint' },
  });
  expect((await reader.get('/webhook_endpoints')).status).toBe(200);
  expect(await reader.get('/webhooks/json_public_key')).toMatchObject({
    status: 403,
    body: { code: 'read_action_not_allowed_for_webhook_jwt_public_key' },
  });
});

test('webhook bodies, headers and answers carry the configured wire prefix', async () => {
  const renamed = await startService({ pools: ['writes', 'webhooks'], settings: { WIRE_PREFIX: 'lago' } });
  try {
    const org = await renamed.org();
    const made = await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: hooks.url } });
    const endpointId = made.body.webhook_endpoint.lago_id;
    await org.post('/customers', { customer: { external_id: 'c1' } });
    await until(() => hooks.hooks.length === 1);
    const [hook] = hooks.hooks;
    expect(hook!.headers['x-lago-signature-algorithm']).toBe('jwt');
    expect(hook!.headers['x-lago-unique-key']).toBeDefined();
    expect(Object.keys(hook!.headers).filter((name) => name.startsWith('x-svc'))).toEqual([]);
    expect(hook!.headers['user-agent']).toBe('lago-webhooks/1');
    expect(JSON.parse(hook!.body).customer.lago_id).toEqual(expect.any(String));
    expect(hook!.body).not.toContain('svc_');
    const signed = JSON.parse(
      Buffer.from((hook!.headers['x-lago-signature'] as string).split('.')[1]!, 'base64url').toString(),
    );
    expect(signed.data).toBe(hook!.body);
    const log = await org.get(`/webhook_endpoints/${endpointId}/webhooks`);
    expect(log.body.webhooks[0].lago_object_id).toBe(JSON.parse(hook!.body).customer.lago_id);
  } finally {
    await renamed.stop();
  }
});
