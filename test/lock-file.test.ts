import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completeLock, missingOptional, platformOf } from '../.ci/complete-lock.ts';
import { projectRoot } from '../src/platform/project-root.ts';

const lock = JSON.parse(readFileSync(join(projectRoot(), 'package-lock.json'), 'utf8'));

test('npm install leaves the lock file unchanged', () => {
  const project = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  const { hasInstallScript, ...locked } = lock.packages[''];
  const { name, version, license, workspaces, bin, engines } = project;
  const { dependencies, devDependencies, optionalDependencies } = project;
  expect(hasInstallScript).toBe('postinstall' in project.scripts);
  const asked = { dependencies, devDependencies, optionalDependencies };
  expect(locked).toEqual({ name, version, license, workspaces, bin, engines, ...asked });
});

test('every optional dependency in the lock file has an entry: `npm run lock` adds what npm left out', () => {
  expect(missingOptional(lock.packages)).toEqual([]);
});

test('the lock file names no registry and has a checksum for every package', () => {
  const isOurs = (path: string): boolean =>
    ['', ...lock.packages[''].workspaces].includes(path) || lock.packages[path].link === true;
  const entries = Object.entries<Record<string, unknown>>(lock.packages).filter(([path]) => !isOurs(path));
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  const unchecked = entries.filter(([, { integrity, optional, os }]) => !integrity && !(optional && os));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test.each([
  ['@biomejs/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
  ['@oxc-parser/binding-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'], libc: ['musl'] }],
  ['@oxc-parser/binding-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
  ['@msgpackr-extract/msgpackr-extract-linux-arm', { os: ['linux'], cpu: ['arm'] }],
])('the platform of %s is read from its name', (name, platform) => {
  expect(platformOf(name)).toEqual(platform);
});

test('a package nested in the folder of its parent is not missing, and one elsewhere in the tree is', () => {
  const native = { 'native-linux-x64': '1.0.0' };
  const packages: Parameters<typeof missingOptional>[0] = {
    '': {},
    'node_modules/a': { optionalDependencies: native },
    'node_modules/a/node_modules/native-linux-x64': {},
    'node_modules/b': { dev: true, optionalDependencies: native },
  };
  expect(missingOptional(packages)).toEqual([{ name: 'native-linux-x64', version: '1.0.0', parent: 'node_modules/b' }]);
  expect(completeLock({ packages }).packages['node_modules/native-linux-x64']).toMatchObject({
    version: '1.0.0',
    dev: true,
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
  });
});

test('a version that is a range cannot be completed in the lock file', () => {
  const packages = { '': { optionalDependencies: { 'native-linux-x64': '^1.0.0' } } };
  expect(() => completeLock({ packages })).toThrow('native-linux-x64: ^1.0.0 is not one version');
});
