import type { IncomingBatch, Verdict } from '../../resources/events/incoming.ts';

/** Batches of one job that wait for their statement. */
interface Waiting {
  batches: readonly IncomingBatch[];
  events: number;
  resolve(verdicts: Verdict[][]): void;
  reject(error: unknown): void;
}

/** Statements at once in a process, and events in one: beyond, they only wait for each other (performance-design 3.3). */
const MOST_IN_FLIGHT = 2;
const MOST_EVENTS = 1000;

/** Puts the batches of a job into the next statement; resolves with their verdicts when that is committed. */
export type StoreMerged = (batches: readonly IncomingBatch[]) => Promise<Verdict[][]>;

/**
 * Merges jobs that arrive while statements are under way: what waits goes into one statement as soon as one of two
 * places is free. A job larger than a statement goes alone.
 */
export function createMerger(store: (batches: readonly IncomingBatch[]) => Promise<Verdict[][]>): StoreMerged {
  const queue: Waiting[] = [];
  let inFlight = 0;
  let isScheduled = false;

  // Jobs fetched in the same turn of the event loop belong together.
  function schedule(): void {
    if (isScheduled || inFlight >= MOST_IN_FLIGHT || queue.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (inFlight < MOST_IN_FLIGHT && queue.length > 0) void run(take(queue));
    });
  }

  async function run(jobs: Waiting[]): Promise<void> {
    inFlight += 1;
    try {
      const verdicts = await store(jobs.flatMap((job) => job.batches));
      let position = 0;
      for (const job of jobs) {
        job.resolve(verdicts.slice(position, position + job.batches.length));
        position += job.batches.length;
      }
    } catch (error) {
      for (const job of jobs) job.reject(error);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  return (batches) =>
    new Promise((resolve, reject) => {
      queue.push({ batches, events: batches.reduce((sum, batch) => sum + batch.events.length, 0), resolve, reject });
      schedule();
    });
}

function take(queue: Waiting[]): Waiting[] {
  let events = 0;
  let count = 0;
  while (count < queue.length && (count === 0 || events + queue[count]!.events <= MOST_EVENTS)) {
    events += queue[count]!.events;
    count += 1;
  }
  return queue.splice(0, count);
}
