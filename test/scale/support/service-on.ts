import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { type CreatedOrganization, createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import { operations } from '../../../src/operations.ts';
import { loadConfig } from '../../../src/platform/config.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { type PoolName, startPools } from '../../../workers/pools.ts';
import { type Client, createClient } from '../../support/client.ts';
import { PATIENT_LIMITER_MS, TEST_SECRETS_KEYS } from '../../support/service.ts';
import type { OwnPostgres } from './postgres.ts';

export interface ServiceOn {
  url: string;
  redis: Redis;
  /** Keys of Redis that are the service's begin with it. */
  prefix: string;
  org(): Promise<Client & { organization: CreatedOrganization }>;
  /** The figure of a metric of this process. */
  metric(line: string): Promise<number>;
  /** Jobs that have used all their attempts, as "queue: error". */
  failedJobs(): Promise<string[]>;
  stop(): Promise<void>;
}

/**
 * The service in this process on a server of its own, whose schema it brings up to date, with a Redis prefix of its
 * own.
 */
export async function startServiceOn(
  server: Pick<OwnPostgres, 'url' | 'admin'>,
  { pools, settings }: { pools: PoolName[]; settings: Record<string, string> },
): Promise<ServiceOn> {
  const config = loadConfig({
    PORT: '0',
    DATABASE_URL: server.url,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    RATE_LIMIT_DEFAULT: '100000',
    RATE_LIMIT_EVENTS: '100000',
    DATABASE_POOL: '6',
    SECRETS_KEYS: TEST_SECRETS_KEYS,
    ...settings,
  });
  const log = createLog({ level: config.LOG_LEVEL, process: 'test' });
  // One holds the lock of migrations while the other applies them.
  const owner = connectDatabase(server.url, { connections: 2 });
  await migrate(owner);
  await owner.end();
  const workers = await startPools(config, pools, log);
  const ingress = await startIngress(config, operations, log, PATIENT_LIMITER_MS);
  const redis = new Redis(config.REDIS_URL);
  return {
    url: ingress.url,
    redis,
    prefix: config.REDIS_PREFIX,
    async org() {
      const organization = await createOrganization(server.admin, { name: 'Acme', sandbox: false }, config);
      return { ...createClient(ingress.url, organization.api_key), organization };
    },
    async metric(line) {
      const text = await fetch(`${ingress.url}/metrics`).then((answer) => answer.text());
      const [name, labels] = line.split(' ');
      const found = text
        .split('\n')
        .find((each) => each.startsWith(name!) && (labels ?? '').split(',').every((label) => each.includes(label)));
      return found === undefined ? 0 : Number(found.split(' ').at(-1));
    },
    async failedJobs() {
      const queues = ingress.producer.storedQueues().map(({ queue }) => queue);
      const failed = await Promise.all(queues.map((queue) => queue.getFailed()));
      return failed.flat().map((job) => `${job.queueName}: ${job.failedReason}`);
    },
    async stop() {
      await ingress.close();
      await workers.close();
      for (const key of await redis.keys(`${config.REDIS_PREFIX}:*`)) await redis.del(key);
      redis.disconnect();
    },
  };
}
