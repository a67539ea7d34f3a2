import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guardThrowaway } from '../../../src/platform/services/guard.ts';
import { postgresIdentity } from '../../../src/platform/services/postgres-user.ts';
import { endProcess, waitUntil } from '../../../src/platform/services/processes.ts';
import type { Identity } from '../../../src/platform/services/run-program.ts';
import { spawnServer } from '../../../src/platform/services/server-process.ts';
import { newFolder } from '../../support/new-folder.ts';

/** A folder of a server of Debian's, and the user that it runs as: neither Postgres nor PgBouncer runs as root. */
export interface Place {
  folder: string;
  identity: Identity;
  /** Writes a file that this user may read. */
  write(name: string, text: string): Promise<string>;
}

const ENOUGH_BYTES = 1024 ** 3;

export async function newPlace(name: string): Promise<Place> {
  const identity = await postgresIdentity(() => {});
  const folder = join(await newFolder(name, ENOUGH_BYTES), name);
  await mkdir(folder, { mode: 0o700 });
  const give = async (path: string) => {
    if (identity.uid !== undefined && identity.gid !== undefined) await chown(path, identity.uid, identity.gid);
  };
  await give(folder);
  return {
    folder,
    identity,
    async write(file, text) {
      const path = join(folder, file);
      await writeFile(path, text, { mode: 0o600 });
      await give(path);
      return path;
    },
  };
}

export interface OwnServer {
  pid: number;
  /** Sends a signal: SIGSTOP freezes it, SIGKILL ends it without a word. */
  signal(name: NodeJS.Signals): void;
  /** Ends it; its folder stays, so that it can start again. */
  end(): Promise<void>;
}

/**
 * Starts a server on a place and waits until it is ready. It ends with this process in any case, and its folder goes
 * with it.
 *
 * @throws Error with its last lines when it does not start
 */
export async function runServer(input: {
  place: Place;
  file: string;
  args: string[];
  /** Asked until it answers true. */
  isReady: () => Promise<boolean>;
  /** Signal that ends it at once. */
  ends?: NodeJS.Signals;
}): Promise<OwnServer> {
  const { place, file, args, ends = 'SIGQUIT' } = input;
  const { folder, identity } = place;
  const server = spawnServer({ file, args, folder, identity, logFile: `${folder}.log` });
  const isReady = () => input.isReady().catch(() => false);
  const isUp = await waitUntil(async () => server.hasExited() || (await isReady()), 30_000);
  if (!isUp || server.hasExited() || server.pid === undefined)
    throw new Error(`${file} did not start:\n${await server.lastWords()}`);
  const pid = server.pid;
  const lift = guardThrowaway({
    pid,
    signal: ends,
    paths: [folder, `${folder}.log`],
    parent: join(folder, '..'),
  });
  return {
    pid,
    signal: (name) => void process.kill(pid, name),
    async end() {
      lift();
      await endProcess(pid, [
        { signal: ends, waitMs: 10_000 },
        { signal: 'SIGKILL', waitMs: 10_000 },
      ]);
    },
  };
}

/** Deletes what a server has left. */
export const removePlace = ({ folder }: Place): Promise<void> =>
  rm(join(folder, '..'), { recursive: true, force: true });
