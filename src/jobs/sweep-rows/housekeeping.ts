import type { Temporal } from 'temporal-polyfill';
import { keepLogPartitions } from '../../areas/tenancy/retain-rows/log-partitions.ts';
import { dropFormerKey } from '../../areas/usage/event-keys/former-key.ts';
import { forgetOldKeys } from '../../areas/usage/event-keys/old-keys.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { firstIdAt } from '../../platform/ids.ts';
import type { Hold, SweepJob } from '../../platform/periodic-job.ts';

const TICKS_KEPT_DAYS = 7;
/** Life of a timeline after its clock was deleted (test-clocks.md#timeline). */
const TIMELINES_KEPT_DAYS = 30;
/** Rule: auditor.md. */
const AUDITS_KEPT_DAYS = 90;
/** Rule: integrations.md#routes. */
const CALLS_KEPT_DAYS = 30;
/** Rule: tax-engines.md#failures. */
const ESTIMATES_KEPT_DAYS = 30;
const BATCH = 5000;

/**
 * Creates the log partitions of this and the next month, drops what is older than the longest period that any
 * organization shows (logs.md#storage), the former key of events, keys of events that are gone, old ticks, the
 * timelines of clocks deleted long ago, old runs of the auditor, old calls
 * to other systems and old estimates of tax engines.
 */
export const housekeeping: SweepJob = {
  name: 'housekeeping',
  async sweep(deps, _at, hold) {
    const now = realNow();
    await keepLogPartitions(deps, now);
    await dropFormerKey(deps, now);
    await forgetOldKeys(deps, now);
    const ticksFrom = now.subtract({ hours: 24 * TICKS_KEPT_DAYS });
    await deleteInBatches(hold, (limit) => deleteTicks(deps.sql, ticksFrom, limit));
    const timelinesFrom = now.subtract({ hours: 24 * TIMELINES_KEPT_DAYS });
    await deleteInBatches(hold, (limit) => deleteTimelines(deps.sql, timelinesFrom, limit));
    const auditsFrom = now.subtract({ hours: 24 * AUDITS_KEPT_DAYS });
    await deleteInBatches(hold, (limit) => deleteAudits(deps.sql, auditsFrom, limit));
    const callsFrom = now.subtract({ hours: 24 * CALLS_KEPT_DAYS });
    await deleteInBatches(hold, (limit) => deleteCalls(deps.sql, callsFrom, limit));
    const estimatesFrom = now.subtract({ hours: 24 * ESTIMATES_KEPT_DAYS });
    await deleteInBatches(hold, (limit) => deleteEstimates(deps.sql, estimatesFrom, limit));
  },
};

async function deleteInBatches(
  hold: Hold | undefined,
  remove: (limit: number) => Promise<{ count: number }>,
): Promise<void> {
  do await hold?.();
  while ((await remove(BATCH)).count === BATCH);
}

const deleteTicks = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from schedule_ticks where ctid = any (array(
    select ctid from schedule_ticks where tick_at < ${before} limit ${limit}))`;

const deleteTimelines = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from test_clock_timeline where ctid = any (array(
    select line.ctid from test_clock_timeline line
    join test_clock_timelines timeline on timeline.organization_id = line.organization_id
    where timeline.clock_deleted_at < ${before} or (line.sequence < timeline.first and line.created_at < ${before})
    limit ${limit}))`;

/** Runs whose ids were created before an instant of real time; with a test clock their other times are simulated. */
const deleteAudits = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from audit_runs where id = any (array(
    select id from audit_runs where id < ${firstIdAt(before)} limit ${limit}))`;

/** By the ids as well: those of an organization with a test clock have simulated times. */
const deleteCalls = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from integration_calls where id = any (array(
    select id from integration_calls where id < ${firstIdAt(before)} limit ${limit}))`;

/** Those of drafts that are final since. By the ids as well: times are simulated where there is a test clock. */
const deleteEstimates = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from tax_documents where id = any (array(
    select document.id from tax_documents document
    where document.kind = 'estimate' and document.updated_at < ${before} and document.id < ${firstIdAt(before)}
      and document.status <> 'pending'
      and not exists (select from invoices invoice where invoice.organization_id = document.organization_id
        and invoice.id = document.invoice_id and invoice.status = 'draft')
    limit ${limit}))`;
