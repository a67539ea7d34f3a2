import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Throwaway } from './guard.ts';
import { deleteThrowaway, guardThrowaway } from './guard.ts';
import { choosePort } from './ports.ts';
import { createData, type PostgresSettings, ROLE, readSettings, removeDrafts, writeSettings } from './postgres-data.ts';
import type { PostgresFolder } from './postgres-folder.ts';
import { locatePostgresFolder, SHARED_FOLDER } from './postgres-folder.ts';
import type { PostgresPrograms, PostgresSearch } from './postgres-programs.ts';
import { findPostgresPrograms } from './postgres-programs.ts';
import { newPassword, prepareServiceRole, SERVICE_ROLE } from './postgres-role.ts';
import { commandLineOf, endProcess, isAlive, waitUntil } from './processes.ts';
import { type Identity, isRoot } from './run-program.ts';
import { spawnServer } from './server-process.ts';
import { readText } from './small-file.ts';

const DATABASE = 'meterstone';
/** Crash recovery after a long write load may take a while; a fresh start takes less than a second. */
const READY_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 5;

export interface PostgresInput {
  dataDir: string;
  /** Preferred port; else that of the last start; else a free one. */
  port?: number;
  log: (line: string) => void;
  /** Throwaway data: the server ends with this process, and the data is deleted. */
  throwaway?: boolean;
  /** Whether commits survive a power cut; default: unless throwaway. They survive a kill of the server anyway. */
  durable?: boolean;
  /** Folder of this user for a copy of the embedded programs; default `dataDir`. */
  programsDir?: string;
  search?: PostgresSearch;
}

export interface RunningPostgres {
  /** With the password of the service's role, which is no superuser; for throwaway data of the superuser. */
  url: string;
  /** `adopted`: it was running, left over by a crash or started by another command on the same data. */
  kind: 'system' | 'embedded' | 'adopted';
  pid: number;
  port: number;
  /** Ends client connections, writes everything to disk and stops. */
  stop(): Promise<void>;
}

/**
 * Starts Postgres on the data of `dataDir`, created if missing, or adopts the server that already runs on it. It
 * listens on 127.0.0.1 only and asks for a random password; the database `meterstone` exists afterwards.
 */
export async function startPostgres(input: PostgresInput): Promise<RunningPostgres> {
  const place = await locatePostgresFolder(input.dataDir, input.log);
  const adopted = await adopt(place);
  if (adopted) return adopted;
  await removeDrafts(place.folder);

  const programs = await findPostgresPrograms({
    identity: place.identity,
    wantedMajor: place.major,
    copyTo: isRoot() ? [SHARED_FOLDER] : [input.programsDir ?? input.dataDir],
    search: input.search,
  });
  if (place.major === undefined) await createData(place, programs, isDurable(input));
  return launchOnFreePort(input, place, programs);
}

/** A running postmaster on this data, once it is ready; undefined if there is none. Stale pid files are deleted. */
async function adopt({ folder, identity }: PostgresFolder): Promise<RunningPostgres | undefined> {
  const left = await readPidFile(folder);
  if (!left) return undefined;

  const isOurs = () => isAlive(left.pid) && commandLineOf(left.pid).includes(folder);
  const settings = await readSettings(folder);
  if (isOurs() && settings) {
    await waitUntil(async () => !isOurs() || (await readPidFile(folder))?.state === 'ready', READY_TIMEOUT_MS);
    const url = isOurs() ? await ensureDatabase(folder, settings, left.port, identity) : undefined;
    if (url !== undefined) return describe('adopted', left.pid, { port: left.port, url });
  }
  if (isOurs()) await stopServer(left.pid); // it does not answer
  // Another program may have got the pid since, and Postgres would take it for its own server.
  await rm(join(folder, 'postmaster.pid'), { force: true });
  return undefined;
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
      const url = await ensureDatabase(folder, settings, port, place.identity);
      // Tests create databases of their own, which the service's role may not.
      const usedUrl = throwaway ? urlOf(ROLE, settings.password, port, DATABASE) : (url ?? '');
      const server = describe(programs.kind, outcome.pid, { port, url: usedUrl, throwaway });
      if (url === undefined) {
        await server.stop();
        throw new Error(`Postgres on port ${port} refuses the password in ${join(folder, 'meterstone.json')}`);
      }
      return server;
    }
    // The port was taken meanwhile, or processes of a killed server still use the shared memory.
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
  const server = spawnServer({
    file: join(programs.bin, 'postgres'),
    args: ['-D', folder, ...serverFlags(port, isDurable(input))],
    folder,
    logFile: logOf(input.dataDir),
    identity,
  });
  const isReady = async () => {
    const file = await readPidFile(folder);
    return file?.pid === server.pid && file?.state === 'ready';
  };
  await waitUntil(async () => server.hasExited() || (await isReady()), READY_TIMEOUT_MS);
  if (server.pid !== undefined && !server.hasExited() && (await isReady())) return { pid: server.pid };

  if (server.pid !== undefined) await stopServer(server.pid);
  return { failure: await server.lastWords() };
}

const isDurable = ({ durable, throwaway }: PostgresInput): boolean => durable ?? !throwaway;

/** Of data that is deleted with its server: nothing is kept for a crash. */
const FORGETFUL = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Several test files share a server, and a whole service in each may open 85 connections.
  max_connections: '300',
};

function serverFlags(port: number, durable: boolean): string[] {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...(durable ? {} : FORGETFUL),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function describe(
  kind: RunningPostgres['kind'],
  pid: number,
  { port, url, throwaway }: { port: number; url: string; throwaway?: Throwaway },
): RunningPostgres {
  const liftGuard = throwaway && guardThrowaway(throwaway);
  return {
    url,
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

const urlOf = (role: string, password: string, port: number, database: string): string =>
  `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;

/**
 * Creates the database and the role of the service if missing, and stores port and passwords beside the data.
 *
 * @returns the address for the service; undefined if the server refuses the superuser
 */
async function ensureDatabase(
  folder: string,
  settings: PostgresSettings,
  port: number,
  owner: Identity,
): Promise<string | undefined> {
  const servicePassword = settings.servicePassword ?? newPassword();
  const asSuperuser = (database: string) => urlOf(ROLE, settings.password, port, database);
  if (!(await prepareServiceRole(asSuperuser, { database: DATABASE, password: servicePassword }))) return undefined;
  if (port !== settings.port || servicePassword !== settings.servicePassword)
    await writeSettings(folder, { ...settings, servicePassword, port }, owner);
  return urlOf(SERVICE_ROLE, servicePassword, port, DATABASE);
}

/** The contents of postmaster.pid; undefined if it is missing or incomplete. */
async function readPidFile(folder: string): Promise<{ pid: number; port: number; state: string } | undefined> {
  const lines = (await readText(join(folder, 'postmaster.pid')))?.split('\n') ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 ? { pid, port, state: (lines[7] ?? '').trim() } : undefined;
}
