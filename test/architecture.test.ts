import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

const root = projectRoot();

/** The house's floors: what the files of a folder may import (style 1). Rooms see each other's queries and commands. */
const MAY_IMPORT: Record<string, string[]> = {
  'src/engine': ['src/engine'],
  'src/platform': ['src/platform', 'src/engine', 'src/queues.ts'],
  'src/resources': ['src/resources', 'src/engine', 'src/platform', 'src/queues.ts'],
  'src/flows': ['src/flows', 'src/resources', 'src/engine', 'src/platform', 'src/queues.ts', 'src/schedule.ts'],
  'src/ingress': ['src/ingress', 'src/resources', 'src/platform', 'src/engine', 'src/queues.ts', 'src/schedule.ts'],
  'src/commands': ['src', 'workers'],
  'src/queues.ts': ['src/platform'],
  'src/schedule.ts': ['src/platform', 'src/flows'],
  workers: ['workers', 'src/flows', 'src/resources', 'src/platform', 'src/queues.ts', 'src/schedule.ts'],
};

/** Libraries of the floors that may not use just any (dependencies.md 4). */
const MAY_USE: Record<string, RegExp> = {
  'src/engine': /^(decimal\.js|temporal-polyfill)$/,
  'src/resources': /^(zod|decimal\.js|temporal-polyfill|node:[a-z/_]+)$/,
  'src/flows': /^(zod|decimal\.js|temporal-polyfill|ioredis|node:[a-z/_]+)$/,
  workers: /^node:/,
};

const files = ['src', 'workers'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

const floorOf = (path: string): string | undefined =>
  Object.keys(MAY_IMPORT).find((floor) => path === floor || path.startsWith(`${floor}/`));

function importsOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    (match) => match[1] ?? match[2] ?? match[3]!,
  );
}

test('there are files to look at', () => {
  expect(files.length).toBeGreaterThan(50);
});

test.each(files)('%s imports only what its floor may', (path) => {
  const floor = floorOf(path);
  expect(floor, `${path} belongs to no floor`).toBeDefined();
  const forbidden = importsOf(path).filter((name) => {
    if (!name.startsWith('.')) return MAY_USE[floor!] !== undefined && !MAY_USE[floor!]!.test(name);
    const target = relative(root, resolve(root, dirname(path), name));
    return !MAY_IMPORT[floor!]!.some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
  });
  expect(forbidden).toEqual([]);
});

test.each(files.filter((path) => /^src\/(engine|resources|flows)\//.test(path)))(
  '%s takes its time as an input',
  (path) => {
    const text = readFileSync(join(root, path), 'utf8');
    expect(text).not.toMatch(/\bDate\.now\(\)|new Date\(\)|Temporal\.Now/);
  },
);

test.each(files.filter((path) => /^src\/(engine|resources|flows)\//.test(path)))(
  '%s keeps money away from binary floats',
  (path) => {
    const text = readFileSync(join(root, path), 'utf8');
    expect(text).not.toMatch(/\bparseFloat\(|\bMath\.round\(/);
  },
);
