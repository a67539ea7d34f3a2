import { spawn } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Identity } from './run-program.ts';
import { serverEnvironment } from './run-program.ts';

/** Size above which the log is emptied at a start. */
const MAX_LOG_BYTES = 5_000_000;
const LAST_LINES = 15;

export interface ServerProcess {
  /** Undefined if the program could not be started. */
  pid?: number;
  hasExited(): boolean;
  /** The last lines that it wrote since its start. */
  lastWords(): Promise<string>;
}

interface SpawnInput {
  file: string;
  args: string[];
  /** Working directory. */
  folder: string;
  logFile: string;
  identity?: Identity;
  env?: NodeJS.ProcessEnv;
}

/** Starts a server that outlives this process, with its output appended to a log file. */
export function spawnServer(input: SpawnInput): ServerProcess {
  const { file, args, folder, logFile, identity, env } = input;
  const log = openServerLog(logFile);
  const child = spawn(file, args, {
    ...identity,
    cwd: folder,
    env: serverEnvironment(env),
    stdio: ['ignore', log.descriptor, log.descriptor],
    detached: true, // a Ctrl-C in the terminal is for the launcher, which stops the servers last
  });
  let exited = false;
  child.once('exit', () => {
    exited = true;
  });
  child.once('error', () => {
    exited = true;
  });
  child.unref();
  log.close();
  return { pid: child.pid, hasExited: () => exited, lastWords: log.lastWords };
}

/** A log file opened for a process that is started next. */
export interface ServerLog {
  descriptor: number;
  /** To be called once the process has the file. */
  close(): void;
  /** The last lines written since it was opened. */
  lastWords(): Promise<string>;
}

export function openServerLog(logFile: string): ServerLog {
  const descriptor = openSync(logFile, 'a', 0o600);
  if (fstatSync(descriptor).size > MAX_LOG_BYTES) ftruncateSync(descriptor);
  const start = fstatSync(descriptor).size;
  return {
    descriptor,
    close: () => closeSync(descriptor),
    async lastWords() {
      const text = (await readFile(logFile)).subarray(start).toString();
      return text.trim().split('\n').slice(-LAST_LINES).join('\n');
    },
  };
}
