import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { birthOf } from './processes.ts';
import { readText } from './small-file.ts';

/**
 * Registers this process as a user of the servers of a data folder: one file for each use, named `<pid>-<random>`. The
 * last user to leave stops the servers. Call under the folder's lock.
 *
 * @returns the name to leave with
 */
export async function enterUsers(dataDir: string): Promise<string> {
  const name = `${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(join(dataDir, 'users'), { recursive: true });
  await writeFile(join(dataDir, 'users', name), birthOf(process.pid) ?? '');
  return name;
}

/**
 * Leaves, and returns whether a living process still uses the servers. Files of dead processes are deleted.
 * Call under the folder's lock.
 */
export async function leaveUsers(dataDir: string, name: string): Promise<{ othersLeft: boolean }> {
  const folder = join(dataDir, 'users');
  await rm(join(folder, name), { force: true });

  let othersLeft = false;
  for (const other of await readdir(folder)) {
    const file = join(folder, other);
    if (birthOf(Number.parseInt(other, 10)) === (await readText(file))) othersLeft = true;
    else await rm(file, { force: true });
  }
  return { othersLeft };
}
