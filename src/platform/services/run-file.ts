import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Services } from './discover.ts';
import { withFolderLock } from './folder-lock.ts';
import { birthOf, endProcess } from './processes.ts';
import { readJson, writePrivateJson } from './small-file.ts';

/** Facts about a running `npm start` for other commands. Holds the servers' passwords, but no API key. */
export interface Running {
  launcher: Process;
  /** Absent while it is still starting. */
  baseUrl?: string;
  databaseUrl?: string;
  redisUrl?: string;
  origin?: Services['origin'];
  /** Settings that decide how clients talk to it. */
  settings?: Pick<Config, 'WIRE_PREFIX' | 'DATABASE_SCHEMA' | 'REDIS_PREFIX'>;
  /** Its ingress and worker processes. */
  children?: Record<string, Process>;
}

interface Process {
  pid: number;
  /** Distinguishes the process from a later one with the same pid. */
  birth?: string;
}

export interface RunFile {
  /** Adds facts for other commands. */
  update(facts: Omit<Running, 'launcher' | 'children'> & { children?: Record<string, number> }): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes this process the only launcher of a data folder. Of two that try at the same time only one succeeds; children
 * of a killed launcher are ended first.
 *
 * @returns the run file to update, or the existing launcher
 */
export function claimRun(
  dataDir: string,
  log: (line: string) => void,
): Promise<{ claimed: RunFile } | { taken: Running }> {
  return withFolderLock(dataDir, log, async () => {
    const left = await readRunFile(dataDir);
    if (left && isThere(left.launcher)) return { taken: left };
    for (const child of Object.values(left?.children ?? {})) await endLeftover(child);

    let facts: Running = { launcher: describe(process.pid) };
    await writePrivateJson(fileOf(dataDir), facts);
    return {
      claimed: {
        async update({ children, ...changes }) {
          facts = { ...facts, ...changes };
          if (children) facts.children = mapValues(children, describe);
          await writePrivateJson(fileOf(dataDir), facts);
        },
        remove: () => rm(fileOf(dataDir), { force: true }),
      },
    };
  });
}

/** The message for a second `npm start` on this data folder; undefined if there is no first one. */
export async function whyNotTwice(dataDir: string): Promise<string | undefined> {
  const found = await readRunFile(dataDir);
  return found && isThere(found.launcher) ? alreadyRunning(found) : undefined;
}

export const alreadyRunning = ({ launcher, baseUrl }: Running): string =>
  `already running (process ${launcher.pid}): ${baseUrl ?? 'it is still starting'}`;

/** The running `npm start` on this data folder; undefined if there is none or it is still starting. */
export async function findRunning(dataDir: string): Promise<Required<Running> | undefined> {
  const found = await readRunFile(dataDir);
  return found?.baseUrl && isThere(found.launcher) ? (found as Required<Running>) : undefined;
}

const fileOf = (dataDir: string): string => join(dataDir, 'run.json');

const readRunFile = (dataDir: string): Promise<Running | undefined> => readJson<Running>(fileOf(dataDir));

const describe = (pid: number): Process => ({ pid, birth: birthOf(pid) });

const isThere = ({ pid, birth }: Process): boolean => birth !== undefined && birthOf(pid) === birth;

/** They end by themselves soon after their launcher, finishing their work; a hanging one is not waited for. */
async function endLeftover(child: Process): Promise<void> {
  if (!isThere(child)) return;
  await endProcess(child.pid, [
    { signal: 'SIGTERM', waitMs: 15_000 },
    { signal: 'SIGKILL', waitMs: 2_000 },
  ]);
}

const mapValues = <From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
