import { walkWaitingEndpoints } from '../../areas/messaging/deliver-webhooks/walk-endpoint.ts';
import { sweepEventBatches } from '../../areas/usage/ingest-events/finish-batches.ts';
import { realNow, realNowMs } from '../../platform/clock/real-clock.ts';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import type { QueueName } from '../../queues.ts';
import { nudgeLostSteps } from './lost-steps.ts';

/** A nudge follows its commit within a tenth of a second; work still owed after 2 s has probably lost it. */
const LOST_AFTER_MS = 2000;
/** Postgres may still be away after a connection to it was lost, so the sweep is tried again. */
const TRY_AGAIN_MS = 500;
/** Without any sign of trouble, a check every 5 s finds work that has waited for 10 s in an idle queue. */
const LOOK_EVERY_MS = 5000;
const OLD_AFTER_MS = 10_000;

export interface Watch {
  /** Reports a lost connection, after which nudges of these moments may be lost. */
  suspect(): void;
  close(): Promise<void>;
}

type WatchDeps = Pick<SweepDeps, 'sql' | 'log'> & { producer: Pick<Producer, 'addMany' | 'queue'> };

/**
 * Finds rows whose nudge was lost soon, which would otherwise wait two minutes for the sweepers: batches of events,
 * after-steps, and after a sign of trouble deliveries. A starting process may replace one that was killed between a
 * commit and its nudge, and a lost connection to Postgres or Redis may have lost nudges too; in both cases it sweeps
 * what is owed since then. It also checks every few seconds for work older than 10 s in an idle queue; in a busy queue
 * the work has its job and waits for its turn. Work in progress may be nudged twice, as by the sweeper.
 *
 * lostAfterMs  age from which on a row without a job counts as lost, after a sign of trouble
 */
export function watchOwed(deps: WatchDeps, lostAfterMs = LOST_AFTER_MS, lookEveryMs = LOOK_EVERY_MS): Watch {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping = Promise.resolve();
  let suspectedAtMs = realNowMs();
  let sweptForMs = 0;

  const plan = (ms: number) => {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      // The next time is decided at the end, because a connection may have been lost meanwhile.
      sweeping = sweep().then((isDone) => plan(isDone ? untilNext() : TRY_AGAIN_MS));
    }, ms);
  };
  const untilSuspected = () => suspectedAtMs + lostAfterMs - realNowMs();
  const untilNext = () => (sweptForMs < suspectedAtMs ? Math.max(untilSuspected(), 0) : lookEveryMs);

  /** @returns whether it succeeded */
  async function sweep(): Promise<boolean> {
    try {
      if (sweptForMs < suspectedAtMs && untilSuspected() <= 0) {
        const since = suspectedAtMs;
        await sweepAll(deps, lostAfterMs);
        sweptForMs = since;
      } else {
        await sweepIdle(deps, OLD_AFTER_MS);
      }
      return true;
    } catch (error) {
      if (!closed) deps.log.warn({ err: (error as Error).message }, 'sweep of owed work failed, it is tried again');
      suspectedAtMs = realNowMs(); // rows of this sweep may have been taken without a nudge
      return false;
    }
  }

  plan(lostAfterMs);
  return {
    suspect() {
      suspectedAtMs = realNowMs();
      plan(lostAfterMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** Sweeps that always nudge under the same id, so that a row has at most one such job. */
const SWEPT = 'owed';

async function sweepAll(deps: WatchDeps, lostAfterMs: number): Promise<void> {
  const now = realNow();
  const since = now.subtract({ milliseconds: lostAfterMs });
  await Promise.all([
    sweepEventBatches(deps, since, now, SWEPT),
    nudgeLostSteps(deps, now, since, SWEPT),
    walkWaitingEndpoints(deps, now, lostAfterMs),
  ]);
}

async function sweepIdle(deps: WatchDeps, oldAfterMs: number): Promise<void> {
  const now = realNow();
  const since = now.subtract({ milliseconds: oldAfterMs });
  const sweeps: [QueueName, () => Promise<unknown>][] = [
    ['aggregation', () => sweepEventBatches(deps, since, now, SWEPT)],
    ['billing', () => nudgeLostSteps(deps, now, since, SWEPT)],
  ];
  await Promise.all(
    sweeps.map(async ([queue, sweep]) => {
      const counts = await deps.producer.queue(queue).getJobCounts('waiting', 'prioritized');
      if (Object.values(counts).every((count) => count === 0)) await sweep();
    }),
  );
}
