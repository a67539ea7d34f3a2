import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Checkpoint, StoredCheckpoint } from '../../../platform/streams/source.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import type { Connector } from './dead-letters.ts';

/** What became of the messages of a key in one transaction. */
export interface Progress {
  checkpoint: Checkpoint;
  /** Messages. */
  received: number;
  /** Events. */
  stored: number;
  replayed: number;
  /** Dead letters. */
  dead: number;
}

/**
 * Stores how far a connector has read and adds to its counts. A checkpoint that another process has stored meanwhile
 * stays if it is further. `now` is real time, as ISO text. Rule: streams.md#storing.
 */
export function moveCheckpoints(
  db: Db,
  { organizationId, code }: Connector,
  progress: readonly Progress[],
  now: string,
) {
  const sorted = [...progress].sort((one, other) => (one.checkpoint.key < other.checkpoint.key ? -1 : 1));
  return db`
    insert into ingest_checkpoints as kept (organization_id, connector, key, rank, value, received, stored, replayed,
      dead, updated_at)
    select ${organizationId}, ${code}, moved.*, ${now}
    from unnest(${textArray(sorted.map(({ checkpoint }) => checkpoint.key))}::text[],
      ${plainArray(sorted.map(({ checkpoint }) => checkpoint.rank))}::numeric[],
      ${textArray(sorted.map(({ checkpoint }) => JSON.stringify(checkpoint.value)))}::jsonb[],
      ${plainArray(sorted.map(({ received }) => received))}::bigint[],
      ${plainArray(sorted.map(({ stored }) => stored))}::bigint[],
      ${plainArray(sorted.map(({ replayed }) => replayed))}::bigint[],
      ${plainArray(sorted.map(({ dead }) => dead))}::bigint[]) as moved
    order by 3
    on conflict (organization_id, connector, key) do update set
      rank = greatest(kept.rank, excluded.rank),
      value = case when excluded.rank >= kept.rank then excluded.value else kept.value end,
      received = kept.received + excluded.received,
      stored = kept.stored + excluded.stored,
      replayed = kept.replayed + excluded.replayed,
      dead = kept.dead + excluded.dead,
      updated_at = excluded.updated_at`;
}

/** Stored checkpoints whose key begins with a text. */
export const listCheckpoints = (db: Db, { organizationId, code }: Connector, prefix: string) => db<StoredCheckpoint[]>`
  select key, rank::text as rank, value, stored, replayed, dead from ingest_checkpoints
  where organization_id = ${organizationId} and connector = ${code} and starts_with(key, ${prefix})
  order by key`;

/** Under this key the counts of parts are summed that their source no longer has. */
const REMOVED_PARTS = 'removed';

/**
 * Clauses of a `with`: `ended` takes a checkpoint away, `summed` adds what it counted to that of another key, so that a
 * connector has few checkpoints and loses no count.
 */
export const folded = (db: Db, { organizationId, code }: Connector, key: string, sumKey: string): Fragment => db`
  ended as (
    delete from ingest_checkpoints
    where organization_id = ${organizationId} and connector = ${code} and key = ${key}
    returning value, received, stored, replayed, dead, updated_at
  ), summed as (
    insert into ingest_checkpoints as kept (organization_id, connector, key, rank, value, received, stored, replayed,
      dead, updated_at)
    select ${organizationId}, ${code}, ${sumKey}, 0, '{}', received, stored, replayed, dead, updated_at from ended
    on conflict (organization_id, connector, key) do update set received = kept.received + excluded.received,
      stored = kept.stored + excluded.stored, replayed = kept.replayed + excluded.replayed,
      dead = kept.dead + excluded.dead, updated_at = greatest(kept.updated_at, excluded.updated_at)
  )`;

/** Forgets a part that its source no longer has; its counts stay. */
export const dropCheckpoint = (db: Db, connector: Connector, key: string) => db`
  with ${folded(db, connector, key, REMOVED_PARTS)} select from ended`;

/** Forgets how far a part was read, because it was made anew at its source; its counts stay. */
export const resetCheckpoint = (db: Db, { organizationId, code }: Connector, key: string) => db`
  update ingest_checkpoints set rank = -1, value = '{}'
  where organization_id = ${organizationId} and connector = ${code} and key = ${key}`;
