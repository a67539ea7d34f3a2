import type { IncomingBatch } from '../events/incoming-event.ts';

/** Batches of one job that wait for their statement. */
interface Waiting<Verdicts> {
  batches: readonly IncomingBatch[];
  events: number;
  bytes: number;
  resolve(verdicts: Verdicts[]): void;
  reject(error: unknown): void;
}

/**
 * Statements at once in a process, and events in one: beyond, they only wait for each other
 * (storing-events.md#jobs-and-replies).
 */
const MOST_IN_FLIGHT = 2;
const MOST_EVENTS = 1000;
/** Text of properties in a statement: two full jobs of the ingress. A second of work, also for the others in it. */
const MOST_BYTES = 1024 * 1024;
/** Statements at once of organizations that are stored apart, and of each of them one. */
const MOST_APART = 2;

/** Puts the batches of a job into the next statement; resolves with their verdicts when that is committed. */
export type StoreMerged<Verdicts> = (batches: readonly IncomingBatch[]) => Promise<Verdicts[]>;

/**
 * Merges jobs that arrive while statements are under way: what waits goes into one statement as soon as one of the
 * places is free. A job larger than a statement goes alone.
 */
export function createMerger<Verdicts>(
  store: (batches: readonly IncomingBatch[]) => Promise<Verdicts[]>,
  mostInFlight = MOST_IN_FLIGHT,
): StoreMerged<Verdicts> {
  const queue: Waiting<Verdicts>[] = [];
  let inFlight = 0;
  let isScheduled = false;

  // Jobs fetched in the same turn of the event loop belong together.
  function schedule(): void {
    if (isScheduled || inFlight >= mostInFlight || queue.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (inFlight < mostInFlight && queue.length > 0) void run(take(queue));
    });
  }

  async function run(jobs: Waiting<Verdicts>[]): Promise<void> {
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
      queue.push({ batches, ...sizeOf(batches), resolve, reject });
      schedule();
    });
}

/**
 * Merges the jobs of each organization for itself, one statement of it at a time: what waits for locks of one, or is
 * slow, holds none of the places of the others' statements.
 */
export function createMergersApart<Verdicts>(
  store: (batches: readonly IncomingBatch[]) => Promise<Verdicts[]>,
): (organizationId: string, batches: readonly IncomingBatch[]) => Promise<Verdicts[]> {
  const mergers = new Map<string, { merged: StoreMerged<Verdicts>; jobs: number }>();
  const waiting: (() => void)[] = [];
  let taken = 0;

  async function inPlace(batches: readonly IncomingBatch[]): Promise<Verdicts[]> {
    if (taken < MOST_APART) taken += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await store(batches);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else taken -= 1;
    }
  }

  return async (organizationId, batches) => {
    const merger = mergers.get(organizationId) ?? { merged: createMerger(inPlace, 1), jobs: 0 };
    mergers.set(organizationId, merger);
    merger.jobs += 1;
    try {
      return await merger.merged(batches);
    } finally {
      merger.jobs -= 1;
      if (merger.jobs === 0) mergers.delete(organizationId);
    }
  };
}

function sizeOf(batches: readonly IncomingBatch[]): { events: number; bytes: number } {
  let [events, bytes] = [0, 0];
  for (const batch of batches) {
    events += batch.events.length;
    for (const { properties } of batch.events) bytes += properties.length;
  }
  return { events, bytes };
}

function take<Verdicts>(queue: Waiting<Verdicts>[]): Waiting<Verdicts>[] {
  let [events, bytes, count] = [0, 0, 0];
  for (const job of queue) {
    if (count > 0 && (events + job.events > MOST_EVENTS || bytes + job.bytes > MOST_BYTES)) break;
    events += job.events;
    bytes += job.bytes;
    count += 1;
  }
  return queue.splice(0, count);
}
