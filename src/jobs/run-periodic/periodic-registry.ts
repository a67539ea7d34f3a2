import { terminationAlerts } from '../../areas/billing/bill-subscriptions/termination-alerts.ts';
import { periodicJobs, sweepJobs } from '../../periodic-jobs.ts';
import type { Config } from '../../platform/config.ts';
import type { PeriodicJob, SweepJob } from '../../platform/periodic-job.ts';
import { type ScheduleRow, schedule } from '../../schedule.ts';

/** The schedule with its implementations. */
export interface Registry {
  rows: readonly ScheduleRow[];
  periodicJobs: readonly PeriodicJob[];
  sweepJobs: readonly SweepJob[];
}

/** The registry of this service. @throws Error when it does not fit together */
export const registryOf = (config: Config): Registry =>
  checked({
    rows: schedule(config),
    periodicJobs: [...periodicJobs, terminationAlerts(config.SUBSCRIPTION_TERMINATION_ALERT_DAYS)],
    sweepJobs,
  });

/**
 * The same registry, when every row has exactly one implementation of its clock and every implementation exactly one
 * row.
 *
 * @throws Error naming every job that is missing or there twice: the process must not start
 */
export function checked(registry: Registry): Registry {
  const problems = [
    ...differences(
      'B',
      registry.rows,
      registry.periodicJobs.map((job) => job.name),
    ),
    ...differences(
      'R',
      registry.rows,
      registry.sweepJobs.map((job) => job.name),
    ),
  ];
  if (problems.length > 0) throw new Error(`the table of periodic jobs does not fit: ${problems.join('; ')}`);
  return registry;
}

function differences(clock: 'B' | 'R', rows: readonly ScheduleRow[], implemented: string[]): string[] {
  const scheduled = rows.filter((row) => row.clock === clock).map((row) => row.job);
  return [
    ...twice(scheduled).map((job) => `${job} stands twice in the schedule`),
    ...twice(implemented).map((job) => `${job} is implemented twice`),
    ...scheduled
      .filter((job) => !implemented.includes(job))
      .map((job) => `${job} has no implementation of clock ${clock}`),
    ...implemented.filter((job) => !scheduled.includes(job)).map((job) => `${job} has no row of clock ${clock}`),
  ];
}

const twice = (names: string[]): string[] => [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
