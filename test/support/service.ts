import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { inject } from 'vitest';
import { type CreatedOrganization, createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { type Ingress, startIngress } from '../../src/ingress/start-ingress.ts';
import { operations } from '../../src/operations.ts';
import { type Config, loadConfig } from '../../src/platform/config.ts';
import type { Sql } from '../../src/platform/db/connect.ts';
import { createLog } from '../../src/platform/log/log.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { connectPatiently } from '../../src/platform/redis/connect.ts';
import type { SecretSettings } from '../../src/platform/secrets/secrets.ts';
import { type PoolName, pools, startPools } from '../../workers/pools.ts';
import { type Client, createClient } from './client.ts';
import { createTestDatabase } from './database.ts';
import { logNotifications } from './exchange-log.ts';
import { refuseSeveralSlots } from './one-slot.ts';
import { removeAllKeys } from './redis-keys.ts';

refuseSeveralSlots();

/** A busy test machine is no reason to let requests pass the limiters, or to answer that a write is pending. */
export const PATIENT_LIMITER_MS = 5000;
const PATIENT_WRITE_SECONDS = 60;

export const EVERY_POOL = Object.keys(pools) as PoolName[];
/**
 * Every pool but the one of the ticks, which a service of a test has unless it says otherwise. Real time then neither
 * audits nor repairs what a test breaks by hand, and a start does not catch up the last tick of 40 periodic jobs: 0.3 s
 * of processor time.
 */
export const UNSCHEDULED = EVERY_POOL.filter((name) => name !== 'scheduler');

/** One key for every test service: what one seals, another on the same database opens. */
const TEST_KEY = { id: 'test', bytes: Buffer.alloc(32, 'k') };
export const TEST_SECRETS_KEYS = `${TEST_KEY.id}:${TEST_KEY.bytes.toString('base64')}`;
/** The same for what a test makes by itself in the database of processes that it has started. */
export const TEST_SECRETS: SecretSettings = { SECRETS_KEYS: [TEST_KEY] };

export interface TestService {
  url: string;
  config: Config;
  sql: Sql;
  redis: Redis;
  ingress: Ingress;
  /** A new organization and a client that speaks with its key. */
  org(options?: { sandbox?: boolean; name?: string }): Promise<Client & { organization: CreatedOrganization }>;
  /** A client with any key. */
  client(apiKey: string): Client;
  stop(): Promise<void>;
}

/**
 * The service in this process: ingress on a free port and the pools, all but that of the ticks unless a test names
 * them, with a database and a Redis prefix of its own. The limits are out of the way unless a test sets them.
 */
export async function startService(
  options: { pools?: PoolName[]; settings?: Record<string, string>; operations?: readonly Operation[] } = {},
): Promise<TestService> {
  const database = await createTestDatabase();
  const config = loadConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    RATE_LIMIT_DEFAULT: '100000',
    RATE_LIMIT_EVENTS: '100000',
    RATE_LIMIT_CURRENT_USAGE: '100000',
    RATE_LIMIT_UNAUTHENTICATED: '100000',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    WRITE_TIMEOUT_SECONDS: String(PATIENT_WRITE_SECONDS),
    DATABASE_POOL: '6',
    SECRETS_KEYS: TEST_SECRETS_KEYS,
    // A test that wants pages asks for them: drawing those of every invoice would take the processor of all.
    DRAW_UNASKED: 'false',
    // No test reaches a real provider: nobody listens on this port.
    STRIPE_API_URL: 'http://127.0.0.1:9',
    GOCARDLESS_API_URL: 'http://127.0.0.1:9',
    ADYEN_API_URL: 'http://127.0.0.1:9',
    ...options.settings,
  });
  const log = createLog({ level: config.LOG_LEVEL, process: 'test' });
  const workers = await startPools(config, options.pools ?? UNSCHEDULED, log);
  const ingress = await startIngress(config, options.operations ?? operations, log, PATIENT_LIMITER_MS);
  const redis = connectPatiently(config.REDIS_URL, 'test');
  const isLogged = options.operations === undefined && config.WIRE_PREFIX === 'svc';
  const client = (apiKey: string) => createClient(ingress.url, apiKey, isLogged);
  return {
    url: ingress.url,
    config,
    sql: database.sql,
    redis,
    ingress,
    client,
    async org({ sandbox = false, name = 'Acme' } = {}) {
      const organization = await createOrganization(database.sql, { name, sandbox }, config);
      return { ...client(organization.api_key), organization };
    },
    async stop() {
      hangUp();
      await ingress.close();
      await workers.close();
      if (isLogged) await logNotifications(database.sql);
      await removeAllKeys(redis, config.REDIS_PREFIX);
      redis.disconnect();
      await database.drop();
    },
  };
}

/** Closes the connections on which nothing is asked: a server that stops gives a silent one half a second. */
function hangUp(): void {
  const used = getGlobalDispatcher();
  setGlobalDispatcher(new Agent());
  void used.close();
}
