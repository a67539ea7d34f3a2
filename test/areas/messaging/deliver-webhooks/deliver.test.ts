import { createPublicKey } from 'node:crypto';
import { compactVerify } from 'jose';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { webhookPublicKeys } from '../../../../src/platform/keys/deployment-keys.ts';
import { hmacSignature } from '../../../../src/platform/keys/webhook-signatures.ts';
import { type HookReceiver, openHookReceiver } from '../../../support/hook-receiver.ts';
import { until } from '../../../support/until.ts';
import { customers, type Delivery, openStage, type Stage } from './stage.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=';

let stage: Stage;
const receivers: HookReceiver[] = [];

beforeAll(async () => {
  // Four attempts, almost at once after each other.
  stage = await openStage({ WEBHOOK_RETRY_SCHEDULE: '0,0,0' });
  stage.work();
});
afterAll(() => stage.close());
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function receiver(): Promise<HookReceiver> {
  const opened = await openHookReceiver();
  receivers.push(opened);
  return opened;
}

async function settled(endpointId: string, count: number, on = stage): Promise<Delivery[]> {
  const find = async () => {
    const rows = await on.deliveries(endpointId);
    const done = rows.filter((row) => row.status === 'succeeded' || row.status === 'failed');
    return done.length === count && rows.length === count ? rows : undefined;
  };
  return (await until(find)) as Delivery[];
}

test('a delivery arrives with its body, its id and an hmac signature', async () => {
  const hooks = await receiver();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, `${hooks.url}/hook?a=1`);
  await stage.emit(organization, [{ type: 'customer.created', object: { external_id: 'c1' } }]);
  const [delivery] = await settled(endpointId, 1);
  expect(delivery).toMatchObject({
    status: 'succeeded',
    retries: 0,
    http_status: 200,
    response: 'answered 200',
    endpoint: `${hooks.url}/hook?a=1`,
    next_attempt_at: null,
    last_retried_at: null,
  });
  const [hook] = hooks.hooks;
  expect(hooks.hooks).toHaveLength(1);
  expect(hook!.path).toBe('/hook?a=1');
  expect(hook!.body).toBe(
    `{"webhook_type":"customer.created","object_type":"customer","organization_id":"${organization.organization_id}","customer":{"external_id":"c1"}}`,
  );
  expect(hook!.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'x-svc-signature': hmacSignature(organization.hmac_key, hook!.body),
    'x-svc-signature-algorithm': 'hmac',
    'x-svc-unique-key': delivery!.id,
    'webhook-id': delivery!.id,
  });
  expect(new Webhook(SECRET).verify(hook!.body, hook!.headers as Record<string, string>)).toBeTruthy();
});

test('a jwt signature can be verified with the published key', async () => {
  const hooks = await receiver();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url, { signature_algo: 'jwt' });
  await stage.emit(organization, customers(1));
  await settled(endpointId, 1);
  const [hook] = hooks.hooks;
  const [published] = await webhookPublicKeys({ db: stage.database.sql, config: {} });
  const { payload, protectedHeader } = await compactVerify(
    hook!.headers['x-svc-signature'] as string,
    createPublicKey(published!.pem),
  );
  expect(protectedHeader).toEqual({ alg: 'RS256', kid: published!.kid });
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ data: hook!.body, iss: 'https://billing.example' });
});

test('both secrets sign deliveries until the overlap of a rotation ends', async () => {
  const hooks = await receiver();
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  const former = 'whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=';
  const { sql } = stage.database;
  await sql`update webhook_endpoints set former_secret = ${former},
    former_secret_expires_at = clock_timestamp() + interval '1 hour' where id = ${endpointId}`;
  await stage.emit(organization, customers(1));
  await settled(endpointId, 1);
  await sql`update webhook_endpoints
    set former_secret_expires_at = clock_timestamp() - interval '1 second' where id = ${endpointId}`;
  await stage.emit(organization, customers(1));
  await settled(endpointId, 2);
  const [during, after] = hooks.hooks.map((hook) => hook.headers as Record<string, string>);
  expect(new Webhook(former).verify(hooks.hooks[0]!.body, during!)).toBeTruthy();
  expect(new Webhook(SECRET).verify(hooks.hooks[0]!.body, during!)).toBeTruthy();
  expect(() => new Webhook(former).verify(hooks.hooks[1]!.body, after!)).toThrow();
});

test('failed deliveries are tried again under the same unique key until one is acknowledged', async () => {
  const hooks = await receiver();
  hooks.react(500, 302, 204);
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(1));
  const [delivery] = await settled(endpointId, 1);
  expect(delivery).toMatchObject({ status: 'succeeded', retries: 2, http_status: 204, response: '' });
  expect(delivery!.last_retried_at).not.toBeNull();
  expect(hooks.hooks.map((hook) => hook.headers['x-svc-unique-key'])).toEqual([
    delivery!.id,
    delivery!.id,
    delivery!.id,
  ]);
  expect(new Set(hooks.hooks.map((hook) => hook.body)).size).toBe(1);
  expect((await stage.readEndpoint(endpointId)).consecutive_failures).toBe(0);
  expect((await stage.readEndpoint(endpointId)).failures_since).toBeNull();
});

test.each([200, 201, 202, 204])('status %i acknowledges a delivery', async (status) => {
  const hooks = await receiver();
  hooks.react(status);
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(1));
  expect((await settled(endpointId, 1))[0]).toMatchObject({ status: 'succeeded', http_status: status, retries: 0 });
});

test.each([203, 206, 301, 400, 404, 500])(
  'status %i does not acknowledge a delivery, which fails after the last attempt',
  async (status) => {
    const hooks = await receiver();
    hooks.react(status);
    const organization = await stage.org();
    const endpointId = await stage.endpoint(organization, hooks.url);
    await stage.emit(organization, customers(1));
    expect((await settled(endpointId, 1))[0]).toMatchObject({
      status: 'failed',
      http_status: status,
      response: `answered ${status}`,
      retries: 4,
      attempts_left: 0,
      next_attempt_at: null,
    });
    expect(hooks.hooks).toHaveLength(4);
  },
);

test('a timeout, a broken connection and a closed port are failures without a status', async () => {
  const impatient = await openStage({ WEBHOOK_RETRY_SCHEDULE: '0,0,0', WEBHOOK_TIMEOUT_SECONDS: '2' });
  onTestFinished(() => impatient.close());
  impatient.work();
  const hooks = await receiver();
  hooks.react(
    () => {},
    () => {}, // the second silence leaves time to see the first failure
    (response) => response.socket!.destroy(),
    200,
  );
  const organization = await impatient.org();
  const endpointId = await impatient.endpoint(organization, hooks.url);
  await impatient.emit(organization, customers(1));
  const silent = await until(
    async () => (await impatient.deliveries(endpointId)).find((row) => row.retries === 1),
    20_000,
    5,
  );
  expect(silent).toMatchObject({ http_status: null, response: 'no answer within 2 s' });
  expect((await settled(endpointId, 1, impatient))[0]).toMatchObject({ status: 'succeeded', retries: 3 });

  const closed = await receiver();
  const closedId = await impatient.endpoint(organization, closed.url);
  await closed.close();
  await impatient.emit(organization, customers(1));
  const [refused] = await settled(closedId, 1, impatient);
  expect(refused).toMatchObject({ status: 'failed', http_status: null, retries: 4 });
  expect(refused!.response).toMatch(/ECONNREFUSED/);
});

test('an attempt uses the URL and the algorithm that the endpoint has at that moment', async () => {
  const [old, moved] = [await receiver(), await receiver()];
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, old.url);
  await stage.emit(organization, customers(1), 'jobs');
  const { sql } = stage.database;
  await sql`update webhook_endpoints set webhook_url = ${moved.url}, signature_algo = 'jwt' where id = ${endpointId}`;
  const [waiting] = await stage.deliveries(endpointId);
  await stage.producer.add('webhook.deliver', {
    organization_id: organization.organization_id,
    webhook_endpoint_id: endpointId,
    delivery_ids: [waiting!.id],
  });
  const [delivery] = await settled(endpointId, 1);
  expect(delivery!.endpoint).toBe(moved.url);
  expect(old.hooks).toHaveLength(0);
  expect(moved.hooks[0]!.headers['x-svc-signature-algorithm']).toBe('jwt');
});

test('status 410 disables the endpoint at once, ends its waiting deliveries and stores no new ones for it', async () => {
  const hooks = await receiver();
  hooks.react(410);
  const organization = await stage.org();
  await stage.database.sql`
    update organizations set email = 'ops@acme.test' where id = ${organization.organization_id}`;
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(3), 'jobs');
  const rows = await stage.deliveries(endpointId);
  await stage.producer.add('webhook.deliver', {
    organization_id: organization.organization_id,
    webhook_endpoint_id: endpointId,
    delivery_ids: [rows[0]!.id],
  });
  const ended = await settled(endpointId, 3);
  expect(ended.map((row) => row.status)).toEqual(['failed', 'failed', 'failed']);
  expect(ended.find((row) => row.id === rows[0]!.id)).toMatchObject({ http_status: 410, retries: 1 });
  expect(ended.find((row) => row.id === rows[1]!.id)).toMatchObject({
    http_status: null,
    retries: 0,
    response: 'the endpoint is disabled',
  });
  expect(await stage.readEndpoint(endpointId)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  const owed = await stage.database.sql<{ payload: object }[]>`
    select payload from after_steps where organization_id = ${organization.organization_id} and job = 'mail-notice'`;
  expect(owed).toMatchObject([{ payload: { template: 'endpoint_disabled', resource_id: endpointId } }]);
  await stage.emit(organization, customers(1));
  expect(await stage.deliveries(endpointId)).toHaveLength(3);
  expect(hooks.hooks).toHaveLength(1);
});

test('endpoints get the event types they ask for by either name, and types beyond the contract only by name', async () => {
  const organization = await stage.org();
  const made = await Promise.all(
    [
      null,
      [],
      ['customer.created'],
      ['credit_note.provider_refund_failure'],
      ['credit_note.refund_failure'],
      ['audit.failed'],
    ].map(async (event_types) => {
      const hooks = await receiver();
      return { hooks, id: await stage.endpoint(organization, hooks.url, { event_types }) };
    }),
  );
  await stage.emit(organization, [
    { type: 'customer.created', object: {} },
    { type: 'credit_note.refund_failure', object: {} },
    { type: 'audit.failed', object: {} },
  ]);
  const expected = [2, 0, 1, 1, 1, 1];
  for (const [index, { id }] of made.entries()) await settled(id, expected[index]!);
  expect(made.map(({ hooks }) => hooks.hooks.map((hook) => JSON.parse(hook.body).webhook_type).sort())).toEqual([
    ['credit_note.refund_failure', 'customer.created'],
    [],
    ['customer.created'],
    ['credit_note.refund_failure'],
    ['credit_note.refund_failure'],
    ['audit.failed'],
  ]);
});

test('an endpoint never has more than eight open deliveries at the same time, and all arrive once', async () => {
  const hooks = await receiver();
  // Nobody is answered until eight wait, however slowly they come; then everybody is, a moment later.
  const held: (() => void)[] = [];
  hooks.react((response) => {
    held.push(() => response.writeHead(200).end());
    if (hooks.hooks.length >= 8) for (const answer of held.splice(0)) setTimeout(answer, 10);
  });
  const organization = await stage.org();
  const endpointId = await stage.endpoint(organization, hooks.url);
  await stage.emit(organization, customers(100));
  await settled(endpointId, 100);
  expect(hooks.mostAtOnce()).toBe(8);
  expect(hooks.hooks).toHaveLength(100);
  expect(new Set(hooks.hooks.map((hook) => hook.headers['x-svc-unique-key'])).size).toBe(100);
});

test('a slow endpoint does not hold up the others', async () => {
  const [slow, quick] = [await receiver(), await receiver()];
  const held: (() => void)[] = [];
  let isHeld = true;
  slow.react((response) => {
    const answer = () => response.writeHead(200).end();
    if (isHeld) held.push(answer);
    else answer();
  });
  const [one, other] = [await stage.org(), await stage.org()];
  const slowId = await stage.endpoint(one, slow.url);
  const quickId = await stage.endpoint(other, quick.url);
  await stage.emit(one, customers(40));
  await until(() => held.length > 0);
  await stage.emit(other, customers(60));
  const arrived = await settled(quickId, 60);
  expect(arrived.every(({ status }) => status === 'succeeded')).toBe(true);
  expect((await stage.deliveries(slowId)).some(({ status }) => status === 'succeeded')).toBe(false);
  isHeld = false;
  for (const answer of held) answer();
  await settled(slowId, 40);
});

test('where private networks are closed, a delivery to an address or name in one fails and nothing is sent', async () => {
  const guarded = await openStage({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false', WEBHOOK_RETRY_SCHEDULE: '0' });
  try {
    guarded.work();
    const hooks = await receiver();
    const organization = await guarded.org();
    const byAddress = await guarded.endpoint(organization, hooks.url);
    const byName = await guarded.endpoint(organization, hooks.url.replace('127.0.0.1', 'localhost'));
    await guarded.emit(organization, customers(1));
    const failed = (endpointId: string) =>
      until(async () => (await guarded.deliveries(endpointId)).find((row) => row.status === 'failed'));
    expect(await failed(byAddress)).toMatchObject({
      retries: 2,
      http_status: null,
      response: 'refused: 127.0.0.1 is not public',
    });
    expect((await failed(byName)).response).toBe('refused: localhost is not public');
    expect(hooks.hooks).toHaveLength(0);
  } finally {
    await guarded.close();
  }
});
