import { join } from 'node:path';
import { superviseChild } from './supervise-child.ts';

export interface Children {
  /** Process ids of the running processes by name. */
  pids(): Record<string, number>;
  /** The last log lines of a process that repeatedly fails to start; else undefined. */
  despair(): Promise<string | undefined>;
  /** Stops all gracefully and starts them again with the current environment. */
  restart(): void;
  /** Stops all gracefully for good. */
  stop(): Promise<void>;
}

interface ChildrenInput {
  dataDir: string;
  say: (line: string) => void;
  environment: () => NodeJS.ProcessEnv;
  onRestart: () => void;
}

/** Name and program; the paths are the same in `src` and in `dist/src`. */
const PROGRAMS = [
  ['ingress', '../../ingress/server'],
  ['workers', '../../../workers/all'],
] as const;

/** The ingress process and the host process of every worker pool (queues-and-workers.md "Processes"). */
export function superviseChildren({ dataDir, ...shared }: ChildrenInput): Children {
  const children = PROGRAMS.map(([name, program]) =>
    superviseChild({ ...shared, name, program, logFile: join(dataDir, `${name}.log`) }),
  );
  return {
    pids() {
      const running = children.map((child) => [child.name, child.pid()] as const);
      return Object.fromEntries(running.filter((entry): entry is [string, number] => entry[1] !== undefined));
    },
    async despair() {
      const words = await Promise.all(children.map((child) => child.despair()));
      return words.find((each) => each !== undefined);
    },
    restart() {
      for (const child of children) child.restart();
    },
    async stop() {
      // The ingress stops first, so that its waiting requests still get their answers.
      for (const child of children) await child.stop();
    },
  };
}
