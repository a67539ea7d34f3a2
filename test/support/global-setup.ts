import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/platform/db/connect.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { bringServices } from '../../src/platform/services/discover.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Server with the migrated database TEMPLATE_DATABASE, which test files clone. */
    postgresUrl: string;
    redisUrl: string;
  }
}

export const TEMPLATE_DATABASE = 'meterstone_template';

/** Where Linux keeps files in memory; a container may have 64 MB of it. */
const MEMORY = '/dev/shm';
/** The databases of three files, up to 1 GB of write-ahead log, and the load of the heaviest file. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Brings servers of the test run's own and stops them at its end, whatever else runs on the machine. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await bringServices({ throwaway: true, dataDir: await folderInMemory() });
  const admin = connectDatabase(services.databaseUrl, { connections: 1 });
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  const url = new URL(services.databaseUrl);
  url.pathname = `/${TEMPLATE_DATABASE}`;
  const template = connectDatabase(url.href, { connections: 2 });
  await migrate(template);
  await template.end();
  project.provide('postgresUrl', services.databaseUrl);
  project.provide('redisUrl', services.redisUrl);
  return () => services.stop();
}

/**
 * A folder for the data of the servers where the machine has memory for it, else undefined. A database is 1 310 files,
 * and each test file makes and drops one: 0.15 s of processor time in memory, up to 1.4 s on a disk.
 */
async function folderInMemory(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;
    const folder = await mkdtemp(join(MEMORY, 'meterstone-'));
    await chmod(folder, 0o755); // Postgres runs as a user of its own where the tests run as root
    return folder;
  } catch {
    return undefined; // no Linux, or no right to write there
  }
}
