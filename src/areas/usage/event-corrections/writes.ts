import type { Temporal } from 'temporal-polyfill';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CorrectionId, EventId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { isLive } from '../events/live-events.ts';
import type { CorrectionRow } from './queries.ts';

/** Stores a new correction. */
export const insertCorrection = ({ db, organizationId }: Scope, row: CorrectionRow) => db`
  insert into event_corrections (id, organization_id, kind, status, policy, credit_note_part, reason, dry_run,
    external_subscription_id, transaction_id, input, api_key_id, total, done, draft_invoices_count, invoices_count,
    error,
    created_at, started_at, finished_at)
  values (${row.id}, ${organizationId}, ${row.kind}, ${row.status}, ${row.policy}, ${row.credit_note_part},
    ${row.reason},
    ${row.dry_run}, ${row.external_subscription_id}, ${row.transaction_id}, ${json(row.input)}, ${row.api_key_id},
    ${row.total}, ${row.done}, ${row.draft_invoices_count}, ${row.invoices_count}, ${json(row.error)},
    ${row.created_at}, ${row.started_at}, ${row.finished_at})`;

/** Progress of a correction. */
export const updateProgress = (
  { db, organizationId }: Scope,
  id: CorrectionId,
  {
    status,
    done,
    error,
    started_at,
    finished_at,
  }: Pick<CorrectionRow, 'status' | 'done' | 'error' | 'started_at' | 'finished_at'>,
) => db`
  update event_corrections
  set status = ${status}, done = ${done}, error = ${json(error)}, started_at = ${started_at},
    finished_at = ${finished_at}
  where organization_id = ${organizationId} and id = ${id}`;

/** Stores the events of a range; `source` is the SQL after `from`, events `e`. */
export const insertRangeEvents = ({ db, organizationId }: Scope, correctionId: CorrectionId, source: Fragment) => db`
  insert into event_correction_events (organization_id, correction_id, event_id)
  select ${organizationId}::uuid, ${correctionId}::uuid, e.id from ${source}`;

/** Takes at most `limit` events of a range off its list and locks those that are still live: only these have a code. */
export async function takeRangeEvents(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  limit: number,
): Promise<{ id: EventId; code: string | null }[]> {
  const taken = await db<{ event_id: EventId }[]>`
    delete from event_correction_events
    where organization_id = ${organizationId} and correction_id = ${correctionId} and event_id in (
      select event_id from event_correction_events
      where organization_id = ${organizationId} and correction_id = ${correctionId} order by event_id limit ${limit})
    returning event_id`;
  const live = await db<{ id: EventId; code: string }[]>`
    select e.id, e.code from events e
    where e.organization_id = ${organizationId} and e.id = any (${taken.map((row) => row.event_id)}::uuid[])
      and ${isLive(db, db`e`)}
    order by e.id
    for update`;
  const codes = new Map(live.map(({ id, code }) => [id, code]));
  return taken.map((row) => ({ id: row.event_id, code: codes.get(row.event_id) ?? null }));
}

/** Counts the issued invoices that a correction concerns, as far as its events are known. */
export async function countInvoices({ db, organizationId }: Scope, id: CorrectionId): Promise<number> {
  const [row] = await db<{ invoices_count: number }[]>`
    update event_corrections set invoices_count = greatest(invoices_count, (
      select count(*) from (
        select invoice_id from correction_periods where organization_id = ${organizationId} and correction_id = ${id}
        union
        select invoice_id from correction_adjustments
        where organization_id = ${organizationId} and correction_id = ${id} and invoice_id is not null
      ) as concerned))
    where organization_id = ${organizationId} and id = ${id}
    returning invoices_count`;
  return row!.invoices_count;
}

export const insertWarning = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { warning, now }: { warning: string; now: Temporal.Instant },
) => db`
  insert into correction_adjustments (id, organization_id, correction_id, warning, created_at)
  values (${newId()}, ${organizationId}, ${correctionId}, ${warning}, ${now})`;

/**
 * Puts what a correction has not settled behind all that others have, at the price of then: its usage was in their
 * prices since it failed. Fees of single events are found again by their chains.
 *
 * Rule: event-corrections.md#corrections-that-wait.
 */
export const putLast = ({ db, organizationId }: Scope, correctionId: CorrectionId) => db`
  with waiting as (
    delete from correction_waiting_fees
    where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
    returning 1
  ), chain as (
    update correction_chains set settled_at = null
    where organization_id = ${organizationId} and correction_id = ${correctionId} and exists (select from waiting)
  ), again as (
    delete from correction_periods period
    where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
      and period.settled_at is null
    returning *
  ), stored as (
    insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
      charges_from_datetime, charges_to_datetime)
    select distinct organization_id, correction_id, invoice_id, subscription_id, charge_id, charges_from_datetime,
      charges_to_datetime
    from again
    returning true
  )
  select count(*) from stored`;
