// Completes package-lock.json: an optional dependency that the registry does not show to this platform (the native
// builds for other systems) is left out by `npm install`, and `npm ci` of npm 11 then refuses the lock for everybody.
// Each gets an entry with its pinned version and the platform that its name tells; without a checksum, since it was not
// seen here.
//
//   npm run lock          regenerate what package.json asks for, then complete it
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Entry {
  version?: string;
  dev?: boolean;
  devOptional?: boolean;
  optionalDependencies?: Record<string, string>;
}

interface Platform {
  os: string[];
  cpu: string[];
  libc?: string[];
}

const SYSTEMS = new Set(['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']);
const PROCESSORS = new Set(['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64']);
const C_LIBRARIES: Record<string, string> = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' };

/** Optional dependencies that stand in a locked package and have no entry of their own. */
export function missingOptional(packages: Record<string, Entry>): { name: string; version: string; parent: string }[] {
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !placesOf(parent, name).some((place) => place in packages))
      .map(([name, version]) => ({ name, version, parent })),
  );
}

/** Where Node looks for a package, from the folder of the one that asks up to the root. */
function placesOf(parent: string, name: string): string[] {
  const folders = parent.split('/node_modules/');
  const above = folders.map((_, index) => folders.slice(0, folders.length - index).join('/node_modules/'));
  return [...above, ''].map((folder) => (folder === '' ? '' : `${folder}/`) + `node_modules/${name}`);
}

/** `@oxc-parser/binding-linux-arm-musleabihf` → os linux, cpu arm, libc musl. */
export function platformOf(name: string): Platform {
  const words = name.split('/').at(-1)!.split('-');
  const found = (known: Set<string>) => words.filter((word) => known.has(word));
  const libc = words.flatMap((word) => C_LIBRARIES[word] ?? []);
  const [os, cpu] = [found(SYSTEMS), found(PROCESSORS)];
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name}: its name does not tell one platform`);
  return { cpu, libc: libc.length > 0 ? libc : undefined, os };
}

/** The lock with an entry for each missing optional dependency, in the order of names that npm keeps. */
export function completeLock<Lock extends { packages: Record<string, Entry> }>(lock: Lock): Lock {
  const added = missingOptional(lock.packages).map(({ name, version, parent }) => {
    if (!/^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) throw new Error(`${name}: ${version} is not one version`);
    const { dev, devOptional } = lock.packages[parent]!;
    const { cpu, libc, os } = platformOf(name);
    // In npm's order of keys, so that `npm install` leaves the file as it is.
    const entry = { version, cpu, dev, devOptional, libc, optional: true, os };
    return [`node_modules/${name}`, entry] as const;
  });
  const { '': root, ...rest } = lock.packages;
  const byName = ([left]: readonly [string, Entry], [right]: readonly [string, Entry]) =>
    left.localeCompare(right, 'en');
  return { ...lock, packages: { '': root!, ...Object.fromEntries([...Object.entries(rest), ...added].sort(byName)) } };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = new URL('../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const count = missingOptional(lock.packages).length;
  writeFileSync(file, `${JSON.stringify(completeLock(lock), null, 2)}\n`);
  console.log(`package-lock.json: ${count} optional dependencies for other platforms completed`);
}
