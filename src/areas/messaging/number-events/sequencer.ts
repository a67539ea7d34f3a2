import type { Sql } from '../../../platform/db/connect.ts';
import type { Runtime } from '../../../platform/process/runtime.ts';
import { listWaiting, lockHeads, makeHeads, numberEvents } from './feed-heads.ts';

const ORGANIZATIONS_PER_PASS = 100;
const EVENTS_PER_PASS = 1000;

/**
 * Numbers the events that wait for it. Rule: event-feed.md "Gap-free numbers under concurrency".
 *
 * @returns whether more may wait
 */
export async function numberWaitingEvents(sql: Sql): Promise<boolean> {
  const waiting = await listWaiting(sql, ORGANIZATIONS_PER_PASS);
  if (waiting.length === 0) return false;
  const counts = await sql.begin(async (tx): Promise<{ count: number }[]> => {
    await makeHeads(tx, waiting);
    const heads = await lockHeads(tx, waiting);
    return heads.length === 0 ? [] : await numberEvents(tx, heads, EVENTS_PER_PASS);
  });
  return waiting.length === ORGANIZATIONS_PER_PASS || counts.some(({ count }) => count === EVENTS_PER_PASS);
}

/**
 * Numbers events as they come until it is closed. Any number of processes may do it side by side. From commit to feed
 * p99 is under 500 ms (event-feed.md): with the usual interval of 200 half of it is left for a pass.
 */
export function startSequencer({ sql, log, config }: Pick<Runtime, 'sql' | 'log' | 'config'>): {
  close(): Promise<void>;
} {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> = Promise.resolve();
  const look = async () => {
    let hasMore = false;
    try {
      hasMore = await numberWaitingEvents(sql);
    } catch (error) {
      if (!isClosed) log.warn({ err: error }, 'events not numbered');
    }
    if (!isClosed) schedule(hasMore ? 0 : config.FEED_SWEEP_MS);
  };
  const schedule = (delayMs: number) => {
    timer = setTimeout(() => {
      pass = look();
    }, delayMs);
  };
  schedule(0);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await pass;
    },
  };
}
