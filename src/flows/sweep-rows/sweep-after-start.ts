import { setTimeout as wait } from 'node:timers/promises';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import { sweepEventBatches } from '../ingest-events/finish-batches.ts';
import { nudgeLostSteps } from './lost-steps.ts';

/** A nudge follows its commit within a tenth of a second; what is still owed after this long has probably lost it. */
const LOST_AFTER_MS = 5000;

/**
 * A process of workers that starts may stand in for one that was killed between a commit and its nudge: a moment later
 * it nudges once what is owed since, which would else wait for the row sweeper. Work under way may be nudged twice,
 * as it may be by the sweeper.
 */
export function sweepAfterStart(deps: SweepDeps, lostAfterMs = LOST_AFTER_MS): { close(): Promise<void> } {
  const stopping = new AbortController();
  const sweeping = sweepOnce(deps, lostAfterMs, stopping.signal).catch((error: Error) => {
    if (!stopping.signal.aborted) deps.log.warn({ err: error.message }, 'sweep after the start failed'); // the row sweeper comes by
  });
  return {
    async close() {
      stopping.abort();
      await sweeping;
    },
  };
}

async function sweepOnce(deps: SweepDeps, lostAfterMs: number, stopping: AbortSignal): Promise<void> {
  await wait(lostAfterMs, undefined, { signal: stopping });
  const now = realNow();
  const lostSince = now.subtract({ milliseconds: lostAfterMs });
  await Promise.all([sweepEventBatches(deps, lostSince, now), nudgeLostSteps(deps, now, lostSince)]);
}
