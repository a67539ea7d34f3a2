import type { Sql } from '../../platform/db/connect.ts';
import { isPassing } from '../../platform/db/refusal-of-database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import { type Ended, Ending } from '../ending.ts';
import type { FairGate } from '../fair-gate.ts';
import type { Replicas } from './replicas.ts';

/** Where a read runs: connections with the gate that shares them. */
export interface ReadPlace {
  sql: Sql;
  gate: FairGate;
  /** Aborted when the answer has been sent, its caller is gone, or the read goes on elsewhere. */
  signal: Ended;
}

export interface WantedRead {
  organizationId: OrganizationId;
  /** It goes to the primary in any case. */
  isFresh: boolean;
  /** The position that the caller sent back. */
  position: string | undefined;
  signal: Ended;
}

/**
 * Runs a read on a replica if one fits, else on the primary. What fails on a replica for another reason than the
 * caller's is done again on the primary: the server is gone, it cancelled a statement to go on replaying, or a table of
 * this version has not come there yet. Rule: read-replicas.md#read-your-writes, read-replicas.md#broken-replicas.
 */
export function readWhereFit<Answer>(
  { sql, reads, replicas }: { sql: Sql; reads: FairGate; replicas: Replicas | undefined },
  wanted: WantedRead,
  read: (place: ReadPlace) => Promise<Answer>,
): Promise<Answer> {
  const primary = { sql, gate: reads, signal: wanted.signal };
  if (replicas === undefined || wanted.isFresh) return read(primary);
  return readOnReplica(replicas, wanted, primary, read);
}

async function readOnReplica<Answer>(
  replicas: Replicas,
  { organizationId, position, signal }: WantedRead,
  primary: ReadPlace,
  read: (place: ReadPlace) => Promise<Answer>,
): Promise<Answer> {
  const replica = await replicas.choose(organizationId, position);
  if (replica === undefined) return read(primary);
  const here = new Ending();
  if (signal.aborted) here.abort();
  signal.addEventListener('abort', () => here.abort());
  const { sql, gate } = replica;
  try {
    return await read({ sql, gate, signal: here });
  } catch (error) {
    if (signal.aborted || !isOfDatabase(error)) throw error;
    here.abort();
    replicas.failed(replica, error, isLost(error));
    return read(primary);
  }
}

/** Errors of Postgres, of the driver and of the socket have a code; those of the caller are refusals. */
const isOfDatabase = (error: unknown): boolean =>
  !(error instanceof Refusal) && typeof (error as { code?: unknown } | null)?.code === 'string';

/** The server said that it goes on: it cancelled the statement, or refused to write. */
const SAID_BY_REPLICA = new Set(['40001', '25006']);

const isLost = (error: unknown): boolean => isPassing(error) && !SAID_BY_REPLICA.has((error as { code: string }).code);
