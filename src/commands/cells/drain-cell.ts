import { setTimeout as pause } from 'node:timers/promises';
import { type Cell, setPlace, setState } from '../../platform/cells/directory.ts';
import { announceCells } from '../../platform/cells/watched-cells.ts';
import type { Config } from '../../platform/config.ts';
import { schemaState } from '../../platform/db/migrate.ts';
import { StartRefused } from '../../platform/process/await-stores.ts';
import { listEnrolled } from '../../platform/process/enrolled-processes.ts';
import { createProducer, type Producer } from '../../platform/queue/producer.ts';
import { partsOf } from '../../platform/queue/queue-names.ts';
import { PING_JOB } from '../../platform/queue/queue-progress.ts';
import { connectPatiently } from '../../platform/redis/connect.ts';
import { migrateOne } from './migrate-cells.ts';
import { type Directory, getCell, onTables } from './on-directory.ts';

/** Within this time every process knows what the directory says, announced or not. */
const KNOWN_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 250;

export interface Drain {
  /** What callers are told to wait before they send a write again. */
  retryAfterSeconds: number | null;
  /** How long queues and processes are waited for. */
  withinSeconds: number;
}

/**
 * Drains a cell: from now on its writes get 503 with Retry-After, what was taken before is worked off, then nothing is
 * answered any more and every process leaves its tables. When it returns they may be copied.
 *
 * @throws Error when that takes too long, saying what is left; run again it goes on
 * Rule: cells.md#drain.
 */
export async function drainCell(
  directory: Directory,
  name: string,
  { retryAfterSeconds, withinSeconds }: Drain,
  say: (line: string) => unknown,
): Promise<void> {
  const { control, config } = directory;
  if (config.REDIS_URL === '') throw new StartRefused('REDIS_URL must be set: the queues of the cell are looked at');
  const cell = await getCell(directory, name);
  const untilMs = performance.now() + withinSeconds * 1000;
  const redis = connectPatiently(config.REDIS_URL, 'meterstone cells');
  const producer = createProducer(redis, cell.redis_prefix, partsOf(config));
  try {
    if (cell.state !== 'drained') {
      await setState(control, name, { state: 'draining', retryAfterSeconds });
      await announceCells(config);
      await say('writes are refused; what was taken before is worked off');
      await pause(KNOWN_WITHIN_MS);
      await until(untilMs, () => busyQueues(producer), 'jobs wait or run in');
      await setState(control, name, { state: 'drained', retryAfterSeconds });
      await announceCells(config);
    }
    say('nothing is answered any more; processes leave its tables');
    await until(untilMs, async () => (await listEnrolled(redis, cell.redis_prefix)).map(nameOf), 'still at work are');
  } finally {
    await producer.close();
    redis.disconnect();
  }
}

const nameOf = ({ name, copy }: { name: string; copy: string }): string => `${name} (${copy})`;

/** Queues with jobs but that one which only shows that they move. */
async function busyQueues(producer: Producer): Promise<string[]> {
  const counted = await Promise.all(
    producer.storedQueues().map(async ({ queue }) => {
      const [{ waiting = 0, prioritized = 0, active = 0 }, ping] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized', 'active'),
        queue.getJob(PING_JOB),
      ]);
      return { name: queue.name, jobs: waiting + prioritized + active - (ping ? 1 : 0) };
    }),
  );
  return counted.filter(({ jobs }) => jobs > 0).map(({ name }) => name);
}

async function until(untilMs: number, left: () => Promise<string[]>, words: string): Promise<void> {
  for (;;) {
    const found = await left();
    if (found.length === 0) return;
    if (performance.now() > untilMs) throw new Error(`it takes too long: ${words} ${found.join(', ')}`);
    await pause(LOOK_EVERY_MS);
  }
}

/** Where a cell was copied to; what is left out stays. */
export interface Moved {
  database?: string | undefined;
  schema?: string | undefined;
}

/** Name of a server that stands for that of DATABASE_URL. */
const OWN_SERVER = 'default';

/**
 * Lets a cell serve again, from another place if it was copied there while it was drained.
 *
 * @throws StartRefused when it is elsewhere and not drained, or the tables there are not those of this cell
 */
export async function resumeCell(directory: Directory, name: string, moved: Moved): Promise<Cell> {
  const { control, config } = directory;
  const cell = await getCell(directory, name);
  const database = moved.database === OWN_SERVER ? null : (moved.database ?? cell.database);
  const next: Cell = { ...cell, database, schema: moved.schema ?? cell.schema, state: 'serving' };
  const isElsewhere = next.database !== cell.database || next.schema !== cell.schema;
  if (isElsewhere && cell.state !== 'drained') throw new StartRefused(`the cell "${name}" is not drained`);
  await demandOwnTables(directory, config, next);
  // What a dump leaves out: tables of previews, settings of the role.
  if (isElsewhere) await migrateOne(directory, next);
  if (isElsewhere) await setPlace(control, name, next);
  await setState(control, name, { state: 'serving', retryAfterSeconds: null });
  await announceCells(config);
  return next;
}

async function demandOwnTables({ control }: Directory, config: Config, cell: Cell): Promise<void> {
  const ids = (await control<{ id: string }[]>`select id from organizations where cell = ${cell.name}`).map(
    ({ id }) => id,
  );
  await onTables(config, cell, async (sql) => {
    if ((await schemaState(sql)).state === 'behind')
      throw new StartRefused(`the schema "${cell.schema}" there lacks migrations, or is not there`);
    const [row] = await sql<{ there: number }[]>`
      select count(*)::int as there from organizations where id = any(${ids}::uuid[])`;
    if (row!.there !== ids.length)
      throw new StartRefused(`of ${ids.length} organizations of the cell ${row!.there} are in those tables`);
  });
}
