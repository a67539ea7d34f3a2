import type { PeriodicJob, SweepJob } from '../platform/periodic-job.ts';

/** Jobs of clock B: what falls due in an organization's own time. Each has its row in src/schedule.ts. */
export const periodicJobs: readonly PeriodicJob[] = [];

/** Jobs of clock R: sweeping and cleaning for all organizations alike. Each has its row in src/schedule.ts. */
export const sweepJobs: readonly SweepJob[] = [];
