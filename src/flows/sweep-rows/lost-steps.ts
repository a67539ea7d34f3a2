import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import type { SweepDeps } from '../../platform/periodic-job.ts';

/** A step that is older than this without having been done has lost its job. */
const LOST_AFTER_SECONDS = 120;
const PAGE = 1000;
/** More waits for the next minute. */
const MOST_PAGES = 20;

/**
 * Nudges after-steps again: those whose job was lost, and those whose due time has come. Steps of an organization with a
 * test clock are swept only when they need no time to pass; the delayed ones and all of an advancing clock are worked off by
 * the advance.
 */
export async function nudgeLostSteps(
  deps: Pick<SweepDeps, 'sql' | 'producer'>,
  realNow: Temporal.Instant,
  lostSince = realNow.subtract({ seconds: LOST_AFTER_SECONDS }),
): Promise<void> {
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const steps = await takeLostSteps(deps.sql, realNow, lostSince);
    await deps.producer.addMany(
      'step.run',
      steps.map((step) => ({
        payload: { step_id: step.id, organization_id: step.organization_id },
        // Another id than the first nudge, whose failed job may still be stored.
        options: { id: `step-${step.id}-${realNow.epochMilliseconds}` },
      })),
    );
    if (steps.length < PAGE) return;
  }
}

const takeLostSteps = (sql: Sql, realNow: Temporal.Instant, lostSince: Temporal.Instant) => sql<
  { id: string; organization_id: string }[]
>`
  update after_steps set enqueued_at = ${realNow}
  where id in (
    select step.id from after_steps step
    left join test_clocks clock on clock.organization_id = step.organization_id
    where step.failed_at is null
      and case
        when clock.organization_id is not null then step.due_at is null and clock.status <> 'advancing'
          and step.enqueued_at <= ${lostSince}
        when step.due_at > step.enqueued_at then step.due_at <= ${realNow}
        else step.enqueued_at <= ${lostSince}
      end
    order by step.enqueued_at
    limit ${PAGE}
    for update of step skip locked)
  returning id, organization_id`;
