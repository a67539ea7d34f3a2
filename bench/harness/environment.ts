import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { connectDatabase, type Sql } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices, type Services } from '../../src/platform/services/discover.ts';
import { guardThrowaway } from '../../src/platform/services/guard.ts';
import { ROLE, readSettings } from '../../src/platform/services/postgres-data.ts';
import { type Autovacuum, openAutovacuum } from './autovacuum.ts';

/** Where the bench works: a schema and a Redis prefix of its own, removed at the end. */
export interface Environment {
  databaseUrl: string;
  schema: string;
  redisUrl: string;
  prefix: string;
  /** Process ids of the servers that the bench started itself. */
  pids: Services['pids'];
  /** Folder for the logs of the processes under test. */
  folder: string;
  sql: Sql;
  redis: Redis;
  /** Whether page images are told from records in the write-ahead log (`costs.ts`). */
  canReadLog: boolean;
  autovacuum: Autovacuum;
  versions: Record<string, string>;
  close(): Promise<void>;
}

/** A component that the machine does not have. */
export class Missing extends Error {}

/**
 * Takes BENCH_DATABASE_URL and BENCH_REDIS_URL, else starts servers on free ports and temporary folders. They run with
 * the settings of `npm start`, not with those of the tests: fsync and synchronous commit stay on, Redis appends to its
 * file every second.
 *
 * @throws Missing when the machine has no Postgres or no Redis
 */
export async function openEnvironment(): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), 'meterstone-bench-'));
  await chmod(folder, 0o755); // as root, Postgres runs as another user who must be able to enter
  const services = await bring(folder);
  const liftGuard = await guard(services, folder);
  const name = `bench_${randomBytes(4).toString('hex')}`;
  const sql = connectDatabase(services.databaseUrl, { schema: name, connections: 8, name: 'meterstone bench' });
  const superuser = await connectSuperuser(services, folder);
  const redis = new Redis(services.redisUrl, { maxRetriesPerRequest: null });
  await sql.unsafe(`create schema ${name}`);
  await migrate(sql);
  return {
    databaseUrl: services.databaseUrl,
    schema: name,
    redisUrl: services.redisUrl,
    prefix: name,
    pids: services.pids,
    folder,
    sql,
    redis,
    canReadLog: await openLog(superuser ?? sql),
    autovacuum: openAutovacuum(superuser),
    versions: await versionsOf(sql, redis),
    async close() {
      await dropSchema(sql, name);
      if (services.origin.postgres === 'given') await sql`drop schema if exists bench_log cascade`;
      await deleteKeys(redis, name);
      redis.disconnect();
      await Promise.all([sql.end({ timeout: 1 }), superuser?.end({ timeout: 1 })]);
      await services.stop();
      liftGuard();
      const data = await realpath(join(folder, 'postgres')).catch(() => undefined);
      if (data) await rm(data, { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A second schema on the same servers, with a prefix of its own. */
export async function openCell(
  environment: Environment,
): Promise<{ environment: Environment; close(): Promise<void> }> {
  const name = `${environment.schema}_b`;
  const sql = connectDatabase(environment.databaseUrl, { schema: name, connections: 8, name: 'meterstone bench' });
  await sql.unsafe(`create schema ${name}`);
  await migrate(sql);
  return {
    environment: { ...environment, schema: name, prefix: name, sql },
    async close() {
      await dropSchema(sql, name);
      await deleteKeys(environment.redis, name);
      await sql.end({ timeout: 1 });
    },
  };
}

async function bring(folder: string): Promise<Services> {
  try {
    return await bringServices({
      databaseUrl: process.env.BENCH_DATABASE_URL,
      redisUrl: process.env.BENCH_REDIS_URL,
      dataDir: folder,
    });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw new Missing((error as Error).message.split('\n', 1)[0]);
  }
}

/** However this process ends, its servers and their data go too. */
async function guard({ pids }: Services, folder: string): Promise<() => void> {
  const data = await realpath(join(folder, 'postgres')).catch(() => join(folder, 'postgres'));
  const lifts = [
    pids.redis &&
      guardThrowaway({ pid: pids.redis, signal: 'SIGKILL', paths: [join(folder, 'redis')], parent: folder }),
    pids.postgres && guardThrowaway({ pid: pids.postgres, signal: 'SIGQUIT', paths: [data, folder], parent: folder }),
  ];
  return () => {
    for (const lift of lifts) if (lift) lift();
  };
}

/** The superuser of the own server, whose password stands beside its data. */
async function connectSuperuser({ databaseUrl, origin }: Services, folder: string): Promise<Sql | undefined> {
  if (origin.postgres === 'given') return undefined;
  const settings = await readSettings(await realpath(join(folder, 'postgres')));
  const url = new URL(databaseUrl);
  [url.username, url.password] = [ROLE, settings!.password];
  return connectDatabase(url.href, { connections: 1, name: 'meterstone bench' });
}

/** The extension that reads the log. @returns whether the server has it, and allows it to who is given */
async function openLog(maker: Sql): Promise<boolean> {
  try {
    await maker`create schema if not exists bench_log`;
    await maker`create extension if not exists pg_walinspect schema bench_log`;
    await maker`grant usage on schema bench_log to public`;
    await maker`grant execute on all functions in schema bench_log to public`;
    return true;
  } catch {
    // Costs are shown without the split then.
    return false;
  }
}

/** One transaction for each table: dropping all together takes more locks than a server grants by default. */
async function dropSchema(sql: Sql, name: string): Promise<void> {
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = ${name}`;
  await sql`select drop_preview_tables()`;
  for (const table of tables) await sql.unsafe(`drop table if exists ${name}."${table.name}" cascade`);
  await sql.unsafe(`drop schema ${name} cascade`);
}

export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  // Keys of queues have the prefix within braces.
  for (const match of [`${prefix}:*`, `{${prefix}:*`]) {
    for await (const keys of redis.scanStream({ match, count: 1000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
    }
  }
}

async function versionsOf(sql: Sql, redis: Redis): Promise<Record<string, string>> {
  const [row] = await sql<Record<string, string>[]>`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit`;
  const server = await redis.info('server');
  const [, appendonly] = (await redis.config('GET', 'appendonly').catch(() => [])) as string[];
  return {
    node: process.version,
    postgres: `${row!.version} (fsync ${row!.fsync}, synchronous_commit ${row!.synchronous_commit})`,
    redis: `${/redis_version:(\S+)/.exec(server)?.[1] ?? 'unknown'} (appendonly ${appendonly ?? 'unknown'})`,
    cores: String(cpus().length),
    'load average': loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  };
}
