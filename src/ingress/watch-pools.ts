import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import { keyPrefix, type Parts, storedNames } from '../platform/queue/queue-names.ts';
import { mastersOf } from '../platform/redis/nodes.ts';
import { refuse } from '../platform/refusal.ts';
import type { QueueName } from '../queues.ts';

/** Queues whose callers wait for the answer of a worker. */
const WAITED = ['writes', 'asking', 'credit-notes', 'events', 'decisions'] as const satisfies QueueName[];
type Waited = (typeof WAITED)[number];

const LOOK_EVERY_MS = 1000;
/** Time for which a pool may be gone during a restart; requests wait for it meanwhile. */
const ABSENT_AFTER_MS = 3000;
/** Age from which an observation is ignored, because Redis may have been away. */
const LOOK_IS_GOOD_FOR_MS = 3000;
/** Grace after the start, because ingress and workers start together. */
const START_MS = 60_000;

/** Knows whether a job would be taken by a worker now. */
export interface HandOver {
  /**
   * Refuses a job before it is enqueued if Redis is away, the queue has no worker, or what it would store is not to be
   * stored now. A busy worker counts as a worker, and a job that may have reached Redis is waited for as usual.
   *
   * @throws Refusal 503
   */
  refuseIfInVain(queue: QueueName): void;
  close(): void;
}

interface Watched {
  parts?: Parts;
  now?: () => number;
  /** Why nothing is to be stored now. */
  whyNoWrites?: () => string | undefined;
}

/**
 * redis connection on which jobs are enqueued
 * now    milliseconds of a clock
 */
export function watchHandOver(
  redis: Redis,
  prefix: string,
  { parts = {}, now = realNowMs, whyNoWrites = () => undefined }: Watched = {},
): HandOver {
  const startedAtMs = now();
  const seenAtMs = new Map<Waited, number>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = async () => {
    if (redis.status !== 'ready') return;
    const askedAtMs = now();
    // A worker waits at the node that has its queue. Checked again in a second.
    const lists = await Promise.all(mastersOf(redis).map((node) => node.client('LIST'))).catch(() => []);
    if (lists.length === 0) return;
    const clients = lists.join('');
    lookedAtMs = askedAtMs;
    for (const queue of WAITED) {
      const workers = storedNames(queue, parts).map((stored) => ` name=${workerName(prefix, stored)}`);
      if (workers.every((worker) => clients.includes(worker))) seenAtMs.set(queue, askedAtMs);
    }
  };
  const hasWorker = (queue: Waited): boolean => {
    if (now() - lookedAtMs > LOOK_IS_GOOD_FOR_MS) return true; // unknown
    const seen = seenAtMs.get(queue);
    return seen === undefined ? now() - startedAtMs < START_MS : now() - seen < ABSENT_AFTER_MS;
  };
  const isWaited = (queue: QueueName): queue is Waited => (WAITED as readonly QueueName[]).includes(queue);
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  void look();
  return {
    refuseIfInVain(queue) {
      if (redis.status !== 'ready') throw refuse.unavailable();
      if (isWaited(queue) && (!hasWorker(queue) || whyNoWrites() !== undefined)) throw refuse.unavailable();
    },
    close: () => clearInterval(timer),
  };
}

/** The client name under which BullMQ's workers wait in Redis; it disappears with their process. */
const workerName = (prefix: string, stored: string): string =>
  `${keyPrefix(prefix, stored)}:${Buffer.from(stored).toString('base64')} `;

/**
 * The reply to a job that is being put into its queue. What Redis refuses (it is full, or read-only since a failover)
 * was not handed over, and is refused at once; a Redis that is away may take it yet, and is waited for.
 *
 * @throws Refusal 503
 */
export async function replyUnlessRefused<Reply>(added: Promise<void>, reply: Promise<Reply>): Promise<Reply> {
  const refused = new Promise<never>((_resolve, reject) => {
    added.catch((error) => isRefusal(error) && reject(refuse.unavailable()));
  });
  return Promise.race([reply, refused]);
}

/** An answer of Redis, unlike the end of a connection, behind which a job may have been taken. */
const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';
