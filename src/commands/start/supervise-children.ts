import { join } from 'node:path';
import { superviseChild } from './supervise-child.ts';

export interface Children {
  /** Of the processes that run now, by name. */
  pids(): Record<string, number>;
  /** The last words of a process that does not start, after several tries; else undefined. */
  despair(): Promise<string | undefined>;
  /** Ends all gracefully and has them started again, with the environment of then. */
  restart(): void;
  /** Ends all gracefully for good. */
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
      // The ingress first: its requests that wait for a worker get their answer.
      for (const child of children) await child.stop();
    },
  };
}
