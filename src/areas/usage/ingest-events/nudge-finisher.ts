import type { Producer } from '../../../platform/queue/producer.ts';

/** Stored batches wait at most this long for others to share their job; at low load they do not wait. */
const GATHER_MS = 100;
/** Batches of one job. */
const MOST_BATCHES = 50;

/** Enqueues the asynchronous steps of stored batches. A lost nudge is made up by the sweeper of `event_batches`. */
export interface FinisherNudge {
  add(batchId: string): void;
  /** Sends what waits. */
  flush(): Promise<void>;
}

/**
 * One job for the batches of a tenth of a second: a job and a transaction for each of them would cost as much as storing
 * it (measured: 60 µs of 390 per event at 27 events a batch).
 */
export function createFinisherNudge(producer: Pick<Producer, 'add'>): FinisherNudge {
  const waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function send(): Promise<void> {
    const ids = waiting.splice(0);
    if (ids.length === 0) return;
    await producer.add('events.finish-batch', { batch_ids: ids }, { id: `finish-${ids[0]}` }).catch(() => {}); // see above
  }

  function open(): void {
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.length > 0) open();
      void send();
    }, GATHER_MS);
  }

  return {
    add(batchId) {
      waiting.push(batchId);
      if (timer !== undefined && waiting.length < MOST_BATCHES) return;
      if (timer === undefined) open();
      void send();
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await send();
    },
  };
}
