import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { RedisProgram } from './redis-program.ts';
import { mustRun, proxySettings, runProgram, serverEnvironment } from './run-program.ts';

/** Redis unpacked earlier for this user; undefined if there is none that runs. */
export async function findUnpackedRedis(programsDir: string): Promise<RedisProgram | undefined> {
  const root = join(programsDir, 'redis-programs');
  const file = join(root, 'usr/bin/redis-server');
  const env = { LD_LIBRARY_PATH: (await libraryFolders(root)).join(delimiter) };
  const version = await runProgram(file, ['--version'], { env: serverEnvironment(env) });
  return version.code === 0 ? { kind: 'unpacked', file, env } : undefined;
}

/**
 * Downloads Debian's packages of Redis and of the libraries that are not installed, and unpacks them into
 * `<programsDir>/redis-programs`. Needs no rights: apt's lists and cache are kept in `<programsDir>/apt`.
 */
export async function unpackDebianRedis(programsDir: string): Promise<RedisProgram> {
  const apt = join(programsDir, 'apt');
  const packages = join(apt, 'packages');
  await rm(packages, { recursive: true, force: true });
  for (const folder of ['lists/partial', 'cache/archives/partial', 'packages']) {
    await mkdir(join(apt, folder), { recursive: true });
  }
  const options = [`Dir::State::Lists=${join(apt, 'lists')}`, `Dir::Cache=${join(apt, 'cache')}`];
  const flags = [...options, 'Debug::NoLocking=1', 'APT::Sandbox::User='].flatMap((option) => ['-o', option]);
  const env = serverEnvironment(proxySettings());

  await mustRun('apt-get', [...flags, 'update'], { env });
  await mustRun('apt-get', [...flags, 'download', ...(await missingPackages(flags))], { env, cwd: packages });

  const draft = join(programsDir, `redis-programs.draft-${process.pid}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft);
  for (const name of await readdir(packages)) await mustRun('dpkg-deb', ['-x', join(packages, name), draft]);
  await rm(join(programsDir, 'redis-programs'), { recursive: true, force: true });
  await rename(draft, join(programsDir, 'redis-programs'));
  for (const folder of ['lists', 'cache', 'packages']) await rm(join(apt, folder), { recursive: true, force: true });

  const redis = await findUnpackedRedis(programsDir);
  if (!redis) throw new Error('the unpacked redis-server does not run on this system');
  return redis;
}

/** redis-server and its missing dependencies as apt would choose them: on Debian 12 at most eight packages. */
async function missingPackages(flags: string[]): Promise<string[]> {
  const plan = await mustRun('apt-get', [...flags, '--simulate', '--no-install-recommends', 'install', 'redis-server']);
  return [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map((match) => match[1]!);
}

/** Folders below `root` that hold shared libraries. */
async function libraryFolders(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => []);
  const libraries = names.filter((name) => /\.so(\.|$)/.test(name));
  return [...new Set(libraries.map((name) => dirname(join(root, name))))];
}
