import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory; a container may have 64 MB of it. */
const MEMORY = '/dev/shm';

/**
 * A new folder in memory where so many bytes are free there, else among the temporary files. Databases are made there:
 * one is 1 310 files, which take 0.15 s of processor time in memory and up to 1.4 s on a disk, and a server of its own
 * waits for the disk at each commit. A server that is killed loses as much in memory as on a disk, which is nothing
 * that it has written.
 */
export async function newFolder(name: string, enoughBytes: number): Promise<string> {
  const folder = await mkdtemp(join((await hasRoom(enoughBytes)) ? MEMORY : tmpdir(), `meterstone-${name}-`));
  await chmod(folder, 0o755); // Postgres runs as a user of its own where the tests run as root
  return folder;
}

async function hasRoom(bytes: number): Promise<boolean> {
  const free = await statfs(MEMORY).catch(() => undefined); // no Linux, or no right to look there
  return free !== undefined && free.bavail * free.bsize >= bytes;
}
