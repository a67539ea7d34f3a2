import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import {
  type CreatedOrganization,
  createOrganization,
  digestOfKey,
} from '../../src/areas/tenancy/organizations/commands.ts';
import { addCell } from '../../src/commands/cells/add-cell.ts';
import type { Directory } from '../../src/commands/cells/on-directory.ts';
import { startCellsIngress } from '../../src/ingress/cells/start-cells-ingress.ts';
import { operations } from '../../src/operations.ts';
import { settingsOfCell } from '../../src/platform/cells/cell-settings.ts';
import { connectControl, controlMigrations, listCells, noteTenants } from '../../src/platform/cells/directory.ts';
import { serveCells } from '../../src/platform/cells/serve-cells.ts';
import { type Config, loadConfig } from '../../src/platform/config.ts';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { bringUpToDate } from '../../src/platform/db/role-settings.ts';
import { isPooled } from '../../src/platform/db/session-settings.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { connectPatiently, type Redis } from '../../src/platform/redis/connect.ts';
import { type PoolName, startPools } from '../../workers/pools.ts';
import { type Client, createClient } from './client.ts';
import { removeAllKeys } from './redis-keys.ts';
import { PATIENT_LIMITER_MS, TEST_SECRETS_KEYS } from './service.ts';

export type Tenant = Client & { organization: CreatedOrganization; api_key: string };

/** The service with cells in this process: an ingress in front of all, and workers that serve all. */
export interface CellsService {
  url: string;
  config: Config;
  directory: Directory;
  redis: Redis;
  /** A client with any key. */
  client(apiKey: string): Client;
  /** A new organization of a cell. `isNoted: false` leaves its key out of the directory. */
  org(cell: string, options?: { sandbox?: boolean; isNoted?: boolean }): Promise<Tenant>;
  /** Adds a cell as `npm run cells -- add` does. */
  add(cell: { name: string; schema?: string; database?: string }): Promise<void>;
  /** Connections to the tables of a cell. */
  sqlOf(cell: string): Promise<Sql>;
  stop(): Promise<void>;
}

/** What a test of cells uses of the pools: no ticks, no connections beyond those of a small server. */
const POOLS: PoolName[] = ['writes', 'events', 'aggregation', 'billing'];

/** @param settings DATABASE_URL at least: where the directory lies */
export async function startCells(settings: Record<string, string>, pools = POOLS): Promise<CellsService> {
  const config = loadConfig({
    PORT: '0',
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `t${randomUUID().slice(0, 8)}`,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    CELLS: 'all',
    RATE_LIMIT_DEFAULT: '100000',
    RATE_LIMIT_EVENTS: '100000',
    RATE_LIMIT_UNAUTHENTICATED: '100000',
    WRITE_TIMEOUT_SECONDS: '60',
    DATABASE_POOL: '4',
    SECRETS_KEYS: TEST_SECRETS_KEYS,
    DRAW_UNASKED: 'false',
    ...settings,
  });
  const log = createLog({ level: config.LOG_LEVEL, process: 'test' });
  const control = connectControl(config);
  await bringUpToDate(control, isPooled(config.DATABASE_URL), { directory: controlMigrations() });
  const directory = { control, config };
  const workers = await serveCells(config, log, (ofCell, its) => startPools(ofCell, pools, its));
  const ingress = await startCellsIngress(config, { operations, log, limiterTimeoutMs: PATIENT_LIMITER_MS });
  const redis = connectPatiently(config.REDIS_URL, 'test');
  const opened = new Map<string, Sql>();
  const client = (apiKey: string) => createClient(ingress.url, apiKey);
  const cellOf = async (name: string) => (await listCells(control)).find((cell) => cell.name === name)!;
  const sqlOf = async (name: string) => {
    const settings = settingsOfCell(config, await cellOf(name));
    const sql =
      opened.get(name) ?? connectDatabase(settings.DATABASE_URL, { schema: settings.DATABASE_SCHEMA, connections: 2 });
    opened.set(name, sql);
    return sql;
  };
  return {
    url: ingress.url,
    config,
    directory,
    redis,
    client,
    sqlOf,
    async add(cell) {
      await addCell(directory, cell);
    },
    async org(name, { sandbox = false, isNoted = true } = {}) {
      const organization = await createOrganization(await sqlOf(name), { name: 'Acme', sandbox }, config);
      const digests = [digestOfKey(organization.api_key)];
      if (isNoted) await noteTenants(control, name, [{ organizationId: organization.organization_id, digests }]);
      return { ...client(organization.api_key), organization, api_key: organization.api_key };
    },
    async stop() {
      const cells = await listCells(control);
      await ingress.close();
      await workers.close();
      for (const { redis_prefix } of cells) await removeAllKeys(redis, redis_prefix);
      redis.disconnect();
      await Promise.all([control, ...opened.values()].map((sql) => sql.end({ timeout: 1 })));
    },
  };
}
