import { execFileSync, spawn } from 'node:child_process';
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
import { inLongRun } from '../support/long-run.ts';
import { newFolder } from '../support/new-folder.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { until } from '../support/until.ts';
import { Processes } from './processes.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MOST_MEMORY_MIB = 250;
/** 5 GiB is the largest file that is read. */
const UNPACKED_BYTES = inLongRun(5 * GIB, 256 * MIB);
const LINE_BYTES = 16 * 1024;
const READ_WITHIN_MS = inLongRun(3_000_000, 240_000);
const SERVERS_BYTES = 2 * GIB;

function hasZstd(): boolean {
  try {
    execFileSync('zstd', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped: zstd is not installed (apt-get install zstd)');
    return false;
  }
}

/** The same event in every line, with spaces up to its length: what is read is much, what is stored is one row. */
const EVENT = '{"transaction_id":"t1","external_subscription_id":"s","code":"calls"}';
const spaces = (length: number) => ' '.repeat(length);
const LINE = `${EVENT}${spaces(LINE_BYTES - EVENT.length - 1)}\n`;
const COUNT = Math.floor(UNPACKED_BYTES / LINE_BYTES);
const HEADER = 'transaction_id,external_subscription_id,code,properties.note\n';
const ROW = `t1,s,calls,"${'a note\n'.repeat(LINE_BYTES / 7 - 4)}"\n`;
const ROWS = Math.floor((UNPACKED_BYTES - HEADER.length) / ROW.length);

function* repeated(before: string, text: string, count: number, after = ''): Generator<Buffer> {
  const buffer = Buffer.from(text);
  yield Buffer.from(before);
  for (let done = 0; done < count; done += 1) yield buffer;
  yield Buffer.from(after);
}
const lines = () => repeated('', LINE, COUNT);
const list = () => repeated('[', LINE.replace(/.\n$/, ',\n'), COUNT - 1, `${EVENT}]`);
const rows = () => repeated(HEADER, ROW, ROWS);

const isLinux = process.platform === 'linux';
describe.skipIf(!isLinux)('a large file', () => {
  let folder: string;
  /** Files are not held in memory, of which a small machine has less than they need. */
  let files: string;
  let services: Services;
  let sql: Sql;
  let server: S3Server;
  let endpoint: string;
  let client: S3Client;
  beforeAll(async () => {
    await buildOnce();
    folder = await newFolder('stream-memory', SERVERS_BYTES);
    files = await mkdtemp(join(tmpdir(), 'meterstone-large-files-'));
    services = await bringServices({ dataDir: folder });
    sql = connectDatabase(services.databaseUrl, { connections: 2 });
    await migrate(sql);
    server = await startS3Server(join(files, 's3'));
    ({ endpoint, client } = server);
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await sql?.end({ timeout: 1 });
    await services?.stop();
    await Promise.all([folder, files].map((each) => rm(each, { recursive: true, force: true })));
  }, 60_000);

  /** The most memory that a process has ever held. */
  const peakMibOf = (pid: number): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

  const plain = (content: Iterable<Buffer>, path: string) =>
    pipeline(Readable.from(content, { objectMode: false }), createWriteStream(path));
  const gzip = (content: Iterable<Buffer>, path: string) =>
    pipeline(Readable.from(content, { objectMode: false }), createGzip({ level: 1 }), createWriteStream(path));
  const zstd = async (content: Iterable<Buffer>, path: string) => {
    const packing = spawn('zstd', ['-q', '-19', '-o', path], { stdio: ['pipe', 'inherit', 'inherit'] });
    const ended = new Promise((resolve) => packing.once('exit', resolve));
    await pipeline(Readable.from(content, { objectMode: false }), packing.stdin);
    expect(await ended).toBe(0);
  };

  async function put(key: string, path: string): Promise<void> {
    // The server wants to know how long it is.
    const ContentLength = statSync(path).size;
    await client.send(new PutObjectCommand({ Bucket: 'usage', Key: key, Body: createReadStream(path), ContentLength }));
    await rm(path);
  }

  const FILES: [name: string, make: (path: string) => Promise<unknown>, count: number][] = [
    ['large.ndjson', (path) => plain(lines(), path), COUNT],
    ['large.ndjson.gz', (path) => gzip(lines(), path), COUNT],
    ...(hasZstd() ? [['large.ndjson.zst', (path: string) => zstd(lines(), path), COUNT] as never] : []),
    ['large.json', (path) => plain(list(), path), COUNT],
    ['large.csv', (path) => plain(rows(), path), ROWS],
  ];

  test.each(FILES)(
    '%s is read in less than 250 MiB of memory',
    async (name, make, count) => {
      const { organization_id: organizationId } = await createOrganization(sql, { name, sandbox: false });
      await make(join(files, name));
      await put(`${name}/${name}`, join(files, name));
      const settings = join(folder, `${name}.connectors.json`);
      const credentials = { access_key_id: 'S3RVER', secret_access_key: { env: 'STREAM_SECRET' } };
      const s3 = { bucket: 'usage', prefix: `${name}/`, region: 'eu-west-1', endpoint, credentials, poll_seconds: 1 };
      await writeFile(settings, JSON.stringify({ connectors: [{ code: 'files', organization: organizationId, s3 }] }));
      const processes = new Processes({
        DATABASE_URL: services.databaseUrl,
        REDIS_URL: services.redisUrl,
        CONNECTORS_FILE: settings,
        STREAM_SECRET: 'S3RVER',
        LOG_LEVEL: 'silent',
      });
      const started = performance.now();
      try {
        await processes.start('connectors');
        const idle = peakMibOf(processes.pidOf('connectors'));
        const ended = async () => {
          const [row] = await sql`
            select status, line::int as line, stored::int as stored, replayed::int as replayed from ingest_objects
            where organization_id = ${organizationId}`;
          return row?.status === 'reading' ? undefined : row;
        };
        const row = await until(ended, READ_WITHIN_MS);
        const peak = peakMibOf(processes.pidOf('connectors'));
        const seconds = (performance.now() - started) / 1000;
        console.log(
          `${name}: ${Math.round(UNPACKED_BYTES / MIB)} MiB unpacked in ${seconds.toFixed(0)} s, ` +
            `peak of memory ${Math.round(peak)} MiB, ${Math.round(idle)} MiB at the start`,
        );
        expect(row).toEqual({ status: 'done', line: count, stored: 1, replayed: count - 1 });
        expect(peak).toBeLessThan(MOST_MEMORY_MIB);
      } finally {
        await processes.stop();
      }
    },
    3_600_000,
  );
});
