import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type QueueName, queues } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';

/** A job without work that travels through a queue like any other: progress, not just a pulse. */
export const PING_JOB = 'ping';
export const PING_EVERY_MS = 3000;
/** Older than this, a queue counts as standing still. */
export const PROGRESS_MAX_AGE_MS = 20_000;

const keyOf = (prefix: string): string => `${prefix}:progress`;

/** Sends the job through a queue; while one waits there, a second one is none. */
export async function ping(queue: Queue): Promise<void> {
  await queue.add(PING_JOB, {}, { jobId: PING_JOB, removeOnComplete: true, removeOnFail: true });
}

/** Notes that a job of this queue was finished just now. */
export async function markProgress(redis: Redis, prefix: string, queue: QueueName): Promise<void> {
  await redis.hset(keyOf(prefix), queue, String(realNowMs()));
}

/**
 * Queues whose last finished job is older than PROGRESS_MAX_AGE_MS, or that finished none since the caller started: the
 * marks of workers that were stopped with it say nothing of those of today.
 */
export async function standingQueues(redis: Redis, prefix: string, startedAtMs = 0): Promise<QueueName[]> {
  const marks = await redis.hgetall(keyOf(prefix));
  const oldest = Math.max(startedAtMs, realNowMs() - PROGRESS_MAX_AGE_MS);
  return (Object.keys(queues) as QueueName[]).filter((queue) => Number(marks[queue] ?? 0) < oldest);
}
