import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';

const PARTS = 16;
const DAY = 86_400_000;
/** Blocks that one statement looks through. */
const BLOCKS = 4096;

/**
 * Forgets the keys of events that were stored more than EVENT_KEYS_RETENTION_MONTHS ago and are gone: the same
 * transaction id would be a new event then. The key of an event that is still stored stays, since it counts. Each day
 * has one of the parts, so that each is read every 16 days, a stretch at a time.
 * Rule: storing-events.md#keys.
 */
export async function forgetOldKeys({ sql, config }: Pick<SweepDeps, 'sql' | 'config'>, now: Temporal.Instant) {
  const months = config.EVENT_KEYS_RETENTION_MONTHS;
  if (months === undefined) return;
  const before = firstIdAt(now.toZonedDateTimeISO('UTC').subtract({ months }));
  const part = `event_keys_${Math.floor(now.epochMilliseconds / DAY) % PARTS}`;
  const [size] = await sql<{ blocks: number }[]>`
    select (pg_relation_size(${part}::regclass) / current_setting('block_size')::int)::int as blocks`;
  for (let block = 0; block < size!.blocks; block += BLOCKS) await forgetStretch(sql, part, { block, before });
}

const forgetStretch = (sql: Sql, part: string, { block, before }: { block: number; before: string }) => sql`
  delete from ${sql(part)} key
  where ctid >= ${`(${block},0)`}::tid and ctid < ${`(${block + BLOCKS},0)`}::tid and event_id < ${before}::uuid
    and not exists (select from events e where e.id = key.event_id offset 0)`;
