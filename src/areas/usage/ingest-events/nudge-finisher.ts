import type { EventBatchId, OrganizationId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';

/** Longest wait of stored batches for others to share their job; at low load they do not wait. */
const GATHER_MS = 100;
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
  /** By organization; mixed batches under undefined. */
  const waiting = new Map<string | undefined, string[]>();
  let timer: NodeJS.Timeout | undefined;

  async function send(organizationId: OrganizationId | undefined): Promise<void> {
    const ids = waiting.get(organizationId);
    if (!ids) return;
    waiting.delete(organizationId);
    const payload = { organization_id: organizationId, batch_ids: ids };
    await producer.add('events.finish-batch', payload, { id: `finish-${ids[0]}` }).catch(() => {}); // see above
  }

  const sendAll = () => Promise.all([...waiting.keys()].map(send));

  function open(): void {
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.size > 0) open();
      void sendAll();
    }, GATHER_MS);
  }

  return {
    add(batchId, organizationId) {
      const ids = waiting.get(organizationId) ?? [];
      waiting.set(organizationId, ids);
      ids.push(batchId);
      if (ids.length === MOST_BATCHES) void send(organizationId);
      if (timer !== undefined) return;
      open();
      // In the next turn of the loop, so that the answer of the stored events leaves before the job.
      setImmediate(() => void send(organizationId));
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await sendAll();
    },
  };
}
