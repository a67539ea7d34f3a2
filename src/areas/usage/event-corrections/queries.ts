import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  ApiKeyId,
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  CreditNoteId,
  ExternalSubscriptionId,
  FeeId,
  InvoiceId,
} from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';
import { eventsOfTransaction } from '../events/event-key.ts';
import type { CorrectionListQuery, Kind, Part, Status } from './schema.ts';

export interface CorrectionRow {
  id: CorrectionId;
  kind: Kind;
  status: Status;
  policy: Policy;
  credit_note_part: Part;
  reason: string;
  dry_run: boolean;
  external_subscription_id: ExternalSubscriptionId;
  transaction_id: string | null;
  input: Record<string, unknown>;
  api_key_id: ApiKeyId | null;
  total: number;
  done: number;
  draft_invoices_count: number;
  invoices_count: number;
  error: { code: string; message: string; svc_resource_id: string | null } | null;
  created_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  finished_at: Temporal.Instant | null;
}

export interface AdjustmentRow {
  id: string;
  invoice_id: InvoiceId | null;
  fee_id: FeeId | null;
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: Record<string, unknown>;
  from_datetime: Temporal.Instant | null;
  to_datetime: Temporal.Instant | null;
  old_amount_cents: number | null;
  new_amount_cents: number | null;
  delta_amount_cents: number | null;
  left_amount_cents: number;
  booked_as: string | null;
  new_fee_id: FeeId | null;
  credit_note_id: CreditNoteId | null;
  uncreditable_amount_cents: number;
  late_events_left_out: number;
  warning: string | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, kind, status, policy, credit_note_part, reason, dry_run, external_subscription_id, transaction_id, input,
    api_key_id,
  total, done, draft_invoices_count, invoices_count, error, created_at, started_at, finished_at`;

/** @throws Refusal 404 event_correction */
export async function getCorrection({ db, organizationId }: Scope, id: CorrectionId): Promise<CorrectionRow> {
  const [row] = await db<CorrectionRow[]>`
    select ${columns(db)} from event_corrections
    where organization_id = ${organizationId} and id::text = ${id}`;
  if (!row) throw refuse.notFound('event_correction');
  return row;
}

/** As getCorrection; the row stays locked until the transaction ends. */
export async function lockCorrection({ db, organizationId }: Scope, id: CorrectionId): Promise<CorrectionRow> {
  const [row] = await db<CorrectionRow[]>`
    select ${columns(db)} from event_corrections
    where organization_id = ${organizationId} and id::text = ${id}
    for update`;
  if (!row) throw refuse.notFound('event_correction');
  return row;
}

/** Newest first; of a transaction id only those of single events. */
export async function listCorrections(
  { db, organizationId }: Scope,
  query: CorrectionListQuery,
): Promise<{ rows: CorrectionRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(query);
  const where = db`
    organization_id = ${organizationId}
    ${query.kinds ? db`and kind = any (${query.kinds}::text[])` : db``}
    ${query.statuses ? db`and status = any (${query.statuses}::text[])` : db``}
    ${query.external_subscription_id === undefined ? db`` : db`and external_subscription_id = ${query.external_subscription_id}`}
    ${query.transaction_id === undefined ? db`` : db`and transaction_id = ${query.transaction_id}`}
    ${query.from ? db`and created_at >= ${query.from}` : db``}
    ${query.to ? db`and created_at < ${query.to}` : db``}`;
  const [rows, [count]] = await Promise.all([
    db<CorrectionRow[]>`
      select ${columns(db)} from event_corrections where ${where}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from event_corrections where ${where}`,
  ]);
  return { rows: [...rows], totalCount: count!.total };
}

export async function listAdjustments(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  page: Page,
): Promise<{ rows: AdjustmentRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<AdjustmentRow[]>`
      select id, invoice_id, fee_id, charge_id, charge_filter_id, grouped_by, from_datetime, to_datetime,
        old_amount_cents, new_amount_cents, delta_amount_cents, left_amount_cents, booked_as, new_fee_id,
        credit_note_id, uncreditable_amount_cents, late_events_left_out, warning, created_at
      from correction_adjustments
      where organization_id = ${organizationId} and correction_id = ${correctionId}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from correction_adjustments
      where organization_id = ${organizationId} and correction_id = ${correctionId}`,
  ]);
  return { rows: [...rows], totalCount: count!.total };
}

/** One state of an event. Times are ISO texts with microseconds, properties JSON text. */
export interface VersionRow {
  version: number;
  code: string;
  timestamp: string;
  properties: string;
  precise_total_amount_cents: string | null;
  valid_from: string;
  valid_to: string | null;
  /** The correction that made it; null for the state as received. */
  correction_id: CorrectionId | null;
  retracted: boolean;
}

/**
 * States of the event with a transaction id, oldest first; when several subscriptions share it, of the one created
 * last. A retracted event ends with a state that was never valid.
 *
 * @throws Refusal 404 event
 */
export async function listVersions(
  scope: Scope,
  transactionId: string,
  externalSubscriptionId: ExternalSubscriptionId | undefined,
): Promise<VersionRow[]> {
  const { db, organizationId } = scope;
  const rows = await db<VersionRow[]>`
    with event as (
      select e.* from ${eventsOfTransaction(scope, transactionId, externalSubscriptionId)}
      order by e.created_at desc, e.id desc
      limit 1
    ), state as (
      select version, code, timestamp, properties, precise_total_amount_cents, correction_id as ended_by,
        recorded_at as valid_to, false as retracted
      from event_versions where organization_id = ${organizationId} and event_id = (select id from event)
      union all
      select version, code, timestamp, properties, precise_total_amount_cents, null, deleted_at, deleted_at is not null
      from event
    )
    select version, code, ${isoText(db, db`timestamp`)} as timestamp, properties::text as properties,
      trim_scale(precise_total_amount_cents)::text as precise_total_amount_cents,
      ${isoText(db, db`coalesce(lag(valid_to) over (order by version), (select created_at from event))`)} as valid_from,
      ${isoText(db, db`valid_to`)} as valid_to, lag(ended_by) over (order by version) as correction_id, retracted
    from state
    order by version`;
  if (rows.length === 0) throw refuse.notFound('event');
  return [...rows];
}
