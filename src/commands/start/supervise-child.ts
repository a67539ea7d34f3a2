import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openServerLog, type ServerLog } from '../../platform/services/server-process.ts';
import { failedStartsInARow, pauseMs } from './pause-between-lives.ts';

export interface Child {
  name: string;
  /** Undefined between two runs. */
  pid(): number | undefined;
  /** Its last log lines if it ended several times in a row soon after its start; else undefined. */
  despair(): Promise<string | undefined>;
  /** Stops it gracefully and starts it again at once. */
  restart(): void;
  /** Stops it gracefully for good. */
  stop(): Promise<void>;
}

interface ChildInput {
  name: string;
  /** Path without extension from this folder. */
  program: string;
  logFile: string;
  say: (line: string) => void;
  /** Called at every start. */
  environment: () => NodeJS.ProcessEnv;
  /** Called after a restart. */
  onRestart: () => void;
}

/** Processes end themselves after 14 s (platform/process/stop-on-signal.ts). */
const STOP_WITHIN_MS = 15_000;
const HOPELESS_ENDS = 3;

/**
 * Keeps one Node process running: when it ends unexpectedly it is started again, with a growing pause if that
 * continues.
 */
export function superviseChild(input: ChildInput): Child {
  const { name, logFile, say } = input;
  let current: { process: ChildProcess; log: ServerLog };
  let phase: 'running' | 'restarting' | 'stopping' = 'running';
  let timer: NodeJS.Timeout | undefined;
  let endsInARow = 0;

  const begin = () => {
    const startedAt = performance.now();
    phase = 'running';
    const log = openServerLog(logFile);
    const process = spawnNode(input, log);
    log.close();
    current = { process, log };
    process.on('error', (error) => say(`${name}: ${error.message}`)); // it could not be started or signalled
    process.once('close', (code, signal) => {
      if (phase === 'stopping') return;
      const livedMs = performance.now() - startedAt;
      endsInARow = phase === 'restarting' ? 0 : failedStartsInARow(endsInARow, { livedMs, signal });
      const delayMs = phase === 'restarting' ? 0 : pauseMs(endsInARow);
      if (delayMs > 0)
        say(`${name} ended (${signal ?? code}) and is started again in ${delayMs / 1000} s; see ${logFile}`);
      timer = setTimeout(() => {
        begin();
        input.onRestart();
      }, delayMs);
    });
  };
  begin();

  return {
    name,
    pid: () => (isRunning(current.process) ? current.process.pid : undefined),
    async despair() {
      return endsInARow >= HOPELESS_ENDS ? `${name} does not start:\n${await current.log.lastWords()}` : undefined;
    },
    restart() {
      if (phase !== 'running' || !isRunning(current.process)) return; // it is about to be started anyway
      phase = 'restarting';
      current.process.kill('SIGTERM');
    },
    async stop() {
      phase = 'stopping';
      clearTimeout(timer);
      if (isRunning(current.process)) await end(current.process);
    },
  };
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/**
 * Runs the program the way this process runs (compiled, or through the loader of its command line). It has a process
 * group of its own, so that a Ctrl-C in the terminal reaches it only through this process, and it stops when this
 * process is gone.
 */
function spawnNode({ program, environment }: ChildInput, log: ServerLog): ChildProcess {
  const extension = extname(import.meta.url);
  const file = new URL(`${program}${extension}`, import.meta.url);
  const followParent = new URL(`./follow-parent${extension}`, import.meta.url);
  return spawn(process.execPath, [...process.execArgv, '--import', followParent.href, fileURLToPath(file)], {
    env: { ...process.env, ...environment() },
    stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
    detached: true,
  });
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await exit;
  clearTimeout(timer);
}
