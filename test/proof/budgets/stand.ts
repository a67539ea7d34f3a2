import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createOrganization } from '../../../src/areas/tenancy/organizations/commands.ts';
import { connectDatabase, type Sql } from '../../../src/platform/db/connect.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../../src/platform/services/discover.ts';
import { choosePort } from '../../../src/platform/services/ports.ts';
import { buildOnce } from '../../support/build-once.ts';
import { createClient } from '../../support/client.ts';
import { newFolder } from '../../support/new-folder.ts';
import { until } from '../../support/until.ts';
import { Processes } from '../processes.ts';

/** Data and write-ahead log of the servers. */
const ENOUGH_BYTES = 2 * 1024 ** 3;
const SHARED_POOLS = ['writes', 'aggregation', 'billing', 'scheduler'] as const;

/** Servers of their own, several ingresses and several pools of decisions and events, and what may befall them. */
export interface Stand {
  services: Services;
  sql: Sql;
  urls: string[];
  organization: { organization_id: string; api_key: string };
  /** Names of processes that may be killed, in turn. */
  processes: { name: string; kill(): Promise<void> }[];
  /** Kills a pool that all ingresses share. */
  killPool(name: (typeof SHARED_POOLS)[number]): () => Promise<void>;
  flushRedis(): Promise<void>;
  /** Keeps the present file of Redis, to bring it back later. */
  keepRedis(): Promise<void>;
  restoreRedis(): Promise<void>;
  restartPostgres(): Promise<void>;
  /** Ends every connection of the service to Postgres. */
  cutConnections(): Promise<void>;
  /** Every ingress answers. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the service from its build, on servers with their real durability.
 *
 * pairs  how many ingresses there are, each with a pool of decisions and one of events
 */
export async function openStand(pairs: number): Promise<Stand> {
  await buildOnce();
  const folder = await newFolder('budgets', ENOUGH_BYTES);
  const services = await bringServices({ dataDir: folder });
  const sql = connectDatabase(services.databaseUrl, { connections: 4 });
  await migrate(sql);
  const settings = {
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    RATE_LIMIT_EVENTS: '100000',
    RATE_LIMIT_DEFAULT: '100000',
    RATE_LIMIT_BUDGETS: '100000',
    LOG_LEVEL: 'silent',
  };
  const shared = new Processes(settings);
  const urls: string[] = [];
  const doors: Processes[] = [];
  for (let index = 0; index < pairs; index += 1) {
    const port = await choosePort();
    urls.push(`http://127.0.0.1:${port}`);
    doors.push(new Processes({ ...settings, PORT: String(port) }));
  }
  const ownPools = (index: number) => [`budgets-${index + 1}`, `events-${index + 1}`];
  await Promise.all([
    ...SHARED_POOLS.map((name) => shared.start(name)),
    ...doors.flatMap((door, index) => ['ingress', ...ownPools(index)].map((name) => door.start(name))),
  ]);
  const kept = join(folder, 'kept-redis');
  const restart = async (server: 'redis' | 'postgres', signal: NodeJS.Signals, meanwhile?: () => Promise<void>) => {
    const pid = services.pids[server]!;
    process.kill(pid, signal);
    if (meanwhile) {
      await until(() => !isThere(pid));
      await meanwhile();
    }
    await until(async () => (await services.revive()).includes(server), 60_000, 100);
  };
  const stand: Stand = {
    services,
    sql,
    urls,
    organization: await createOrganization(sql, { name: 'Proof', sandbox: false }),
    processes: doors.flatMap((door, index) =>
      [`budgets-${index + 1}`, 'ingress', `events-${index + 1}`].map((name) => ({
        name: name === 'ingress' ? `ingress-${index + 1}` : name,
        kill: () => door.kill(name),
      })),
    ),
    killPool: (name) => () => shared.kill(name),
    async flushRedis() {
      const redis = new Redis(services.redisUrl);
      await redis.flushall();
      redis.disconnect();
    },
    async keepRedis() {
      await rm(kept, { recursive: true, force: true });
      await cp(join(folder, 'redis'), kept, { recursive: true });
    },
    restoreRedis: () =>
      restart('redis', 'SIGKILL', async () => {
        await rm(join(folder, 'redis', 'appendonlydir'), { recursive: true, force: true });
        await cp(join(kept, 'appendonlydir'), join(folder, 'redis', 'appendonlydir'), { recursive: true });
      }),
    restartPostgres: () => restart('postgres', 'SIGINT'),
    async cutConnections() {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.catch(() => {}); // one of our own may be cut
    },
    async ready() {
      const { api_key } = stand.organization;
      const isServed = async (url: string) => (await createClient(url, api_key).get('/budgets')).status === 200;
      await Promise.all(urls.map((url) => until(() => isServed(url), 60_000)));
    },
    async stop() {
      await Promise.all([shared, ...doors].map((each) => each.stop()));
      await sql.end({ timeout: 1 });
      await services.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await stand.ready();
  return stand;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
