import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Packages of Debian by the program that they bring. */
const PACKAGES = { pgbouncer: 'pgbouncer', 'redis-server': 'redis-server', pg_basebackup: 'postgresql' } as const;

export type Program = keyof typeof PACKAGES;

/**
 * Where Debian keeps programs: those of each version of Postgres first, because what the PATH has of them asks a
 * wrapper which version is meant, and servers, which no user's PATH names.
 */
const folders = (): string[] => [
  ...versionsOf('/usr/lib/postgresql').map((version) => join('/usr/lib/postgresql', version, 'bin')),
  ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
  '/usr/sbin',
];

const versionsOf = (root: string): string[] => {
  try {
    return readdirSync(root).sort((a, b) => Number(b) - Number(a));
  } catch {
    return []; // not Debian, or not installed
  }
};

/** The path of an installed program; undefined if there is none. */
export function findProgram(name: Program): string | undefined {
  return folders()
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/**
 * Whether a program is missing, for `describe.skipIf(lacks('pgbouncer'))`: the tests behind it are skipped, and the
 * output says what to install. Nothing of it is needed to run the service.
 */
export function lacks(...names: Program[]): boolean {
  const missing = names.filter((name) => findProgram(name) === undefined);
  for (const name of missing)
    console.warn(`skipped: ${name} is not installed (Debian: apt-get install ${PACKAGES[name]})`);
  return missing.length > 0;
}
