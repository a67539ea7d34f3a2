import type { Temporal } from 'temporal-polyfill';
import type { Db, Sql, Tx } from '../../platform/db/connect.ts';
import type { Scope } from '../../platform/db/scope.ts';
import { json } from '../../platform/db/values.ts';
import type { CustomerId, OrganizationId } from '../../platform/ids.ts';
import type { Phase } from './phase-of-advance.ts';

export interface AdvancingClock {
  frozen_time: Temporal.Instant;
  target_time: Temporal.Instant;
  started_from: Temporal.Instant;
  phase: Phase | null;
  steps_done: number;
  cancel_requested: boolean;
}

/** The advance belongs to another worker: this one was believed dead, or the clock is gone. */
export class LeaseLost extends Error {}

/** Identifies the worker that advances; every statement that moves the clock checks it. */
export interface Lease {
  organizationId: OrganizationId;
  token: string;
}

const columns = (db: Db) => db`frozen_time, target_time, started_from, phase, steps_done, cancel_requested`;

/** Takes an advance without a worker, or one whose worker's lease has expired. */
export async function takeLease(
  sql: Sql,
  lease: Lease,
  { realNow, until }: { realNow: Temporal.Instant; until: Temporal.Instant },
): Promise<AdvancingClock | undefined> {
  const [clock] = await sql<AdvancingClock[]>`
    with taken as (
      update test_clock_leases set token = ${lease.token}, until = ${until}
      where organization_id = any (array(
        select clock.organization_id
        from test_clocks clock
        join test_clock_leases lease on lease.organization_id = clock.organization_id
        where clock.organization_id = ${lease.organizationId} and clock.status = 'advancing'
          and (lease.token is null or lease.until < ${realNow})
        for update skip locked))
      returning organization_id
    )
    update test_clocks set lease_token = ${lease.token}
    where organization_id in (select organization_id from taken)
    returning ${columns(sql)}`;
  return clock;
}

/** Renews the lease in a row of its own, because billing locks that of the clock. */
export const renewLease = (db: Db, lease: Lease, until: Temporal.Instant) => db`
  update test_clock_leases set until = ${until}
  where organization_id = ${lease.organizationId} and token = ${lease.token}`;

/** Leaves the advance to the next worker. The clock keeps the token, which has no effect without its lease. */
export const releaseLease = (sql: Sql, lease: Lease, realNow: Temporal.Instant) => sql`
  update test_clock_leases set token = null, until = ${realNow}
  where organization_id = ${lease.organizationId} and token = ${lease.token}`;

/** The stored position of an advance. */
export interface Position {
  at: Temporal.Instant;
  phase: Phase;
  stepsDone: number;
}

// A position lost in a crash of the server only repeats idempotent work, so it need not be flushed; later commits flush
// it too.
const relaxed = (db: Db) => db`relaxed as (select set_config('synchronous_commit', 'off', true))`;

const moved = (db: Db, lease: Lease, { at, phase, stepsDone }: Position) => db`
  moved as (
    update test_clocks set frozen_time = ${at}, phase = ${json(phase)}, steps_done = ${stepsDone}
    from relaxed
    where organization_id = ${lease.organizationId} and lease_token = ${lease.token} and status = 'advancing'
    returning ${columns(db)})`;

/**
 * Moves the clock, before any work of that instant starts.
 *
 * @throws LeaseLost
 */
export async function storePosition(sql: Sql, lease: Lease, position: Position): Promise<AdvancingClock> {
  const [clock] = await sql<AdvancingClock[]>`
    with ${relaxed(sql)}, ${moved(sql, lease, position)} select * from moved`;
  if (!clock) throw new LeaseLost();
  return clock;
}

/**
 * Stores which job is in work, with its line in the timeline (test-clocks.md#timeline) that counts its items.
 *
 * @throws LeaseLost
 */
export async function storeJobStart(
  sql: Sql,
  lease: Lease,
  { position, line }: { position: Position; line: { job: string; count: number; realNow: Temporal.Instant } },
): Promise<AdvancingClock> {
  const [clock] = await sql<AdvancingClock[]>`
    with ${relaxed(sql)}, ${moved(sql, lease, position)}, counter as (
      update test_clock_timelines set last = last + 1
      where organization_id = ${lease.organizationId} and exists (select from moved)
      returning last
    ), line as (
      insert into test_clock_timeline (organization_id, sequence, at, kind, name, summary, created_at)
      select ${lease.organizationId}::uuid, last, ${position.at}, 'job', ${line.job},
        ${json({ count: line.count })}::jsonb, ${line.realNow}
      from counter
    )
    select * from moved`;
  if (!clock) throw new LeaseLost();
  return clock;
}

export async function isCancelRequested(db: Db, lease: Lease): Promise<boolean> {
  const [clock] = await db<{ cancel_requested: boolean }[]>`
    select cancel_requested from test_clocks
    where organization_id = ${lease.organizationId} and lease_token = ${lease.token}`;
  if (!clock) throw new LeaseLost();
  return clock.cancel_requested;
}

/** Ends the advance at its present instant. @throws LeaseLost */
export async function storeEnd(
  tx: Tx,
  lease: Lease,
  end: { status: 'ready' } | { status: 'failed'; error: object },
): Promise<void> {
  const failed = end.status === 'failed';
  const { count } = await tx`
    with ended as (
      delete from test_clock_leases where organization_id = ${lease.organizationId} and token = ${lease.token}
    )
    update test_clocks set status = ${end.status}, error = ${json(failed ? end.error : null)},
      target_time = case when ${failed} then target_time end, phase = case when ${failed} then phase end,
      cancel_requested = false, lease_token = null
    where organization_id = ${lease.organizationId} and lease_token = ${lease.token}`;
  if (count === 0) throw new LeaseLost();
}

/** Advances without a living worker. */
export const listAbandoned = (sql: Sql, realNow: Temporal.Instant, limit: number) => sql<
  { organization_id: OrganizationId }[]
>`
  select lease.organization_id
  from test_clock_leases lease
  join test_clocks clock on clock.organization_id = lease.organization_id
  where clock.status = 'advancing' and lease.until < ${realNow}
  order by lease.until limit ${limit}`;

/** Earliest after-step that is due after `after`, by its own due time. */
export async function nextTimerAt(
  { db, organizationId }: Scope,
  after: Temporal.Instant,
): Promise<Temporal.Instant | null> {
  const [row] = await db<{ due_at: Temporal.Instant | null }[]>`
    select min(due_at) as due_at from after_steps
    where organization_id = ${organizationId} and failed_at is null and due_at > ${after}`;
  return row?.due_at ?? null;
}

/** Open after-steps of the organization at `now`, oldest first. */
export const listOpenSteps = ({ db, organizationId }: Scope, now: Temporal.Instant, limit: number) => db<
  { id: string; organization_id: OrganizationId; job: string; customer_id: CustomerId | null }[]
>`
  select id, organization_id, job, customer_of_work(organization_id, payload) as customer_id from after_steps
  where organization_id = ${organizationId} and failed_at is null and (due_at is null or due_at <= ${now})
  order by id
  limit ${limit}`;
