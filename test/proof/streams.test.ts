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
import { inLines } from '../support/in-lines.ts';
import { hasKcat, KafkaCluster } from '../support/kafka-cluster.ts';
import { KinesisServer } from '../support/kinesis-server.ts';
import { inLongRun } from '../support/long-run.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';
import { Processes } from './processes.ts';
import { messagesFrom } from './stream-messages.ts';

// Three organizations with a stream each, on servers that nobody here wrote, read by processes that are killed.
const ENOUGH_BYTES = inLongRun(6, 2) * 1024 ** 3;
/** Of all three streams; at least so many. */
const MESSAGES = inLongRun(1_000_000, 100_000);
/** How often all faults are struck: ten kills, a restart of Postgres and a loss of all that Redis holds, each time. */
const TURNS = 2;
const KILLS = 20;
/**
 * Of the messages of a piece so many are a record of Kinesis each; the others are lines, so many a record. Measured:
 * its server takes 1 ms for a record while it holds few, and 34 ms when it holds 22 500.
 */
const [ALONE, TOGETHER] = [100, 100];
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

  let kills = 0;
  async function kill(...names: string[]): Promise<void> {
    kills += names.length;
    await Promise.all(names.map((name) => processes.kill(name)));
  }

  /** What befalls them in a turn, in order: over one, three and two processes. */
  const faults: [name: string, strike: () => Promise<void>][] = [
    ['the only process is killed', () => kill('connectors')],
    [
      'two more processes come',
      async () => void (await Promise.all([2, 3].map((number) => processes.start(`connectors-${number}`)))),
    ],
    ['one of three is killed', () => kill('connectors-2')],
    ['Postgres restarts', () => restart('postgres')],
    ['all three are killed at once', () => kill('connectors', 'connectors-2', 'connectors-3')],
    [
      'Redis forgets everything',
      async () => {
        const redis = new Redis(services.redisUrl);
        await redis.flushall();
        redis.disconnect();
      },
    ],
    ['two of three are killed', () => kill('connectors-2', 'connectors-3')],
    ['a shard is split', () => splitFirstOpenShard()],
    ['one of three leaves', () => processes.end('connectors-3')],
    ['both are killed', () => kill('connectors', 'connectors-2')],
    ['the other one leaves', () => processes.end('connectors-2')],
    ['the only process is killed again', () => kill('connectors')],
  ];
  /** Messages of each stream between two faults; a piece comes before the first one, and one behind the last. */
  const chunkSize = Math.ceil(MESSAGES / KINDS.length / (TURNS * faults.length + 2));

  async function splitFirstOpenShard(): Promise<void> {
    const shards = await kinesis.shards('usage');
    const open = shards.find(({ SequenceNumberRange: range }) => range?.EndingSequenceNumber === undefined)!;
    await kinesis.split('usage', open.ShardId!);
  }

  const send: Record<Kind, (texts: string[], chunk: number) => Promise<unknown>> = {
    kafka: (texts) => kafka.produce('usage', texts),
    kinesis: (texts) => kinesis.put('usage', [...texts.slice(0, ALONE), ...inLines(texts.slice(ALONE), TOGETHER)]),
    s3: (texts, chunk) =>
      client.send(new PutObjectCommand({ Bucket: 'usage', Key: `${chunk}.ndjson`, Body: texts.join('\n') })),
  };

  /** As its checkpoints tell, which is quickly read. */
  const countStored = async (kind: Kind) => {
    const [row] = await sql<{ stored: number }[]>`
      select coalesce(sum(stored), 0)::int as stored from ingest_checkpoints
      where organization_id = ${organizations[kind]}`;
    return row!.stored;
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
    const nothing = () => ({ texts: 0, valid: new Set<string>(), dead: {} as Record<string, number> });
    const sent: Record<Kind, ReturnType<typeof nothing>> = { kafka: nothing(), kinesis: nothing(), s3: nothing() };
    const started = performance.now();
    let chunk = 0;
    const sendChunk = async () => {
      const from = 1_000_000 * chunk;
      await Promise.all(
        KINDS.map(async (kind) => {
          const { texts, valid, dead } = messagesFrom(from, chunkSize, organizations[kind]);
          sent[kind].texts += texts.length;
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
        const before = await countStored('kafka');
        await sendChunk();
        await until(async () => (await countStored('kafka')) > before, READ_WITHIN_MS);
        await strike();
      }
    }
    await sendChunk();
    expect(kills).toBe(KILLS);
    for (const kind of KINDS) {
      const { valid, dead } = sent[kind];
      const isRead = async () => (await countStored(kind)) >= valid.size;
      await until(isRead, READ_WITHIN_MS).catch(() => {}); // what is missing is shown
      await until(async () => sum(await deadOf(kind)) >= sum(dead), READ_WITHIN_MS).catch(() => {});
      expect({ kind, ...(await storedOf(kind)) }).toEqual({ kind, rows: valid.size, keys: valid.size });
      expect({ kind, ...(await deadOf(kind)) }).toEqual({ kind, ...dead });
    }
    const messages = KINDS.reduce((total, kind) => total + sent[kind].texts, 0);
    expect(messages).toBeGreaterThanOrEqual(MESSAGES);
    console.log(`streams: ${messages} messages, ${kills} kills, ${Math.round((performance.now() - started) / 1000)} s`);
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
