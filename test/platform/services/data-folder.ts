import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bringServices, type Services, type ServicesInput } from '../../../src/platform/services/discover.ts';
import { newFolder } from '../../support/new-folder.ts';

/** Servers of one test: their data, the write-ahead log and what a test stores. */
const ENOUGH_BYTES = 1024 ** 3;

/** A new folder that every user can enter, deleted after the test. */
export async function newDataFolder(): Promise<string> {
  const folder = await newFolder('test', ENOUGH_BYTES);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A new folder that only its owner can enter, as below a home folder, deleted after the test together with the
 * Postgres data that a link in it points to where the tests run as root.
 */
export async function newClosedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'meterstone-test-'));
  onTestFinished(async () => {
    const outside = await readlink(join(folder, 'postgres')).catch(() => undefined);
    if (outside) await rm(outside, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Services that are stopped after the test if it has not done so. */
export async function bring(input: ServicesInput): Promise<Services> {
  const services = await bringServices(input);
  onTestFinished(() => services.stop());
  return services;
}

/** The files of a folder, without the logs. */
export async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.endsWith('.log')).sort();
}

/** What the other process says once its servers run. */
export interface HolderReport {
  databaseUrl: string;
  redisUrl: string;
  pids: { postgres: number; redis: number };
}

/** Another process that brings the services and holds them until its input is closed or it is killed. */
export async function holdElsewhere(
  dataDir: string,
  options: { throwaway?: boolean; uid?: number; gid?: number } = {},
): Promise<{ holder: ChildProcess; report: HolderReport }> {
  const program = fileURLToPath(new URL('./holder.ts', import.meta.url));
  const { uid, gid } = options;
  const holder = spawn(
    process.execPath,
    ['--import', 'tsx', program, dataDir, options.throwaway ? 'throwaway' : 'lasting'],
    { stdio: ['pipe', 'pipe', 'inherit'], uid, gid },
  );
  onTestFinished(() => void holder.kill('SIGKILL'));
  const lines = createInterface({ input: holder.stdout! });
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(holder, 'exit').then(([code]) => Promise.reject(new Error(`the holder ended with ${code}`))),
  ])) as [string];
  return { holder, report: JSON.parse(line) as HolderReport };
}

/** Kills it without giving it a chance to stop its servers. */
export async function killHard(holder: ChildProcess): Promise<void> {
  const exit = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exit;
}
