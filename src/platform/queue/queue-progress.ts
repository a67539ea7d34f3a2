import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { realNowMs } from '../clock/real-clock.ts';

/** A job without work that passes through a queue like any other: it shows progress, not just a heartbeat. */
export const PING_JOB = 'ping';
export const PING_EVERY_MS = 3000;
/** Age from which a queue counts as standing still. */
export const PROGRESS_MAX_AGE_MS = 20_000;

const keyOf = (prefix: string): string => `${prefix}:progress`;

/** Sends the job through a queue; a second one is ignored while one is waiting. */
export async function ping(queue: Queue): Promise<void> {
  await queue.add(PING_JOB, {}, { jobId: PING_JOB, removeOnComplete: true, removeOnFail: true });
}

/** Records that a job of this queue was finished just now. */
export async function markProgress(redis: Redis, prefix: string, queue: string): Promise<void> {
  await redis.hset(keyOf(prefix), queue, String(realNowMs()));
}

/**
 * Those of some queues, by their names in Redis, whose last finished job is older than PROGRESS_MAX_AGE_MS, or that
 * finished none since the caller started: marks of earlier workers say nothing about the present ones.
 */
export async function standingQueues(
  redis: Redis,
  prefix: string,
  names: readonly string[],
  startedAtMs = 0,
): Promise<string[]> {
  const marks = await redis.hgetall(keyOf(prefix));
  const oldest = Math.max(startedAtMs, realNowMs() - PROGRESS_MAX_AGE_MS);
  return names.filter((queue) => Number(marks[queue] ?? 0) < oldest);
}
