import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Redis } from 'ioredis';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDocumentLink } from '../../../src/areas/messaging/documents/signed-link.ts';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import { operations } from '../../../src/operations.ts';
import { ConfigError } from '../../../src/platform/config.ts';
import type { Sql } from '../../../src/platform/db/connect.ts';
import { linkSecret, rotateKey, webhookSigningKey } from '../../../src/platform/keys/deployment-keys.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { Operation } from '../../../src/platform/operation.ts';
import { holdsSecret } from '../../../src/platform/schema/secret-field.ts';
import { type PoolName, pools, startPools } from '../../../workers/pools.ts';
import { createClient } from '../../support/client.ts';
import { testOfOneRedis } from '../../support/one-redis.ts';
import { allKeysOf } from '../../support/redis-keys.ts';
import { startService, TEST_SECRETS_KEYS, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const MARK = 'Secret0nItsWay';
const CARD = '4000000000000077';
const IBAN = 'DE89370400440532013000';

/** A request of each operation that takes a secret; what is in its path need not exist. */
const REQUESTS: Record<string, { path: string; body: object }> = {
  createPaymentProvider: {
    path: '/payment_providers',
    body: {
      payment_provider: { type: 'sandbox', code: 'way', name: 'Way', webhook_secret: `whs_${MARK}` },
    },
  },
  updatePaymentProvider: {
    path: '/payment_providers/way',
    body: { payment_provider: { secret_key: `sk_test_${MARK}`, webhook_secret: `whs_2_${MARK}` } },
  },
  createIntegration: {
    path: '/integrations',
    body: { integration: { type: 'anrok', code: 'tax-way', name: 'Tax way', api_key: `anrok_${MARK}` } },
  },
  updateIntegration: {
    path: '/integrations/tax-way',
    body: { integration: { api_key: `anrok_2_${MARK}`, shared_secret: `whsec_${MARK.padEnd(40, 'A')}` } },
  },
  createPaymentMethod: {
    path: '/customers/nobody/payment_methods',
    body: { payment_method: { card_number: CARD, iban: IBAN } },
  },
  finishSandboxCheckout: {
    path: '/sandbox/checkouts/nothing',
    body: { checkout: { card_number: CARD, iban: IBAN } },
  },
  updateOrganization: {
    path: '/organizations',
    body: { organization: { webhook_url: `https://receiver.example/?token=${MARK}` } },
  },
  createWebhookEndpoint: {
    path: '/webhook_endpoints',
    body: { webhook_endpoint: { webhook_url: `https://receiver.example/?token=${MARK}` } },
  },
  updateWebhookEndpoint: {
    path: '/webhook_endpoints/0190d7f0-0000-7000-8000-000000000000',
    body: { webhook_endpoint: { webhook_url: `https://receiver.example/?token=${MARK}` } },
  },
};

/** A PATCH is the twin of its PUT. */
const requestOf = (name: string) => REQUESTS[name.replace(/^patch/, 'update')];

const takesSecret = operations.filter(({ body, kind }) => kind === 'command' && holdsSecret(body));

let service: TestService;
beforeAll(async () => {
  // Nobody works: what was sent stays in the queue.
  service = await startService({ pools: [], settings: { WRITE_TIMEOUT_SECONDS: '1' } });
});
afterAll(() => service.stop());

test('every operation with secret fields has a sample request in this test', () => {
  const names = takesSecret.map(({ name }) => name);
  expect(names.filter((name) => !requestOf(name))).toEqual([]);
  expect(Object.keys(REQUESTS).filter((name) => !names.includes(name))).toEqual([]);
});

test('a field whose name suggests a secret is marked', () => {
  const telling = /secret|password|private_key|card_number|iban|certificate|webhook_url/;
  const unmarked = operations
    .filter(({ body, kind }) => kind === 'command' && body !== undefined && !holdsSecret(body))
    .filter(({ body }) => fieldNames(body).some((name) => telling.test(name)))
    // A seller's own IBAN stands on every invoice.
    .filter(({ path }) => !path.startsWith('/billing_entities'))
    .map(({ name }) => name);
  expect(unmarked).toEqual([]);
});

test('no secret is readable in Redis or on the queue board while it waits, nor anywhere after it was processed', async () => {
  const client = await service.org({ sandbox: true });
  const secrets = [MARK, CARD, IBAN];
  const send = async ({ name, method }: Operation) => {
    const { path, body } = requestOf(name)!;
    const answer = await request(`${service.url}/api/v1${path}`, {
      method: method.toUpperCase() as 'POST',
      headers: { authorization: `Bearer ${client.organization.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.body.dump();
    expect([name, answer.statusCode]).toEqual([name, 504]);
  };
  await Promise.all(takesSecret.map(send));
  const waiting = await everythingIn(service.redis, service.config.REDIS_PREFIX);
  expect(waiting).toContain('v2:test:');
  for (const secret of secrets) expect(waiting).not.toContain(secret);
  const board = await request(`${service.url}/queues/api/queues?activeQueue=writes&status=waiting`);
  const shown = await board.body.text();
  expect(shown).toContain('createPaymentProvider');
  expect(shown).toContain(client.organization.organization_id);
  for (const hidden of [...secrets, 'v2:test:', 'parameters', '"input"']) expect(shown).not.toContain(hidden);

  const workers = await startPools(service.config, Object.keys(pools) as PoolName[]);
  try {
    await until(async () => (await writesLeft()) === 0);
    expect((await client.get('/payment_providers/way')).status).toBe(200);
    const after = await everythingIn(service.redis, service.config.REDIS_PREFIX);
    for (const secret of secrets) expect(after).not.toContain(secret);
    // The address of a receiver is shown to its owner; what pays and what signs is kept nowhere in plain text.
    const stored = await everyText(service.sql, []);
    for (const secret of [`sk_test_${MARK}`, `whs_${MARK}`, `whs_2_${MARK}`]) expect(stored).not.toContain(secret);
    for (const number of [CARD, IBAN]) expect(stored).not.toContain(number);
    const logged = await service.sql<{ text: string }[]>`select t::text as text from api_logs t`;
    expect(logged.length).toBeGreaterThanOrEqual(takesSecret.length);
    for (const { text } of logged) expect(text).not.toContain(MARK);
  } finally {
    await workers.close();
  }
});

testOfOneRedis(
  'nothing secret passes Redis in plain text or stands in a log, whatever fails',
  async () => {
    const { config, sql } = service;
    const lines: string[] = [];
    const log = createLog({ level: 'trace', process: 'test' }, { write: (line) => void lines.push(line) });
    const passed: string[] = [];
    // A plain connection: the client of the service mistakes a line that comes before the answer to MONITOR for it.
    const { hostname, port, password } = new URL(config.REDIS_URL!);
    const monitor = connect(Number(port), hostname);
    monitor.write(`AUTH ${password}\r\nMONITOR\r\n`);
    await once(monitor, 'data');
    createInterface({ input: monitor }).on('line', (line) => {
      if (line.includes(config.REDIS_PREFIX)) passed.push(line);
    });
    const workers = await startPools(config, Object.keys(pools) as PoolName[], log);
    const ingress = await startIngress(config, operations, log);
    try {
      const { organization } = await service.org({ sandbox: true });
      const client = createClient(ingress.url, organization.api_key);
      // Postgres shows the row that breaks a rule, and with it all that the row holds.
      await sql`
      alter table webhook_endpoints add constraint no_receivers check (webhook_url not like '%receiver.example%') not valid`;
      const statuses = new Set<number>();
      for (const { name, method } of takesSecret) {
        const { path, body } = requestOf(name)!;
        statuses.add((await client[method as 'post'](path, body)).status);
      }
      // 422: a sandbox connection has no secret key.
      expect([...statuses].sort()).toEqual([200, 404, 422, 500]);
      expect(lines.join('')).toContain('no_receivers');
      await sql`alter table webhook_endpoints drop constraint no_receivers`;

      const asked = { headers: { 'idempotency-key': 'once' } };
      const { api_key: key } = (await client.post('/api_keys', { api_key: { name: 'New' } }, asked)).body;
      await client.post('/api_keys', { api_key: { name: 'New' } }, asked);
      const { webhook } = (await client.post('/webhooks/hmac_key/rotate', {})).body;
      const endpoint = { webhook_url: 'https://receiver.example/', signature_algo: 'hmac' };
      const { webhook_endpoint: made } = (await client.post('/webhook_endpoints', { webhook_endpoint: endpoint })).body;
      const { customer } = (await client.post('/customers', { customer: { external_id: 'portal' } })).body;
      expect(customer.external_id).toBe('portal');
      const token = (await client.get('/customers/portal/portal_url')).body.customer.portal_url.split('/').at(-1);
      await fetch(`${ingress.url}/customer-portal/${token}`);
      const secrets = { MARK, CARD, IBAN, organization_key: organization.api_key, key: key.value, token };
      const all = Object.entries({ ...secrets, hmac_key: webhook.hmac_key, secret: made.secret });
      for (const [, secret] of all) expect(secret).toMatch(/^[^\s]{10,}$/);
      await until(() => passed.some((text) => text.includes('rotateHmacKey')));
      const shown = (texts: string[]) => all.filter(([, secret]) => texts.some((text) => text.includes(secret)));
      expect(shown(passed)).toEqual([]);
      expect(shown(lines)).toEqual([]);
    } finally {
      monitor.destroy();
      await ingress.close();
      await workers.close();
    }
  },
  120_000,
);

test('a dump of the database holds nothing that signs, opens or pays', async () => {
  const full = await startService();
  try {
    const client = await full.org();
    const { api_key, hmac_key } = client.organization;
    const post = async (path: string, body: object) => {
      const answer = await client.post(path, body);
      expect([path, answer.status]).toEqual([path, 200]);
      return answer.body;
    };
    const rotated = await post('/webhooks/hmac_key/rotate', {});
    const endpoint = await post('/webhook_endpoints', {
      webhook_endpoint: { webhook_url: 'https://receiver.example/hook' },
    });
    const fresh = await post(`/webhook_endpoints/${endpoint.webhook_endpoint.svc_id}/rotate_secret`, {});
    const key = await post('/api_keys', { api_key: { name: 'Second' } });
    await post('/payment_providers', {
      payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: `sk_live_${MARK}` },
    });
    await post('/customers', { customer: { external_id: 'c1' } });
    const { body: portal } = await client.get('/customers/c1/portal_url');
    expect(portal.customer.portal_url).toContain('/customer-portal/');
    const deployment = { db: full.sql, config: full.config };
    await webhookSigningKey(deployment)();

    const dump = await everyText(full.sql, []);
    expect(dump).toContain('v2:test:');
    const known = {
      api_key,
      second_key: key.api_key.value,
      hmac_key,
      rotated_hmac_key: rotated.webhook.hmac_key,
      endpoint_secret: endpoint.webhook_endpoint.secret,
      fresh_endpoint_secret: fresh.webhook_endpoint.secret,
      provider: `sk_live_${MARK}`,
      links: await linkSecret(deployment),
      rsa: 'PRIVATE KEY',
    };
    const found = Object.entries(known).filter(([, text]) => {
      expect(typeof text).toBe('string');
      return dump.includes(text);
    });
    expect(found.map(([name]) => name)).toEqual([]);
  } finally {
    await full.stop();
  }
});

test('without a secrets key a live connection is refused and one of a sandbox is not (FI12)', async () => {
  const bare = await startService({ settings: { SECRETS_KEYS: '' } });
  try {
    const provider = { type: 'stripe', code: 'main', name: 'Main', secret_key: 'sk_test_1' };
    const live = await bare.org();
    const refused = await live.post('/payment_providers', { payment_provider: provider });
    expect([refused.status, refused.body.error_details]).toEqual([422, { secret_key: ['secrets_key_missing'] }]);
    const sandbox = await bare.org({ sandbox: true });
    const taken = await sandbox.post('/payment_providers', { payment_provider: provider });
    expect(taken.status).toBe(200);
    const changed = await sandbox.put('/payment_providers/main', { payment_provider: { secret_key: 'sk_test_2' } });
    expect(changed.body.payment_provider.secret_key_last4).toBe('st_2');
  } finally {
    await bare.stop();
  }
});

test('an ingress whose key differs under the same name does not start, and one that lacks it is not ready', async () => {
  await service.org();
  const wrong = { ...service.config, SECRETS_KEYS: [{ id: 'test', bytes: Buffer.alloc(32, 'x') }] };
  await expect(startIngress(wrong, [])).rejects.toThrow(ConfigError);
  await expect(startPools(wrong, ['documents'])).rejects.toThrow(/key "test" of SECRETS_KEYS does not open/);

  const lacking = await startIngress(
    { ...service.config, SECRETS_KEYS: [{ id: 'b', bytes: Buffer.alloc(32, 'b') }] },
    [],
  );
  try {
    const ready = await request(`${lacking.url}/ready`);
    expect(ready.statusCode).toBe(503);
    expect(await ready.body.json()).toMatchObject({ code: 'secrets_key_unknown', secrets_keys: ['test'] });
  } finally {
    await lacking.close();
  }
  const own = await request(`${service.url}/ready`);
  expect(await own.body.json()).not.toHaveProperty('code');
  expect(TEST_SECRETS_KEYS).toMatch(/^test:/);
});

test('links signed with a rotated key work until they expire', async () => {
  const deployment = { db: service.sql, config: service.config };
  const link = (secret: string, hours: number) => {
    const documentId = '0190d7f0-0000-7000-8000-000000000001';
    const expires = String(Math.floor(Date.now() / 1000) + hours * 3600);
    const signature = createHmac('sha256', secret).update(`document:${documentId}:${expires}`).digest('base64url');
    return { documentId, expires, signature };
  };
  const former = await linkSecret(deployment);
  await rotateKey({ sql: service.sql, config: service.config }, 'links');
  await checkDocumentLink(deployment, link(former, 1));
  await checkDocumentLink(deployment, link(await linkSecret(deployment), 1));
  await expect(checkDocumentLink(deployment, link('another', 1))).rejects.toMatchObject({ status: 403 });
  await service.sql`update deployment_keys
    set retired_at = retired_at - interval '25 hours' where retired_at is not null`;
  await expect(checkDocumentLink(deployment, link(former, 1))).rejects.toMatchObject({ status: 403 });
});

async function writesLeft(): Promise<number> {
  const counts = await Promise.all(
    (['writes', 'asking'] as const).map((name) =>
      service.ingress.producer.queue(name).getJobCounts('waiting', 'active', 'delayed'),
    ),
  );
  return counts.flatMap((each) => Object.values(each)).reduce((sum, count) => sum + count, 0);
}

/** Everything that Redis holds under a prefix, as one text. */
async function everythingIn(redis: Redis, prefix: string): Promise<string> {
  const texts: string[] = [];
  for (const key of await allKeysOf(redis, prefix)) {
    texts.push(key, (await redis.dumpBuffer(key))?.toString('latin1') ?? '');
    // A dump compresses long texts: hashes are read as they are too.
    if ((await redis.type(key)) === 'hash') texts.push(JSON.stringify(await redis.hgetall(key)));
    if ((await redis.type(key)) === 'stream') texts.push(JSON.stringify(await redis.xrange(key, '-', '+')));
    if ((await redis.type(key)) === 'string') texts.push((await redis.get(key)) ?? '');
  }
  return texts.join('\n');
}

/** Every row of every table as one text, without those in `except`. */
async function everyText(sql: Sql, except: string[]): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;
  const texts: string[] = [];
  for (const { name } of tables) {
    if (except.includes(name)) continue;
    const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(name)} t`;
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

function fieldNames(schema: unknown, seen = new Set<unknown>()): string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const definition = (schema as { _zod?: { def: { shape?: object } } })._zod?.def;
  const own = definition?.shape ? Object.keys(definition.shape) : [];
  const inner = definition ? Object.values(definition) : Object.values(schema);
  return [...own, ...inner.flatMap((part) => fieldNames(part, seen))];
}
