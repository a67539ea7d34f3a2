import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ArchiveStore, openStore } from '../../../../src/areas/usage/event-retention/archive-store.ts';
import type { ArchivedEvent } from '../../../../src/areas/usage/event-retention/archived-event.ts';
import { archiveEvents, eventsOf } from '../../../../src/areas/usage/event-retention/archives.ts';
import type { OrganizationId } from '../../../../src/platform/ids.ts';
import { readBucketAddress } from '../../../../src/platform/s3/bucket.ts';

// The archive of raw events in a bucket, on a server that speaks S3 (retention.md#archive).
const EVENTS = 3000;
const ORGANIZATION = '0199a000-0000-7000-8000-000000000001' as OrganizationId;

let folder: string;
let server: S3rver;
let url: string;
let store: ArchiveStore;

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  folder = await mkdtemp(join(tmpdir(), 'bucket-'));
  const directory = join(folder, 'objects');
  const buckets = [{ name: 'archive' }];
  server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: buckets });
  const { port } = await server.run();
  url = `s3://archive/events/raw?region=eu-west-1&endpoint=http://127.0.0.1:${port}`;
  store = openStore(url);
});
afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const eventOf = (n: number): ArchivedEvent => ({
  id: `0199a000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  external_subscription_id: `s${n % 7}`,
  transaction_id: `transaction-${n}`,
  code: 'calls',
  timestamp: String(1_757_000_000_000_000n + BigInt(n)),
  properties: `{"n": ${n}.10, "word": "ü\\u0000"}`,
  precise_total_amount_cents: n % 3 === 0 ? `${n}.000000000000001` : null,
  digest: createHash('sha256').update(String(n)).digest('hex'),
  user_agent: null,
  remote_address: '10.0.0.1',
  version: 1,
  deleted_at: null,
  created_at: String(1_757_000_000_000_001n + BigInt(n)),
  former_versions: null,
});

const events = Array.from({ length: EVENTS }, (_, n) => eventOf(n));

async function* pages(): AsyncGenerator<ArchivedEvent[]> {
  for (let first = 0; first < EVENTS; first += 500) yield events.slice(first, first + 500);
}

/** The file on the disk of the server that holds an object. */
async function objectFile(end: string): Promise<string> {
  const names = await readdir(join(folder, 'objects'), { recursive: true });
  return join(folder, 'objects', names.find((name) => name.includes(end) && name.endsWith('_object'))!);
}

test('events are archived in a bucket with their manifest, and come back as they were', async () => {
  const [archive, ...others] = await archiveEvents(store, ORGANIZATION, pages());
  expect(others).toEqual([]);
  expect(archive).toMatchObject({ events_count: EVENTS });
  const back: ArchivedEvent[] = [];
  for await (const page of eventsOf(store, archive!)) back.push(...page);
  expect(back).toEqual(events);
  const manifest = await objectFile(`events/raw/${archive!.path.replace(/parquet$/, 'json')}`);
  expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({
    version: 1,
    organization: ORGANIZATION,
    path: archive!.path,
    events_count: EVENTS,
    sha256: archive!.sha256,
  });
});

test('an object that was changed is named, and gives no event', async () => {
  const [archive] = await archiveEvents(store, ORGANIZATION, pages());
  const file = await objectFile(archive!.path);
  const bytes = await readFile(file);
  bytes[100]! ^= 1;
  await writeFile(file, bytes);
  await expect(eventsOf(store, archive!).next()).rejects.toThrow(`${archive!.path}: another file than was archived`);
});

test('an object that is not there, and a bucket that is not there, are named', async () => {
  const file = join(folder, 'fetched');
  await expect(store.fetch('none/at/all.parquet', file)).rejects.toThrow('events/raw/none/at/all.parquet: NoSuchKey');
  await writeFile(file, 'x');
  const elsewhere = openStore(url.replace('//archive/', '//absent/'));
  await expect(elsewhere.put(file, 'a.parquet')).rejects.toThrow('events/raw/a.parquet: NoSuchBucket');
});

test('an address has a bucket, and only settings that are known', () => {
  expect(readBucketAddress('s3://some-bucket')).toEqual({
    bucket: 'some-bucket',
    prefix: '',
    region: undefined,
    endpoint: undefined,
  });
  expect(readBucketAddress('s3://b/a/b/?region=us-east-1')).toMatchObject({ prefix: 'a/b/', region: 'us-east-1' });
  expect(() => readBucketAddress('s3:///prefix')).toThrow('s3://bucket/prefix');
  expect(() => readBucketAddress('s3://b?key=1')).toThrow('not key');
});
