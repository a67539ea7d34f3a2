import type { Config } from '../config.ts';
import { connectDatabase } from '../db/connect.ts';
import { within } from '../db/within.ts';
import type { Log } from '../log/log.ts';
import { settingsOfCell, whyUnfit } from './cell-settings.ts';
import { type Cell, connectControl } from './directory.ts';
import { watchCells } from './watched-cells.ts';

/** What was begun for a cell. */
interface Closable {
  close(): Promise<void>;
}

/** Wait before a cell that is away is tried again. */
const AGAIN_AFTER_MS = 2000;
const ANSWER_WITHIN_MS = 3000;

/** What a process does for one cell: its life is a chain of starts and stops, one after the other. */
interface Served {
  /** The cell as it was when its life began. */
  cell: Cell;
  isWanted: boolean;
  /** Cuts the wait before the next try short. */
  wake(): void;
  life: Promise<void>;
}

/**
 * Works for the cells that CELLS names, each with stores and queues of its own, as separate processes would: one that
 * is away is tried again and holds up no other. A cell that is drained is left once its running jobs are done, and one
 * that serves again is taken up.
 *
 * start  begins the work for one cell
 * Rule: cells.md#workers.
 */
export async function serveCells(
  config: Config,
  log: Log,
  start: (config: Config, log: Log) => Promise<Closable>,
): Promise<Closable> {
  const control = connectControl(config, 1);
  const served = new Map<string, Served>();
  const ending: Promise<void>[] = [];
  const wantedNames = config.CELLS === 'all' ? undefined : config.CELLS!.split(',');
  const isServed = (cell: Cell) => cell.state !== 'drained' && (wantedNames?.includes(cell.name) ?? true);
  const follow = () => {
    const wanted = cells.list().filter(isServed);
    for (const [name, one] of served) {
      if (wanted.some((cell) => isSame(cell, one.cell))) continue;
      served.delete(name);
      one.isWanted = false;
      one.wake();
      ending.push(one.life);
    }
    for (const cell of wanted) if (!served.has(cell.name)) served.set(cell.name, live(cell));
  };

  function live(cell: Cell): Served {
    const its = log.child({ cell: cell.name });
    const one: Served = { cell, isWanted: true, wake: () => {}, life: Promise.resolve() };
    const pause = (ms?: number) =>
      new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        one.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const work = async () => {
      while (one.isWanted) {
        const running = await begin(cell, its);
        if (!one.isWanted) await running?.close();
        else if (running === undefined) await pause(AGAIN_AFTER_MS);
        else {
          its.info('a cell is served');
          await pause();
          await running.close();
          its.info('a cell is left');
        }
      }
    };
    one.life = work();
    return one;
  }

  async function begin(cell: Cell, its: Log): Promise<Closable | undefined> {
    try {
      const settings = settingsOfCell(config, cell);
      await demandFit(settings);
      return await start(settings, its);
    } catch (error) {
      its.error({ err: error }, 'a cell cannot be served, and is tried again');
      return undefined;
    }
  }

  const cells = await watchCells({ control, config, log }, follow);
  for (const name of wantedNames ?? [])
    if (!cells.find(name)) log.warn({ cell: name }, 'CELLS names a cell that the directory does not have yet');
  follow();
  return {
    async close() {
      await cells.close();
      for (const one of served.values()) {
        one.isWanted = false;
        one.wake();
      }
      await Promise.all([...ending, ...[...served.values()].map(({ life }) => life)]);
      await control.end({ timeout: 1 });
    },
  };
}

/** @throws Error when the server is away, or the tables or sessions are not what the service needs */
async function demandFit(settings: Config): Promise<void> {
  const sql = connectDatabase(settings.DATABASE_URL, {
    schema: settings.DATABASE_SCHEMA,
    connections: 1,
    name: 'meterstone start',
  });
  try {
    const why = await within(whyUnfit(sql), ANSWER_WITHIN_MS);
    if (why !== undefined) throw new Error(why);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const isSame = (a: Cell, b: Cell): boolean =>
  a.name === b.name && a.database === b.database && a.schema === b.schema && a.redis_prefix === b.redis_prefix;
