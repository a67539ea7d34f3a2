import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { openS3 } from '../../../../src/platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// Files as people and their tools leave them, and a server that does not keep still (streams.md#files).
const metrics = createMetrics('test');
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
let database: TestDatabase;
let server: FauxqsServer;
let endpoint: string;
let client: S3Client;
let organizationId: string;
let prefix: string;
let number = 0;
beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), startFauxqs({ port: 0, logger: false })]);
  endpoint = `http://127.0.0.1:${server.port}`;
  server.createBucket('usage');
  client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true });
});
afterAll(async () => {
  client.destroy();
  await server.stop();
  await database.drop();
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
const at = (name: string) => ({ Bucket: 'usage', Key: prefix + name });
const put = (name: string, body: string | Uint8Array) => client.send(new PutObjectCommand({ ...at(name), Body: body }));

function start(changes: object = {}) {
  const settings = s3Settings({ SECRET: 'any' }).parse({
    bucket: 'usage',
    prefix,
    region: 'us-east-1',
    endpoint,
    credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
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
  select replace(key, ${prefix}, '') as key, status, stored::int as stored, replayed::int as replayed, attempts
  from ingest_objects where organization_id = ${organizationId} order by started_at`;
const ended = (name: string) =>
  until(async () => (await objects()).find(({ key, status }) => key === name && status !== 'reading'));
const countStored = async (): Promise<number> => {
  const [row] = await database.sql`
    select coalesce(sum(stored), 0)::int as stored from ingest_checkpoints where organization_id = ${organizationId}`;
  return row!.stored;
};
const letters = async () => {
  const rows = await database.sql`
    select position, error_code from ingest_dead_letters where organization_id = ${organizationId} order by position`;
  return rows.map(({ position, error_code: code }) => `${position.slice(prefix.length)} ${code}`);
};
const zstd = (text: string) => execFileSync('zstd', ['-q', '-c'], { input: text });

const CSV = 'transaction_id,external_subscription_id,code,properties.note';
const TWO = `${event(1)}\n${event(2)}\n`;
const LONG = event('long', { properties: { text: 'x'.repeat(2 * 1024 * 1024) } });

test.each<[what: string, name: string, content: string | Uint8Array, stored: number, dead: string[]]>([
  ['begins with a byte order mark', 'a.ndjson', `\ufeff${TWO}`, 2, []],
  ['has lines that end as on Windows', 'a.ndjson', TWO.replaceAll('\n', '\r\n'), 2, []],
  ['has lines that end as on an old Mac', 'a.ndjson', TWO.replaceAll('\n', '\r'), 0, ['a.ndjson#1 invalid_json']],
  ['has a last line without end', 'a.ndjson', TWO.trimEnd(), 2, []],
  ['has blank lines only', 'a.ndjson', '\n \r\n\n', 0, []],
  ['has a NUL in a line', 'a.ndjson', `\0${TWO}`, 1, ['a.ndjson#1 invalid_json']],
  ['is UTF-16', 'a.ndjson', Buffer.from(`\ufeff${event(1)}`, 'utf16le'), 0, ['a.ndjson#1 invalid_json']],
  ['has a line of 2 MiB', 'a.ndjson', `${event(1)}\n${LONG}\n${event(2)}\n`, 2, ['a.ndjson#2 payload_too_large']],
  [
    'has a wrong line, a null and a number',
    'a.ndjson',
    `{"a":\nnull\n7\n${TWO}`,
    2,
    ['a.ndjson#1 invalid_json', 'a.ndjson#2 invalid_event', 'a.ndjson#3 invalid_event'],
  ],
  ['is named in capitals', 'A.NDJSON.GZ', gzipSync(TWO), 2, []],
  ['is a gzip of nothing', 'a.ndjson.gz', gzipSync(''), 0, []],
  [
    'is a gzip of several members, cut in a line',
    'a.ndjson.gz',
    Buffer.concat([gzipSync(TWO.slice(0, 100)), gzipSync(''), gzipSync(TWO.slice(100))]),
    2,
    [],
  ],
  [
    'is a zstd of several frames, cut in a line',
    'a.ndjson.zst',
    Buffer.concat([zstd(TWO.slice(0, 100)), zstd(TWO.slice(100))]),
    2,
    [],
  ],
  ['is a list on several lines behind a mark', 'a.json', `\ufeff[\r\n  ${event(1)},\r\n  ${event(2)}\r\n]\r\n`, 2, []],
  ['is an empty list', 'a.json', '[]', 0, []],
  ['is an envelope of events', 'a.json', `{"events":[${event(1)},${event(2)}]}`, 2, []],
  ['is a list with a wrong element', 'a.json', `[${event(1)},{"a":nope},${event(2)}]`, 2, ['a.json#2 invalid_json']],
  ['is a list with a list in it', 'a.json', `[${event(1)},[${event(2)}]]`, 1, ['a.json#2 invalid_event']],
  ['is blank', 'a.json', ' \n', 0, ['a.json#1 invalid_json']],
  ['has a header row only', 'a.csv', `${CSV}\n`, 0, []],
  [
    'has quotes and line ends in quotes, a mark, and the lines of Windows',
    'a.csv',
    `\ufeff${CSV}\r\nt1,s,calls,"one ""note""\r\nof two lines"\r\n\r\n"t2","s","calls",\r\n`,
    2,
    [],
  ],
  ['has columns that are no events', 'a.csv', 'transaction_id;code\nt1;calls\n', 0, ['a.csv unsupported_format']],
  ['has a name without a format', 'a.parquet', 'PAR1', 0, ['a.parquet unsupported_format']],
])('a file that %s is read: %s', async (_, name, content, stored, dead) => {
  await put(name, content);
  start();
  await ended(name);
  expect(await letters()).toEqual(dead);
  const rows = await database.sql`select transaction_id from events where organization_id = ${organizationId}`;
  expect(rows).toHaveLength(stored);
});

test('a line end in quotes stays in the property', async () => {
  await put('a.csv', `${CSV}\r\nt1,s,calls,"one ""note""\r\nof two lines"\r\n`);
  start();
  await ended('a.csv');
  const [row] = await database.sql`select properties from events where organization_id = ${organizationId}`;
  expect(row!.properties).toEqual({ note: 'one "note"\r\nof two lines' });
});

test('an empty object is passed over, and read once it is written', async () => {
  await put('a.ndjson', '');
  await put('b.ndjson', TWO);
  start();
  await ended('b.ndjson');
  expect(await objects()).toHaveLength(1);
  await put('a.ndjson', event(3));
  expect(await ended('a.ndjson')).toMatchObject({ status: 'done', stored: 1 });
});

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse, pass: () => void) => unknown;

/** The address of a server in front of the bucket, which may do something else with a request than pass it on. */
async function inFront(handle: Handle): Promise<string> {
  const front = createServer((incoming, outgoing) => {
    const pass = () => {
      const { method, url, headers } = incoming;
      const passed = request(endpoint + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(passed);
    };
    void handle(incoming, outgoing, pass);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    front.closeAllConnections();
    front.close();
  });
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
}
const isRead = ({ method, url }: IncomingMessage, name: string) => method === 'GET' && url!.includes(name);

test('an object that is removed between listing and reading is forgotten, and is no dead letter', async () => {
  await put('gone.ndjson', TWO);
  await put('stays.ndjson', lines(3, 2));
  const behind = await inFront(async (incoming, _, pass) => {
    if (isRead(incoming, 'gone.ndjson')) await client.send(new DeleteObjectCommand(at('gone.ndjson')));
    pass();
  });
  start({ endpoint: behind });
  await ended('stays.ndjson');
  expect(await objects()).toEqual([{ key: 'stays.ndjson', status: 'done', stored: 2, replayed: 0, attempts: 0 }]);
  expect(await letters()).toEqual([]);
});

/** The first time that an object is read the connection breaks in its middle, once something of it is stored. */
async function breaksOnce(name: string, before: () => Promise<unknown> = async () => {}) {
  const ranges: (string | undefined)[] = [];
  const behind = await inFront((incoming, outgoing, pass) => {
    if (!isRead(incoming, name)) return pass();
    ranges.push(incoming.headers.range);
    if (ranges.length > 1) return pass();
    const { method, url, headers } = incoming;
    const half = async (answer: IncomingMessage) => {
      const whole = Buffer.concat(await answer.toArray());
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.write(whole.subarray(0, whole.length / 2));
      await until(async () => (await countStored()) > 0);
      await before();
      outgoing.destroy();
    };
    return request(endpoint + url, { method, headers }, half).end();
  });
  return { behind, ranges };
}

test('a connection that breaks in the middle is no attempt: reading goes on behind what is stored', async () => {
  await put('a.ndjson', lines(0, 5000));
  const { behind, ranges } = await breaksOnce('a.ndjson');
  const running = start({ endpoint: behind });
  await until(() => running.state().status === 'retrying');
  expect(running.state().error).toMatch(/^the bucket usage cannot be read: /);
  expect(await ended('a.ndjson')).toEqual({ key: 'a.ndjson', status: 'done', stored: 5000, replayed: 0, attempts: 0 });
  expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
});

test('an object that is rewritten while it is read is read again, whole, and nothing counts twice', async () => {
  await put('a.ndjson', lines(0, 5000));
  const { behind } = await breaksOnce('a.ndjson', () => put('a.ndjson', lines(500, 5000)));
  start({ endpoint: behind });
  const row = await ended('a.ndjson');
  expect(row!.stored + row!.replayed).toBe(5000);
  expect(row!.replayed).toBeGreaterThan(0);
  const [found] = await database.sql`
    select count(*)::int as rows, count(distinct transaction_id)::int as keys,
      count(*) filter (where substr(transaction_id, 2)::int >= 500)::int as rewritten
    from events where organization_id = ${organizationId}`;
  expect(found).toEqual({ rows: found!.keys, keys: found!.keys, rewritten: 5000 });
  expect(await letters()).toEqual([]);
});

/** A file of which a process has stored a part before it died, held by its lease for so many seconds more. */
async function leftInTheMiddle(name: string, leaseSeconds = -1): Promise<string> {
  await put(name, lines(0, 5000));
  const { behind } = await breaksOnce(name);
  const first = start({ endpoint: behind });
  await until(() => first.state().status === 'retrying');
  await first.close();
  const [row] = await database.sql`
    select bucket || '/' || key || '#' || etag as id from ingest_objects where organization_id = ${organizationId}`;
  await database.sql`
    insert into ingest_leases (organization_id, connector, key, owner, expires_at)
    values (${organizationId}, 'files', ${row!.id}, ${randomUUID()},
      clock_timestamp() + ${leaseSeconds} * interval '1 second')`;
  return row!.id;
}
const leftOf = async () => {
  const [row] = await database.sql`
    select (select count(*)::int from ingest_objects where organization_id = ${organizationId} and status = 'reading')
        as objects,
      (select count(*)::int from ingest_leases where organization_id = ${organizationId}) as leases,
      (select array_agg(key order by key) from ingest_checkpoints where organization_id = ${organizationId}) as keys`;
  return row;
};

test('an object that is removed after its reader has died leaves nothing but what was stored', async () => {
  const id = await leftInTheMiddle('a.ndjson');
  const stored = await countStored();
  expect(stored).toBeGreaterThan(0);
  expect(await leftOf()).toEqual({ objects: 1, leases: 1, keys: [id] });
  await client.send(new DeleteObjectCommand(at('a.ndjson')));
  start();
  await until(async () => (await leftOf())!.objects === 0);
  await until(async () => (await leftOf())!.leases === 0);
  expect(await leftOf()).toEqual({ objects: 0, leases: 0, keys: ['objects'] });
  expect(await countStored()).toBe(stored);
  expect(await letters()).toEqual([]);
});

test('an object that is rewritten after its reader has died leaves only the new one', async () => {
  await leftInTheMiddle('a.ndjson');
  const stored = await countStored();
  await put('a.ndjson', lines(0, 6000));
  start();
  await ended('a.ndjson');
  await until(async () => (await leftOf())!.leases === 0);
  expect(await leftOf()).toEqual({ objects: 0, leases: 0, keys: ['objects'] });
  expect(await objects()).toEqual([
    { key: 'a.ndjson', status: 'done', stored: 6000 - stored, replayed: stored, attempts: 0 },
  ]);
});

test('an object that another process holds is not forgotten, though it is gone', async () => {
  await leftInTheMiddle('a.ndjson', 600);
  await client.send(new DeleteObjectCommand(at('a.ndjson')));
  await put('b.ndjson', event('b'));
  start();
  await ended('b.ndjson');
  expect(await leftOf()).toMatchObject({ objects: 1, leases: 1 });
});

const isThere = async (name: string) => (await objects()).some(({ key }) => key === name);
const lookAgain = () => database.sql`
  update ingest_objects set look_at = clock_timestamp() where organization_id = ${organizationId}`;

test('what became of a file is forgotten once the file is gone, and known as long as it is there', async () => {
  await put('gone.ndjson', lines(0, 3));
  await put('stays.ndjson', lines(10, 3));
  const first = start();
  await ended('gone.ndjson');
  await ended('stays.ndjson');
  await first.close();
  const [kept] = await database.sql`
    select round(extract(epoch from look_at - finished_at) / 3600)::int as hours from ingest_objects
    where organization_id = ${organizationId}`;
  expect(kept).toEqual({ hours: 24 });
  await client.send(new DeleteObjectCommand(at('gone.ndjson')));
  const second = start();
  await until(() => second.state().status === 'running');
  await put('c.ndjson', event('c'));
  await ended('c.ndjson');
  expect(await isThere('gone.ndjson')).toBe(true); // nobody has looked yet
  await second.close();
  await lookAgain();
  start();
  await until(async () => !(await isThere('gone.ndjson')));
  await put('d.ndjson', event('d'));
  await ended('d.ndjson');
  expect((await objects()).find(({ key }) => key === 'stays.ndjson')).toMatchObject({ stored: 3, replayed: 0 });
  const [looked] = await database.sql`
    select round(extract(epoch from look_at - clock_timestamp()) / 86400)::int as days from ingest_objects
    where organization_id = ${organizationId} and key = ${`${prefix}stays.ndjson`}`;
  expect(looked).toEqual({ days: 30 });
  expect(await countStored()).toBe(8);
});

test('what became of a former content of a file is forgotten, too', async () => {
  await put('a.ndjson', lines(0, 3));
  const first = start();
  await ended('a.ndjson');
  await put('a.ndjson', lines(0, 4));
  await until(async () => (await objects()).filter(({ status }) => status === 'done').length === 2);
  await first.close();
  await lookAgain();
  start();
  await until(async () => (await objects()).length === 1);
  expect(await objects()).toEqual([{ key: 'a.ndjson', status: 'done', stored: 1, replayed: 3, attempts: 0 }]);
});

test.each([
  ['encrypted with a key of its owner', 400, 'InvalidRequest'],
  ['archived', 403, 'InvalidObjectState'],
  ['not there in this range', 416, 'InvalidRange'],
])('a file that is %s stops none behind it', async (_, status, code) => {
  await put('a.ndjson', TWO);
  await put('b.ndjson', lines(3, 2));
  const behind = await inFront((incoming, outgoing, pass) => {
    if (!isRead(incoming, 'a.ndjson')) return pass();
    outgoing.writeHead(status, { 'content-type': 'application/xml' });
    outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
  });
  const running = start({ endpoint: behind });
  await ended('b.ndjson');
  expect(running.state()).toMatchObject({ status: 'running', error: null });
  expect(await objects()).toContainEqual({ key: 'a.ndjson', status: 'reading', stored: 0, replayed: 0, attempts: 1 });
});

test('a file that may not be moved is named, with the place where it cannot go', async () => {
  await put('a.ndjson', TWO);
  const behind = await inFront((incoming, outgoing, pass) => {
    if (incoming.method !== 'PUT') return pass();
    outgoing.writeHead(403, { 'content-type': 'application/xml' });
    outgoing.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>');
  });
  const running = start({ endpoint: behind, processed_prefix: `${prefix}processed/` });
  await until(() => running.state().status === 'retrying');
  expect(running.state().error).toBe(`${prefix}a.ndjson cannot be moved to ${prefix}processed/a.ndjson: AccessDenied`);
});

const numbered = (count: number, line: (number: number) => string) =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

test('a file of nothing but poison ends when it has made ten thousand dead letters, and the next one is read', async () => {
  await put('a.ndjson', event('before') + numbered(40_000, (index) => `\nno JSON ${index}`));
  await put('b.ndjson', TWO);
  const running = start({ failed_prefix: `${prefix}failed/` });
  await until(() => ended('b.ndjson'), 60_000);
  const rows = await objects();
  expect(rows).toMatchObject([
    { key: 'a.ndjson', status: 'failed', stored: 1, attempts: 0 },
    { key: 'b.ndjson', status: 'done', stored: 2 },
  ]);
  const [found] = await database.sql`
    select count(*)::int as letters, count(*) filter (where position = ${`${prefix}a.ndjson`})::int as of_file,
      max(error_message) filter (where position = ${`${prefix}a.ndjson`}) as message
    from ingest_dead_letters where organization_id = ${organizationId}`;
  // Some thousand lines are on their way when it is looked at.
  expect(found!.letters).toBeGreaterThan(10_000);
  expect(found!.letters).toBeLessThan(14_000);
  expect(found!.of_file).toBe(1);
  expect(found!.message).toMatch(/^the object cannot be read: 1\d{4} of its events are wrong, more than are not$/);
  expect(running.state()).toMatchObject({ status: 'running', error: null });
}, 90_000);

test('a file with many dead letters and more events is read to its end', async () => {
  await put(
    'a.ndjson',
    numbered(22_000, (index) => (index % 2 === 0 ? event(index) : `no JSON ${index}`)) + event('last'),
  );
  start();
  const row = await until(async () => (await objects()).find(({ status }) => status !== 'reading'), 60_000);
  expect(row).toMatchObject({ status: 'done_with_errors', stored: 11_001 });
}, 90_000);

/** A zstd of blocks of 128 KiB that are one byte each, 4 bytes a block. */
function bomb(byte: number, blocks: number): Buffer {
  const block = Buffer.from([0x02, 0x00, 0x10, byte]);
  const last = Buffer.from([0x03, 0x00, 0x10, byte]);
  const frame = Buffer.from('28b52ffd0038', 'hex');
  return Buffer.concat([frame, ...Array.from({ length: blocks - 1 }, () => block), last]);
}

test('a few KiB that unpack to gigabytes of line ends delay no other file for long, and reading ends', async () => {
  await put('bomb.ndjson.zst', bomb(0x0a, 80_000));
  const first = start();
  await until(async () => isThere('bomb.ndjson.zst'));
  const other = start({ prefix: `other-${number}/` });
  await client.send(new PutObjectCommand({ Bucket: 'usage', Key: `other-${number}/b.ndjson`, Body: TWO }));
  await until(async () => (await countStored()) === 2);
  const from = performance.now();
  await Promise.all([first.close(), other.close()]);
  expect(performance.now() - from).toBeLessThan(5000);
  expect(await letters()).toEqual([]);
});

test('a few KiB that unpack to one line of gigabytes are one dead letter, and what stands behind is read', async () => {
  const packed = Buffer.concat([bomb(0x78, 16_000), zstd(`\n${event(1)}\n`)]);
  await put('bomb.ndjson.zst', packed);
  const before = process.memoryUsage().rss;
  start();
  const row = await until(async () => (await objects()).find(({ status }) => status === 'done_with_errors'), 60_000);
  expect(row).toMatchObject({ stored: 1 });
  expect(await letters()).toEqual(['bomb.ndjson.zst#1 payload_too_large']);
  expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
}, 90_000);
