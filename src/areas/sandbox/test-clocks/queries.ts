import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { CLOCK_STATUSES } from './schema.ts';

/** Error of a failed advance as it is stored: ids and texts, its instant as ISO text. */
export interface StoredClockError {
  at: string;
  job: string;
  resource_type: string | null;
  resource_id: string | null;
  code: string;
  message: string;
}

export interface TestClockRow {
  organization_id: OrganizationId;
  frozen_time: Temporal.Instant;
  target_time: Temporal.Instant | null;
  status: (typeof CLOCK_STATUSES)[number];
  /** Where the current advance, or else the newest one, began. */
  started_from: Temporal.Instant | null;
  steps_done: number;
  advances_count: number;
  error: StoredClockError | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  organization_id, frozen_time, target_time, status, started_from, steps_done, advances_count, error, created_at`;

export async function findTestClock({ db, organizationId }: Scope): Promise<TestClockRow | undefined> {
  const [row] = await db<TestClockRow[]>`
    select ${columns(db)} from test_clocks where organization_id = ${organizationId}`;
  return row;
}

/** @throws Refusal 404 test_clock */
export async function getTestClock(scope: Scope): Promise<TestClockRow> {
  const clock = await findTestClock(scope);
  if (!clock) throw refuse.notFound('test_clock');
  return clock;
}

/** Start of the first day on which the hourly run bills an active subscription; null without one. */
export async function findNextBilling({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const [row] = await db<{ next_billing_at: Temporal.Instant | null }[]>`
    select min(next_billing_at) as next_billing_at from subscriptions
    where organization_id = ${organizationId} and status = 'active'`;
  return row?.next_billing_at ?? null;
}

/**
 * The clock, locked against every other write of the organization, which are waited for.
 *
 * @throws Refusal 404 test_clock
 */
export async function lockTestClock({ db, organizationId }: Scope): Promise<TestClockRow> {
  const [row] = await db<TestClockRow[]>`
    select ${columns(db)} from test_clocks where organization_id = ${organizationId} for update`;
  if (!row) throw refuse.notFound('test_clock');
  return row;
}

export async function isAdvancing({ db, organizationId }: Scope): Promise<boolean> {
  const rows = await db`
    select 1 from test_clocks where organization_id = ${organizationId} and status = 'advancing'`;
  return rows.length > 0;
}

/** Inserts a ready clock; false when the organization has one. */
export async function insertTestClock(
  { db, organizationId }: Scope,
  frozenTime: Temporal.Instant,
  realNow: Temporal.Instant,
): Promise<boolean> {
  const rows = await db`
    insert into test_clocks (organization_id, frozen_time, created_at)
    values (${organizationId}, ${frozenTime}, ${realNow})
    on conflict (organization_id) do nothing returning 1`;
  return rows.length > 0;
}

/**
 * Business time of the newest record of the organization; null when it has none. Records whose time is real (webhook
 * endpoints, logs, keys) and the organization itself do not count.
 */
export async function findNewestRecordAt({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const newest = (table: string) => db`
    (select max(created_at) as at from ${db(table)} where organization_id = ${organizationId})`;
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select max(at) as at from (
      ${newest('billable_metrics')} union all ${newest('taxes')} union all ${newest('plans')} union all
      ${newest('customers')} union all ${newest('subscriptions')} union all ${newest('invoices')} union all
      ${newest('events')}) record`;
  return row?.at ?? null;
}

/**
 * The first clock of an organization without customers: analytics start at the clock's time, so the organization and
 * its default billing entity, which bears its id, begin there (test-clocks.md#sandboxes).
 */
export async function moveBeginning({ db, organizationId }: Scope, at: Temporal.Instant): Promise<void> {
  await db`
    with moved as (
      update organizations set created_at = ${at}, updated_at = ${at}
      where id = ${organizationId}
        and not exists (select 1 from customers where organization_id = ${organizationId})
        and not exists (select 1 from test_clock_timelines where organization_id = ${organizationId})
      returning id
    )
    update billing_entities set created_at = ${at}, updated_at = ${at}
    from moved where billing_entities.organization_id = ${organizationId} and billing_entities.id = moved.id`;
}

/** Opens the timeline of a new clock; the numbers of former clocks go on. */
export const openTimeline = ({ db, organizationId }: Scope) => db`
  insert into test_clock_timelines as timeline (organization_id, last, first) values (${organizationId}, 0, 1)
  on conflict (organization_id) do update set first = timeline.last + 1, clock_deleted_at = null`;

export const closeTimeline = ({ db, organizationId }: Scope, realNow: Temporal.Instant) => db`
  update test_clock_timelines set clock_deleted_at = ${realNow} where organization_id = ${organizationId}`;

const openLease = ({ db, organizationId }: Scope, takenBy: Temporal.Instant) => db`
  insert into test_clock_leases (organization_id, token, until) values (${organizationId}, null, ${takenBy})
  on conflict (organization_id) do update set token = null, until = excluded.until`;

/** `takenBy`: real time after which the sweep looks for a worker, should the nudge be lost. */
export async function startAdvance(
  scope: Scope,
  target: Temporal.Instant,
  takenBy: Temporal.Instant,
): Promise<TestClockRow> {
  const { db, organizationId } = scope;
  const [row] = await db<TestClockRow[]>`
    with lease as (${openLease(scope, takenBy)})
    update test_clocks set status = 'advancing', target_time = ${target}, started_from = frozen_time, steps_done = 0,
      advances_count = advances_count + 1, cancel_requested = false, error = null, lease_token = null
    where organization_id = ${organizationId}
    returning ${columns(db)}`;
  return row!;
}

/** Moves the clock over a time without due work. */
export async function arrive({ db, organizationId }: Scope, target: Temporal.Instant): Promise<TestClockRow> {
  const [row] = await db<TestClockRow[]>`
    update test_clocks set frozen_time = ${target}, started_from = frozen_time, steps_done = 0,
      advances_count = advances_count + 1
    where organization_id = ${organizationId}
    returning ${columns(db)}`;
  return row!;
}

/** Continues towards the same target; after too many steps the count starts again, or nothing could be done. */
export async function resumeAdvance(scope: Scope, takenBy: Temporal.Instant): Promise<TestClockRow> {
  const { db, organizationId } = scope;
  const [row] = await db<TestClockRow[]>`
    with lease as (${openLease(scope, takenBy)})
    update test_clocks set status = 'advancing', cancel_requested = false, error = null, lease_token = null,
      steps_done = case when error ->> 'code' = 'too_many_steps' then 0 else steps_done end
    where organization_id = ${organizationId}
    returning ${columns(db)}`;
  return row!;
}

export const requestCancel = ({ db, organizationId }: Scope) => db`
  update test_clocks set cancel_requested = true where organization_id = ${organizationId}`;

export const deleteClock = ({ db: tx, organizationId }: Scope) => tx`
  delete from test_clocks where organization_id = ${organizationId}`;
