import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { choosePort } from '../../src/platform/services/ports.ts';
import { pools } from '../../workers/pools.ts';
import { buildOnce } from '../support/build-once.ts';
import { createClient } from '../support/client.ts';
import { inLongRun } from '../support/long-run.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';
import { Processes, ready } from './processes.ts';
import { Producer } from './producer.ts';

/** Data and write-ahead log of the servers. */
const ENOUGH_BYTES = 2 * 1024 ** 3;
const ORGANIZATIONS = 4;
/** Some are on their way whenever something is struck. */
const EVENTS_PER_SECOND = inLongRun(500, 120);
const SECONDS = 24;
const POOLS = Object.keys(pools);

let folder: string;
let services: Services;
let processes: Processes;
let sql: Sql;
let url: string;

beforeAll(async () => {
  await buildOnce();
  folder = await newFolder('proof', ENOUGH_BYTES);
  // Servers with their real durability: what is lost here would be lost in production.
  services = await bringServices({ dataDir: folder });
  sql = connectDatabase(services.databaseUrl, { connections: 4 });
  await migrate(sql);
  const port = await choosePort();
  url = `http://127.0.0.1:${port}`;
  processes = new Processes({
    PORT: String(port),
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    RATE_LIMIT_EVENTS: '100000',
    RATE_LIMIT_DEFAULT: '100000',
    LOG_LEVEL: 'silent',
  });
  await Promise.all(['ingress', ...POOLS].map((name) => processes.start(name)));
  await ready(url);
}, 600_000);

afterAll(async () => {
  await processes?.stop();
  await sql?.end({ timeout: 1 });
  await services?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** What befalls the service while the producers send, in order. */
const FAULTS: [name: string, strike: () => Promise<void>][] = [
  ['the events worker is killed', () => processes.kill('events')],
  ['the writes worker is killed', () => processes.kill('writes')],
  ['the ingress is killed', () => processes.kill('ingress')],
  [
    'Redis forgets everything',
    async () => {
      const redis = new Redis(services.redisUrl);
      await redis.flushall();
      redis.disconnect();
    },
  ],
  ['Redis restarts', () => restart('redis')],
  ['Postgres restarts', () => restart('postgres')],
];

async function restart(server: 'redis' | 'postgres'): Promise<void> {
  process.kill(services.pids[server]!, server === 'redis' ? 'SIGKILL' : 'SIGINT');
  await until(async () => (await services.revive()).includes(server), 60_000, 100);
}

test('nothing accepted is lost and nothing counts twice, whatever is killed or restarted', {
  timeout: 300_000,
}, async () => {
  const organizations = await Promise.all(
    Array.from({ length: ORGANIZATIONS }, (_, index) =>
      createOrganization(sql, { name: `Proof ${index}`, sandbox: false }),
    ),
  );
  const clients = organizations.map((organization) => createClient(url, organization.api_key));
  for (const client of clients) await sellCalls(client);

  const producers = organizations.map((organization) => new Producer(url, organization.api_key));
  const running = Promise.all(producers.map((producer) => producer.run(EVENTS_PER_SECOND / ORGANIZATIONS, SECONDS)));
  for (const [, strike] of FAULTS) {
    await sleep((SECONDS * 1000) / (FAULTS.length + 2));
    await strike();
  }
  await running;
  await ready(url);

  for (const [index, producer] of producers.entries()) {
    const { organization_id } = organizations[index]!;
    const sent = (EVENTS_PER_SECOND / ORGANIZATIONS) * SECONDS;
    const [stored] = await sql<{ events: number; transactions: number }[]>`
      select count(*) as events, count(distinct transaction_id) as transactions from events
        where organization_id = ${organization_id}`;
    expect({ accepted: producer.accepted.size, ...stored }).toEqual({
      accepted: sent,
      events: sent,
      transactions: sent,
    });
    expect(await countedCalls(clients[index]!)).toBe(sent);
    const customers = await sql<
      { external_id: string }[]
    >`select external_id from customers where organization_id = ${organization_id}`;
    expect(new Set(customers.map((row) => row.external_id))).toEqual(new Set([...producer.customers, 'usage']));
  }
  await until(async () => (await sql`select 1 from event_batches`).length === 0, 30_000, 500);
});

/** A metric, a plan and seven subscriptions `s0` to `s6` that count the producers' calls. */
async function sellCalls(client: ReturnType<typeof createClient>): Promise<void> {
  const metric = await client.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' },
  });
  expect(metric.status).toBe(200);
  const plan = await client.post('/plans', {
    plan: {
      name: 'Calls',
      code: 'calls',
      interval: 'yearly',
      amount_cents: 0,
      amount_currency: 'USD',
      pay_in_advance: false,
      charges: [
        {
          billable_metric_id: metric.body.billable_metric.svc_id,
          charge_model: 'standard',
          properties: { amount: '1' },
        },
      ],
    },
  });
  expect(plan.status).toBe(200);
  await client.post('/customers', { customer: { external_id: 'usage' } });
  for (let index = 0; index < 7; index += 1) {
    const subscription = await client.post('/subscriptions', {
      subscription: {
        external_customer_id: 'usage',
        plan_code: 'calls',
        external_id: `s${index}`,
        subscription_at: '2023-01-01T00:00:00Z',
      },
    });
    expect(subscription.status).toBe(200);
  }
}

/** Calls that usage shows over all subscriptions, from their start on. */
async function countedCalls(client: ReturnType<typeof createClient>): Promise<number> {
  let total = 0;
  for (let index = 0; index < 7; index += 1) {
    const usage = await client.get(
      `/customers/usage/current_usage?external_subscription_id=s${index}&full_usage=true&billable_metric_code=calls`,
    );
    expect(usage.status).toBe(200);
    total += usage.body.customer_usage.charges_usage[0].events_count;
  }
  return total;
}
