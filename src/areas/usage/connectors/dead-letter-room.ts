import type { Db } from '../../../platform/db/connect.ts';
import type { Connector } from './dead-letters.ts';

/** How many dead letters of a connector may be open, and what they may keep together. */
export interface DeadLetterLimits {
  letters: number;
  bytes: number;
}
const LIMITS: DeadLetterLimits = { letters: 1_000_000, bytes: 1024 ** 3 };

/** After so many more of a process the open ones are counted again: some 150 ms for a million. */
const LOOK_AFTER: DeadLetterLimits = { letters: 10_000, bytes: 64 * 1024 * 1024 };

/** Too many dead letters are open: messages wait until some are resolved. */
export class DeadLettersFull extends Error {
  constructor() {
    super('too many dead letters of the connector are open: retry or discard them');
    this.name = 'DeadLettersFull';
  }
}

/** Room for dead letters of a connector, as one process knows it. */
export interface DeadLetterRoom {
  /** @throws DeadLettersFull */
  demand(): Promise<void>;
  /** This process has stored so many more. */
  add(stored: DeadLetterLimits): void;
}

/**
 * Counts open dead letters now and then, so that a stream of nothing but poison does not fill the database. What
 * processes store between two looks may go beyond the limits.
 *
 * Rule: streams.md#how-many.
 */
export function createDeadLetterRoom(db: Db, connector: Connector, limits = LIMITS): DeadLetterRoom {
  const since: DeadLetterLimits = { letters: Number.POSITIVE_INFINITY, bytes: 0 };
  const wait: DeadLetterLimits = {
    letters: Math.min(LOOK_AFTER.letters, limits.letters / 10),
    bytes: Math.min(LOOK_AFTER.bytes, limits.bytes / 10),
  };
  return {
    async demand() {
      if (since.letters < wait.letters && since.bytes < wait.bytes) return;
      const [open] = await countOpen(db, connector, limits.letters);
      if (open!.letters >= limits.letters || open!.bytes >= limits.bytes) throw new DeadLettersFull();
      Object.assign(since, { letters: 0, bytes: 0 });
    },
    add({ letters, bytes }) {
      since.letters += letters;
      since.bytes += bytes;
    },
  };
}

/** Read from an index of the open ones alone; at most so many. */
const countOpen = (db: Db, { organizationId, code }: Connector, most: number) => db<DeadLetterLimits[]>`
  select count(*)::int as letters, coalesce(sum(payload_bytes), 0)::bigint as bytes from (
    select payload_bytes from ingest_dead_letters
    where organization_id = ${organizationId} and connector = ${code} and status = 'open'
    order by id limit ${most}) open`;
