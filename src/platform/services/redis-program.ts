import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { withFolderLock } from './folder-lock.ts';
import { findUnpackedRedis, unpackDebianRedis } from './redis-unpack.ts';
import { isRoot, mustRun, proxySettings, runProgram, serverEnvironment } from './run-program.ts';

export interface RedisProgram {
  /** `system`: was installed before; `installed`: by the package manager just now; `unpacked`: for this user only. */
  kind: 'system' | 'installed' | 'unpacked';
  file: string;
  /** Extra environment: where its libraries are. */
  env: NodeJS.ProcessEnv;
}

interface FindInput {
  programsDir: string;
  log: (line: string) => void;
  path?: string[];
}

/**
 * The Redis server to use: one on the PATH, else installed by the system's package manager if that asks no questions,
 * else unpacked from the system's packages into `programsDir`.
 *
 * @throws Error with the exact command to run
 */
export async function findRedisProgram(input: FindInput): Promise<RedisProgram> {
  const path = input.path ?? (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = (await onPath(path)) ?? (await findUnpackedRedis(input.programsDir));
  if (found) return found;

  if (!(await hasApt())) throw new Error(missing());
  try {
    return isRoot() ? await installAsRoot(input.log) : await unpackOnce(input);
  } catch (error) {
    throw new Error(missing((error as Error).message), { cause: error });
  }
}

/** The command to run. On systems other than Debian and macOS the package names hardly differ. */
function missing(reason?: string): string {
  const sudo = isRoot() ? '' : 'sudo ';
  const debian = `${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends redis-server`;
  const command = process.platform === 'darwin' ? 'brew install redis' : debian;
  const text = `no redis-server found. Run\n  ${command}\n(or the like of your system), or set REDIS_URL, then start again.`;
  return reason === undefined ? text : `${text}\nFetching it failed: ${reason}`;
}

async function onPath(path: string[]): Promise<RedisProgram | undefined> {
  for (const folder of path) {
    const file = join(folder, 'redis-server');
    if ((await runProgram(file, ['--version'])).code === 0) return { kind: 'system', file, env: {} };
  }
  return undefined;
}

const hasApt = async (): Promise<boolean> =>
  (await runProgram('apt-get', ['--version'])).code === 0 &&
  access('/etc/debian_version').then(
    () => true,
    () => false,
  );

async function installAsRoot(log: (line: string) => void): Promise<RedisProgram> {
  log('Redis is not installed: installing redis-server with apt-get; this happens once and may take a minute');
  const env = serverEnvironment({ DEBIAN_FRONTEND: 'noninteractive', ...proxySettings() });
  await runProgram('dpkg', ['--configure', '-a'], { env }); // a kill during an earlier installation leaves it
  // incomplete
  await mustRun('apt-get', ['update'], { env });
  await mustRun(
    'apt-get',
    ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', 'redis-server'],
    { env },
  );
  await stopPackageService();

  const installed = await onPath(['/usr/bin']);
  if (!installed) throw new Error('the package redis-server holds no /usr/bin/redis-server');
  return { ...installed, kind: 'installed' };
}

/** The package may have started its own server on the default port, which is not wanted. */
async function stopPackageService(): Promise<void> {
  const stopped = await runProgram('systemctl', ['stop', 'redis-server']);
  if (stopped.code !== 0) await runProgram('service', ['redis-server', 'stop']);
}

/** Several starts of one user, for example of tests and the service, wait for one download. */
function unpackOnce({ programsDir, log }: FindInput): Promise<RedisProgram> {
  return withFolderLock(join(programsDir, 'apt'), log, async () => {
    const unpacked = await findUnpackedRedis(programsDir);
    if (unpacked) return unpacked;
    log('Redis is not installed: unpacking it from the Debian packages; this happens once and may take a minute');
    return unpackDebianRedis(programsDir);
  });
}
