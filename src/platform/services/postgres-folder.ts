import { createHash } from 'node:crypto';
import { lstat, mkdir, readlink, realpath, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { canEnter, postgresIdentity } from './postgres-user.ts';
import type { Identity } from './run-program.ts';
import { isRoot, mustRun } from './run-program.ts';
import { readText } from './small-file.ts';

/** Outside every home folder, so that the user `postgres` can enter it. */
export const SHARED_FOLDER = '/var/lib/meterstone';

export interface PostgresFolder {
  /** Real path of the data, without links. */
  folder: string;
  identity: Identity;
  /** Major version that made the data; undefined when there is none yet. */
  major?: number;
}

/**
 * The place of the Postgres data of `dataDir`, and the user that Postgres runs as. It is `<dataDir>/postgres`; as root
 * below a folder that the user `postgres` cannot enter, that name is a link to `/var/lib/meterstone/<12 hex of the
 * SHA-256 of the checkout's path>`. Data of an ordinary user is run as that user even when root starts it.
 *
 * @throws Error when the data belongs to a user that this process cannot become
 */
export async function locatePostgresFolder(dataDir: string, log: (line: string) => void): Promise<PostgresFolder> {
  await mkdir(dataDir, { recursive: true });
  const home = await realpath(dataDir);
  const name = join(home, 'postgres');

  const existing = await describeExisting(name);
  if (existing && (!isRoot() || canEnter(existing.folder, existing.identity))) return existing;

  const identity = existing?.identity ?? (await postgresIdentity(log));
  if (!isRoot() || (!existing && canEnter(home, identity))) return { folder: name, identity };

  const outside = join(SHARED_FOLDER, checkoutKey(home));
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  if (existing) await mustRun('mv', [existing.folder, outside]);
  await rm(name, { recursive: true, force: true });
  await symlink(outside, name);
  return (await describeExisting(name)) ?? { folder: outside, identity };
}

/** Name of the checkout; a data folder that is not `.data` of a checkout is named by its own path. */
function checkoutKey(home: string): string {
  const checkout = basename(home) === '.data' ? dirname(home) : home;
  return createHash('sha256').update(checkout).digest('hex').slice(0, 12);
}

/** Existing data, behind a link or not; undefined without any or with a dangling link. */
async function describeExisting(name: string): Promise<PostgresFolder | undefined> {
  const entry = await lstat(name).catch(() => undefined);
  if (!entry) return undefined;
  const folder = entry.isSymbolicLink() ? await readlink(name) : name;
  const owner = await stat(folder).catch(() => undefined);
  if (!owner) return undefined;

  if (!isRoot() && owner.uid !== process.getuid?.()) {
    throw new Error(`${folder} belongs to another user (uid ${owner.uid}): start as that user or as root`);
  }
  const version = await readText(join(folder, 'PG_VERSION'));
  if (version === undefined) return undefined;
  const identity = isRoot() ? { uid: owner.uid, gid: owner.gid } : {};
  return { folder, identity, major: Number.parseInt(version, 10) };
}
