import type { Queue } from 'bullmq';
import { Temporal } from 'temporal-polyfill';

/** When the oldest waiting job of a queue was enqueued; null if none waits. */
export async function pendingSince(queue: Queue): Promise<Temporal.Instant | null> {
  const [waiting, background] = await Promise.all([queue.getWaiting(0, 0), queue.getPrioritized(0, 0)]);
  const since = Math.min(...[...waiting, ...background].map(({ timestamp }) => timestamp));
  return Number.isFinite(since) ? Temporal.Instant.fromEpochMilliseconds(since) : null;
}
