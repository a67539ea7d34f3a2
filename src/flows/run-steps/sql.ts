import type { Temporal } from 'temporal-polyfill';
import type { Db, Sql, Tx } from '../../platform/db/connect.ts';

/**
 * Takes a step out of the table, if it is due at `now`, has not failed for good and nobody else has it; a rollback puts it
 * back.
 */
export async function takeStep(
  tx: Db | Tx,
  organizationId: string,
  stepId: string,
  now: Temporal.Instant,
): Promise<{ job: string; payload: object } | undefined> {
  const [step] = await tx<{ job: string; payload: object }[]>`
    delete from after_steps where id = (
      select id from after_steps
      where organization_id = ${organizationId} and id = ${stepId} and failed_at is null
        and (due_at is null or due_at <= ${now})
      for update skip locked)
    returning job, payload`;
  return step;
}

/** Counts a failed attempt; for good when `final` or when it was the last of `mostAttempts`. */
export const countFailure = (
  sql: Sql,
  step: { organizationId: string; id: string },
  failure: { message: string; final: boolean; mostAttempts: number; realNow: Temporal.Instant },
) => sql`
  update after_steps set attempts = attempts + 1, error = ${failure.message},
    failed_at = case when ${failure.final} or attempts + 1 >= ${failure.mostAttempts} then ${failure.realNow}::timestamptz end
  where organization_id = ${step.organizationId} and id = ${step.id} and failed_at is null`;
