import { randomUUID } from 'node:crypto';
import { type QueueName, queues } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';
import type { Redis } from '../redis/connect.ts';

/** So many different jobs of a queue must have failed, one after the other, before it counts as failing. */
const MANY = 3;
/** A failure is forgotten after this time. */
const REMEMBERED_MS = 600_000;
const LONGEST_ERROR = 200;

/** What a process has seen of a queue lately. */
interface Seen {
  /** When a job was last done; 0 for never. */
  doneAtMs: number;
  failedAtMs: number;
  /** Different jobs that have failed since, at most MANY. */
  failed: string[];
  error: string;
}

const keyOf = (prefix: string): string => `${prefix}:outcomes`;

/** How the jobs of a queue end in this process. */
export interface Outcomes {
  done(): void;
  failed(jobId: string, error: Error): void;
  /** Writes what has changed since the last time. */
  tell(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Notes how the jobs of a queue end in this process, for `/ready`: it is told at intervals, so that no job costs a
 * round trip more.
 */
export function openOutcomes(redis: Redis, prefix: string, queue: QueueName): Outcomes {
  const field = `${queue}/${randomUUID()}`;
  let seen: Seen = { doneAtMs: 0, failedAtMs: 0, failed: [], error: '' };
  let isChanged = false;
  return {
    done() {
      isChanged = true;
      seen = { ...seen, doneAtMs: realNowMs(), failed: [] };
    },
    failed(jobId, error) {
      const failed = [...new Set([...seen.failed, jobId])].slice(0, MANY);
      seen = { ...seen, failedAtMs: realNowMs(), failed, error: error.message.slice(0, LONGEST_ERROR) };
      isChanged = true;
    },
    async tell() {
      if (!isChanged) return;
      isChanged = false;
      await redis.hset(keyOf(prefix), field, JSON.stringify(seen));
    },
    async close() {
      await redis.hdel(keyOf(prefix), field).catch(() => {}); // what is left is too old in ten minutes
    },
  };
}

/**
 * Queues of which several different jobs have failed and none was done since, in any process; with the last error.
 *
 * Rule: several-hosts.md#silence-speaks.
 */
export async function failingQueues(redis: Redis, prefix: string): Promise<{ queue: QueueName; error: string }[]> {
  const stored = await redis.hgetall(keyOf(prefix));
  const since = realNowMs() - REMEMBERED_MS;
  const all = Object.entries(stored).map(([field, text]) => ({ field, ...(JSON.parse(text) as Seen) }));
  const old = all.filter((seen) => Math.max(seen.failedAtMs, seen.doneAtMs) < since).map(({ field }) => field);
  if (old.length > 0) await redis.hdel(keyOf(prefix), ...old);
  return (Object.keys(queues) as QueueName[]).flatMap((queue) => {
    const ofQueue = all.filter(({ field }) => field.startsWith(`${queue}/`));
    const doneAtMs = Math.max(0, ...ofQueue.map((seen) => seen.doneAtMs));
    const failing = ofQueue.filter(({ failedAtMs }) => failedAtMs > Math.max(doneAtMs, since));
    const jobs = new Set(failing.flatMap(({ failed }) => failed));
    if (jobs.size < MANY) return [];
    const last = failing.reduce((latest, seen) => (seen.failedAtMs > latest.failedAtMs ? seen : latest));
    return [{ queue, error: last.error }];
  });
}
