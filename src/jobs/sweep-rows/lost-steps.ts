import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import type { CustomerId, OrganizationId } from '../../platform/ids.ts';
import type { SweepDeps } from '../../platform/periodic-job.ts';
import type { Producer } from '../../platform/queue/producer.ts';
import { stepJob } from '../../platform/records/nudge.ts';

/** Age from which a step has lost its job. */
const LOST_AFTER_SECONDS = 120;
const PAGE = 1000;
/** How many pages of steps one sweep sends; the rest waits for the next minute. */
const MOST_PAGES = 20;

/**
 * Nudges after-steps again: those whose job was lost, and those whose due time has come. Steps of an organization with
 * a test clock are swept only when they need no time to pass; delayed steps, and all steps of an advancing clock, are
 * left to the advance. A step that was tried already has its next try in the queue and counts as lost only after two
 * minutes.
 *
 * by part of the jobs' ids: a second nudge by the same caller is ignored while the first is stored
 */
export async function nudgeLostSteps(
  deps: Pick<SweepDeps, 'sql'> & { producer: Pick<Producer, 'addMany'> },
  realNow: Temporal.Instant,
  lostSince = realNow.subtract({ seconds: LOST_AFTER_SECONDS }),
  by = `${realNow.epochMilliseconds}`,
): Promise<void> {
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const steps = await takeLostSteps(deps.sql, realNow, lostSince);
    await deps.producer.addMany(
      'step.run',
      steps.map((step) => {
        const { payload, options } = stepJob(step, by);
        return { payload, options: { ...options, forgetFailed: true } };
      }),
    );
    if (steps.length < PAGE) return;
  }
}

const lostSinceOf = (sql: Sql, realNow: Temporal.Instant, lostSince: Temporal.Instant) => sql`
  case when step.attempts = 0 then ${lostSince}::timestamptz
    else ${realNow.subtract({ seconds: LOST_AFTER_SECONDS })}::timestamptz end`;

const takeLostSteps = (sql: Sql, realNow: Temporal.Instant, lostSince: Temporal.Instant) => sql<
  { id: string; organization_id: OrganizationId; customer_id: CustomerId | null }[]
>`
  update after_steps set enqueued_at = ${realNow}
  where id in (
    select step.id from after_steps step
    left join test_clocks clock on clock.organization_id = step.organization_id
    where step.failed_at is null
      and case
        when clock.organization_id is not null then step.due_at is null and clock.status <> 'advancing'
          and step.enqueued_at <= ${lostSinceOf(sql, realNow, lostSince)}
        when step.due_at > step.enqueued_at then step.due_at <= ${realNow}
        else step.enqueued_at <= ${lostSinceOf(sql, realNow, lostSince)}
      end
    order by step.enqueued_at
    limit ${PAGE}
    for update of step skip locked)
  returning id, organization_id, customer_of_work(organization_id, payload) as customer_id`;
