import { serveCells } from '../../platform/cells/serve-cells.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log/log.ts';
import { enrol } from '../../platform/process/enrolled-processes.ts';
import { runProcess } from '../../platform/process/run-process.ts';
import { openRuntime, type Runtime } from '../../platform/process/runtime.ts';
import type { Reactions } from '../../platform/reactions.ts';
import { startWithSecrets } from '../../platform/secrets/check-secrets-at-start.ts';
import { watchOwed } from '../sweep-rows/watch-owed.ts';

/** Work of a pool beside its queues; stopped with it. */
export interface Closable {
  close(): Promise<void>;
}

export type PoolStart = (runtime: Runtime) => Promise<Closable[]> | Closable[];

/** A pool, and how many connections it can use at the same time, if it gets that many. */
export interface Pool {
  name: string;
  start: PoolStart;
  connections: number;
}

interface PoolProcess {
  /** Of the process. */
  name: string;
  pools: readonly Pool[];
  /** Of processes that run commands. */
  reactions?: Reactions;
}

/** Of a process beside its pools: what is owed is looked for, and the clock compared. */
const WATCHING_CONNECTIONS = 2;

/**
 * Starts pools in this process; `close` lets running jobs finish. Each pool has its own connections, so that a busy
 * pool takes none from the others even if all run in one process. It knows no handler: a process loads what its pools
 * need.
 */
export async function servePools(
  config: Config,
  { name, pools, reactions }: PoolProcess,
  log?: Log,
): Promise<Closable> {
  const runtime = openRuntime(config, name, log, {
    ...(reactions ? { reactions } : {}),
    ownConnections: WATCHING_CONNECTIONS,
  });
  try {
    await startWithSecrets(runtime);
  } catch (error) {
    await runtime.close();
    throw error;
  }
  const start = (pool: Pool) => pool.start({ ...runtime, sql: runtime.openDatabase(pool.name, pool.connections) });
  const started = (await Promise.all(pools.map(start))).flat();
  runtime.log.info({ pools: pools.map((pool) => pool.name) }, 'pools started');
  const owed = watchOwed(runtime);
  runtime.onReconnect(owed.suspect);
  const enrolled = await enrol(runtime, name);
  return {
    async close() {
      await Promise.all([owed.close(), enrolled.close(), ...started.map((each) => each.close())]);
      await runtime.close();
    },
  };
}

/** A whole worker process: runs until a signal ends it, for each of the cells that it serves where there are. */
export const runPoolProcess = (name: string, start: (config: Config, log?: Log) => Promise<Closable>): Promise<void> =>
  runProcess(name, (config, log) => (config.CELLS === undefined ? start(config, log) : serveCells(config, log, start)));
