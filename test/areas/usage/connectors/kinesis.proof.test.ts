import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openKinesis } from '../../../../src/platform/streams/kinesis/kinesis-source.ts';
import { kinesisSettings } from '../../../../src/platform/streams/kinesis/settings.ts';
import type { SourceHost } from '../../../../src/platform/streams/source.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { KinesisServer } from '../../../support/kinesis-server.ts';
import { tlsFront } from '../../../support/tls-front.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// Shards of a stream, on a server that speaks Kinesis (streams.md#kinesis).
const metrics = createMetrics('test');
const LEASE_ENDS_WITHIN_MS = 60_000;
let server: KinesisServer;
let database: TestDatabase;
let organizationId: string;
let stream: string;
let number = 0;
beforeAll(async () => {
  [server, database] = await Promise.all([KinesisServer.start(), createTestDatabase()]);
}, 60_000);
afterAll(async () => {
  await server.stop();
  await database.drop();
});
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  number += 1;
  stream = `usage-${number}`;
});

const event = (id: string | number, fields: object = {}) =>
  JSON.stringify({ transaction_id: `t${id}`, external_subscription_id: 's', code: 'calls', ...fields });
const events = (from: number, count: number) => Array.from({ length: count }, (_, index) => event(from + index));

const settings = (changes: object = {}) =>
  kinesisSettings({ SECRET: 'any' }).parse({
    stream,
    region: 'eu-west-1',
    endpoint: server.endpoint,
    credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
    ...changes,
  });

function start(changes: object = {}) {
  const connector = { organizationId, code: 'stream', kind: 'kinesis', isSandbox: false };
  const running = runConnector({ ...storage(database.sql).deps, metrics }, connector, openKinesis(settings(changes)));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= running.close());
  onTestFinished(close);
  return { state: running.state, close };
}

const counts = async () => {
  const [row] = await database.sql`
    select coalesce(sum(received), 0)::int as received, coalesce(sum(stored), 0)::int as stored,
      coalesce(sum(replayed), 0)::int as replayed, coalesce(sum(dead), 0)::int as dead
    from ingest_checkpoints where organization_id = ${organizationId}`;
  return row as { received: number; stored: number; replayed: number; dead: number };
};
const received = (count: number) => until(async () => (await counts()).received >= count, LEASE_ENDS_WITHIN_MS);
const letters = () => database.sql`
  select error_code, error_message from ingest_dead_letters where organization_id = ${organizationId}
  order by error_code`;
const transactions = async () => {
  const rows = await database.sql`
    select transaction_id from events where organization_id = ${organizationId} order by transaction_id`;
  return rows.map(({ transaction_id: id }) => id);
};
const endedShards = async () => {
  const rows = await database.sql`
    select key from ingest_checkpoints where organization_id = ${organizationId} and value ? 'isEnd' order by key`;
  return rows.map(({ key }) => key.slice(key.lastIndexOf('-') + 1).replace(/^0+(?=.)/, ''));
};
const holders = async () => {
  const rows = await database.sql<{ owner: string; shards: number }[]>`
    select owner, count(*)::int as shards from ingest_leases
    where organization_id = ${organizationId} and expires_at > clock_timestamp() group by owner`;
  return rows.map(({ shards }) => shards).sort();
};

/** Three events that Amazon's own aggregator for JavaScript put into one record (aws-kinesis-agg 4.2.8). */
const AGGREGATED = Buffer.from(
  'f3899ac20a01731a4908001a457b227472616e73616374696f6e5f6964223a227431222c2265787465726e616c5f737562736372697074696f' +
    '6e5f6964223a2273222c22636f6465223a2263616c6c73227d1a4908001a457b227472616e73616374696f6e5f6964223a227432222c2265' +
    '787465726e616c5f737562736372697074696f6e5f6964223a2273222c22636f6465223a2263616c6c73227d1a4908001a457b227472616e' +
    '73616374696f6e5f6964223a227433222c2265787465726e616c5f737562736372697074696f6e5f6964223a2273222c22636f6465223a22' +
    '63616c6c73227d4cb53fe98ee0abd419f1fba68bd2f135',
  'hex',
);

test('every shard is read, packed and aggregated records too, and what is wrong is put aside', async () => {
  await server.create(stream, 4);
  await server.put(stream, [
    ...events(10, 300),
    AGGREGATED,
    gzipSync(`${event('g1')}\n${event('g2')}\n\nno\n`),
    JSON.stringify(JSON.parse(event('pretty')), null, 2),
    'no',
    event('other', { organization_id: 'other' }),
    gzipSync(event('large', { properties: { text: 'x'.repeat(1_100_000) } })),
  ]);
  const running = start();
  await received(310);
  expect(await counts()).toEqual({ received: 310, stored: 306, replayed: 0, dead: 4 });
  expect((await letters()).map(({ error_code: code }) => code)).toEqual([
    'invalid_json',
    'invalid_json',
    'organization_mismatch',
    'payload_too_large',
  ]);
  await until(() => running.state().lag.seconds === 0);
});

test('reading goes on behind what is stored, in the middle of an aggregated record too', async () => {
  await server.create(stream, 1);
  const [, sequence] = await server.put(stream, [event(0), AGGREGATED, event(4)]);
  const { id } = await server.about(stream);
  const place = { sequence, next: 1 };
  await database.sql`
    insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
      updated_at)
    values (${organizationId}, 'stream', ${`${id}/shardId-000000000000`}, ${`${sequence}.000000000`},
      ${JSON.stringify(place)}::text::jsonb, 0, 0, 0, 0, now())`;
  const first = start();
  await received(3);
  await first.close();
  expect(await transactions()).toEqual(['t2', 't3', 't4']);
  await server.put(stream, [event(5)]);
  start();
  await received(4);
  expect(await counts()).toEqual({ received: 4, stored: 4, replayed: 0, dead: 0 });
});

test('children of a split or merge are read after their parents, while reading goes on', async () => {
  await server.create(stream, 2);
  await server.put(stream, events(0, 200));
  await server.split(stream, 'shardId-000000000000');
  await server.put(stream, events(200, 200));
  const running = start();
  await received(400);
  await server.merge(stream, 'shardId-000000000002', 'shardId-000000000003');
  await server.put(stream, events(400, 200));
  await received(600);
  expect(await counts()).toEqual({ received: 600, stored: 600, replayed: 0, dead: 0 });
  expect(await endedShards()).toEqual(['0', '2', '3']);
  await until(() => running.state().lag.seconds === 0);
});

test('processes share the shards evenly, come and go, and every message is stored once', async () => {
  await server.create(stream, 6);
  await server.put(stream, events(0, 600));
  const first = start();
  await received(600);
  expect(await holders()).toEqual([6]);
  const others = [start(), start()];
  await until(async () => JSON.stringify(await holders()) === '[2,2,2]', LEASE_ENDS_WITHIN_MS);
  await server.put(stream, events(600, 600));
  await received(1200);
  await first.close();
  await server.put(stream, events(1200, 600));
  await until(async () => JSON.stringify(await holders()) === '[3,3]', LEASE_ENDS_WITHIN_MS);
  await received(1800);
  expect(await transactions()).toHaveLength(1800);
  await Promise.all(others.map((each) => each.close()));
  expect(await holders()).toEqual([]);
}, 120_000);

/** A host for one process, which stores nothing. */
const hostOf = (calls: Partial<SourceHost>) =>
  ({
    room: async () => {},
    checkpoints: async () => [],
    claimSome: async (keys: string[]) => keys,
    readers: async () => 1,
    isReading() {},
    lag() {},
    now: realNow,
    deliver: async () => ({ putAside: [] }),
    ...calls,
  }) as unknown as SourceHost;

test('a shard whose lease another process has taken is left to it', async () => {
  await server.create(stream, 1);
  await server.put(stream, [event(0)]);
  const ended = new AbortController();
  const delivered: string[] = [];
  let isMine = true;
  const release = vi.fn(async () => {});
  const host = hostOf({
    signal: ended.signal,
    claimSome: async (keys) => (isMine ? [...keys] : []),
    release,
    async deliver(messages) {
      delivered.push(...messages.map(({ position }) => position));
      return { putAside: [] };
    },
  });
  const reading = openKinesis(settings()).run(host);
  await until(() => delivered.length === 1);
  isMine = false;
  await until(() => release.mock.calls.length === 1);
  await server.put(stream, [event(1)]);
  ended.abort();
  await reading;
  expect(delivered).toHaveLength(1);
});

test('reading has ended when every lease is given back, of shards too that ended while a round went on', async () => {
  await server.create(stream, 2);
  const ended = new AbortController();
  const released: string[] = [];
  let isAsked = false;
  const host = hostOf({
    signal: ended.signal,
    async checkpoints(key) {
      if (!key.endsWith('1')) return [];
      isAsked = true;
      await pause(200);
      return [];
    },
    async release(key) {
      await pause(key.endsWith('0') ? 600 : 0);
      released.push(key.slice(-1));
    },
  });
  const reading = openKinesis(settings()).run(host);
  await until(() => isAsked);
  ended.abort();
  await reading;
  expect(released.sort()).toEqual(['0', '1']);
});

/** A server in front of the stream, which says that a shard is gone, or leaves what it is asked without an answer. */
async function inFront() {
  let removed: string | undefined;
  let silent: string | undefined;
  let wasSilent = false;
  const shardOf = new Map<string, string>();
  const missing = (response: ServerResponse) =>
    response
      .writeHead(400, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify({ __type: 'ResourceNotFoundException', message: 'no such shard' }));
  const front = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    const operation = String(incoming.headers['x-amz-target']).split('.')[1];
    const asked = JSON.parse(body.toString());
    if (operation === silent) {
      wasSilent = true;
      return undefined;
    }
    const shard: string | undefined = asked.ShardId ?? shardOf.get(asked.ShardIterator);
    if (shard !== undefined && shard === removed) return missing(outgoing);
    const passed = request(server.endpoint, { method: 'POST', headers: incoming.headers }, async (answer) => {
      const told = JSON.parse(Buffer.concat(await answer.toArray()).toString());
      const iterator = told.ShardIterator ?? told.NextShardIterator;
      if (iterator && shard !== undefined) shardOf.set(iterator, shard);
      if (operation === 'ListShards')
        told.Shards = told.Shards.filter(({ ShardId }: { ShardId: string }) => ShardId !== removed);
      const type = answer.headers['content-type'];
      outgoing.writeHead(answer.statusCode!, { 'content-type': type }).end(JSON.stringify(told));
    });
    passed.end(body);
    return undefined;
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    front.closeAllConnections();
    front.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    remove(shard: string) {
      removed = shard;
    },
    silence(operation: string) {
      silent = operation;
    },
    wasSilent: () => wasSilent,
  };
}
const checkpointKeys = async () => {
  const rows = await database.sql`
    select key from ingest_checkpoints where organization_id = ${organizationId} order by key`;
  return rows.map(({ key }) => key.slice(key.lastIndexOf('-') + 1).replace(/^0+(?=.)/, '')).sort();
};

test('leases are renewed while the service does not answer which shards there are', async () => {
  await server.create(stream, 1);
  await server.put(stream, [event(0)]);
  const front = await inFront();
  const running = start({ endpoint: front.endpoint });
  await received(1);
  front.silence('ListShards');
  const expiry = async () => {
    const [row] = await database.sql`
      select expires_at::text as at from ingest_leases where organization_id = ${organizationId}`;
    return row!.at as string;
  };
  await until(front.wasSilent, LEASE_ENDS_WITHIN_MS);
  const seen = new Set<string>();
  await until(async () => seen.add(await expiry()).size >= 3, LEASE_ENDS_WITHIN_MS);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
});

test('a shard that vanishes while it is read stops no other, and leaves nothing but its counts', async () => {
  await server.create(stream, 2);
  await server.put(stream, events(0, 100));
  const front = await inFront();
  const running = start({ endpoint: front.endpoint });
  await received(100);
  expect(await checkpointKeys()).toEqual(['0', '1']);
  front.remove('shardId-000000000000');
  await until(async () => (await checkpointKeys()).join() === '1,removed', LEASE_ENDS_WITHIN_MS);
  expect(await counts()).toEqual({ received: 100, stored: 100, replayed: 0, dead: 0 });
  await until(async () => (await holders()).join() === '1', LEASE_ENDS_WITHIN_MS);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
});

test('checkpoints of parents and of a former stream are forgotten when their shards are no longer listed', async () => {
  await server.create(stream, 1);
  await server.put(stream, events(0, 50));
  const { id } = await server.about(stream);
  await database.sql`
    insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
      updated_at)
    values (${organizationId}, 'stream', ${`${id}/shardId-000000000009`}, 9, '{"isEnd":true}', 3, 2, 1, 0, now()),
      (${organizationId}, 'stream', ${`${stream}@1000/shardId-000000000000`}, 9, '{"sequence":"1","next":null}',
        4, 4, 0, 0, now()),
      (${organizationId}, 'stream', 'another@1000/shardId-000000000000', 9, '{"sequence":"1","next":null}',
        0, 0, 0, 0, now())`;
  start();
  await received(57);
  await until(async () => (await checkpointKeys()).join() === '0,0,removed', LEASE_ENDS_WITHIN_MS);
  expect(await counts()).toEqual({ received: 57, stored: 56, replayed: 1, dead: 0 });
});

test('a stream that was made anew is read from its start', async () => {
  await server.create(stream, 1);
  const second = () => Math.floor(Date.now() / 1000);
  const made = second();
  await server.put(stream, events(0, 2));
  start();
  await received(2);
  await server.delete(stream);
  // Streams are told apart by the second in which they were made.
  await until(() => second() > made);
  await server.create(stream, 1);
  await server.put(stream, events(2, 2));
  await received(4);
  expect(await transactions()).toEqual(['t0', 't1', 't2', 't3']);
});

test('a shard begins at the instant of the settings, when nothing of it was read', async () => {
  await server.create(stream, 1);
  await server.put(stream, events(0, 5));
  const between = Date.now() + 1;
  await until(() => Date.now() > between);
  await server.put(stream, events(5, 5));
  start({ start: new Date(between).toISOString() });
  await received(5);
  expect(await transactions()).toEqual(['t5', 't6', 't7', 't8', 't9']);
});

test('a stream that is missing, a server that is away and one that nobody trusts are named, without the secret', async () => {
  const tls = await tlsFront(server.endpoint);
  onTestFinished(() => tls.close());
  const cases = [
    [{ endpoint: tls.url }, `the stream ${stream} cannot be read: DEPTH_ZERO_SELF_SIGNED_CERT`],
    [{ stream: 'nowhere' }, 'the stream nowhere is missing'],
    [{ endpoint: 'http://127.0.0.1:9' }, `the stream ${stream} cannot be read: ECONNREFUSED`],
  ] as const;
  for (const [changes, error] of cases) {
    const running = start(changes);
    await until(() => running.state().status === 'retrying');
    expect(running.state().error).toBe(error);
    await running.close();
  }
});
