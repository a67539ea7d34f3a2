import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { runConnector } from '../../../../src/areas/usage/connectors/run-connector.ts';
import { connectDatabase, type Sql } from '../../../../src/platform/db/connect.ts';
import { migrate } from '../../../../src/platform/db/migrate.ts';
import { createMetrics } from '../../../../src/platform/metrics/metrics.ts';
import { bringServices, type Services } from '../../../../src/platform/services/discover.ts';
import { openS3 } from '../../../../src/platform/streams/s3/s3-source.ts';
import { s3Settings } from '../../../../src/platform/streams/s3/settings.ts';
import { newFolder } from '../../../support/new-folder.ts';
import { until } from '../../../support/until.ts';
import { storage } from '../ingest-events/build.ts';

// The disk of Postgres is full: a file system of its own, so that nothing else is (streams.md#when-something-is-away).
const DISK = '192m';
const ENOUGH_BYTES = 10 ** 9;
const FILLING = Buffer.alloc(1024 * 1024);

/** A folder with so much room, or undefined where this user may not make one. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'meterstone-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    console.warn('skipped: this user may mount no file system');
    return undefined;
  }
}
const disk = await smallDisk();

describe.skipIf(!disk)('a disk that is full', () => {
  let services: Services;
  let sql: Sql;
  let server: FauxqsServer;
  let client: S3Client;
  const filler = join(disk ?? '', 'filler');
  beforeAll(async () => {
    const folder = await newFolder('full-disk', ENOUGH_BYTES);
    [services, server] = await Promise.all([
      bringServices({ dataDir: folder, throwaway: true }),
      startFauxqs({ port: 0, logger: false }),
    ]);
    const place = join(disk!, 'postgres');
    mkdirSync(place);
    chmodSync(disk!, 0o755);
    const { uid, gid } = statSync(`/proc/${services.pids.postgres}`);
    chownSync(place, uid, gid);
    const admin = connectDatabase(services.databaseUrl, { connections: 1 });
    await admin.unsafe(`create tablespace small location '${place}'`);
    await admin.unsafe('create database small tablespace small');
    await admin.end();
    const url = new URL(services.databaseUrl);
    url.pathname = '/small';
    sql = connectDatabase(url.href, { connections: 4 });
    await migrate(sql);
    server.createBucket('usage');
    client = new S3Client({
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${server.port}`,
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      forcePathStyle: true,
    });
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
    await sql?.end({ timeout: 1 });
    await services?.stop();
    execFileSync('umount', ['-l', disk!]);
    rmSync(disk!, { recursive: true });
  });

  const put = (name: string, from: number, count: number) => {
    const lines = Array.from({ length: count }, (_, index) =>
      JSON.stringify({ transaction_id: `t${from + index}`, external_subscription_id: 's', code: 'calls' }),
    );
    return client.send(new PutObjectCommand({ Bucket: 'usage', Key: name, Body: `${lines.join('\n')}\nno\n` }));
  };

  /** Until not another byte fits. */
  function fill(): void {
    for (const size of [FILLING.length, 4096]) {
      try {
        for (;;) writeFileSync(filler, FILLING.subarray(0, size), { flag: 'a' });
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
    }
  }

  test('events wait as long as the disk of Postgres is full; none is lost, and none becomes a dead letter', async () => {
    const { organization_id: organizationId } = await createOrganization(sql, { name: 'Acme', sandbox: false });
    const settings = s3Settings({ SECRET: 'any' }).parse({
      bucket: 'usage',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${server.port}`,
      credentials: { access_key_id: 'any', secret_access_key: { env: 'SECRET' } },
      poll_seconds: 1,
    });
    const connector = { organizationId, code: 'files', kind: 's3', isSandbox: false };
    const deps = { ...storage(sql).deps, metrics: createMetrics('test') };
    const countStored = async () => (await sql`select from events where organization_id = ${organizationId}`).length;
    const letters = async () =>
      (await sql`select position from ingest_dead_letters where organization_id = ${organizationId} order by 1`).map(
        ({ position }) => position,
      );
    const running = runConnector(deps, connector, openS3(settings));
    try {
      await put('before.ndjson', 0, 100);
      await until(async () => (await countStored()) === 100);
      fill();
      await put('meanwhile.ndjson', 100, 5000);
      await until(() => running.state().status === 'retrying');
      expect(running.state().error).toBe(
        'events cannot be stored, and wait: the service has trouble of its own (53100)',
      );
      expect(await countStored()).toBeLessThan(5100);
      expect(await letters()).toEqual(['before.ndjson#101']);
      rmSync(filler);
      await until(async () => (await countStored()) === 5100, 120_000);
      await until(() => running.state().status === 'running');
      await until(async () => (await letters()).length === 2);
      expect(await letters()).toEqual(['before.ndjson#101', 'meanwhile.ndjson#5001']);
    } finally {
      rmSync(filler, { force: true });
      await running.close();
    }
  }, 240_000);
});
