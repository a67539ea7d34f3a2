import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';
import type { CustomerId, OrganizationId } from '../../platform/ids.ts';

/**
 * failed   given up, by a refusal or at its last attempt
 * unknown  no worker understands it: its name has no handler, or its payload does not fit the schema; `error` says
 *          which
 * waiting  the rest
 */
export type StepState = 'waiting' | 'unknown' | 'failed';
export const STEP_STATES = ['waiting', 'unknown', 'failed'] as const satisfies readonly StepState[];

/** How many steps are shown together, and run again together. */
export const MOST_STEPS_SHOWN = 100;
export const MOST_STEPS_RERUN = 1000;

export interface StepRow {
  id: string;
  organization_id: OrganizationId;
  job: string;
  state: StepState;
  attempts: number;
  error: string | null;
  due_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  unknown_since: Temporal.Instant | null;
  failed_at: Temporal.Instant | null;
}

const stateOf = (sql: Sql) => sql`
  case when failed_at is not null then 'failed' when unknown_since is not null then 'unknown' else 'waiting' end`;

/** Number of owed steps by name and state. */
export const countSteps = (sql: Sql) => sql<
  { job: string; state: StepState; count: number; oldest: Temporal.Instant }[]
>`
  select job, ${stateOf(sql)} as state, count(*)::int as count, min(created_at) as oldest
  from after_steps group by 1, 2 order by 1, 2`;

/** Owed steps of all organizations, oldest first; of one state and name if requested. */
export const listSteps = (sql: Sql, filter: { state?: StepState; job?: string }) => sql<StepRow[]>`
  select * from (
    select id, organization_id, job, ${stateOf(sql)} as state, attempts, error, due_at, created_at, unknown_since,
      failed_at
    from after_steps
    where ${filter.job === undefined ? sql`true` : sql`job = ${filter.job}`}) step
  where ${filter.state === undefined ? sql`true` : sql`state = ${filter.state}`}
  order by created_at, id
  limit ${MOST_STEPS_SHOWN}`;

/**
 * Gives failed steps all their attempts back, oldest first, at most 1 000 of them. A run that failed with its step
 * becomes pending again.
 *
 * @returns the steps, to be nudged after the statement
 */
export const reviveSteps = (sql: Sql, which: { id: string } | { job: string | undefined }, realNow: Temporal.Instant) =>
  sql<{ id: string; organization_id: OrganizationId; customer_id: CustomerId | null }[]>`
    with revived as (
      update after_steps set attempts = 0, failed_at = null, error = null, enqueued_at = ${realNow}
      where id in (
        select id from after_steps
        where failed_at is not null
          and ${'id' in which ? sql`id = ${which.id}` : which.job === undefined ? sql`true` : sql`job = ${which.job}`}
        order by created_at, id
        limit ${MOST_STEPS_RERUN}
        for update skip locked)
      returning id, organization_id, customer_of_work(organization_id, payload) as customer_id,
        payload ->> 'run_id' as run_id
    ), runs_again as (
      update runs set status = 'pending', error = null, finished_at = null
      from revived
      where runs.organization_id = revived.organization_id and runs.id::text = revived.run_id and runs.status = 'failed'
    )
    select id, organization_id, customer_id from revived`;
