import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { PostgresFolder } from './postgres-folder.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import { newPassword } from './postgres-role.ts';
import type { Identity } from './run-program.ts';
import { mustRun } from './run-program.ts';
import { readJson, writePrivateJson } from './small-file.ts';

/** Superuser of this server, which creates the role of the service; the service never connects with it. */
export const ROLE = 'meterstone';

/** Stored beside the data, so that data, password and port are lost or moved together. */
export interface PostgresSettings {
  /** The password of the superuser. */
  password: string;
  /** The password of the role of the service; absent in data from before that role existed. */
  servicePassword?: string;
  port?: number;
}

/** Creates the data beside its place and moves it there when complete, so that a kill halfway leaves no obstacle. */
export async function createData(place: PostgresFolder, programs: PostgresPrograms, durable: boolean): Promise<void> {
  const { folder, identity } = place;
  const draft = `${folder}.draft-${randomBytes(4).toString('hex')}`;
  await mkdir(draft, { mode: 0o700 });
  const passwordFile = `${draft}.password`;
  const password = newPassword();
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    for (const path of [draft, passwordFile]) await giveTo(path, identity);

    const base = [`--pgdata=${draft}`, `--username=${ROLE}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const form = ['--encoding=UTF8', '--lc-messages=C', '--lc-collate=C', ...(durable ? [] : ['--no-sync'])];
    const initdb = (ctype: string) =>
      mustRun(join(programs.bin, 'initdb'), [...base, ...form, '--locale=C', `--lc-ctype=${ctype}`], { identity });
    // Bytewise order everywhere; letters beyond ASCII have a case if the system has this locale.
    await initdb('C.UTF-8').catch(() => initdb('C'));
    await writeSettings(draft, { password }, identity);
    await rename(draft, folder);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** Remains of a killed start. Its initdb may still be writing there; then the next start removes them. */
export async function removeDrafts(folder: string): Promise<void> {
  const names = (await readdir(dirname(folder))).filter((name) => name.startsWith(`${basename(folder)}.draft-`));
  for (const name of names) {
    await rm(join(dirname(folder), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

export const readSettings = (folder: string): Promise<PostgresSettings | undefined> =>
  readJson<PostgresSettings>(settingsFile(folder));

export const writeSettings = (folder: string, settings: PostgresSettings, owner: Identity): Promise<void> =>
  writePrivateJson(settingsFile(folder), settings, owner);

const settingsFile = (folder: string): string => join(folder, 'meterstone.json');

async function giveTo(path: string, { uid, gid }: Identity): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
