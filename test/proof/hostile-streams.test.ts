import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { buildOnce } from '../support/build-once.ts';
import { newFolder } from '../support/new-folder.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { until } from '../support/until.ts';
import { Processes } from './processes.ts';

// Files that somebody made to harm, read by a process beside the files of another organization (streams.md#files).
const MIB = 1024 * 1024;
const LONG_BYTES = 500 * MIB;
const BOMB_BYTES = 1024 * MIB;
const MOST_MEMORY_MIB = 250;
/** A file of the neighbour is found within a second or two, unless it starves. */
const NEIGHBOUR_WITHIN_MS = 20_000;
const STOP_WITHIN_MS = 15_000;
const READ_WITHIN_MS = 300_000;
const SERVERS_BYTES = 1024 * MIB;
const ORGANIZATIONS = ['hostile', 'neighbour'] as const;

const event = (id: string, more = '') =>
  `{"transaction_id":"${id}","external_subscription_id":"s","code":"calls"${more}}`;

/** `before`, so many bytes of a letter, `after`. */
function* around(before: string, bytes: number, after: string, letter = 'x'): Generator<Buffer> {
  const block = Buffer.alloc(MIB, letter);
  yield Buffer.from(before);
  for (let done = 0; done < bytes; done += MIB) yield block;
  yield Buffer.from(after);
}

/** Frames of zstd whose blocks of 128 KiB are one byte each: 4 bytes a block. */
function zstdBomb(bytes: number): Buffer {
  const block = Buffer.from([0x02, 0x00, 0x10, 0x78]);
  const last = Buffer.from([0x03, 0x00, 0x10, 0x78]);
  const blocks = Array.from({ length: bytes / (128 * 1024) - 1 }, () => block);
  return Buffer.concat([Buffer.from('28b52ffd0038', 'hex'), ...blocks, last]);
}
const zstd = (text: string) => execFileSync('zstd', ['-q', '-c'], { input: text });

/** Lines of every odd kind, with good ones before and behind. */
const ODD = Buffer.concat([
  Buffer.from(`\ufeff${event('odd1')}\r\n`),
  Buffer.from([0xc3, 0x28, 0x0a]),
  Buffer.from(`${event('odd3', ',"properties":{"n":"\0"}')}\n`),
  Buffer.from(`${event('odd4', ',"properties":{"n":"\\u0000"}')}\n`),
  Buffer.from(`${'['.repeat(300_000)}${']'.repeat(300_000)}\n`),
  Buffer.from(`{"events":[${'{},'.repeat(99_999)}{}]}\n`),
  Buffer.from(`{"events":[${Array.from({ length: 9000 }, (_, n) => event(`m${n}`)).join()}]}\n`),
  Buffer.from(`{"__proto__":{"transaction_id":"p"},"constructor":1}\n\n \n${event('odd10')}`),
]);

describe.skipIf(process.platform !== 'linux')('files that harm', () => {
  let folder: string;
  let files: string;
  let services: Services;
  let sql: Sql;
  let server: S3Server;
  let client: S3Client;
  let processes: Processes;
  const organizations = {} as Record<(typeof ORGANIZATIONS)[number], string>;

  beforeAll(async () => {
    await buildOnce();
    folder = await newFolder('hostile-streams', SERVERS_BYTES);
    files = await mkdtemp(join(tmpdir(), 'meterstone-hostile-files-'));
    services = await bringServices({ dataDir: folder });
    sql = connectDatabase(services.databaseUrl, { connections: 2 });
    await migrate(sql);
    for (const name of ORGANIZATIONS)
      organizations[name] = (await createOrganization(sql, { name, sandbox: false })).organization_id;
    server = await startS3Server(join(files, 's3'));
    const { endpoint } = server;
    client = server.client;
    const settings = join(folder, 'connectors.json');
    const credentials = { access_key_id: 'S3RVER', secret_access_key: { env: 'STREAM_SECRET' } };
    const connectors = ORGANIZATIONS.map((name) => ({
      code: 'files',
      organization: organizations[name],
      s3: { bucket: 'usage', prefix: `${name}/`, region: 'eu-west-1', endpoint, credentials, poll_seconds: 1 },
    }));
    await writeFile(settings, JSON.stringify({ connectors }));
    processes = new Processes({
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      CONNECTORS_FILE: settings,
      STREAM_SECRET: 'S3RVER',
      LOG_LEVEL: 'silent',
    });
  }, 600_000);
  afterAll(async () => {
    await processes?.stop();
    await server?.stop();
    await sql?.end({ timeout: 1 });
    await services?.stop();
    await Promise.all([folder, files].map((each) => rm(each, { recursive: true, force: true })));
  }, 60_000);

  async function put(key: string, content: Iterable<Buffer> | Buffer, isPacked = false): Promise<void> {
    const path = join(files, 'content');
    const source = Readable.from(Buffer.isBuffer(content) ? [content] : content, { objectMode: false });
    if (isPacked) await pipeline(source, createGzip({ level: 1 }), createWriteStream(path));
    else await pipeline(source, createWriteStream(path));
    const ContentLength = statSync(path).size;
    await client.send(new PutObjectCommand({ Bucket: 'usage', Key: key, Body: createReadStream(path), ContentLength }));
    await rm(path);
  }
  const peakMib = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${processes.pidOf('connectors')}/status`, 'utf8'))![1]) / 1024;
  const objects = () => sql<{ key: string; status: string; stored: number }[]>`
    select replace(key, 'hostile/', '') as key, status, stored::int as stored from ingest_objects
    where organization_id = ${organizations.hostile} order by key`;
  const isStored = async (id: string) =>
    (await sql`select from events where organization_id = ${organizations.neighbour} and transaction_id = ${id}`)
      .length > 0;

  test('they take little memory, name what is wrong, stop nothing behind them, and starve no neighbour', async () => {
    const [before, behind] = [event('before'), event('behind')];
    await put('hostile/bomb.ndjson.gz', around('', BOMB_BYTES, `\n${event('gzip')}\n`), true);
    await put('hostile/bomb.ndjson.zst', Buffer.concat([zstdBomb(BOMB_BYTES), zstd(`\n${event('zstd')}\n`)]));
    await put('hostile/empty.ndjson', Buffer.alloc(0));
    await put('hostile/line.ndjson', around(`${before}\n`, LONG_BYTES, `\n${behind}\n`));
    await put('hostile/list.json', around(`[${event('list')},"`, LONG_BYTES, `",${event('list behind')}]`));
    await put('hostile/odd.ndjson', ODD);
    const header = 'transaction_id,external_subscription_id,code,properties.note\n';
    await put(
      'hostile/row.csv',
      around(`${header}row,s,calls,\nlong,s,calls,"`, LONG_BYTES, '"\nrow behind,s,calls,\n'),
    );
    await processes.start('connectors');
    const isOver = async () => (await objects()).filter(({ status }) => status !== 'reading').length === 6;
    const started = performance.now();
    let [worstMs, sent] = [0, 0];
    while (!(await isOver()) && performance.now() - started < READ_WITHIN_MS) {
      const id = `n${sent}`;
      await put(`neighbour/${id}.ndjson`, Buffer.from(event(id)));
      const from = performance.now();
      await until(() => isStored(id), NEIGHBOUR_WITHIN_MS, 50);
      worstMs = Math.max(worstMs, performance.now() - from);
      sent += 1;
    }
    expect(await objects()).toEqual([
      { key: 'bomb.ndjson.gz', status: 'done_with_errors', stored: 1 },
      { key: 'bomb.ndjson.zst', status: 'done_with_errors', stored: 1 },
      { key: 'line.ndjson', status: 'done_with_errors', stored: 2 },
      { key: 'list.json', status: 'done_with_errors', stored: 2 },
      { key: 'odd.ndjson', status: 'done_with_errors', stored: 2 },
      { key: 'row.csv', status: 'failed', stored: 1 },
    ]);
    const letters = await sql`
      select replace(position, 'hostile/', '') as position, error_code from ingest_dead_letters
      where organization_id = ${organizations.hostile} order by position`;
    expect(letters.map(({ position, error_code: code }) => `${position} ${code}`)).toEqual([
      'bomb.ndjson.gz#1 payload_too_large',
      'bomb.ndjson.zst#1 payload_too_large',
      'line.ndjson#2 payload_too_large',
      'list.json#2 payload_too_large',
      'odd.ndjson#2 invalid_json',
      'odd.ndjson#3 invalid_json',
      'odd.ndjson#4 invalid_event',
      'odd.ndjson#5 invalid_json',
      'odd.ndjson#6 payload_too_large',
      'odd.ndjson#7 invalid_event',
      'odd.ndjson#8 value_is_mandatory',
      'row.csv payload_too_large',
    ]);
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(
      `hostile files: ${seconds} s, peak of memory ${Math.round(peakMib())} MiB; ` +
        `${sent} files of a neighbour, the slowest after ${Math.round(worstMs)} ms`,
    );
    expect(peakMib()).toBeLessThan(MOST_MEMORY_MIB);
    await put('hostile/endless.ndjson.gz', around('', 16 * BOMB_BYTES, '\n', '\n'), true);
    await until(async () => (await objects()).some(({ status }) => status === 'reading'), READ_WITHIN_MS);
    const from = performance.now();
    await processes.end('connectors');
    expect(performance.now() - from).toBeLessThan(STOP_WITHIN_MS);
    expect((await objects()).find(({ key }) => key === 'endless.ndjson.gz')).toMatchObject({ status: 'reading' });
  }, 900_000);
});
