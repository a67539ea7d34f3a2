import { realNow } from '../../platform/clock/real-clock.ts';
import type { DueItem, PeriodicJob, Place } from '../../platform/periodic-job.ts';
import { attempt } from './attempts.ts';
import { storeJobStart } from './clock-lease.ts';
import { settle } from './settle-steps.ts';
import { moveTo, type Walker, workAtInstant } from './walker.ts';

const PAGE = 1000;
/** How many items one job may have at one instant; a sandbox has fewer. */
const MOST_ITEMS = 256_000;

/**
 * Runs a job once at the clock's instant: its items, then their consequences. A job without items leaves no trace.
 * `leaveOut` has keys of items that the advance must skip.
 *
 * @returns whether it found work
 * @throws JobFailed, LeaseLost
 */
export async function runJob(walker: Walker, job: PeriodicJob, leaveOut: readonly string[] = []): Promise<boolean> {
  const { deps, lease, clock } = walker;
  const at = clock.frozen_time;
  const items = (await selectDue(walker, job)).filter((due) => !leaveOut.includes(due.key));
  if (items.length === 0) return false;
  await tell(walker, job.name, items.length);
  for (const item of items) {
    await attempt({ job: job.name, resource: item.resource }, () =>
      workAtInstant(walker, (ctx) => job.work(ctx, item.item, at)),
    );
  }
  await settle(walker);
  deps.log.debug(
    { organization_id: lease.organizationId, job: job.name, at: at.toString(), items: items.length },
    'due job done',
  );
  return true;
}

/** All items that are due for the job at the clock's instant. */
export function selectDue({ deps, lease, clock }: Walker, job: PeriodicJob): Promise<DueItem[]> {
  const reach = { organizationId: lease.organizationId };
  return attempt({ job: job.name }, async () => {
    const due: DueItem[] = [];
    let after: Place | undefined;
    do {
      const page = await job.select(deps.sql, clock.frozen_time, reach, { limit: PAGE, after });
      due.push(...page.items);
      after = page.next ?? undefined;
    } while (after !== undefined && due.length < MOST_ITEMS);
    return due;
  });
}

/** Stores which job is in work, with its line in the timeline unless it is repeated. */
async function tell(walker: Walker, job: string, count: number): Promise<void> {
  const { deps, lease, clock, phase } = walker;
  const next = { ...phase, job, told: job, counted: true };
  const stepsDone = clock.steps_done + (phase.counted ? 0 : 1);
  if (phase.told === job) return moveTo(walker, next, clock.frozen_time, stepsDone);
  const position = { at: clock.frozen_time, phase: next, stepsDone };
  walker.clock = await storeJobStart(deps.sql, lease, { position, line: { job, count, realNow: realNow() } });
  walker.phase = next;
}
