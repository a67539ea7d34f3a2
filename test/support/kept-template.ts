import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../src/platform/project-root.ts';
import { mustRun } from '../../src/platform/services/run-program.ts';

/**
 * Data of a stopped Postgres with the migrated template, kept between runs. Measured: creating and migrating it takes
 * 13 s of processor time, copying it 0.2 s; a run of one file takes 5 s besides.
 */

/** What decides how the template looks: other contents, another template. */
const FOLDERS = ['migrations', 'src/platform/db', 'src/platform/services'];
const SETUP = 'test/support/global-setup.ts';
/** A template that no run has used for so long is removed. */
const UNUSED_DAYS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Each user's own: data that another user could change is not started. */
const shelf = (): string => join(tmpdir(), `meterstone-templates-${process.getuid?.() ?? 'user'}`);

/** Where the template of these sources is kept, whether it is there or not. */
export async function placeOfTemplate(): Promise<string> {
  const root = projectRoot();
  const listed = FOLDERS.map(async (folder) => (await readdir(join(root, folder))).map((name) => join(folder, name)));
  const files = (await Promise.all(listed)).flat().filter((name) => /\.(ts|sql)$/.test(name));
  const hash = createHash('sha256');
  for (const file of [...files, SETUP].sort()) hash.update(`${file}\0`).update(await readFile(join(root, file)));
  return join(shelf(), hash.digest('hex').slice(0, 16));
}

/** Makes room for another template, when no server could be started on this one. */
export const dropTemplate = (place: string): Promise<void> => rm(place, { recursive: true, force: true });

/** Copies the kept template to `<dataDir>/postgres`; false when there is none. */
export async function takeTemplate(place: string, dataDir: string): Promise<boolean> {
  const kept = await stat(place).catch(() => undefined);
  if (!kept?.isDirectory()) return false;
  await utimes(place, new Date(), new Date());
  await mustRun('cp', ['-Rp', join(place, 'postgres'), join(dataDir, 'postgres')]);
  return true;
}

/** Keeps the data of a server that has ended. Written beside its place and moved there whole. */
export async function keepTemplate(place: string, dataDir: string): Promise<void> {
  const draft = `${place}.draft-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(shelf(), { recursive: true, mode: 0o700 });
    await removeUnused();
    await mkdir(draft);
    await mustRun('cp', ['-Rp', await realpath(join(dataDir, 'postgres')), join(draft, 'postgres')]);
    await rename(draft, place);
  } catch {
    // No room, or another run has kept the same meanwhile. The next run migrates again or finds that one's.
    await rm(draft, { recursive: true, force: true });
  }
}

async function removeUnused(): Promise<void> {
  for (const name of await readdir(shelf())) {
    const path = join(shelf(), name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > UNUSED_DAYS * DAY_MS) await dropTemplate(path);
  }
}
