import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';
import { builtProgram } from './build-once.ts';
import { until } from './until.ts';

const UP_WITHIN_MS = 180_000;

/** A running `npm start`, and what it has printed so far. */
export interface Launcher {
  process: ChildProcess;
  output(): string;
}

/** The launcher in a folder of its own, run from the build: `buildOnce` goes before. */
export function spawnStart(dataDir: string, more: NodeJS.ProcessEnv = {}): Launcher {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...environment } = process.env;
  const child = spawn(process.execPath, builtProgram('src/commands/start.ts'), {
    cwd: projectRoot(),
    env: { ...environment, DATA_DIR: dataDir, PORT: '0', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  return { process: child, output: () => text };
}

/** Starts the whole service and waits until it is up; it is stopped when the test ends. */
export async function startUp(dataDir: string, more: NodeJS.ProcessEnv = {}): Promise<Launcher> {
  const started = spawnStart(dataDir, more);
  onTestFinished(() => stop(started.process));
  await untilUp(started);
  return started;
}

export const untilUp = (started: Launcher) =>
  until(() => {
    if (started.process.exitCode !== null) throw new Error(started.output());
    return started.output().includes('Ctrl-C stops everything');
  }, UP_WITHIN_MS);

/** Ctrl-C; the launcher leaves without an error. */
export async function stop(launcher: ChildProcess): Promise<void> {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return;
  launcher.kill('SIGINT');
  await once(launcher, 'exit');
  expect(launcher.exitCode).toBe(0);
}

export const keyIn = (output: string): string | undefined => /API key +(\S+)/.exec(output)?.[1];
export const apiIn = (output: string): string | undefined => /API +(http\S+)/.exec(output)?.[1];
