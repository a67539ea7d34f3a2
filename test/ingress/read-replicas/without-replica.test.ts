import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const POSITION = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/;
const customer = () => ({ customer: { external_id: randomUUID() } });

let other: TestDatabase;
let named: TestService;
let plain: TestService;
beforeAll(async () => {
  // A server that is no replica: it may never be read from.
  other = await createTestDatabase();
  const settings = {
    READ_DATABASE_URL: `${other.url},postgres://nobody:nothing@127.0.0.1:9/none`,
    WIRE_PREFIX: 'acme',
  };
  [named, plain] = await Promise.all([
    startService({ pools: ['writes', 'events'], settings }),
    startService({ pools: ['writes', 'events'] }),
  ]);
});
afterAll(async () => {
  await Promise.all([named?.stop(), plain?.stop()]);
  await other?.drop();
});

const keysOf = ({ redis, config }: TestService) => redis.keys(`${config.REDIS_PREFIX}:position:*`);

test('without READ_DATABASE_URL no answer has a position, no key is kept and no heartbeat is written', async () => {
  const org = await plain.org();
  const written = await org.post('/customers', customer());
  expect(written.status).toBe(200);
  expect(written.headers).not.toHaveProperty('x-svc-position');
  const read = await org.get('/customers', { headers: { 'x-svc-position': 'nonsense' } });
  expect(read.status).toBe(200);
  expect(await keysOf(plain)).toEqual([]);
  expect(await plain.sql`select from replication_heartbeats`).toHaveLength(0);
});

test('answers of writes and events carry a position that grows, under the wire prefix, and it is kept', async () => {
  const org = await named.org();
  const event = { transaction_id: randomUUID(), external_subscription_id: 's', code: 'c' };
  const first = await org.post('/customers', customer());
  const second = await org.post('/events', { event });
  expect([first.status, second.status]).toEqual([200, 200]);
  const positions = [first, second].map(({ headers }) => headers['x-acme-position'] as string);
  for (const position of positions) expect(position).toMatch(POSITION);
  const [row] = await named.sql<{ grows: boolean }[]>`
    select ${positions[1]!}::pg_lsn > ${positions[0]!}::pg_lsn as grows`;
  expect(row!.grows).toBe(true);
  const key = `${named.config.REDIS_PREFIX}:position:{${org.organization.organization_id}}`;
  expect(await named.redis.get(key)).toMatch(/^[0-9a-f]{16}$/);
});

test('reads are answered by the primary while no replica is fit, and /ready says why', async () => {
  const org = await named.org();
  const { body } = await org.post('/customers', customer());
  const read = await org.get(`/customers/${body.customer.external_id}`);
  expect(read.status).toBe(200);
  const shown = () => fetch(`${named.url}/ready`).then((answer) => answer.json());
  await until(async () => {
    const { read_replicas: replicas } = await shown();
    return replicas.every(({ reason }: { reason: string }) => reason !== 'was not looked at yet');
  });
  const { read_replicas: replicas } = await shown();
  expect(replicas).toMatchObject([
    { is_read_from: false, reason: 'is no replica' },
    { replica: '127.0.0.1:9/none', is_read_from: false, reason: 'does not answer', lag_seconds: null },
  ]);
  const reason = 'reads go elsewhere than to the replica 127.0.0.1:9/none, which does not answer';
  await until(async () => {
    const { reasons } = await shown();
    return reasons.some((each: object) => isDeepStrictEqual(each, { check: 'read_replicas', reason }));
  });
  expect(JSON.stringify(replicas)).not.toContain('nothing');
  expect(await named.sql`select from replication_heartbeats`).toHaveLength(1);
});

test('a position that Redis has lost is taken anew by the first read', async () => {
  const org = await named.org();
  await org.post('/customers', customer());
  for (const key of await keysOf(named)) await named.redis.del(key);
  expect((await org.get('/customers')).body.customers).toHaveLength(1);
});
