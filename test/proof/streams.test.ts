import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { buildOnce } from '../support/build-once.ts';
import { hasKcat, KafkaCluster } from '../support/kafka-cluster.ts';
import { KinesisServer } from '../support/kinesis-server.ts';
import { inLongRun } from '../support/long-run.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';
import { Processes } from './processes.ts';
import { type Messages, messagesFrom } from './stream-messages.ts';

// Three organizations with a stream each, on servers that nobody here wrote, read by processes that are killed.
const ENOUGH_BYTES = 2 * 1024 ** 3;
/** Messages of each stream between two faults. */
const CHUNK = inLongRun(16_000, 1200);
/** How often all faults are struck; in a long run the connectors are killed twenty times. */
const TURNS = inLongRun(7, 1);
const READ_WITHIN_MS = inLongRun(900_000, 240_000);
const KINDS = ['kafka', 'kinesis', 's3'] as const;
type Kind = (typeof KINDS)[number];

describe.skipIf(!hasKcat())('streams while processes and servers die', () => {
  let folder: string;
  let services: Services;
  let sql: Sql;
  let processes: Processes;
  let kafka: KafkaCluster;
  let kinesis: KinesisServer;
  let s3: FauxqsServer;
  let client: S3Client;
  const organizations = {} as Record<Kind, string>;

  beforeAll(async () => {
    await buildOnce();
    folder = await newFolder('streams', ENOUGH_BYTES);
    [services, kafka, kinesis, s3] = await Promise.all([
      bringServices({ dataDir: folder }),
      KafkaCluster.start(),
      KinesisServer.start(),
      startFauxqs({ port: 0, logger: false }),
    ]);
    sql = connectDatabase(services.databaseUrl, { connections: 2 });
    await migrate(sql);
    for (const kind of KINDS)
      organizations[kind] = (await createOrganization(sql, { name: kind, sandbox: false })).organization_id;
    const endpoint = `http://127.0.0.1:${s3.port}`;
    const keys = { accessKeyId: 'any', secretAccessKey: 'any' };
    client = new S3Client({ region: 'us-east-1', endpoint, credentials: keys, forcePathStyle: true });
    s3.createBucket('usage');
    await kinesis.create('usage', 3);
    const credentials = { access_key_id: 'any', secret_access_key: { env: 'STREAM_SECRET' } };
    const settings = {
      kafka: { brokers: kafka.brokers, topics: ['usage'], session_timeout_seconds: 6 },
      kinesis: { stream: 'usage', region: 'eu-west-1', endpoint: kinesis.endpoint, credentials },
      s3: { bucket: 'usage', region: 'us-east-1', endpoint, credentials, poll_seconds: 1 },
    };
    const file = join(folder, 'connectors.json');
    const connectors = KINDS.map((kind) => ({ code: kind, organization: organizations[kind], [kind]: settings[kind] }));
    await writeFile(file, JSON.stringify({ connectors }));
    processes = new Processes({
      DATABASE_URL: services.databaseUrl,
      REDIS_URL: services.redisUrl,
      CONNECTORS_FILE: file,
      STREAM_SECRET: 'any',
      LOG_LEVEL: 'silent',
    });
  }, 600_000);

  afterAll(async () => {
    await processes?.stop();
    client?.destroy();
    await Promise.all([kafka?.stop(), kinesis?.stop(), s3?.stop()]);
    await sql?.end({ timeout: 1 });
    await services?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  async function restart(server: 'redis' | 'postgres'): Promise<void> {
    process.kill(services.pids[server]!, server === 'redis' ? 'SIGKILL' : 'SIGINT');
    await until(async () => (await services.revive()).includes(server), 60_000, 100);
  }

  /** What befalls them in a turn, in order: over one, three and two processes. */
  const faults: [name: string, strike: () => Promise<void>][] = [
    ['the only process is killed', () => processes.kill('connectors')],
    [
      'two more processes come',
      async () => void (await Promise.all([2, 3].map((number) => processes.start(`connectors-${number}`)))),
    ],
    ['one of three is killed', () => processes.kill('connectors-2')],
    ['Postgres restarts', () => restart('postgres')],
    [
      'Redis forgets everything',
      async () => {
        const redis = new Redis(services.redisUrl);
        await redis.flushall();
        redis.disconnect();
      },
    ],
    ['a shard is split', () => splitFirstOpenShard()],
    ['one of three leaves', () => processes.end('connectors-3')],
    ['one of two is killed', () => processes.kill('connectors')],
    ['the other one leaves', () => processes.end('connectors-2')],
  ];

  async function splitFirstOpenShard(): Promise<void> {
    const shards = await kinesis.shards('usage');
    const open = shards.find(({ SequenceNumberRange: range }) => range?.EndingSequenceNumber === undefined)!;
    await kinesis.split('usage', open.ShardId!);
  }

  const send: Record<Kind, (texts: string[], chunk: number) => Promise<unknown>> = {
    kafka: (texts) => kafka.produce('usage', texts),
    kinesis: (texts) => kinesis.put('usage', texts),
    s3: (texts, chunk) =>
      client.send(new PutObjectCommand({ Bucket: 'usage', Key: `${chunk}.ndjson`, Body: texts.join('\n') })),
  };

  const storedOf = async (kind: Kind) => {
    const [row] = await sql<{ rows: number; keys: number }[]>`
      select count(*)::int as rows, count(distinct transaction_id)::int as keys from events
      where organization_id = ${organizations[kind]}`;
    return row!;
  };
  const deadOf = async (kind: Kind) => {
    const rows = await sql<{ code: string; count: number }[]>`
      select error_code as code, count(*)::int as count from ingest_dead_letters
      where organization_id = ${organizations[kind]} group by 1`;
    return Object.fromEntries(rows.map(({ code, count }) => [code, count]));
  };

  test('every valid event is stored once, all poison is put aside with its code, and nothing is left behind', async () => {
    const nothing = (): Messages => ({ texts: [], valid: new Set(), dead: {} });
    const sent: Record<Kind, Messages> = { kafka: nothing(), kinesis: nothing(), s3: nothing() };
    let chunk = 0;
    const sendChunk = async () => {
      const from = 1_000_000 * chunk;
      await Promise.all(
        KINDS.map(async (kind) => {
          const { texts, valid, dead } = messagesFrom(from, CHUNK, organizations[kind]);
          for (const id of valid) sent[kind].valid.add(id);
          for (const [code, count] of Object.entries(dead))
            sent[kind].dead[code] = (sent[kind].dead[code] ?? 0) + count;
          await send[kind](texts, chunk);
        }),
      );
      chunk += 1;
    };
    await sendChunk();
    await processes.start('connectors');
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const [, strike] of faults) {
        // Some of what came before is stored, and the rest is on its way.
        const before = (await storedOf('kafka')).rows;
        await sendChunk();
        await until(async () => (await storedOf('kafka')).rows > before, READ_WITHIN_MS);
        await strike();
      }
    }
    await sendChunk();
    for (const kind of KINDS) {
      const { valid, dead } = sent[kind];
      const isRead = async () => (await storedOf(kind)).keys >= valid.size;
      await until(isRead, READ_WITHIN_MS).catch(() => {}); // what is missing is shown
      await until(async () => sum(await deadOf(kind)) >= sum(dead), READ_WITHIN_MS).catch(() => {});
      expect({ kind, ...(await storedOf(kind)) }).toEqual({ kind, rows: valid.size, keys: valid.size });
      expect({ kind, ...(await deadOf(kind)) }).toEqual({ kind, ...dead });
    }
    const lags = () => sql`
      select connector, lag_messages::int as messages, lag_seconds::float8 as seconds from ingest_readers
      where said_at > clock_timestamp() - interval '10 seconds' order by connector`;
    await until(async () => (await lags()).every(({ messages, seconds }) => !messages && seconds === 0), 60_000);
    expect(await lags()).toEqual([
      { connector: 'kafka', messages: 0, seconds: 0 },
      { connector: 'kinesis', messages: null, seconds: 0 },
      { connector: 's3', messages: null, seconds: 0 },
    ]);
  }, 3_600_000);
});

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
