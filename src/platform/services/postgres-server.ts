import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Throwaway } from './guard.ts';
import { deleteThrowaway, guardThrowaway } from './guard.ts';
import { choosePort } from './ports.ts';
import type { PostgresFolder } from './postgres-folder.ts';
import { locatePostgresFolder, SHARED_FOLDER } from './postgres-folder.ts';
import type { PostgresPrograms, PostgresSearch } from './postgres-programs.ts';
import { findPostgresPrograms } from './postgres-programs.ts';
import { commandLineOf, endProcess, isAlive, waitUntil } from './processes.ts';
import { isRoot, mustRun, serverEnvironment } from './run-program.ts';
import { readJson, readText, writePrivateJson } from './small-file.ts';

const ROLE = 'meterstone';
const DATABASE = 'meterstone';
/** Crash recovery after a long write load may take a while; a fresh start takes under a second. */
const READY_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 5;
const MAX_LOG_BYTES = 5_000_000;

export interface PostgresInput {
  dataDir: string;
  /** Wished port; else the one of the last start; else a free one. */
  port?: number;
  log: (line: string) => void;
  /** Data that nobody misses: no fsync, and it ends with this process and is deleted. */
  throwaway?: boolean;
  /** Folder of this user for a copy of the embedded programs; default `dataDir`. */
  programsDir?: string;
  search?: PostgresSearch;
}

export interface RunningPostgres {
  /** With the password. */
  url: string;
  /** `adopted`: it ran already, left over by a crash or started by another command on the same data. */
  kind: 'system' | 'embedded' | 'adopted';
  pid: number;
  port: number;
  /** Ends client connections, writes everything to disk and stops. */
  stop(): Promise<void>;
}

/** Kept beside the data, so that data, password and port are lost or moved together. */
interface Settings {
  password: string;
  port?: number;
}

/**
 * Starts Postgres on the data of `dataDir`, made when missing, or adopts the server that already runs on it.
 * It listens on 127.0.0.1 only and asks for a random password; the database `meterstone` exists afterwards.
 */
export async function startPostgres(input: PostgresInput): Promise<RunningPostgres> {
  const place = await locatePostgresFolder(input.dataDir, input.log);
  const adopted = await adopt(place.folder);
  if (adopted) return adopted;

  const programs = await findPostgresPrograms({
    identity: place.identity,
    wantedMajor: place.major,
    copyTo: isRoot() ? [SHARED_FOLDER] : [input.programsDir ?? input.dataDir],
    search: input.search,
  });
  if (place.major === undefined) await createData(place, programs, input.throwaway === true);
  return launchOnFreePort(input, place, programs);
}

/** A postmaster that runs on this data, once it is ready; undefined when there is none. Stale pid files are deleted. */
async function adopt(folder: string): Promise<RunningPostgres | undefined> {
  const left = await readPidFile(folder);
  if (!left) return undefined;

  const isOurs = () => isAlive(left.pid) && commandLineOf(left.pid).includes(folder);
  const settings = await readSettings(folder);
  if (isOurs() && settings) {
    await waitUntil(async () => !isOurs() || (await readPidFile(folder))?.state === 'ready', READY_TIMEOUT_MS);
    if (isOurs() && (await ensureDatabase(urlOf(settings.password, left.port, 'postgres')))) {
      return describe('adopted', left.pid, left.port, settings.password);
    }
  }
  if (isOurs()) await stopServer(left.pid); // it does not answer
  // Another program may have been given the pid since, and Postgres would take that one for itself.
  await rm(join(folder, 'postmaster.pid'), { force: true });
  return undefined;
}

/** Makes the data beside its place and moves it there when complete: a kill half-way leaves nothing to trip over. */
async function createData(place: PostgresFolder, programs: PostgresPrograms, throwaway: boolean): Promise<void> {
  const { folder, identity } = place;
  const draft = `${folder}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const secrets = await mkdtemp(join(tmpdir(), 'meterstone-'));
  const passwordFile = join(secrets, 'password');
  const password = randomBytes(24).toString('base64url');
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    for (const path of [draft, secrets, passwordFile]) await giveTo(path, identity);

    const base = [`--pgdata=${draft}`, `--username=${ROLE}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const form = ['--encoding=UTF8', '--lc-messages=C', '--lc-collate=C', ...(throwaway ? ['--no-sync'] : [])];
    const initdb = (ctype: string) =>
      mustRun(join(programs.bin, 'initdb'), [...base, ...form, '--locale=C', `--lc-ctype=${ctype}`], { identity });
    // Bytewise order everywhere; letters beyond ASCII have a case where the system knows this locale.
    await initdb('C.UTF-8').catch(() => initdb('C'));
    await writePrivateJson(join(draft, 'meterstone.json'), { password } satisfies Settings, identity);
    await rename(draft, folder);
  } finally {
    await rm(secrets, { recursive: true, force: true });
  }
}

async function launchOnFreePort(
  input: PostgresInput,
  place: PostgresFolder,
  programs: PostgresPrograms,
): Promise<RunningPostgres> {
  const { folder } = place;
  const settings = await readSettings(folder);
  if (!settings) throw new Error(`${join(folder, 'meterstone.json')}, which holds the password, is missing`);

  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(attempt === 1 ? (input.port ?? settings.port) : undefined);
    const outcome = await launch(input, place, programs, port);
    if ('pid' in outcome) {
      const throwaway = input.throwaway ? throwawayOf(input.dataDir, folder, outcome.pid) : undefined;
      const server = describe(programs.kind, outcome.pid, port, settings.password, throwaway);
      if (!(await ensureDatabase(urlOf(settings.password, port, 'postgres')))) {
        await server.stop();
        throw new Error(`Postgres on port ${port} refuses the password in ${join(folder, 'meterstone.json')}`);
      }
      if (port !== settings.port) {
        await writePrivateJson(join(folder, 'meterstone.json'), { ...settings, port }, place.identity);
      }
      return server;
    }
    // The port was taken in between, or processes of a killed server are still leaving the shared memory.
    const passing = /Address already in use|shared memory block .* is still in use|could not bind/.test(
      outcome.failure,
    );
    if (!passing || attempt === START_ATTEMPTS) throw new Error(`Postgres did not start:\n${outcome.failure}`);
    await waitUntil(() => false, 500);
  }
}

/** One try: the pid once it accepts connections, else the end of its log. */
async function launch(
  input: PostgresInput,
  place: PostgresFolder,
  programs: PostgresPrograms,
  port: number,
): Promise<{ pid: number } | { failure: string }> {
  const { folder, identity } = place;
  const logFile = logOf(input.dataDir);
  if (((await stat(logFile).catch(() => undefined))?.size ?? 0) > MAX_LOG_BYTES) await truncate(logFile);
  const output = await open(logFile, 'a', 0o600);
  const { size: logStart } = await output.stat();

  const child = spawn(join(programs.bin, 'postgres'), ['-D', folder, ...serverFlags(port, input.throwaway === true)], {
    ...identity,
    cwd: folder,
    env: serverEnvironment(),
    stdio: ['ignore', output.fd, output.fd],
    detached: true, // a Ctrl-C in the terminal is for the launcher, which stops the servers last
  });
  let gone = false;
  child.once('exit', () => {
    gone = true;
  });
  child.once('error', () => {
    gone = true;
  });
  await output.close();
  child.unref();

  const { pid } = child;
  const isReady = async () => {
    const file = await readPidFile(folder);
    return file?.pid === pid && file?.state === 'ready';
  };
  await waitUntil(async () => gone || (await isReady()), READY_TIMEOUT_MS);
  if (pid !== undefined && !gone && (await isReady())) return { pid };

  if (pid !== undefined) await stopServer(pid);
  const text = await readFile(logFile);
  return { failure: text.subarray(logStart).toString().trim().split('\n').slice(-8).join('\n') };
}

function serverFlags(port: number, throwaway: boolean): string[] {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: throwaway ? '128MB' : '256MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...(throwaway ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function describe(
  kind: RunningPostgres['kind'],
  pid: number,
  port: number,
  password: string,
  throwaway?: Throwaway,
): RunningPostgres {
  const liftGuard = throwaway && guardThrowaway(throwaway);
  return {
    url: urlOf(password, port, DATABASE),
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
  signal: 'SIGQUIT',
  paths: [folder, join(dataDir, 'postgres'), logOf(dataDir)],
  parent: dataDir,
});

const logOf = (dataDir: string): string => join(dataDir, 'postgres.log');

/** SIGINT: connections are closed and everything is written; SIGQUIT: at once, the next start recovers. */
async function stopServer(pid: number): Promise<void> {
  await endProcess(pid, [
    { signal: 'SIGINT', waitMs: 20_000 },
    { signal: 'SIGQUIT', waitMs: 5_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ]);
}

const urlOf = (password: string, port: number, database: string): string =>
  `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;

/** Whether the server lets us in; the database is made when missing. */
async function ensureDatabase(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 10, onnotice: () => undefined });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`;
    if (!found) await sql.unsafe(`create database ${DATABASE}`);
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** What postmaster.pid says; undefined when it is missing or half-written. */
async function readPidFile(folder: string): Promise<{ pid: number; port: number; state: string } | undefined> {
  const lines = (await readText(join(folder, 'postmaster.pid')))?.split('\n') ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 ? { pid, port, state: (lines[7] ?? '').trim() } : undefined;
}

const readSettings = (folder: string): Promise<Settings | undefined> =>
  readJson<Settings>(join(folder, 'meterstone.json'));

async function giveTo(path: string, { uid, gid }: PostgresFolder['identity']): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
