import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import type { Scope } from '../../platform/db/scope.ts';
import { json } from '../../platform/db/values.ts';
import type { OrganizationId } from '../../platform/ids.ts';

/**
 * Takes a step out of the table, if it is due at `now`, has not failed for good and no other worker has it; a rollback
 * puts it back.
 */
export async function takeStep(
  { db: tx, organizationId }: Scope,
  stepId: string,
  now: Temporal.Instant,
): Promise<{ job: string; payload: unknown } | undefined> {
  const [step] = await tx<{ job: string; payload: unknown }[]>`
    delete from after_steps where id = (
      select id from after_steps
      where organization_id = ${organizationId} and id = ${stepId} and failed_at is null
        and (due_at is null or due_at <= ${now})
      for update skip locked)
    returning job, payload`;
  return step;
}

/**
 * Stores since when no worker understands the step, and the first reason.
 *
 * @returns whether it was stored for the first time
 */
export async function markUnknown(
  sql: Sql,
  { organizationId, id }: { organizationId: OrganizationId; id: string },
  { reason, realNow }: { reason: string; realNow: Temporal.Instant },
): Promise<boolean> {
  const noted = await sql`
    update after_steps set unknown_since = ${realNow}, error = ${reason}
    where organization_id = ${organizationId} and id = ${id} and unknown_since is null
    returning 1`;
  return noted.length > 0;
}

/** The error that a run shows. Rule: other-routes.md#common-ground "Runs". */
export interface RunError {
  code: string;
  message: string;
  svc_resource_id: string | null;
}

/**
 * Counts a failed attempt of a worker that understood the step; the step fails for good if `final` or after
 * `mostAttempts`. The step's run, if any, then ends as failed at `now`.
 */
export const countFailure = (
  sql: Sql,
  step: { organizationId: OrganizationId; id: string },
  failure: {
    message: string;
    final: boolean;
    mostAttempts: number;
    realNow: Temporal.Instant;
    now: Temporal.Instant;
    shown: RunError;
  },
) => sql`
  with counted as (
    update after_steps set attempts = attempts + 1, error = ${failure.message}, unknown_since = null,
      failed_at = case when ${failure.final} or attempts + 1 >= ${failure.mostAttempts} then ${failure.realNow}::timestamptz end
    where organization_id = ${step.organizationId} and id = ${step.id} and failed_at is null
    returning payload ->> 'run_id' as run_id, failed_at
  )
  update runs set status = 'failed', error = ${json(failure.shown)}, started_at = coalesce(started_at, ${failure.now}),
    finished_at = ${failure.now}
  from counted
  where runs.organization_id = ${step.organizationId} and runs.id::text = counted.run_id
    and counted.failed_at is not null
    and runs.finished_at is null`;
