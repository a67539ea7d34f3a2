import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../log/log.ts';
import { connectPatiently } from '../redis/connect.ts';
import { type Cell, listCells } from './directory.ts';

/** Announcements may be lost with Redis: within five seconds every process knows the states of cells. */
const LOOK_EVERY_MS = 2500;
const ANNOUNCED_WITHIN_MS = 2000;

const cellsChannel = (prefix: string): string => `${prefix}:cells`;

/** The cells of the directory, as a process last read them. */
export interface WatchedCells {
  list(): readonly Cell[];
  find(name: string): Cell | undefined;
  close(): Promise<void>;
}

/**
 * Reads the cells of the directory, at once when a change is announced and every few seconds. A directory that is away
 * changes nothing: what was read last holds.
 *
 * onChange  called after a change, not for the first reading
 * Rule: cells.md#directory.
 */
export async function watchCells(
  { control, config, log }: { control: Sql; config: Config; log: Log },
  onChange: () => void,
): Promise<WatchedCells> {
  let cells: readonly Cell[] = [...(await listCells(control))];
  let isAway = false;
  const look = async () => {
    try {
      const read = [...(await listCells(control))];
      if (isAway) log.info('the directory of cells answers');
      isAway = false;
      if (isDeepStrictEqual(read, cells)) return;
      cells = read;
      onChange();
    } catch (error) {
      if (!isAway) log.error({ err: error }, 'the directory of cells is away: what was read last holds');
      isAway = true;
    }
  };
  let looking = Promise.resolve();
  const lookAgain = () => {
    looking = looking.then(look);
  };
  const redis = connectPatiently(config.REDIS_URL, 'cells');
  redis.on('message', lookAgain);
  void redis.subscribe(cellsChannel(config.REDIS_PREFIX)).catch(() => {}); // closed before Redis came
  const timer = setInterval(lookAgain, LOOK_EVERY_MS);
  return {
    list: () => cells,
    find: (name) => cells.find((cell) => cell.name === name),
    async close() {
      clearInterval(timer);
      redis.disconnect();
      await looking;
    },
  };
}

/** Makes every process read the cells again. @returns false when Redis does not answer; they look by themselves */
export async function announceCells(config: Config): Promise<boolean> {
  if (config.REDIS_URL === '') return false;
  const redis = connectPatiently(config.REDIS_URL, 'meterstone cells');
  const announced = redis.publish(cellsChannel(config.REDIS_PREFIX), '').then(() => true);
  const late = new Promise<false>((resolve) => setTimeout(resolve, ANNOUNCED_WITHIN_MS, false).unref());
  const done = await Promise.race([announced, late]);
  announced.catch(() => {}); // it was late
  redis.disconnect();
  return done;
}
