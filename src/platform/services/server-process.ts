import { spawn } from 'node:child_process';
import { open, readFile, stat, truncate } from 'node:fs/promises';
import type { Identity } from './run-program.ts';
import { serverEnvironment } from './run-program.ts';

/** The log is emptied at a start when it is longer than this. */
const MAX_LOG_BYTES = 5_000_000;
const FAILURE_LINES = 8;

export interface ServerProcess {
  /** Undefined when the program could not be started at all. */
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
export async function spawnServer(input: SpawnInput): Promise<ServerProcess> {
  const { file, args, folder, logFile, identity, env } = input;
  if (((await stat(logFile).catch(() => undefined))?.size ?? 0) > MAX_LOG_BYTES) await truncate(logFile);
  const output = await open(logFile, 'a', 0o600);
  const { size: logStart } = await output.stat();

  const child = spawn(file, args, {
    ...identity,
    cwd: folder,
    env: serverEnvironment(env),
    stdio: ['ignore', output.fd, output.fd],
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
  await output.close();

  return {
    pid: child.pid,
    hasExited: () => exited,
    async lastWords() {
      const text = (await readFile(logFile)).subarray(logStart).toString();
      return text.trim().split('\n').slice(-FAILURE_LINES).join('\n');
    },
  };
}
