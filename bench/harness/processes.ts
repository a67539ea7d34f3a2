import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { choosePort } from '../../src/platform/services/ports.ts';
import type { Counts } from '../processes/count-writes.ts';
import type { Environment } from './environment.ts';

const STOP_WITHIN_MS = 16_000;
/** Production does not start without a secrets key; what it seals is dropped with the bench's schema. */
const SECRETS_KEYS = `bench:${randomBytes(32).toString('base64')}`;

/** Ends the process with the harness; counts what it writes. */
const LOADED_FIRST = ['src/commands/start/follow-parent.js', 'bench/processes/count-writes.js'];

/** Folder of the compiled code: dist/.bench. */
const compiled = fileURLToPath(new URL('../..', import.meta.url));

export interface ServiceProcess {
  /** Base of everything, without path; empty for processes that do not listen. */
  url: string;
  pid: number;
  /** What it has written to Postgres and Redis so far. */
  counts(): Promise<Counts>;
  stop(): Promise<void>;
}

/**
 * Starts a program of the service or of the bench as production does, `node dist/…`, and waits until it says "ready".
 * Its log goes to a file in the bench's folder. It ends when the harness does.
 */
export async function startProcess(
  environment: Environment,
  program: string,
  settings: Record<string, string> = {},
): Promise<ServiceProcess> {
  const port = await choosePort();
  const logFile = join(environment.folder, `${program.replaceAll('/', '-')}-${port}.log`);
  const log = openSync(logFile, 'a');
  const child = fork(join(compiled, program), {
    execArgv: ['--enable-source-maps', ...LOADED_FIRST.flatMap((module) => ['--import', join(compiled, module)])],
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...settingsOf(environment), PORT: String(port), ...settings },
  });
  closeSync(log);
  await untilReady(child, program, logFile);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    counts: () => askForCounts(child),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${program} ended by itself: ${logFile}`);
      const gone = new Promise((resolve) => child.once('exit', resolve));
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      child.kill('SIGTERM');
      await gone;
      clearTimeout(timer);
    },
  };
}

/** The settings under which the service runs on the bench's schema and prefix; the rest are defaults. */
export const settingsOf = (environment: Environment): Record<string, string> => ({
  DATABASE_URL: environment.databaseUrl,
  DATABASE_SCHEMA: environment.schema,
  REDIS_URL: environment.redisUrl,
  REDIS_PREFIX: environment.prefix,
  NODE_ENV: 'production',
  SECRETS_KEYS,
});

function askForCounts(child: ChildProcess): Promise<Counts> {
  return new Promise((resolve, reject) => {
    const answered = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('counts' in message)) return;
      child.off('message', answered);
      child.off('exit', ended);
      resolve(message.counts as Counts);
    };
    const ended = () => reject(new Error('a process under test ended before it said what it wrote'));
    child.on('message', answered);
    child.once('exit', ended);
    child.send('counts');
  });
}

function untilReady(child: ChildProcess, program: string, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with code ${code}: see ${logFile}`)));
    child.on('message', (message) => {
      if (message === 'ready') resolve();
    });
  });
}

/** Runs a program of the bench that takes one message and answers one, and waits for its end. */
export function runProgram<Input, Answer>(program: string, input: Input): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = fork(join(compiled, program), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.once('error', reject);
    let answer: Answer | undefined;
    child.once('message', (message) => {
      answer = message as Answer;
    });
    child.once('exit', (code) => {
      if (code === 0 && answer !== undefined) resolve(answer);
      else reject(new Error(`${program} ended with code ${code}`));
    });
    child.send(input as object);
  });
}
