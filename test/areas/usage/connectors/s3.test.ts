import { rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openS3 } from '../../../../src/platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { newFolder } from '../../../support/new-folder.ts';
import { type S3Server, startS3Server } from '../../../support/s3-server.ts';
import { tlsFront } from '../../../support/tls-front.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// Files of a bucket, on a server that speaks S3 (streams.md#s3).
const metrics = createMetrics('test');
let database: TestDatabase;
let folder: string;
let server: S3Server;
let endpoint: string;
let client: S3Client;
let organizationId: string;
let prefix: string;
let number = 0;
beforeAll(async () => {
  [database, folder] = await Promise.all([createTestDatabase(), newFolder('s3', 200_000_000)]);
  server = await startS3Server(folder);
  ({ endpoint, client } = server);
});
afterAll(async () => {
  await server.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  number += 1;
  prefix = `in-${number}/`;
});

const event = (id: string | number, fields: object = {}) =>
  JSON.stringify({ transaction_id: `t${id}`, external_subscription_id: 's', code: 'calls', ...fields });
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${event(from + index)}\n`).join('');
const put = (name: string, body: string | Uint8Array) =>
  client.send(new PutObjectCommand({ Bucket: 'usage', Key: prefix + name, Body: body }));
const keys = async (under: string) =>
  ((await client.send(new ListObjectsV2Command({ Bucket: 'usage', Prefix: under }))).Contents ?? []).map(
    ({ Key }) => Key,
  );

function start(changes: object = {}) {
  const settings = s3Settings({ SECRET: 'S3RVER', WRONG: 'hunter2' }).parse({
    bucket: 'usage',
    prefix,
    region: 'eu-west-1',
    endpoint,
    credentials: { access_key_id: 'S3RVER', secret_access_key: { env: 'SECRET' } },
    poll_seconds: 1,
    ...changes,
  });
  const connector = { organizationId, code: 'files', kind: 's3', isSandbox: false };
  const running = runConnector({ ...storage(database.sql).deps, metrics }, connector, openS3(settings));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= running.close());
  onTestFinished(close);
  return { state: running.state, close };
}

const objects = () => database.sql`
  select replace(key, ${prefix}, '') as key, status, line::int as line, stored::int as stored,
    replayed::int as replayed, dead::int as dead, attempts
  from ingest_objects where organization_id = ${organizationId} order by key, started_at`;
const ended = (count: number) =>
  until(async () => {
    const rows = await objects();
    return rows.filter(({ status }) => status !== 'reading').length >= count ? rows : undefined;
  });
const counts = async () =>
  (
    await database.sql`
      select sum(received)::int as received, sum(stored)::int as stored, sum(replayed)::int as replayed,
        sum(dead)::int as dead, count(*)::int as rows
      from ingest_checkpoints where organization_id = ${organizationId}`
  )[0];
const letters = () => database.sql`
  select position, error_code, error_message from ingest_dead_letters where organization_id = ${organizationId}
  order by position, error_code`;
const done = (key: string, line: number, fields: object = {}) => ({
  key,
  status: 'done',
  line,
  stored: line,
  replayed: 0,
  dead: 0,
  attempts: 0,
  ...fields,
});

test('files of every format are read once, and what is wrong in them is put aside', async () => {
  await put('a.ndjson', `${lines(0, 2500)}no\n`);
  await put('b.json.gz', gzipSync(`[${event('b1')},${event('b2')}]`));
  await put(
    'c.csv',
    '\ufefftransaction_id,external_subscription_id,code,properties.n\nc1,s,calls,1.10\nc2,s\nc3,,calls,1\n',
  );
  await put('d.txt', 'anything');
  await put('e.json', `{"event":${event('e1')}}`);
  await put('folder/', '');
  start();
  expect(await ended(5)).toEqual([
    done('a.ndjson', 2501, { status: 'done_with_errors', stored: 2500, dead: 1 }),
    done('b.json.gz', 2),
    done('c.csv', 3, { status: 'done_with_errors', stored: 1, dead: 2 }),
    done('d.txt', 0, { status: 'failed', dead: 1 }),
    done('e.json', 1),
  ]);
  expect(await counts()).toEqual({ received: 2508, stored: 2504, replayed: 0, dead: 4, rows: 1 });
  expect(await letters()).toEqual([
    { position: `${prefix}a.ndjson#2501`, error_code: 'invalid_json', error_message: expect.anything() },
    { position: `${prefix}c.csv#2`, error_code: 'invalid_event', error_message: 'the row has 2 fields, not 4' },
    {
      position: `${prefix}c.csv#3`,
      error_code: 'value_is_mandatory',
      error_message: 'external_subscription_id: value_is_mandatory',
    },
    {
      position: `${prefix}d.txt`,
      error_code: 'unsupported_format',
      error_message: 'the object cannot be read: its name ends in no format',
    },
  ]);
  const [row] = await database.sql`
    select properties::text as properties from events
    where organization_id = ${organizationId} and transaction_id = 'c1'`;
  expect(row!.properties).toContain('1.10');
});

test.each([
  ['a.ndjson', (text: string) => Buffer.from(text)],
  ['a.ndjson.gz', (text: string) => gzipSync(text)],
])('%s is read on in its middle, behind what is stored', async (name, pack) => {
  await put(name, pack(lines(0, 3000)));
  const [{ ETag: etag } = {}] =
    (await client.send(new ListObjectsV2Command({ Bucket: 'usage', Prefix: prefix }))).Contents ?? [];
  const place = { line: 1000, offset: Buffer.byteLength(lines(0, 1000)) };
  await database.sql`
    insert into ingest_checkpoints (organization_id, connector, key, rank, value, received, stored, replayed, dead,
      updated_at)
    values (${organizationId}, 'files', ${`usage/${prefix}${name}#${etag}`}, 1000, ${JSON.stringify(place)}::text::jsonb,
      1000, 1000, 0, 0, now())`;
  start();
  expect(await ended(1)).toEqual([done(name, 3000)]);
  const found = await database.sql`select transaction_id from events where organization_id = ${organizationId}`;
  expect(found).toHaveLength(2000);
  expect(found.some(({ transaction_id: id }) => id === 't999')).toBe(false);
});

test('a file that is rewritten is read again, and what it repeats is a replay', async () => {
  await put('a.ndjson', lines(0, 3));
  start();
  await ended(1);
  await put('a.ndjson', lines(0, 5));
  expect(await ended(2)).toEqual([done('a.ndjson', 3), done('a.ndjson', 5, { stored: 2, replayed: 3 })]);
});

test('files are moved to where they belong, and are not read there', async () => {
  await put('a b ü.ndjson', lines(0, 3));
  await put('sub/b.txt', 'anything');
  start({ processed_prefix: `${prefix}processed/`, failed_prefix: `${prefix}failed/` });
  await until(async () => (await keys(prefix)).every((key) => /\/(processed|failed)\//.test(key!)));
  expect(await keys(prefix)).toEqual([`${prefix}failed/sub/b.txt`, `${prefix}processed/a b ü.ndjson`]);
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'usage', Key: `${prefix}processed/a b ü.ndjson` }));
  expect(await Body!.transformToString()).toBe(lines(0, 3));
  expect(await objects()).toHaveLength(2);
});

test('a file that cannot be unpacked waits between attempts, and is put aside after the fifth', async () => {
  await put('a.ndjson.gz', gzipSync(lines(0, 2000)).subarray(0, -30));
  start();
  for (let attempts = 1; attempts < 5; attempts += 1) {
    await until(async () => (await objects())[0]?.attempts === attempts);
    const [row] = await database.sql`
      select status, round(extract(epoch from next_attempt_at - clock_timestamp()) / 60)::int as minutes
      from ingest_objects where organization_id = ${organizationId}`;
    expect(row).toEqual({ status: 'reading', minutes: 2 ** (attempts - 1) });
    await database.sql`
      update ingest_objects set next_attempt_at = now() where organization_id = ${organizationId}`;
  }
  const [row] = await ended(1);
  expect(row).toMatchObject({ status: 'failed', attempts: 4, dead: 1 });
  expect(await letters()).toEqual([
    {
      position: `${prefix}a.ndjson.gz`,
      error_code: 'unsupported_format',
      error_message: 'the object cannot be read: it is no whole gzip',
    },
  ]);
});

test('what stands before the fault of a file is stored', async () => {
  await put('cut.json', `[${event(1)},${event(2)},`);
  start();
  await until(async () => (await objects())[0]?.attempts === 1);
  expect(await counts()).toMatchObject({ received: 2, stored: 2, dead: 0 });
});

test('processes share the files, and each is read by one', async () => {
  for (let file = 0; file < 12; file += 1) await put(`${file}.ndjson`, lines(file * 100, 100));
  start();
  start();
  const rows = await ended(12);
  expect(rows.every(({ stored, replayed }) => stored === 100 && replayed === 0)).toBe(true);
  expect(await counts()).toMatchObject({ received: 1200, stored: 1200, replayed: 0 });
  await until(
    async () => (await database.sql`select from ingest_leases where organization_id = ${organizationId}`).length === 0,
  );
});

test('a file that another process holds is left to it until its lease has ended', async () => {
  await put('a.ndjson', lines(0, 3));
  await put('b.ndjson', lines(3, 3));
  const [{ ETag: etag } = {}] =
    (await client.send(new ListObjectsV2Command({ Bucket: 'usage', Prefix: prefix }))).Contents ?? [];
  await database.sql`
    insert into ingest_leases (organization_id, connector, key, owner, expires_at)
    values (${organizationId}, 'files', ${`usage/${prefix}a.ndjson#${etag}`}, gen_random_uuid(), now() + interval '1h')`;
  start();
  expect(await ended(1)).toEqual([done('b.ndjson', 3)]);
  await database.sql`update ingest_leases set expires_at = now() where organization_id = ${organizationId}`;
  expect(await ended(2)).toHaveLength(2);
});

test('a bucket that is missing, a server that is away and wrong credentials are named, without the secret', async () => {
  const tls = await tlsFront(endpoint);
  onTestFinished(() => tls.close());
  const cases = [
    [{ endpoint: tls.url }, 'the bucket usage cannot be read: DEPTH_ZERO_SELF_SIGNED_CERT'],
    [{ bucket: 'nowhere' }, 'the bucket nowhere cannot be read: NoSuchBucket'],
    [{ endpoint: 'http://127.0.0.1:9' }, 'the bucket usage cannot be read: ECONNREFUSED'],
    [
      { credentials: { access_key_id: 'NOBODY', secret_access_key: { env: 'WRONG' } } },
      'the bucket usage cannot be read: InvalidAccessKeyId',
    ],
  ] as const;
  for (const [changes, error] of cases) {
    const running = start(changes);
    await until(() => running.state().status === 'retrying');
    expect(running.state().error).toBe(error);
    await running.close();
  }
});
