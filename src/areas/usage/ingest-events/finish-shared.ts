import type { Sql } from '../../../platform/db/connect.ts';
import { waitForLocks } from '../../../platform/db/lock-patience.ts';
import { isLockTimeout, isPassing } from '../../../platform/db/refusal-of-database.ts';
import type { EventBatchId } from '../../../platform/ids.ts';
import { tryMatching } from '../unmatched-events/matching-lock.ts';
import { finishFree } from './finish-batches.ts';
import type { Watched } from './nudge-watchers.ts';
import { type BatchApart, splitBatches } from './open-batches.ts';
import type { OwedInAdvance } from './owe-in-advance.ts';

/** Longest wait of batches of several organizations for a lock of one: many times what their transaction takes. */
const SHARED_PATIENCE_MS = 250;

export interface Finished {
  watched: Watched[];
  /** Work left for each organization alone, to be enqueued after the commit. */
  apart: BatchApart[];
}

/**
 * Finishes batches that hold events of several organizations, in one transaction without waiting: events of an
 * organization that is being healed are set apart. If a row is locked or finishing fails, the cause cannot be
 * attributed, and the events of each organization are set apart. Rule: everywhere.md#bounded-cost.
 */
export async function finishShared(sql: Sql, ids: readonly EventBatchId[], owed: OwedInAdvance): Promise<Finished> {
  try {
    return await sql.begin(async (tx) => {
      const [, held] = await Promise.all([waitForLocks(tx, SHARED_PATIENCE_MS), tryMatching(tx, ids)]);
      const apart = held.length > 0 ? await splitBatches(tx, ids, held) : [];
      return { watched: await finishFree(tx, ids, owed), apart };
    });
  } catch (error) {
    if (isPassing(error) && !isLockTimeout(error)) throw error;
    return { watched: [], apart: await splitAll(sql, ids) };
  }
}

const splitAll = (sql: Sql, ids: readonly EventBatchId[]): Promise<BatchApart[]> =>
  sql.begin(async (tx) => {
    const [, apart] = await Promise.all([waitForLocks(tx, SHARED_PATIENCE_MS), splitBatches(tx, ids, null)]);
    return apart;
  });
