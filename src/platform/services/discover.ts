import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { withFolderLock } from './folder-lock.ts';
import type { PostgresSearch } from './postgres-programs.ts';
import type { RunningPostgres } from './postgres-server.ts';
import { startPostgres } from './postgres-server.ts';
import { isAlive } from './processes.ts';

import type { RunningRedis } from './redis-server.ts';
import { startRedis } from './redis-server.ts';
import { enterUsers, leaveUsers } from './users.ts';

/** Folder of downloaded programs, shared by all data folders. */
const programsDir = (): string => join(projectRoot(), '.data');

/** The data folder of `npm start`: the setting DATA_DIR, relative to the project. */
export const defaultDataDir = (): string => resolve(projectRoot(), process.env.DATA_DIR || '.data');

export interface ServicesInput {
  /** Given servers are used as they are and never started or stopped. */
  databaseUrl?: string;
  redisUrl?: string;
  /** Where the servers keep their data; default defaultDataDir(), and with `throwaway` a new temporary folder. */
  dataDir?: string;
  /** One line of text for a person, for example that Redis is being downloaded. */
  log?: (line: string) => void;
  /**
   * For tests: no fsync; the servers end with this process in any case, and their data is deleted. `prepared`: the
   * folder already holds the data, which the caller has copied there.
   */
  throwaway?: boolean | 'prepared';
  /** With `throwaway`: Postgres still syncs, as a measurement requires. */
  durable?: boolean;
  /** Tests hide the system's programs with these. */
  search?: { postgres?: PostgresSearch; redisPath?: string[] };
}

export interface Services {
  databaseUrl: string;
  redisUrl: string;
  origin: { postgres: 'given' | RunningPostgres['kind']; redis: 'given' | RunningRedis['kind'] };
  /** The process ids of the servers that were started or adopted. */
  pids: { postgres?: number; redis?: number };
  /**
   * Starts own servers again that have ended and returns their names. The port stays unless another program took it
   * meanwhile, so the URLs must be read again.
   */
  revive(): Promise<ServerName[]>;
  /** Stops the own servers, unless another living command uses them on the same data. */
  stop(): Promise<void>;
}

export type ServerName = 'postgres' | 'redis';

/** The servers of this process; absent if given by URL or not started yet. */
interface Servers {
  postgres?: RunningPostgres;
  redis?: RunningRedis;
}

/**
 * Provides Postgres and Redis: given URLs first, else servers on the data of `dataDir`, started or, if they run
 * already, adopted. Both are ready when the promise resolves. Several commands may do so at the same time on one
 * folder; the last to stop stops the servers.
 */
export async function bringServices(input: ServicesInput): Promise<Services> {
  const log = input.log ?? (() => undefined);
  const dataDir = await prepareDataDir(input);
  const servers: Servers = {};
  // Throwaway folders and given servers have no other users.
  const isShared = !input.throwaway && !(input.databaseUrl && input.redisUrl);
  const alone = <T>(work: () => Promise<T>) => (isShared ? withFolderLock(dataDir, log, work) : work());

  let user: string | undefined;
  const leave = async () => {
    const { othersLeft } = user ? await leaveUsers(dataDir, user) : { othersLeft: false };
    if (!othersLeft) await stopServers(servers);
  };
  await alone(async () => {
    if (isShared) user = await enterUsers(dataDir);
    try {
      await startMissing(input, dataDir, servers);
    } catch (error) {
      await leave();
      throw error;
    }
  });

  return {
    get databaseUrl() {
      return input.databaseUrl || servers.postgres!.url;
    },
    get redisUrl() {
      return input.redisUrl || servers.redis!.url;
    },
    origin: { postgres: servers.postgres?.kind ?? 'given', redis: servers.redis?.kind ?? 'given' },
    get pids() {
      return { postgres: servers.postgres?.pid, redis: servers.redis?.pid };
    },
    async revive() {
      const areAlive = Object.values(servers).every((server: { pid: number }) => isAlive(server.pid));
      return areAlive ? [] : alone(() => startMissing(input, dataDir, servers));
    },
    stop: () => alone(leave),
  };
}

async function prepareDataDir({ dataDir, throwaway }: ServicesInput): Promise<string> {
  if (!throwaway) return resolve(dataDir ?? defaultDataDir());
  if (dataDir === undefined) return mkdtemp(join(tmpdir(), 'meterstone-'));
  await mkdir(dataDir, { recursive: true });
  if (throwaway !== 'prepared' && (await readdir(dataDir)).length > 0)
    throw new Error(`${dataDir} is not empty: throwaway servers delete theirs`);
  return resolve(dataDir);
}

/** Starts or adopts the servers that are neither given nor alive, both at the same time; returns their names. */
async function startMissing(input: ServicesInput, dataDir: string, servers: Servers): Promise<ServerName[]> {
  const log = input.log ?? (() => undefined);
  const options = {
    dataDir,
    log,
    throwaway: Boolean(input.throwaway),
    durable: input.durable,
    programsDir: programsDir(),
  };
  const started: ServerName[] = [];

  const startDatabase = async () => {
    if (input.databaseUrl || (servers.postgres && isAlive(servers.postgres.pid))) return;
    const port = servers.postgres?.port;
    servers.postgres = await startPostgres({ ...options, port, search: input.search?.postgres });
    started.push('postgres');
  };
  const startQueues = async () => {
    if (input.redisUrl || (servers.redis && isAlive(servers.redis.pid))) return;
    servers.redis = await startRedis({ ...options, port: servers.redis?.port, path: input.search?.redisPath });
    started.push('redis');
  };

  const outcomes = await Promise.allSettled([startDatabase(), startQueues()]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  return started;
}

/** Redis first, because its clients are the ones that would write to Postgres. */
async function stopServers({ postgres, redis }: Servers): Promise<void> {
  await redis?.stop();
  await postgres?.stop();
}
