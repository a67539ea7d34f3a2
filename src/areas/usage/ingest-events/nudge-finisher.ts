import type { EventBatchId, OrganizationId } from '../../../platform/ids.ts';
import { createGatherer } from '../../../platform/queue/gather.ts';
import type { Producer } from '../../../platform/queue/producer.ts';

/** Longest wait of stored batches for others to share their job; at low load they do not wait. */
const EVERY_MS = 100;
/** How many batches one job holds. */
const MOST_BATCHES = 50;

/** Enqueues the asynchronous steps of stored batches. A lost nudge is made up by the sweeper of `event_batches`. */
export interface FinisherNudge {
  /** organizationId  set if the batch holds events of this organization only */
  add(batchId: EventBatchId, organizationId?: OrganizationId): void;
  /** Sends the waiting batches. */
  flush(): Promise<void>;
}

/**
 * One job for the batches of a tenth of a second: a job and a transaction for each of them would cost as much as
 * storing it (measured: 60 µs of 390 per event at 27 events a batch). Batches of one organization alone get a job of
 * its own, which counts in its share of the slots.
 */
export function createFinisherNudge(producer: Pick<Producer, 'add'>): FinisherNudge {
  const gathered = createGatherer<OrganizationId | undefined, EventBatchId>(
    (organizationId, ids) =>
      producer.add(
        'events.finish-batch',
        { organization_id: organizationId, batch_ids: ids },
        { id: `finish-${ids[0]}` },
      ),
    { everyMs: EVERY_MS, most: MOST_BATCHES },
  );
  return {
    add: (batchId, organizationId) => gathered.add(organizationId, [batchId]),
    flush: gathered.flush,
  };
}
