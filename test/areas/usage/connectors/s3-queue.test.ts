import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, interceptLocalhostDns, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openS3 } from '../../../../src/platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import { ObjectIsGone, ObjectRefused, openStore } from '../../../../src/platform/streams/s3/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// Files that a queue names, on a server that speaks SQS and S3 with its conditions (streams.md#notifications-of-s3).
const metrics = createMetrics('test');
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
let database: TestDatabase;
let server: FauxqsServer;
let endpoint: string;
let s3: S3Client;
let sqs: SQSClient;
let organizationId: string;
let prefix: string;
let queue: { queueUrl: string; queueName: string };
let number = 0;
/** Its queues have hosts below `localhost`, which not every machine resolves. */
let resolveAgain: () => void;
beforeAll(async () => {
  resolveAgain = interceptLocalhostDns();
  [database, server] = await Promise.all([createTestDatabase(), startFauxqs({ port: 0, logger: false })]);
  endpoint = `http://127.0.0.1:${server.port}`;
  server.createBucket('usage');
  s3 = new S3Client({
    region: 'us-east-1',
    endpoint,
    credentials,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  sqs = new SQSClient({ region: 'us-east-1', endpoint, credentials });
});
afterAll(async () => {
  s3.destroy();
  sqs.destroy();
  await server.stop();
  resolveAgain();
  await database.drop();
});
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  number += 1;
  prefix = `in-${number}/`;
  queue = server.createQueue(`new-files-${number}`);
});

const event = (id: string | number) =>
  JSON.stringify({ transaction_id: `t${id}`, external_subscription_id: 's', code: 'calls' });
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${event(from + index)}\n`).join('');
const put = (name: string, body: string | Uint8Array) =>
  s3.send(new PutObjectCommand({ Bucket: 'usage', Key: prefix + name, Body: body }));
const send = (body: unknown) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.queueUrl,
      MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );

/** As S3 tells of an object, whose key stands there as in a form. */
const notice = (name: string, { bucket = 'usage', eventName = 'ObjectCreated:Put' } = {}) => ({
  Records: [
    {
      eventSource: 'aws:s3',
      eventName,
      s3: {
        bucket: { name: bucket },
        object: {
          key: encodeURIComponent(prefix + name)
            .replaceAll('%20', '+')
            .replaceAll('%2F', '/'),
          size: 1,
        },
      },
    },
  ],
});

const settings = (changes: object = {}) =>
  s3Settings({ SECRET: 'any' }).parse({
    bucket: 'usage',
    prefix,
    region: 'us-east-1',
    endpoint,
    credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
    queue_url: queue.queueUrl,
    ...changes,
  });

function start(changes: object = {}) {
  const connector = { organizationId, code: 'files', kind: 's3', isSandbox: false };
  const running = runConnector({ ...storage(database.sql).deps, metrics }, connector, openS3(settings(changes)));
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= running.close());
  onTestFinished(close);
  return { state: running.state, close };
}

const objects = async () => {
  const rows = await database.sql`
    select key, status, stored::int as stored, replayed::int as replayed, dead::int as dead, attempts
    from ingest_objects where organization_id = ${organizationId} order by key`;
  return rows.map((row) => ({ ...row, key: row.key.slice(prefix.length) }) as ReturnType<typeof done>);
};
const letters = () => database.sql`
  select position, error_code, error_message from ingest_dead_letters where organization_id = ${organizationId}`;
const isEmpty = () => {
  const { ready, delayed, inflight } = server.inspectQueue(queue.queueName)!.messages;
  return ready.length + delayed.length + inflight.length === 0;
};
const done = (key: string, stored: number) => ({ key, status: 'done', stored, replayed: 0, dead: 0, attempts: 0 });

test('files are read that a queue names, in every form in which it does, and others are not', async () => {
  const names = ['a.ndjson', 'b c+ü.ndjson', 'by-sns.ndjson', 'by-bridge.ndjson', 'removed.ndjson', 'unnamed.ndjson'];
  for (const [index, name] of names.entries()) await put(name, lines(index * 10, 10));
  await send({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'usage' });
  await send(notice('a.ndjson'));
  await send(notice('b c+ü.ndjson'));
  await send({ Type: 'Notification', Message: JSON.stringify(notice('by-sns.ndjson')) });
  const detail = { bucket: { name: 'usage' }, object: { key: `${prefix}by-bridge.ndjson` } };
  await send({ source: 'aws.s3', 'detail-type': 'Object Created', detail });
  await send(notice('removed.ndjson', { eventName: 'ObjectRemoved:Delete' }));
  await send(notice('unnamed.ndjson', { bucket: 'another' }));
  await send(notice('gone.ndjson'));
  await send(notice('a.ndjson'));
  const running = start();
  await until(isEmpty);
  expect(await objects()).toEqual([
    done('a.ndjson', 10),
    done('b c+ü.ndjson', 10),
    done('by-bridge.ndjson', 10),
    done('by-sns.ndjson', 10),
  ]);
  expect(await letters()).toEqual([]);
  await until(() => running.state().lag.seconds === 0);
});

test.each([
  ['no JSON', 'hello'],
  ['something else in JSON', { hello: 'world' }],
  ['a record of another service', { Records: [{ eventSource: 'aws:ses' }] }],
  [
    'a key that is no text of a form',
    { Records: [{ ...notice('').Records[0], s3: { bucket: { name: 'usage' }, object: { key: '%' } } }] },
  ],
])('a message that is %s becomes a dead letter, and the queue goes on', async (_, body) => {
  await put('a.ndjson', lines(0, 3));
  await send(body);
  await send(notice('a.ndjson'));
  start();
  await until(isEmpty);
  expect(await objects()).toEqual([done('a.ndjson', 3)]);
  expect(await letters()).toEqual([
    {
      position: expect.stringMatching(/^queue\//),
      error_code: 'unsupported_format',
      error_message: 'the message is no notification of an object',
    },
  ]);
});

test('the message of a file that cannot be read comes again after its pause', async () => {
  await put('cut.ndjson.gz', gzipSync(lines(0, 100)).subarray(0, -20));
  await send(notice('cut.ndjson.gz'));
  start();
  await until(async () => (await objects())[0]?.attempts === 1);
  const hidden = await until(() => {
    const [message] = server.inspectQueue(queue.queueName)!.messages.inflight;
    return message && message.visibilityDeadline - Date.now();
  });
  expect(hidden).toBeLessThanOrEqual(60_000);
  expect(hidden).toBeGreaterThan(30_000);
});

test('processes share the files of a queue, and each is read by one', async () => {
  for (let file = 0; file < 20; file += 1) {
    await put(`${file}.ndjson`, lines(file * 50, 50));
    await send(notice(`${file}.ndjson`));
    if (file % 2 === 0) await send(notice(`${file}.ndjson`));
  }
  start();
  start();
  await until(async () => (await objects()).filter(({ status }) => status === 'done').length === 20);
  expect((await objects()).every(({ stored, replayed }) => stored === 50 && replayed === 0)).toBe(true);
});

test('a bucket is listed beside its queue only where the settings say so', async () => {
  await put('old.ndjson', lines(0, 3));
  await put('new.ndjson', lines(3, 3));
  await send(notice('new.ndjson'));
  const first = start();
  await until(isEmpty);
  expect(await objects()).toEqual([done('new.ndjson', 3)]);
  await first.close();
  start({ poll_seconds: 1 });
  await until(async () => (await objects()).length === 2);
});

test('a queue that is missing is named', async () => {
  const running = start({ queue_url: `${endpoint}/000000000000/nowhere` });
  await until(() => running.state().status === 'retrying');
  expect(running.state().error).toBe(`the queue ${endpoint}/000000000000/nowhere cannot be read: QueueDoesNotExist`);
});

test('an object that was rewritten (412) or removed (404) after it was listed is not read', async () => {
  await put('a.ndjson', lines(0, 3));
  await put('b.ndjson', lines(0, 3));
  const store = await openStore(settings(), new AbortController().signal);
  onTestFinished(() => store.close());
  const { value: [a, b] = [] } = await store.pages().next();
  await put('a.ndjson', lines(0, 4));
  await s3.send(new DeleteObjectCommand({ Bucket: 'usage', Key: `${prefix}b.ndjson` }));
  await expect(store.open(a!, 0)).rejects.toBeInstanceOf(ObjectIsGone);
  await expect(store.open(b!, 0)).rejects.toBeInstanceOf(ObjectIsGone);
  expect(await store.find(a!.key)).toMatchObject({ size: Buffer.byteLength(lines(0, 4)) });
  expect(await store.find(b!.key)).toBeUndefined();
  // What is moved is what was read: neither of them.
  await store.move(b!, `${prefix}done/b.ndjson`);
  const left = await s3.send(new ListObjectsV2Command({ Bucket: 'usage', Prefix: prefix }));
  expect(left.Contents!.map(({ Key }) => Key)).toEqual([`${prefix}a.ndjson`]);
});

test('an object that the server refuses (403) is tried five times, and becomes a dead letter', async () => {
  const front = createServer((incoming, outgoing) => {
    if (incoming.method === 'GET' && incoming.url!.includes('secret')) {
      outgoing.writeHead(403, { 'content-type': 'application/xml' });
      outgoing.end('<Error><Code>AccessDenied</Code></Error>');
      return;
    }
    const { method, url, headers } = incoming;
    const passed = request(endpoint + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  const behind = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  await put('secret.ndjson', lines(0, 3));
  await put('z.ndjson', lines(3, 3));
  const store = await openStore(settings({ endpoint: behind }), new AbortController().signal);
  onTestFinished(() => store.close());
  const { value: [secret] = [] } = await store.pages().next();
  await expect(store.open(secret!, 0)).rejects.toBeInstanceOf(ObjectRefused);
  start({ endpoint: behind, queue_url: undefined, poll_seconds: 1 });
  for (let attempts = 1; attempts < 5; attempts += 1) {
    await until(async () => (await objects())[0]?.attempts === attempts);
    await database.sql`update ingest_objects set next_attempt_at = now() where organization_id = ${organizationId}`;
  }
  await until(async () => (await objects())[0]?.status === 'failed');
  expect(await objects()).toMatchObject([{ key: 'secret.ndjson', dead: 1 }, done('z.ndjson', 3)]);
  expect(await letters()).toEqual([
    {
      position: `${prefix}secret.ndjson`,
      error_code: 'unsupported_format',
      error_message: 'the object cannot be read: the server refuses it: AccessDenied',
    },
  ]);
});
