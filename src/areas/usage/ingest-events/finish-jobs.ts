import { Busy } from '../../../platform/busy.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { waitForLocks } from '../../../platform/db/lock-patience.ts';
import { isLockTimeout } from '../../../platform/db/refusal-of-database.ts';
import type { EventBatchId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import type { Handlers, JobInfo } from '../../../platform/queue/worker.ts';
import { finishBatches } from './finish-batches.ts';
import { type Finished, finishShared } from './finish-shared.ts';
import { nudgeWatchers } from './nudge-watchers.ts';
import type { BatchApart } from './open-batches.ts';
import { createOwed, type OwedInAdvance } from './owe-in-advance.ts';

/** Batches finished in one transaction: their events are in memory together. */
const BATCHES_A_TRANSACTION = 10;
/** Longest wait of one organization's batches for its rows; its share of the slots bounds what they hold meanwhile. */
const OWN_PATIENCE_MS = 1000;
/** Delay after which batches of a busy organization are tried again, without a slot meanwhile. */
const COME_BACK_MS = 250;

interface FinishDeps {
  sql: Sql;
  producer: Pick<Producer, 'addMany'>;
}

/**
 * Handler of `events.finish-batch`: the asynchronous steps of stored batches. A job of several organizations never
 * waits and leaves the events of busy ones to separate jobs, which count in their shares.
 */
export const finishHandlers = (deps: FinishDeps): Pick<Handlers, 'events.finish-batch'> => ({
  async 'events.finish-batch'({ batch_ids: ids, organization_id: organizationId }, info) {
    for (let first = 0; first < ids.length; first += BATCHES_A_TRANSACTION) {
      const part = ids.slice(first, first + BATCHES_A_TRANSACTION);
      const owed = createOwed();
      const { watched, apart } = await (organizationId === undefined
        ? finishShared(deps.sql, part, owed)
        : finishOwn(deps.sql, part, { owed, info }));
      await owed.nudge(deps.producer);
      await nudgeWatchers(deps.producer, watched, realNow());
      await nudgeApart(deps.producer, apart);
    }
  },
});

/** A job of one organization comes back while another transaction holds what it needs. Finished batches are skipped. */
async function finishOwn(
  sql: Sql,
  ids: readonly EventBatchId[],
  { owed, info }: { owed: OwedInAdvance; info: JobInfo },
): Promise<Finished> {
  try {
    const watched = await sql.begin(async (tx) => {
      await waitForLocks(tx, OWN_PATIENCE_MS);
      return finishBatches(tx, ids, owed);
    });
    return { watched, apart: [] };
  } catch (error) {
    if (error instanceof Busy || isLockTimeout(error)) return info.comeBack(COME_BACK_MS);
    throw error;
  }
}

/** The sweeper of `event_batches` makes up for a lost nudge. */
const nudgeApart = (producer: Pick<Producer, 'addMany'>, apart: readonly BatchApart[]): Promise<void> =>
  producer
    .addMany(
      'events.finish-batch',
      apart.map(({ id, organization_id }) => ({
        payload: { organization_id, batch_ids: [id] },
        options: { id: `finish-${id}` },
      })),
    )
    .catch(() => {});
