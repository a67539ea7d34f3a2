import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

interface Locked {
  version: string;
  dev?: boolean;
  link?: boolean;
  license?: unknown;
  optionalDependencies?: Record<string, string>;
}

/** Licences that ask for a notice at most: none of them reaches into the code beside it. */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Unlicense',
  'BlueOak-1.0.0',
  'Zlib',
]);

const OFL = 'a font may be used, embedded and passed on with its licence, only not sold by itself';

/** Packages whose stated licence is no word of ALLOWED, each with what its licence file says. */
const READ_BY_HAND: Record<string, { states: string | undefined; reason: string }> = {
  'dejavu-fonts-ttf': {
    states: 'SEE LICENSE IN README.md AND LICENSE',
    reason: 'Bitstream Vera licence: a font may be used, embedded and passed on, only not sold by itself',
  },
  ...Object.fromEntries(
    ['jp', 'kr', 'latin', 'sc'].map((script) => [`@embedpdf/fonts-${script}`, { states: 'OFL-1.1', reason: OFL }]),
  ),
  argparse: { states: 'Python-2.0', reason: 'licence of Python 2: asks for a notice only' },
  'png-js': { states: undefined, reason: 'its package.json is silent, its LICENSE file is that of MIT' },
};

/** `(MIT AND Zlib)` needs both to be allowed, `(MIT OR GPL-3.0)` one. */
function isAllowed(licence: string): boolean {
  const plain = licence.replace(/[()]/g, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((word) => ALLOWED.has(word.trim())));
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * The licence as the installed package states it. Of a native build for another platform the lock's, and where that is
 * silent too, the licence of the package that chooses among these builds.
 */
function statedLicence(path: string, packages: Record<string, Locked>): unknown {
  const file = join(projectRoot(), path, 'package.json');
  if (!existsSync(file)) {
    const chooser = Object.values(packages).find(({ optionalDependencies }) => optionalDependencies?.[nameOf(path)]);
    return packages[path]!.license ?? chooser?.license;
  }
  const stated = JSON.parse(readFileSync(file, 'utf8')) as { license?: unknown; licenses?: { type: string }[] };
  return stated.license ?? stated.licenses?.map(({ type }) => type).join(' OR ');
}

/** A workspace, and the link to it. */
const isOurs = (path: string, { link }: Locked): boolean => link === true || path.startsWith('packages/');

function refusedLicences(packages: Record<string, Locked>): string[] {
  return Object.entries(packages)
    .filter(([path, locked]) => path !== '' && !locked.dev && !isOurs(path, locked))
    .filter(([path]) => {
      const licence = statedLicence(path, packages);
      const known = READ_BY_HAND[nameOf(path)];
      if (known) return licence !== known.states;
      return typeof licence !== 'string' || !isAllowed(licence);
    })
    .map(([path, locked]) => `${nameOf(path)}@${locked.version}: ${String(statedLicence(path, packages))}`);
}

const lock = JSON.parse(readFileSync(join(projectRoot(), 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};

test('every shipped package has a licence that does not bind our code', () => {
  const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(shipped.length).toBeGreaterThan(100);
  expect(refusedLicences(lock.packages)).toEqual([]);
});

test('a package with a copyleft or missing licence is named', () => {
  const packages = {
    'node_modules/of-nobody': { version: '1.0.0' },
    'node_modules/pm2-like': { version: '7.0.4', license: 'AGPL-3.0' },
    'node_modules/both': { version: '1.0.0', license: '(MIT AND GPL-3.0-only)' },
    'node_modules/either': { version: '1.0.0', license: '(MIT OR GPL-3.0-only)' },
    'node_modules/tool': { version: '1.0.0', license: 'AGPL-3.0', dev: true },
  };
  expect(refusedLicences(packages)).toEqual([
    'of-nobody@1.0.0: undefined',
    'pm2-like@7.0.4: AGPL-3.0',
    'both@1.0.0: (MIT AND GPL-3.0-only)',
  ]);
});

test('pm2, which is AGPL, is used only by operators and by one test', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  expect(dependencies).not.toHaveProperty('pm2');
  expect(devDependencies).toHaveProperty('pm2');
});
