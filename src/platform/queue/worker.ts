import { DelayedError, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { type JobName, type JobPayload, jobs, type QueueName, queues } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';
import type { Log } from '../log/log.ts';
import { Refusal } from '../refusal.ts';
import { markProgress, PING_EVERY_MS, PING_JOB, ping } from './progress.ts';

export interface JobInfo {
  id: string;
  /** 1 for the first try. */
  attempt: number;
  lastAttempt: boolean;
  /** When the job was put into the queue, milliseconds since 1970. */
  addedAtMs: number;
  /** Puts the job back for a while without using up an attempt; never returns. */
  comeBack(delayMs: number): Promise<never>;
}

export type Handlers<Names extends JobName = JobName> = {
  [Name in Names]: (payload: JobPayload<Name>, info: JobInfo) => Promise<void>;
};

export interface ServeOptions {
  redis: Redis;
  prefix: string;
  concurrency: number;
  log: Log;
  onFinished?: (job: { queue: QueueName; name: string; seconds: number; failed: boolean }) => void;
}

// A caller waits: the job of a killed worker runs again within about 5 s (performance-design 3.3, run there).
const WAITED_LOCK = { lockDuration: 3000, stalledInterval: 1500, maxStalledCount: 5 };
const RETRIED_LOCK = { lockDuration: 30_000, stalledInterval: 5000, maxStalledCount: 5 };

/**
 * Serves one queue with the handlers given by job name. A Refusal ends a job for good without retry; any other error is
 * retried by the queue's table. Start-up refuses a queue that has a job without a handler. A ping job every few seconds
 * proves that the queue moves (`/ready`).
 */
export function serveQueue(
  name: QueueName,
  handlers: Partial<Handlers>,
  options: ServeOptions,
): { close(): Promise<void> } {
  const missing = (Object.keys(jobs) as JobName[]).filter((job) => jobs[job].queue === name && !handlers[job]);
  if (missing.length > 0) throw new Error(`queue ${name} has jobs without a handler: ${missing.join(', ')}`);
  const { redis, prefix, log } = options;
  const worker = new Worker(
    name,
    async (job: Job, token?: string) => {
      if (job.name === PING_JOB) return markProgress(redis, prefix, name);
      const started = performance.now();
      let failed = true;
      try {
        await run(job, token, handlers);
        failed = false;
      } finally {
        options.onFinished?.({ queue: name, name: job.name, seconds: (performance.now() - started) / 1000, failed });
      }
    },
    {
      connection: redis,
      prefix,
      concurrency: options.concurrency,
      ...(queues[name].waited ? WAITED_LOCK : RETRIED_LOCK),
    },
  );
  worker.on('error', (error) => log.warn({ queue: name, err: error.message }, 'queue connection trouble'));
  worker.on('failed', (job, error) => {
    const details = { queue: name, job: job?.name, id: job?.id, attempt: job?.attemptsMade, err: error };
    if (error instanceof UnrecoverableError) log.info(details, 'job refused');
    else log.error(details, 'job failed');
  });
  const pings = keepPinging(name, redis, prefix);
  return {
    async close() {
      await pings.stop();
      await worker.close();
    },
  };
}

async function run(job: Job, token: string | undefined, handlers: Partial<Handlers>): Promise<void> {
  const name = job.name as JobName;
  const handler = handlers[name] as ((payload: unknown, info: JobInfo) => Promise<void>) | undefined;
  if (!handler) throw new UnrecoverableError(`no handler for job ${job.name}`);
  const parsed = jobs[name].payload.safeParse(job.data);
  if (!parsed.success) throw new UnrecoverableError(`payload of ${job.name} does not fit: ${parsed.error.message}`);
  const attempt = job.attemptsMade + 1;
  const info: JobInfo = {
    id: job.id ?? '',
    attempt,
    lastAttempt: attempt >= (job.opts.attempts ?? 1),
    addedAtMs: job.timestamp,
    async comeBack(delayMs) {
      await job.moveToDelayed(realNowMs() + delayMs, token);
      throw new DelayedError();
    },
  };
  try {
    await handler(parsed.data, info);
  } catch (error) {
    if (error instanceof Refusal) throw new UnrecoverableError(error.message);
    throw error;
  }
}

function keepPinging(name: QueueName, redis: Redis, prefix: string): { stop(): Promise<void> } {
  const queue = new Queue(name, { connection: redis, prefix });
  queue.on('error', () => {}); // the connection reconnects by itself
  const pingOnce = () => void ping(queue).catch(() => {}); // the next tick tries again
  const timer = setInterval(pingOnce, PING_EVERY_MS);
  pingOnce();
  return {
    async stop() {
      clearInterval(timer);
      await queue.close();
    },
  };
}
