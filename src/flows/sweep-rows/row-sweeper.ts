import { realNow } from '../../platform/clock/real-clock.ts';
import type { SweepDeps, SweepJob } from '../../platform/periodic-job.ts';
import { nudgeLostSteps } from './lost-steps.ts';
import { nudgeLostTicks } from './lost-ticks.ts';

/** Rows whose job was lost are nudged again (README decision 7, platform L `row-sweeper`). */
export const rowSweeper: SweepJob = {
  name: 'row-sweeper',
  async sweep(deps: SweepDeps) {
    const now = realNow();
    await Promise.all([nudgeLostSteps(deps, now), nudgeLostTicks(deps, now)]);
  },
};
