import { DelayedError, type Job } from 'bullmq';
import type { QueueSpec } from '../../queues.ts';
import { realNowMs } from '../clock/real-clock.ts';
import { isLostConnection } from '../db/refusal-of-database.ts';

/** A caller waits so long for an answer unless told otherwise. */
const ANSWER_WITHIN_MS = 10_000;
/** What the last try and its answer take. */
const ANSWER_MS = 1000;
/** How long a job comes back if nobody waits for it: longer than a fail-over by hand takes. */
const COMES_BACK_FOR_MS = 600_000;
const SOONEST_MS = 300;
const LATEST_MS = 5000;

/** A job comes back because its connection to Postgres was lost: it is neither done nor failed. */
export class ConnectionLost extends DelayedError {}

/**
 * Delay after which a job that lost its connection runs again without using an attempt, by the time since it was due;
 * undefined when it has come back for long enough: a job that ends its own server is given up some day, and who waits
 * for one is told in time that Postgres is away. Its attempts, which come then, are the last of that time.
 *
 * Rule: several-hosts.md#fail-over.
 */
export function backAfterMs(
  { waited, attempts, backoff }: Pick<QueueSpec, 'waited' | 'attempts' | 'backoff'>,
  ageMs: number,
  answerWithinMs = ANSWER_WITHIN_MS,
): number | undefined {
  const forMs = waited ? answerWithinMs - (attempts - 1) * backoff.delay - ANSWER_MS : COMES_BACK_FOR_MS;
  const leftMs = forMs - ageMs;
  if (leftMs <= 0) return undefined;
  return Math.min(LATEST_MS, leftMs, Math.max(SOONEST_MS, ageMs / 4));
}

interface Running {
  token: string | undefined;
  spec: Pick<QueueSpec, 'waited' | 'attempts' | 'backoff'>;
  answerWithinMs?: number | undefined;
}

/** @throws ConnectionLost when the error is a lost connection, and the job has been put back */
export async function comeBackIfLost(job: Job, error: unknown, running: Running): Promise<void> {
  if (!isLostConnection(error)) return;
  const ageMs = realNowMs() - job.timestamp - (job.opts.delay ?? 0);
  const delayMs = backAfterMs(running.spec, ageMs, running.answerWithinMs);
  if (delayMs === undefined) return;
  await job.moveToDelayed(realNowMs() + delayMs, running.token);
  throw new ConnectionLost((error as Error).message);
}
