import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import { PARTIAL_UNITS_DIGITS } from '../../../engine/corrections/part-of-units.ts';
import type { Done } from '../../../engine/corrections/undone-left.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  CreditNoteId,
  CustomerId,
  EventId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import { type BilledItemKey, type BilledItemKind, keyOfBilledItem } from './billed-items.ts';

/** The document of items: an issued invoice, or only a fee, which no credit note can give back. */
export type Billed = { invoiceId: InvoiceId } | { invoiceId: null; feeId: FeeId };

/** What corrections have settled about an item so far, beyond its fee on the invoice. */
export interface SettledItem extends BilledItemKey {
  /** Billed, given back, netted, or left by a policy. */
  settled_cents: number;
  /** The part of it that a policy left and no later correction of the same events has undone. */
  left_cents: number;
  /** Units behind the settled part of its differences. */
  settled_units: Decimal;
  /** The part of it that waits for the next invoice or is on a draft. */
  waiting_cents: number;
  window: Period;
  displayName: string;
  /** Fees on final invoices that billed increases of it. */
  feeIds: readonly FeeId[];
  /** Whether a policy ever left anything of it. */
  hasLeft: boolean;
}

interface SettledRow {
  subscription_id: SubscriptionId;
  kind: BilledItemKind;
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  settled_cents: number;
  left_cents: number;
  settled_units: Decimal;
  waiting_cents: number;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  invoice_display_name: string;
  fee_ids: FeeId[];
  has_left: boolean;
}

/**
 * What corrections have settled about an issued invoice or a standalone fee, by item. Increases on a voided invoice do
 * not count, unless it was regenerated with them. What was left counts as settled: no later correction takes it up.
 *
 * Rule: event-corrections.md#difference "old".
 */
export async function listSettled(scope: Scope, billed: Billed): Promise<Map<string, SettledItem>> {
  const rows = await scope.db<SettledRow[]>`
    select adjustment.subscription_id, adjustment.kind, adjustment.charge_id, adjustment.charge_filter_id,
      adjustment.grouped_by, sum(fate.settled_cents + adjustment.left_amount_cents)::bigint as settled_cents,
      sum(adjustment.left_amount_cents)::bigint as left_cents,
      coalesce(sum(case
        when fate.settled_cents + adjustment.left_amount_cents = adjustment.delta_amount_cents then adjustment.units
        else round(adjustment.units * (fate.settled_cents + adjustment.left_amount_cents)
          / nullif(adjustment.delta_amount_cents, 0), ${PARTIAL_UNITS_DIGITS}::int) end), 0) as settled_units,
      coalesce(sum(adjustment.billed_amount_cents) filter (where adjustment.booked_as <> 'invoice' and fate.is_waiting),
        0)::bigint
        as waiting_cents,
      min(adjustment.from_datetime) as from_datetime, min(adjustment.to_datetime) as to_datetime,
      min(adjustment.invoice_display_name) as invoice_display_name,
      coalesce(array_agg(distinct fate.fee_id::text) filter (where fate.is_final), '{}') as fee_ids,
      bool_or(adjustment.left_amount_cents <> 0) as has_left
    ${adjustmentsAbout(scope, billed)}
    group by 1, 2, 3, 4, 5`;
  const billedItems = rows.map(
    ({
      from_datetime: from,
      to_datetime: to,
      invoice_display_name: displayName,
      fee_ids: feeIds,
      has_left: hasLeft,
      ...row
    }) => ({ ...row, window: { from, to }, displayName, feeIds, hasLeft }),
  );
  return new Map(billedItems.map((billedItem) => [keyOfBilledItem(billedItem), billedItem]));
}

interface DoneRow extends BilledItemKey {
  settled_cents: number;
  left_cents: number;
  event_id: EventId | null;
  late_id: CorrectionId | null;
}

/**
 * What earlier corrections of the events of `correctionId` did about an invoice or a standalone fee, by item, oldest
 * first: amendments of them, and settlements of late events that they were among. No correction follows a retraction.
 *
 * Rule: event-corrections.md#what-is-left.
 */
export async function listDone(
  scope: Scope,
  billed: Billed,
  correctionId: CorrectionId,
): Promise<Map<string, readonly Done[]>> {
  const changed = (eventId: Fragment) => scope.db`
    join event_versions changed on changed.organization_id = ${scope.organizationId}
      and changed.event_id = ${eventId} and changed.correction_id = ${correctionId}`;
  const amended = scope.db`
    left join lateral (
      select former.event_id from event_versions former ${changed(scope.db`former.event_id`)}
      where former.organization_id = ${scope.organizationId} and former.correction_id = correction.id
        and correction.kind = 'amend'
    ) amended on true`;
  const rows = await scope.db<DoneRow[]>`
    select adjustment.subscription_id, adjustment.kind, adjustment.charge_id, adjustment.charge_filter_id,
      adjustment.grouped_by, fate.settled_cents, adjustment.left_amount_cents as left_cents, amended.event_id,
      case when correction.kind = 'late_events' then correction.id else (
        select taken.correction_id from taken_late_events taken
        where taken.organization_id = ${scope.organizationId} and taken.event_id = amended.event_id) end as late_id
    ${adjustmentsAbout(scope, billed, amended)} and correction.id <> ${correctionId}
      and case when correction.kind = 'late_events' then exists (
          select from taken_late_events taken ${changed(scope.db`taken.event_id`)}
          where taken.organization_id = ${scope.organizationId} and taken.correction_id = correction.id)
        else amended.event_id is not null end
    order by adjustment.created_at, adjustment.id`;
  const done = new Map<string, Done[]>();
  for (const row of rows) {
    const name = keyOfBilledItem(row);
    const { settled_cents: settledCents, left_cents: leftCents, event_id: eventId, late_id: lateId } = row;
    done.set(name, [...(done.get(name) ?? []), { settledCents, leftCents, eventId, lateId }]);
  }
  return done;
}

/** What stands after the columns: each adjustment about it, and what became of that. */
const adjustmentsAbout = (scope: Scope, billed: Billed, joined = scope.db``) => scope.db`
  from correction_adjustments adjustment
  join event_corrections correction on correction.organization_id = adjustment.organization_id
    and correction.id = adjustment.correction_id and not correction.dry_run
  cross join lateral (
    select adjustment.new_fee_id as fee_id, adjustment.settled_amount_cents
        - case when void.is_void then adjustment.billed_amount_cents else 0 end as settled_cents,
      adjustment.new_fee_id is null or invoice.status = 'draft' as is_waiting,
      coalesce(invoice.status = 'finalized', false) as is_final
    from (select) as one
    left join fees fee on fee.organization_id = ${scope.organizationId} and fee.id = adjustment.new_fee_id
    left join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
    cross join lateral (
      select coalesce(invoice.status in ('voided', 'deleted') and not exists (
        select from fees copy join invoices regenerated on regenerated.organization_id = copy.organization_id
          and regenerated.id = copy.invoice_id
        where copy.organization_id = fee.organization_id and copy.original_fee_id = fee.id and copy.deleted_at is null
          and regenerated.status not in ('voided', 'deleted')), false) as is_void
    ) void
  ) fate
  ${joined}
  where ${aboutBilled(scope, billed)} and adjustment.subscription_id is not null`;

const aboutBilled = ({ db, organizationId }: Scope, billed: Billed) => db`
  adjustment.organization_id = ${organizationId} and ${
    billed.invoiceId === null
      ? db`adjustment.invoice_id is null and adjustment.fee_id = ${billed.feeId}`
      : db`adjustment.invoice_id = ${billed.invoiceId}`
  }`;

export const lockInvoice = ({ db, organizationId }: Scope, id: InvoiceId) => db`
  select from invoices where organization_id = ${organizationId} and id = ${id} for update`;

/** Whether an invoice was made in place of a voided one. */
export async function isMadeAnew({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<boolean> {
  const [row] = await db<{ is_anew: boolean }[]>`
    select voided_invoice_id is not null as is_anew from invoices
    where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row?.is_anew ?? false;
}

/** Stores the charges on issued invoices that a correction has to settle; stored ones stay. */
export async function insertPeriods(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  concerned: readonly ConcernedCharge[],
): Promise<void> {
  if (concerned.length === 0) return;
  const rows = concerned.map(
    ({ invoice_id, subscription_id, charge_id, charges_from_datetime, charges_to_datetime }) => ({
      invoice_id,
      subscription_id,
      charge_id,
      charges_from_datetime,
      charges_to_datetime,
    }),
  );
  await db`
    insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
      charges_from_datetime, charges_to_datetime)
    select ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, charge_id,
      charges_from_datetime,
      charges_to_datetime
    from jsonb_to_recordset(${json(rows)}::jsonb) as period (invoice_id uuid, subscription_id uuid, charge_id uuid,
      charges_from_datetime timestamptz, charges_to_datetime timestamptz)
    on conflict do nothing`;
}

/** Charges of the earliest invoice that a correction still has to settle. */
export const listNextPeriods = ({ db, organizationId }: Scope, correctionId: CorrectionId) => db<ConcernedCharge[]>`
  select invoice_id, false as is_draft, subscription_id, charge_id, charges_from_datetime, charges_to_datetime
  from correction_periods
  where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
    and invoice_id = (
      select invoice_id from correction_periods
      where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
      order by charges_from_datetime, invoice_id limit 1)
  order by subscription_id, charge_id`;

export const markSettled = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { invoiceId, now }: { invoiceId: InvoiceId; now: Temporal.Instant },
) => db`
  update correction_periods set settled_at = ${now}
  where organization_id = ${organizationId} and correction_id = ${correctionId} and invoice_id = ${invoiceId}
    and settled_at is null`;

/** The outcome of a difference as it is stored. */
export interface NewAdjustment extends BilledItemKey {
  /** Null for a standalone fee. */
  invoice_id: InvoiceId | null;
  fee_id: FeeId | null;
  window: Period;
  displayName: string;
  units: Decimal;
  old_amount_cents: number;
  new_amount_cents: number;
  delta_amount_cents: number;
  settled_amount_cents: number;
  left_amount_cents: number;
  billed_amount_cents: number;
  booked_as: 'fee' | 'invoice' | 'credit_note' | 'recorded';
  /** Running total at the window's end, from which later periods continue; null if there is none. */
  total_units: Decimal | null;
  /** The fee that replaces it. */
  new_fee_id: FeeId | null;
  credit_note_id: CreditNoteId | null;
  uncreditable_amount_cents: number;
  late_events_left_out: number;
}

export async function insertAdjustments(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { adjustments, now }: { adjustments: readonly NewAdjustment[]; now: Temporal.Instant },
): Promise<void> {
  if (adjustments.length === 0) return;
  const rows = adjustments.map(({ window, displayName, ...row }) => ({
    id: newId(),
    ...row,
    from_datetime: window.from,
    to_datetime: window.to,
    invoice_display_name: displayName,
  }));
  await db`
    insert into correction_adjustments (id, organization_id, correction_id, invoice_id, subscription_id, kind, fee_id,
      charge_id, charge_filter_id, grouped_by, from_datetime, to_datetime, invoice_display_name, units,
      old_amount_cents, new_amount_cents, delta_amount_cents, settled_amount_cents, left_amount_cents,
      billed_amount_cents, booked_as, new_fee_id, credit_note_id, uncreditable_amount_cents, total_units,
      late_events_left_out, created_at)
    select id, ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, kind, fee_id, charge_id,
      charge_filter_id, grouped_by, from_datetime, to_datetime, invoice_display_name, units, old_amount_cents,
      new_amount_cents, delta_amount_cents, settled_amount_cents, left_amount_cents, billed_amount_cents, booked_as,
      new_fee_id, credit_note_id, uncreditable_amount_cents, total_units, late_events_left_out, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as adjustment (id uuid, invoice_id uuid, subscription_id uuid,
      kind text, fee_id uuid, charge_id uuid, charge_filter_id uuid, grouped_by jsonb, from_datetime timestamptz,
      to_datetime timestamptz, invoice_display_name text, units numeric, old_amount_cents bigint,
      new_amount_cents bigint, delta_amount_cents bigint, settled_amount_cents bigint, left_amount_cents bigint,
      billed_amount_cents bigint,
      booked_as text, new_fee_id uuid, credit_note_id uuid, uncreditable_amount_cents bigint, total_units numeric,
      late_events_left_out bigint)`;
}

/** Subscription records whose differences a correction bills by an own invoice. */
export const listToInvoice = ({ db, organizationId }: Scope, correctionId: CorrectionId) => db<
  { subscription_id: SubscriptionId; customer_id: CustomerId }[]
>`
  select distinct adjustment.subscription_id, s.customer_id
  from correction_adjustments adjustment
  join subscriptions s on s.organization_id = adjustment.organization_id and s.id = adjustment.subscription_id
  where adjustment.organization_id = ${organizationId} and adjustment.correction_id = ${correctionId}
    and adjustment.booked_as = 'invoice' and adjustment.billed_amount_cents <> 0 and adjustment.new_fee_id is null
  order by adjustment.subscription_id`;

/** Drafts with an increase that another correction has reduced since. */
export const flagDraftsOf = (scope: Scope, billed: Billed) => scope.db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${scope.organizationId} and status = 'draft' and not ready_to_be_refreshed and id in (
    select fee.invoice_id from correction_adjustments adjustment
    join fees fee on fee.organization_id = adjustment.organization_id and fee.id = adjustment.new_fee_id
    where ${aboutBilled(scope, billed)})`;

/** Subscription records that continue and will have a next invoice. */
export async function listGoingOn({ db, organizationId }: Scope, ids: readonly SubscriptionId[]): Promise<Set<string>> {
  const rows = await db<{ id: SubscriptionId }[]>`
    select id from subscriptions
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'active'`;
  return new Set(rows.map(({ id }) => id));
}

/** Whether an invoice has reached an end state; one that is yet to be issued has not. */
export async function isIssued({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<boolean> {
  const [row] = await db<{ is_issued: boolean }[]>`
    select status not in ('draft', 'generating', 'open', 'pending', 'failed') as is_issued from invoices
    where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row?.is_issued ?? true;
}
