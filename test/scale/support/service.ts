import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { startIngress } from '../../../src/ingress/start-ingress.ts';
import { operations } from '../../../src/operations.ts';
import { type Config, loadConfig } from '../../../src/platform/config.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { bringUpToDate } from '../../../src/platform/db/role-settings.ts';
import { isPooled } from '../../../src/platform/db/session-settings.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { awaitStores } from '../../../src/platform/process/await-stores.ts';
import { type PoolName, startPools } from '../../../workers/pools.ts';
import { createClient } from '../../support/client.ts';
import { PATIENT_LIMITER_MS, TEST_SECRETS_KEYS, type TestService, UNSCHEDULED } from '../../support/service.ts';

/** The service in this process on the stores of the settings. */
export interface WholeService extends Pick<TestService, 'org'> {
  url: string;
  config: Config;
  /** Connections as the service has them. */
  sql: Sql;
  stop(): Promise<void>;
}

export const settingsOf = (settings: Record<string, string>) => ({
  PORT: '0',
  REDIS_URL: inject('redisUrl'),
  REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
  LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
  RATE_LIMIT_DEFAULT: '100000',
  RATE_LIMIT_EVENTS: '100000',
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  DATABASE_POOL: '6',
  SECRETS_KEYS: TEST_SECRETS_KEYS,
  STRIPE_API_URL: 'http://127.0.0.1:9',
  GOCARDLESS_API_URL: 'http://127.0.0.1:9',
  ADYEN_API_URL: 'http://127.0.0.1:9',
  ...settings,
});

/** Migrates as `npm run migrate` does, and starts as its processes do; without the ticks unless a test names them. */
export async function startWholeService(
  settings: Record<string, string>,
  pools: PoolName[] = UNSCHEDULED,
): Promise<WholeService> {
  const config = loadConfig(settingsOf(settings));
  const log = createLog({ level: config.LOG_LEVEL, process: 'test' });
  const past = connectDatabase(config.MIGRATION_DATABASE_URL || config.DATABASE_URL, {
    schema: config.DATABASE_SCHEMA,
    connections: 2,
  });
  await bringUpToDate(past, isPooled(config.DATABASE_URL)).finally(() => past.end({ timeout: 1 }));
  await awaitStores(config, log);
  const workers = await startPools(config, pools, log);
  const ingress = await startIngress(config, operations, log, PATIENT_LIMITER_MS);
  const sql = connectDatabase(config.DATABASE_URL, { schema: config.DATABASE_SCHEMA, connections: 2 });
  return {
    url: ingress.url,
    config,
    sql,
    async org({ sandbox = false } = {}) {
      const organization = await createOrganization(sql, { name: 'Acme', sandbox }, config);
      return { ...createClient(ingress.url, organization.api_key, false), organization };
    },
    async stop() {
      await ingress.close();
      await workers.close();
      await sql.end({ timeout: 1 });
    },
  };
}
