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
import { keptOfVoided } from '../../credits/credit-notes/kept-of-voided.ts';
import { copiedFees } from '../../invoices/fees/copied-fees.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import { type BilledItemKey, type BilledItemKind, keyOfBilledItem } from './billed-items.ts';

/**
 * The document of items: an issued invoice, with all that were made in place of the same first one, or only a fee,
 * which no credit note can give back.
 */
export type Billed = { invoiceId: InvoiceId; invoiceIds: readonly InvoiceId[] } | { invoiceId: null; feeId: FeeId };

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
  /**
   * What of it was netted against other items of the invoice. Below 0 the fees of the item billed that much in place of
   * others'.
   */
  netted_cents: number;
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
  netted_cents: number;
  given_by_others: { item: BilledItemKey; cents: number }[];
}

/**
 * What corrections have settled about an issued invoice or a standalone fee, by item. Increases on a voided invoice do
 * not count, unless it was regenerated with them, and of notes on one what its payments gave back. What was left counts
 * as settled: no later correction takes it up.
 *
 * Rules: event-corrections.md#difference "old", event-corrections.md#regenerated-invoices.
 */
export async function listSettled(scope: Scope, billed: Billed): Promise<Map<string, SettledItem>> {
  const rows = await scope.db<SettledRow[]>`
    select adjustment.subscription_id, adjustment.kind, adjustment.charge_id, adjustment.charge_filter_id,
      adjustment.grouped_by, sum(fate.settled_cents + adjustment.left_amount_cents)::bigint as settled_cents,
      sum(adjustment.left_amount_cents)::bigint as left_cents,
      coalesce(sum(case
        -- It only lowers what waits in place of another item.
        when adjustment.delta_amount_cents = 0 and adjustment.billed_amount_cents <> 0 then 0
        when fate.settled_cents + adjustment.left_amount_cents = adjustment.delta_amount_cents then adjustment.units
        else round(adjustment.units * (fate.settled_cents + adjustment.left_amount_cents)
          / nullif(adjustment.delta_amount_cents, 0), ${PARTIAL_UNITS_DIGITS}::int) end), 0) as settled_units,
      coalesce(sum(adjustment.billed_amount_cents) filter (where adjustment.booked_as <> 'invoice' and fate.is_waiting),
        0)::bigint
        as waiting_cents,
      min(adjustment.from_datetime) as from_datetime, min(adjustment.to_datetime) as to_datetime,
      min(adjustment.invoice_display_name) as invoice_display_name,
      coalesce(array_agg(distinct fate.fee_id::text) filter (where fate.is_final), '{}') as fee_ids,
      bool_or(adjustment.left_amount_cents <> 0) as has_left,
      sum(adjustment.settled_amount_cents - adjustment.billed_amount_cents + adjustment.given_back_amount_cents
        - case when adjustment.credited_item is null then 0 else fate.given_cents end)::bigint as netted_cents,
      coalesce(jsonb_agg(jsonb_build_object('item', adjustment.credited_item, 'cents', fate.given_cents))
        filter (where adjustment.credited_item is not null), '[]') as given_by_others
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
  const settled = new Map(billedItems.map((billedItem) => [keyOfBilledItem(billedItem), billedItem]));
  for (const { given_by_others } of rows)
    for (const { item, cents: given } of given_by_others) settled.get(keyOfBilledItem(item))!.netted_cents += given;
  return settled;
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
    select coalesce(copy.id, adjustment.new_fee_id) as fee_id, kept.given_cents, adjustment.settled_amount_cents
        - case when coalesce(fee_invoice.status in ('voided', 'deleted') and copy.id is null, false)
          then adjustment.billed_amount_cents else 0 end
        + adjustment.given_back_amount_cents - kept.given_cents as settled_cents,
      adjustment.new_fee_id is null or fee_invoice.status = 'draft' as is_waiting,
      coalesce(coalesce(copy.status, fee_invoice.status) = 'finalized', false) as is_final
    from (${keptOfNote(scope, billed)}) kept
    left join fees fee on fee.organization_id = ${scope.organizationId} and fee.id = adjustment.new_fee_id
    left join invoices fee_invoice on fee_invoice.organization_id = fee.organization_id
      and fee_invoice.id = fee.invoice_id
    left join lateral (
      select made.id, regenerated.status
      from fees made join invoices regenerated on regenerated.organization_id = made.organization_id
        and regenerated.id = made.invoice_id
      where made.organization_id = fee.organization_id and made.original_fee_id = fee.id and made.deleted_at is null
        and regenerated.status not in ('voided', 'deleted')
      order by made.id desc
      limit 1
    ) copy on true
  ) fate
  ${joined}
  where ${aboutBilled(scope, billed)} and adjustment.subscription_id is not null`;

/**
 * What stands of an amount that a note gave back. A note on an invoice that was voided since gave back its payments
 * first, and so only the rest of it, a gift, counts for what is billed in its place. One on a progressive invoice that
 * was given for a fee of a voided invoice counts where that fee was copied as it was; else it lowered what the invoice
 * in its place was credited with.
 *
 * Rule: event-corrections.md#regenerated-invoices.
 */
const keptOfNote = ({ db, organizationId }: Scope, { invoiceId }: Billed) => db`
  select coalesce(round(adjustment.given_back_amount_cents * (
    select coalesce(case
      when noted.status = 'voided' then ${keptOfVoided(db)}
      when noted.invoice_type = 'progressive_billing' and about.status = 'voided'
          and note.credit_status in ('available', 'consumed')
          and not exists (
            select from credit_note_items item
            join fees taker on taker.organization_id = item.organization_id and taker.id = any (item.given_for_fee_ids)
              and taker.invoice_id = about.id
            join fees first on first.organization_id = taker.organization_id
              and first.id = coalesce(taker.original_fee_id, taker.id)
            cross join lateral jsonb_to_record(coalesce(adjustment.credited_item, to_jsonb(adjustment))) as given (
              subscription_id uuid, kind text, charge_id uuid, charge_filter_id uuid, grouped_by jsonb)
            where item.organization_id = note.organization_id and item.credit_note_id = note.id
              and taker.subscription_id = given.subscription_id and taker.charge_id = given.charge_id
              and taker.charge_filter_id is not distinct from given.charge_filter_id
              and taker.grouped_by = given.grouped_by
              and (first.true_up_parent_fee_id is not null) = (given.kind = 'true_up')
              and taker.id = any (copies.ids))
          then
        1 - note.credit_amount_cents / nullif(note.total_amount_cents, 0)::numeric
      else 1 end, 0)
    from credit_notes note
    join invoices noted on noted.organization_id = note.organization_id and noted.id = note.invoice_id
    left join invoices about on about.organization_id = note.organization_id and about.id = adjustment.invoice_id
    cross join (select array(
        ${copiedFees({ db, organizationId }, db`fee.invoice_id = ${invoiceId}`)} select id from copied) as ids) copies
    where note.organization_id = ${organizationId} and note.id = adjustment.credit_note_id
  )), adjustment.given_back_amount_cents)::bigint as given_cents`;

const aboutBilled = ({ db, organizationId }: Scope, billed: Billed) => db`
  adjustment.organization_id = ${organizationId} and ${
    billed.invoiceId === null
      ? db`adjustment.invoice_id is null and adjustment.fee_id = ${billed.feeId}`
      : db`adjustment.invoice_id = any (${billed.invoiceIds}::uuid[])`
  }`;

export const lockInvoice = ({ db, organizationId }: Scope, id: InvoiceId) => db`
  select from invoices where organization_id = ${organizationId} and id = ${id} for update`;

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
  /** What the note gives back of the difference. */
  given_back_amount_cents: number;
  /** The item whose fee gives it back, where that was billed in its place. */
  credited_item: BilledItemKey | null;
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
      billed_amount_cents, booked_as, new_fee_id, credit_note_id, given_back_amount_cents, credited_item,
      uncreditable_amount_cents, total_units, late_events_left_out, created_at)
    select id, ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, kind, fee_id, charge_id,
      charge_filter_id, grouped_by, from_datetime, to_datetime, invoice_display_name, units, old_amount_cents,
      new_amount_cents, delta_amount_cents, settled_amount_cents, left_amount_cents, billed_amount_cents, booked_as,
      new_fee_id, credit_note_id, given_back_amount_cents, credited_item, uncreditable_amount_cents, total_units,
      late_events_left_out, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as adjustment (id uuid, invoice_id uuid, subscription_id uuid,
      kind text, fee_id uuid, charge_id uuid, charge_filter_id uuid, grouped_by jsonb, from_datetime timestamptz,
      to_datetime timestamptz, invoice_display_name text, units numeric, old_amount_cents bigint,
      new_amount_cents bigint, delta_amount_cents bigint, settled_amount_cents bigint, left_amount_cents bigint,
      billed_amount_cents bigint,
      booked_as text, new_fee_id uuid, credit_note_id uuid, given_back_amount_cents bigint, credited_item jsonb,
      uncreditable_amount_cents bigint, total_units numeric, late_events_left_out bigint)`;
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
export async function readState(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<{ is_issued: boolean; is_voided: boolean }> {
  const [row] = await db<{ is_issued: boolean; is_voided: boolean }[]>`
    select status not in ('draft', 'generating', 'open', 'pending', 'failed') as is_issued,
      status = 'voided' as is_voided
    from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row ?? { is_issued: true, is_voided: false };
}

/**
 * Lets a correction settle, instead of a voided invoice, the one that counts of those that were made in the place of
 * the same first one.
 *
 * @returns whether there is one
 * Rule: event-corrections.md#regenerated-invoices.
 */
export async function movePeriods(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { voidedId, invoiceIds }: { voidedId: InvoiceId; invoiceIds: readonly InvoiceId[] },
): Promise<boolean> {
  const rows = await db`
    with standing as (
      select id from invoices
      where organization_id = ${organizationId} and id = any (${invoiceIds}::uuid[])
        and status not in ('voided', 'deleted')
      order by id desc limit 1
    ), moved as (
      insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
        charges_from_datetime, charges_to_datetime)
      select period.organization_id, period.correction_id, standing.id, period.subscription_id, period.charge_id,
        period.charges_from_datetime, period.charges_to_datetime
      from correction_periods period cross join standing
      where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
        and period.invoice_id = ${voidedId} and period.settled_at is null
      on conflict do nothing
    )
    delete from correction_periods period using standing
    where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
      and period.invoice_id = ${voidedId} and period.settled_at is null
    returning 1`;
  return rows.length > 0;
}
