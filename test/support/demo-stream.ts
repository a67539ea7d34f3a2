// npm run demo:stream -- kafka | kinesis | s3
//
// Brings the server of the tests for one kind of stream, writes messages to it, reads them by a process of the pool
// `connectors` into a fresh sandbox of the running service, and shows the invoice beside what it must be.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import { advanceClock, createApi } from '../../src/commands/demo/call-api.ts';
import { createFreshSandbox } from '../../src/commands/demo/fresh-sandbox.ts';
import { createMeter } from '../../src/commands/demo/progress-line.ts';
import { projectRoot } from '../../src/platform/project-root.ts';
import { defaultDataDir } from '../../src/platform/services/discover.ts';
import { findRunning } from '../../src/platform/services/run-file.ts';
import { readLocalSecretsKey } from '../../src/platform/services/secrets-file.ts';
import { inLines } from './in-lines.ts';
import { hasKcat, KafkaCluster } from './kafka-cluster.ts';
import { KinesisServer } from './kinesis-server.ts';

const MESSAGES = Number(process.env.DEMO_MESSAGES ?? 100_000);
/** Of these a second copy is sent, which counts nothing. */
const COPY_EVERY = 20;
const PRICE = '0.01';
const FIRST_SECOND = Date.UTC(2026, 0, 1) / 1000;
const SECONDS_OF_JANUARY = 31 * 86_400;
const FILE_LINES = 25_000;
/** Of a record of Kinesis: the server takes ever longer for a record, the more it holds. */
const LINES_OF_RECORD = 50;
const KINDS = ['kafka', 'kinesis', 's3'] as const;

/** A server of the tests with all messages on it. */
interface Brought {
  settings: object;
  send(messages: string[]): Promise<void>;
  stop(): Promise<void>;
}

const bring: Record<(typeof KINDS)[number], () => Promise<Brought>> = {
  async kafka() {
    if (!hasKcat()) process.exit(1);
    const cluster = await KafkaCluster.start();
    return {
      settings: { brokers: cluster.brokers, topics: ['usage'] },
      send: (messages) => cluster.produce('usage', messages),
      stop: () => cluster.stop(),
    };
  },
  async kinesis() {
    const server = await KinesisServer.start();
    await server.create('usage', 4);
    const credentials = { access_key_id: 'any', secret_access_key: { env: 'STREAM_SECRET' } };
    return {
      settings: { stream: 'usage', region: 'eu-west-1', endpoint: server.endpoint, credentials },
      send: async (messages) => void (await server.put('usage', inLines(messages, LINES_OF_RECORD))),
      stop: () => server.stop(),
    };
  },
  async s3() {
    const server = await startFauxqs({ port: 0, logger: false });
    server.createBucket('usage');
    const endpoint = `http://127.0.0.1:${server.port}`;
    const keys = { accessKeyId: 'any', secretAccessKey: 'any' };
    const client = new S3Client({ region: 'us-east-1', endpoint, credentials: keys, forcePathStyle: true });
    const credentials = { access_key_id: 'any', secret_access_key: { env: 'STREAM_SECRET' } };
    return {
      settings: { bucket: 'usage', region: 'us-east-1', endpoint, credentials, poll_seconds: 1 },
      async send(messages) {
        for (let from = 0; from < messages.length; from += FILE_LINES) {
          const Body = messages.slice(from, from + FILE_LINES).join('\n');
          await client.send(new PutObjectCommand({ Bucket: 'usage', Key: `calls-${from}.ndjson`, Body }));
        }
        client.destroy();
      },
      stop: () => server.stop(),
    };
  },
};

const kind = KINDS.find((each) => each === process.argv[2]);
if (!kind) {
  console.error(`usage: npm run demo:stream -- ${KINDS.join(' | ')}`);
  process.exit(2);
}
const running = await findRunning(defaultDataDir());
if (!running) {
  console.error('demo:stream: no service is running here; start it with `npm start` in another terminal');
  process.exit(1);
}
const { WIRE_PREFIX, DATABASE_SCHEMA, REDIS_PREFIX } = running.settings;
const organization = await createFreshSandbox(running, defaultDataDir(), `Calls by ${kind}`);
const api = createApi({ baseUrl: running.baseUrl, apiKey: organization.api_key, wirePrefix: WIRE_PREFIX });
console.log(`Sandbox organization ${organization.organization_id}, API key ${organization.api_key}`);

await sell();
const server = await bring[kind]();
let reader: ChildProcess | undefined;
try {
  const messages = messagesOfJanuary();
  await server.send(messages);
  console.log(`${messages.length} messages lie in ${kind}: ${MESSAGES} calls, some of them twice.`);
  reader = await read(server.settings);
  await untilStored(messages.length);
} finally {
  if (reader && !hasEnded(reader)) {
    reader.kill('SIGTERM');
    await once(reader, 'exit');
  }
  await server.stop();
}
await advanceClock(api, '2026-02-02T00:00:00Z');
process.exitCode = await showInvoice();

/** A cent a call, and a customer who calls. */
async function sell(): Promise<void> {
  await api('POST', '/test_clock', { test_clock: { frozen_time: '2026-01-01T00:00:00Z' } });
  const { billable_metric: metric } = await api('POST', '/billable_metrics', {
    billable_metric: { code: 'calls', name: 'Calls', aggregation_type: 'count_agg' },
  });
  await api('POST', '/plans', {
    plan: {
      name: 'Calls',
      code: 'calls',
      interval: 'monthly',
      amount_cents: 0,
      amount_currency: 'USD',
      pay_in_advance: false,
      charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', properties: { amount: PRICE } }],
    },
  });
  await api('POST', '/customers', { customer: { external_id: 'ada', name: 'Ada', country: 'US' } });
  await api('POST', '/subscriptions', {
    subscription: { external_customer_id: 'ada', plan_code: 'calls', external_id: 'ada-1' },
  });
}

function messagesOfJanuary(): string[] {
  return Array.from({ length: MESSAGES }, (_, number) =>
    JSON.stringify({
      transaction_id: `call-${number}`,
      external_subscription_id: 'ada-1',
      code: 'calls',
      timestamp: FIRST_SECOND + Math.floor((number * SECONDS_OF_JANUARY) / MESSAGES),
    }),
  ).flatMap((text, number) => (number % COPY_EVERY === 0 ? [text, text] : [text]));
}

/** Starts a process of the pool with a file of one connector. */
async function read(settings: object): Promise<ChildProcess> {
  const file = join(tmpdir(), `meterstone-demo-stream-${process.pid}.json`);
  const connector = { code: 'demo', organization: organization.organization_id, [kind!]: settings };
  await writeFile(file, JSON.stringify({ connectors: [connector] }));
  // As the processes of the service have it.
  const secrets = process.env.SECRETS_KEYS ? {} : await readLocalSecretsKey(defaultDataDir());
  return spawn(process.execPath, [join(projectRoot(), 'dist/workers/connectors.js')], {
    env: {
      ...process.env,
      DATABASE_URL: running!.databaseUrl,
      REDIS_URL: running!.redisUrl,
      DATABASE_SCHEMA,
      REDIS_PREFIX,
      ...secrets,
      CONNECTORS_FILE: file,
      STREAM_SECRET: 'any',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function untilStored(messages: number): Promise<void> {
  const meter = createMeter('messages', messages);
  for (let seen = 0; seen < messages; ) {
    if (hasEnded(reader!)) throw new Error('the process that reads has ended: its last line says why');
    const { connectors } = await api('GET', '/ingestion/connectors');
    const received = connectors[0]?.messages_received ?? 0;
    meter.add(received - seen);
    seen = received;
    await sleep(200);
  }
  meter.end();
}

async function showInvoice(): Promise<number> {
  const { connectors } = await api('GET', '/ingestion/connectors');
  const { events_stored: stored, events_replayed: replayed, dead_letters: dead } = connectors[0];
  console.log(`stored ${stored}, replayed ${replayed}, dead letters ${dead}`);
  const { invoices } = await api('GET', '/invoices');
  const [invoice] = invoices;
  const expected = MESSAGES; // a cent each
  const isRight = invoices.length === 1 && invoice.total_amount_cents === expected;
  console.log(`Invoice ${invoice?.number}: ${invoice?.total_amount_cents} cents`);
  console.log(`${expected} calls at a cent each: ${isRight ? 'equal' : 'DIFFERENT'}`);
  return isRight ? 0 : 1;
}
