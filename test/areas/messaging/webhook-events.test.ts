import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { hmacSignature } from '../../../src/platform/keys/webhook-signatures.ts';
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

const customer = async (org: Org, external_id: string) =>
  (await org.post('/customers', { customer: { external_id } })).body.customer;
const plan = (org: Org, code: string) =>
  org.post('/plans', {
    plan: { code, name: code, interval: 'monthly', amount_cents: 0, amount_currency: 'EUR', pay_in_advance: false },
  });
const feed = async (org: Org, query = '') => (await org.get(`/webhook_events?${query}`)).body;
const numbered = (org: Org, count: number) =>
  until(async () => {
    const body = await feed(org);
    return body.meta.latest >= count ? body : undefined;
  });

const endpoint = async (org: Org, fields: object = {}) =>
  (
    await org.post('/webhook_endpoints', {
      webhook_endpoint: { webhook_url: hooks.url, signature_algo: 'hmac', ...fields },
    })
  ).body.webhook_endpoint.svc_id as string;
const arrived = (org: Org, endpointId: string, count: number) =>
  until(async () => {
    const { body } = await org.get(`/webhook_endpoints/${endpointId}/webhooks?statuses[]=succeeded`);
    return body.meta.total_count >= count;
  });

test('the feed has every event once and in order, also without endpoints', async () => {
  const org = await service.org();
  expect(await feed(org)).toEqual({
    webhook_events: [],
    meta: { after: 0, next_after: 0, latest: 0, oldest: 1, has_more: false },
  });
  const made = await customer(org, 'c1');
  await plan(org, 'p');
  await customer(org, 'c1');
  const { webhook_events: events, meta } = await numbered(org, 3);
  expect(meta).toEqual({ after: 0, next_after: 3, latest: 3, oldest: 1, has_more: false });
  expect(
    events.map((event: { sequence: number; webhook_type: string }) => [event.sequence, event.webhook_type]),
  ).toEqual([
    [1, 'customer.created'],
    [2, 'plan.created'],
    [3, 'customer.updated'],
  ]);
  expect(events[0]).toEqual({
    sequence: 1,
    svc_id: expect.any(String),
    webhook_type: 'customer.created',
    object_type: 'customer',
    svc_object_id: made.svc_id,
    external_customer_id: 'c1',
    occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    truncated: false,
    payload: {
      webhook_type: 'customer.created',
      object_type: 'customer',
      organization_id: org.organization.organization_id,
      customer: expect.objectContaining({ svc_id: made.svc_id }),
    },
  });
  expect((await feed(org, 'after=1&limit=1')).meta).toEqual({
    after: 1,
    next_after: 2,
    latest: 3,
    oldest: 1,
    has_more: true,
  });
  expect(await feed(org, 'after=9')).toEqual({
    webhook_events: [],
    meta: { after: 9, next_after: 9, latest: 3, oldest: 1, has_more: false },
  });
  const stranger = await service.org();
  expect((await feed(stranger)).meta.latest).toBe(0);
  expect(await stranger.get(`/webhook_events/${events[0].svc_id}`)).toMatchObject({
    status: 404,
    body: { resource: 'webhook_event' },
  });
});

test('a filtered reader of the feed advances past the events that were examined', async () => {
  const org = await service.org();
  const one = await customer(org, 'c1');
  await plan(org, 'p1');
  await customer(org, 'c2');
  await plan(org, 'p2');
  await numbered(org, 4);
  const found = async (query: string) => {
    const { webhook_events: events, meta } = await feed(org, query);
    return [events.map((event: { sequence: number }) => event.sequence), meta.next_after, meta.has_more];
  };
  expect(await found('webhook_types[]=customer.created')).toEqual([[1, 3], 4, false]);
  expect(await found('webhook_types[]=customer.created&limit=1')).toEqual([[1], 1, true]);
  expect(await found('object_types[]=plan&after=2')).toEqual([[4], 4, false]);
  expect(await found('external_customer_id=c2')).toEqual([[3], 4, false]);
  expect(await found(`svc_object_id=${one.svc_id}`)).toEqual([[1], 4, false]);
  expect(await found('svc_object_id=c1')).toEqual([[], 4, false]);
  expect(await found('webhook_types[]=invoice.created')).toEqual([[], 4, false]);
  for (const query of ['limit=0', 'limit=1001', 'wait=21', 'after=-1'])
    expect(await org.get(`/webhook_events?${query}`)).toMatchObject({
      status: 422,
      body: { error_details: { [query.split('=')[0]!]: ['value_is_out_of_range'] } },
    });
});

test('a reader of the feed who missed deleted events is informed', async () => {
  const org = await service.org();
  for (const id of ['c1', 'c2', 'c3']) await customer(org, id);
  await numbered(org, 3);
  await service.sql`update feed_heads set first = 3 where organization_id = ${org.organization.organization_id}`;
  expect(await org.get('/webhook_events?after=1')).toMatchObject({
    status: 422,
    body: { error_details: { after: ['value_is_out_of_range'] } },
  });
  expect((await feed(org, 'after=2')).webhook_events).toHaveLength(1);
  expect((await feed(org)).meta).toEqual({ after: 2, next_after: 3, latest: 3, oldest: 3, has_more: false });
});

test('a long-polling reader of the feed is answered by the next event (FE4)', async () => {
  const org = await service.org();
  await customer(org, 'c1');
  await numbered(org, 1);
  const waiting = feed(org, 'after=1&wait=20');
  await customer(org, 'c2');
  expect(await waiting).toMatchObject({ webhook_events: [{ sequence: 2, external_customer_id: 'c2' }] });
  expect((await feed(org, 'after=2&wait=1')).webhook_events).toEqual([]);
});

test('a new endpoint gets past events replayed once in jobs of their own, and an event shows its deliveries (FE5)', async () => {
  const org = await service.org();
  for (const id of ['c1', 'c2', 'c3']) await customer(org, id);
  await plan(org, 'p');
  const { webhook_events: events } = await numbered(org, 4);
  const endpointId = await endpoint(org);
  const path = `/webhook_endpoints/${endpointId}/replay`;
  const first = await org.post(path, { after_sequence: 0 });
  expect(first).toMatchObject({ status: 200, body: { replay: { count: 4, svc_run_id: expect.any(String) } } });
  expect((await org.post(path)).body.replay.count).toBe(0);
  await arrived(org, endpointId, 4);
  expect((await org.post(path)).body.replay.count).toBe(0);
  expect(hooks.hooks.map((hook) => hook.headers['x-svc-sequence']).sort()).toEqual(['1', '2', '3', '4']);
  expect(new Set(hooks.hooks.map((hook) => hook.headers['x-svc-replay']))).toEqual(new Set(['true']));
  const hook = hooks.hooks.find(({ headers }) => headers['x-svc-sequence'] === '1')!;
  expect(JSON.stringify(events[0].payload)).toBe(hook.body);
  expect((await org.get(`/webhook_events/${events[0].svc_id}`)).body.webhook_event).toEqual({
    ...events[0],
    deliveries: [
      {
        svc_id: hook.headers['x-svc-unique-key'],
        svc_webhook_endpoint_id: endpointId,
        status: 'succeeded',
        retries: 0,
        http_status: 200,
      },
    ],
  });
  const again = await org.post(path, { only_missing: false, after_sequence: 1, to_sequence: 2 });
  expect(again.body.replay.count).toBe(1);
  await arrived(org, endpointId, 5);
  const keys = hooks.hooks.map(({ headers }) => headers['x-svc-unique-key']);
  expect(new Set(keys).size).toBe(5);
});

test('a replay is narrowed by status, type and time, and by the types of the endpoint', async () => {
  const org = await service.org();
  hooks.react(500);
  const endpointId = await endpoint(org, { event_types: ['customer.created'] });
  const path = `/webhook_endpoints/${endpointId}/replay`;
  await customer(org, 'c1');
  await plan(org, 'p');
  await numbered(org, 2);
  await until(async () => {
    const { body } = await org.get(`/webhook_endpoints/${endpointId}/webhooks?statuses[]=failed`);
    return body.meta.total_count === 1;
  });
  const count = async (body: object) => (await org.post(path, body)).body.replay.count;
  expect(await count({ statuses: ['succeeded'] })).toBe(0);
  expect(await count({ event_types: ['plan.created'] })).toBe(0);
  expect(await count({ to: '2001-01-01' })).toBe(0);
  expect(await count({ from: '2999-01-01' })).toBe(0);
  hooks.react(200);
  expect(await count({ statuses: ['failed'], from: '2001-01-01', event_types: ['customer.created'] })).toBe(1);
  await arrived(org, endpointId, 1);
  expect(await count({})).toBe(0);
  expect(await org.post(path, { statuses: ['gone'], from: 'soon', event_types: ['x'], to_sequence: -1 })).toMatchObject(
    {
      status: 422,
      body: {
        error_details: {
          from: ['invalid_date'],
          event_types: ['contains invalid types: ["x"]'],
          to_sequence: ['value_is_out_of_range'],
        },
      },
    },
  );
  await org.put(`/webhook_endpoints/${endpointId}`, { webhook_endpoint: { enabled: false } });
  expect(await org.post(path)).toMatchObject({ status: 405, body: { code: 'invalid_status' } });
  expect(await org.post(`/webhook_endpoints/${org.organization.organization_id}/replay`)).toMatchObject({
    status: 404,
    body: { resource: 'webhook_endpoint' },
  });
});

test('the hmac key is rotated, and the former one signs until the overlap ends', async () => {
  const org = await service.org();
  const endpointId = await endpoint(org);
  const rotated = await org.post('/webhooks/hmac_key/rotate', { expires_in_hours: 1 });
  expect(rotated.status).toBe(200);
  const { webhook } = rotated.body;
  expect(webhook).toEqual({ hmac_key: expect.any(String), former_expires_at: expect.any(String) });
  expect(webhook.hmac_key).not.toBe(org.organization.hmac_key);
  expect((await org.get('/webhooks/hmac_key')).body).toEqual({ webhook });
  await customer(org, 'c1');
  await arrived(org, endpointId, 1);
  expect(hooks.hooks[0]!.headers['x-svc-signature']).toBe(
    hmacSignature(org.organization.hmac_key, hooks.hooks[0]!.body),
  );
  const { security_logs } = (await org.get('/security_logs?to_date=2100-01-01&log_types[]=webhook_endpoint')).body;
  expect(security_logs[0]).toMatchObject({
    log_event: 'webhook_endpoint.updated',
    resources: { rotated: 'hmac_key', former_expires_at: webhook.former_expires_at },
  });
  const last = (await org.post('/webhooks/hmac_key/rotate', { expires_in_hours: 0 })).body.webhook;
  await customer(org, 'c2');
  await arrived(org, endpointId, 2);
  expect(hooks.hooks[1]!.headers['x-svc-signature']).toBe(hmacSignature(last.hmac_key, hooks.hooks[1]!.body));
  expect((await org.post('/webhooks/hmac_key/rotate', { expires_in_hours: 169 })).body.error_details).toEqual({
    expires_in_hours: ['value_is_out_of_range'],
  });
});
