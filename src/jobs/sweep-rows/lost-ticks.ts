import type { Temporal } from 'temporal-polyfill';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import { listAbandonedTicks } from '../periodic-jobs/queries.ts';
import { tickJobId } from '../periodic-jobs/tick-job.ts';

const LOST_AFTER_SECONDS = 120;
/** Age from which ticks are ignored, because later ones have done the work. */
const FORGOTTEN_AFTER_SECONDS = 86_400;

type Deps = Pick<SweepDeps, 'sql' | 'producer'>;

/**
 * Nudges the newest tick of a job again if it was claimed but neither finished nor failed, because its claimer died.
 * One that has begun has a lease: `nudgeAbandonedTicks` finds it.
 */
export async function nudgeLostTicks(deps: Deps, realNow: Temporal.Instant): Promise<void> {
  const ticks = await deps.sql<{ job: string; tick_at: Temporal.Instant }[]>`
    select job, tick_at from (
      select distinct on (job) job, tick_at, claimed_at, finished_at from schedule_ticks
      where tick_at > ${realNow.subtract({ seconds: FORGOTTEN_AFTER_SECONDS })}
      order by job, tick_at desc) newest
    where finished_at is null and claimed_at <= ${realNow.subtract({ seconds: LOST_AFTER_SECONDS })}
      and not exists (
        select from periodic_leases lease
        where lease.schema_key = current_schema() and lease.job = newest.job and lease.tick_at >= newest.tick_at)`;
  await deps.producer.addMany(
    'periodic.tick',
    ticks.map((tick) => ({
      payload: { job: tick.job, at: tick.tick_at.toString() },
      options: { id: `${tickJobId(tick.job, tick.tick_at)}-${realNow.epochMilliseconds}` },
    })),
  );
}

/**
 * Nudges ticks whose process was killed or is frozen, as soon as their lease has run out, and those that waited for
 * room in their queue when Redis was emptied. It asks the leases alone, whatever the queue still knows of them. The id
 * of the job names the end of the lease, so that several schedulers make one job of it.
 */
export async function nudgeAbandonedTicks({ sql, producer }: Deps): Promise<void> {
  const ticks = await listAbandonedTicks(sql);
  await producer.addMany(
    'periodic.tick',
    ticks.map(({ job, tick_at, until }) => ({
      payload: { job, at: tick_at.toString() },
      options: { id: `${tickJobId(job, tick_at)}-left-${until.epochMilliseconds}`, forgetFailed: true },
    })),
  );
}
