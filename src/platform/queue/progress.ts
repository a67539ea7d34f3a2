import type { Redis } from 'ioredis';
import { type QueueName, queues } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';

/** A job without work that travels through a queue like any other: progress, not just a pulse. */
export const PING_JOB = 'ping';
export const PING_EVERY_MS = 3000;
/** Older than this, a queue counts as standing still. */
export const PROGRESS_MAX_AGE_MS = 20_000;

const keyOf = (prefix: string): string => `${prefix}:progress`;

/** Notes that a job of this queue was finished just now. */
export async function markProgress(redis: Redis, prefix: string, queue: QueueName): Promise<void> {
  await redis.hset(keyOf(prefix), queue, String(realNowMs()));
}

/** Queues whose last finished job is older than PROGRESS_MAX_AGE_MS, or that never finished one. */
export async function standingQueues(redis: Redis, prefix: string): Promise<QueueName[]> {
  const marks = await redis.hgetall(keyOf(prefix));
  const oldest = realNowMs() - PROGRESS_MAX_AGE_MS;
  return (Object.keys(queues) as QueueName[]).filter((queue) => Number(marks[queue] ?? 0) < oldest);
}
