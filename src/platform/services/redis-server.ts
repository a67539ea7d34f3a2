import { randomBytes } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Throwaway } from './guard.ts';
import { deleteThrowaway, guardThrowaway } from './guard.ts';
import { choosePort } from './ports.ts';
import { commandLineOf, endProcess, isAlive, waitUntil } from './processes.ts';
import { redisPidAt } from './redis-pid.ts';
import type { RedisProgram } from './redis-program.ts';
import { findRedisProgram } from './redis-program.ts';
import type { Identity } from './run-program.ts';
import { isRoot } from './run-program.ts';
import { spawnServer } from './server-process.ts';
import { readJson, readText, writePrivateFile, writePrivateJson } from './small-file.ts';

const START_ATTEMPTS = 4;
/** Loading a large append-only file takes some time; an empty one less than 0.1 s. */
const READY_TIMEOUT_MS = 60_000;

export interface RedisInput {
  dataDir: string;
  /** Preferred port; else that of the last start; else a free one. */
  port?: number;
  log: (line: string) => void;
  /** Throwaway data: the server ends with this process, and the data is deleted. */
  throwaway?: boolean;
  /** Folder where a downloaded program is stored and shared; default `dataDir`. */
  programsDir?: string;
  /** Folders searched for `redis-server` instead of the PATH. */
  path?: string[];
}

export interface RunningRedis {
  /** Address, with the password. */
  url: string;
  /** `adopted`: it was running, left over by a crash or started by another command on the same data. */
  kind: RedisProgram['kind'] | 'adopted';
  pid: number;
  port: number;
  stop(): Promise<void>;
}

interface Settings {
  password: string;
  port?: number;
}

/**
 * Starts Redis on the data of `dataDir`, or adopts the server that already runs on it. It listens on 127.0.0.1 only,
 * asks for a random password, never evicts (BullMQ's condition) and appends to its file every second.
 */
export async function startRedis(input: RedisInput): Promise<RunningRedis> {
  await mkdir(join(input.dataDir, 'redis'), { recursive: true, mode: 0o700 });
  const folder = await realpath(join(input.dataDir, 'redis'));
  const identity = await ownerOf(folder);
  const settings = (await readJson<Settings>(join(folder, 'meterstone.json'))) ?? {
    password: randomBytes(24).toString('base64url'),
  };
  const adopted = await adopt(folder, settings);
  if (adopted) return adopted;

  const program = await findRedisProgram({
    programsDir: input.programsDir ?? input.dataDir,
    log: input.log,
    path: input.path,
  });
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(attempt === 1 ? (input.port ?? settings.port) : undefined);
    await writePrivateJson(join(folder, 'meterstone.json'), { ...settings, port } satisfies Settings, identity);
    const outcome = await launch(input, { folder, identity }, program, { ...settings, port });
    if ('pid' in outcome) {
      const throwaway = input.throwaway ? throwawayOf(input.dataDir, folder, outcome.pid) : undefined;
      return describe(program.kind, outcome.pid, { port, password: settings.password, throwaway });
    }
    if (attempt === START_ATTEMPTS) throw new Error(`Redis did not start:\n${outcome.failure}`);
    if (!outcome.failure.includes('Address already in use')) await setDataAside(input, folder, outcome.failure);
  }
}

/** A running server on this folder, once it answers; undefined if there is none. */
async function adopt(folder: string, { password, port }: Settings): Promise<RunningRedis | undefined> {
  const pid = Number(await readText(join(folder, 'redis.pid')));
  const isOurs = () => pid > 0 && isAlive(pid) && commandLineOf(pid).includes(configOf(folder));
  if (isOurs() && port !== undefined) {
    const answers = await waitUntil(
      async () => !isOurs() || (await redisPidAt(port, password)) === pid,
      READY_TIMEOUT_MS,
    );
    if (answers && isOurs()) return describe('adopted', pid, { port, password });
  }
  if (isOurs()) await stopServer(pid);
  await rm(join(folder, 'redis.pid'), { force: true });
  return undefined;
}

/** One try: the pid once it answers, else the end of its log. */
async function launch(
  input: RedisInput,
  { folder, identity }: { folder: string; identity: Identity },
  program: RedisProgram,
  settings: Required<Settings>,
): Promise<{ pid: number } | { failure: string }> {
  await writePrivateFile(configOf(folder), configText(folder, settings), identity);
  const server = spawnServer({
    file: program.file,
    args: [configOf(folder)],
    folder,
    logFile: logOf(input.dataDir),
    identity,
    env: program.env,
  });
  const answers = async () => (await redisPidAt(settings.port, settings.password)) === server.pid;
  const ready = await waitUntil(async () => server.hasExited() || (await answers()), READY_TIMEOUT_MS);
  if (server.pid !== undefined && ready && !server.hasExited()) return { pid: server.pid };

  if (server.pid !== undefined) await stopServer(server.pid);
  return { failure: await server.lastWords() };
}

/**
 * Data that this Redis cannot read (made by a newer version, or damaged) is moved aside and Redis starts empty: it only
 * holds nudges, and everything important is in Postgres.
 */
async function setDataAside(input: RedisInput, folder: string, failure: string): Promise<void> {
  const data = join(folder, 'appendonlydir');
  const aside = join(folder, 'appendonlydir.unreadable');
  if (!(await stat(data).catch(() => undefined))) throw new Error(`Redis did not start:\n${failure}`);
  input.log(`Redis cannot read its data, which is kept in ${aside}; it starts empty and is refilled from Postgres`);
  await rm(aside, { recursive: true, force: true });
  await rename(data, aside);
}

/** Data of an ordinary user stays usable for that user after root has started it once. */
async function ownerOf(folder: string): Promise<Identity> {
  const { uid, gid } = await stat(folder);
  return isRoot() && uid !== 0 ? { uid, gid } : {};
}

const configOf = (folder: string): string => join(folder, 'redis.conf');

/** In a file and not on the command line, where every user of the machine could read the password. */
function configText(folder: string, { password, port }: Required<Settings>): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    `pidfile ${JSON.stringify(join(folder, 'redis.pid'))}`,
    'daemonize no',
    'set-proc-title no', // the command line keeps naming this file, by which a leftover is recognized
    'maxmemory-policy noeviction',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    '',
  ].join('\n');
}

function describe(
  kind: RunningRedis['kind'],
  pid: number,
  { port, password, throwaway }: { port: number; password: string; throwaway?: Throwaway },
): RunningRedis {
  const liftGuard = throwaway && guardThrowaway(throwaway);
  return {
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    kind,
    pid,
    port,
    async stop() {
      liftGuard?.();
      await stopServer(pid);
      if (throwaway) await deleteThrowaway(throwaway);
    },
  };
}

const throwawayOf = (dataDir: string, folder: string, pid: number): Throwaway => ({
  pid,
  signal: 'SIGKILL',
  paths: [folder, logOf(dataDir)],
  parent: dataDir,
});

const logOf = (dataDir: string): string => join(dataDir, 'redis.log');

async function stopServer(pid: number): Promise<void> {
  await endProcess(pid, [
    { signal: 'SIGTERM', waitMs: 10_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}
