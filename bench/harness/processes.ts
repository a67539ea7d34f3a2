import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { choosePort } from '../../src/platform/services/ports.ts';
import type { Counts } from '../processes/count-writes.ts';
import type { Stamp } from '../processes/stamp-steps.ts';
import type { Environment } from './environment.ts';

const STOP_WITHIN_MS = 16_000;
/** Characters of the log of a process that did not start: the folder is removed with it. */
const SHOWN_OF_LOG = 2_000;
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
  /** What happened in it and when, since it was last asked; only where stamp-steps.js was loaded into it. */
  stamps(): Promise<Stamp[]>;
  stop(): Promise<void>;
}

/**
 * Starts a program of the service or of the bench as production does, `node dist/…`, and waits until it says "ready".
 * Its log goes to a file in the bench's folder. It ends when the harness does.
 *
 * loadedFirst  further modules, of compiled files, that are loaded before the program
 */
export async function startProcess(
  environment: Environment,
  program: string,
  settings: Record<string, string> = {},
  loadedFirst: readonly string[] = [],
): Promise<ServiceProcess> {
  const port = await choosePort();
  const logFile = join(environment.folder, `${program.replaceAll('/', '-')}-${port}.log`);
  const log = openSync(logFile, 'a');
  const child = fork(join(compiled, program), {
    execArgv: [
      '--enable-source-maps',
      ...[...LOADED_FIRST, ...loadedFirst].flatMap((module) => ['--import', join(compiled, module)]),
    ],
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...settingsOf(environment), PORT: String(port), ...settings },
  });
  closeSync(log);
  await untilReady(child, program, logFile);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    counts: () => askFor<Counts>(child, 'counts'),
    stamps: () => askFor<Stamp[]>(child, 'stamps'),
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
  // What is measured is the billing of invoices, not the drawing of their pages.
  DRAW_UNASKED: 'false',
});

/** What one of the loaded modules answers to its name. */
function askFor<Answer>(child: ChildProcess, what: 'counts' | 'stamps'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answered = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !(what in message)) return;
      child.off('message', answered);
      child.off('exit', ended);
      resolve((message as Record<typeof what, unknown>)[what] as Answer);
    };
    const ended = () => reject(new Error(`a process under test ended before it said its ${what}`));
    child.on('message', answered);
    child.once('exit', ended);
    child.send(what);
  });
}

function untilReady(child: ChildProcess, program: string, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      const said = readFileSync(logFile, 'utf8').slice(-SHOWN_OF_LOG);
      reject(new Error(`${program} ended with code ${code}: ${said}`));
    });
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
