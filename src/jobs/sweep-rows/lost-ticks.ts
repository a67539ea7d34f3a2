import type { Temporal } from 'temporal-polyfill';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import { tickJobId } from '../periodic-jobs/tick-job.ts';

const LOST_AFTER_SECONDS = 120;
/** Age from which ticks are ignored, because later ones have done the work. */
const FORGOTTEN_AFTER_SECONDS = 86_400;

/**
 * Nudges the newest tick of a job again if it was claimed but neither finished nor failed, because its claimer died.
 */
export async function nudgeLostTicks(
  deps: Pick<SweepDeps, 'sql' | 'producer'>,
  realNow: Temporal.Instant,
): Promise<void> {
  const ticks = await deps.sql<{ job: string; tick_at: Temporal.Instant }[]>`
    select job, tick_at from (
      select distinct on (job) job, tick_at, claimed_at, finished_at from schedule_ticks
      where tick_at > ${realNow.subtract({ seconds: FORGOTTEN_AFTER_SECONDS })}
      order by job, tick_at desc) newest
    where finished_at is null and claimed_at <= ${realNow.subtract({ seconds: LOST_AFTER_SECONDS })}`;
  await deps.producer.addMany(
    'periodic.tick',
    ticks.map((tick) => ({
      payload: { job: tick.job, at: tick.tick_at.toString() },
      options: { id: `${tickJobId(tick.job, tick.tick_at)}-${realNow.epochMilliseconds}` },
    })),
  );
}
