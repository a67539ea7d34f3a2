import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import { PARTIAL_UNITS_DIGITS } from '../../../engine/corrections/part-of-units.ts';
import type { Done } from '../../../engine/corrections/undone-left.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  EventId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { keptOfVoided } from '../../credits/credit-notes/kept-of-voided.ts';
import { copiedFees } from '../../invoices/fees/copied-fees.ts';
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

/** Drafts with an increase that another correction has reduced since. */
export const flagDraftsOf = (scope: Scope, billed: Billed) => scope.db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${scope.organizationId} and status = 'draft' and not ready_to_be_refreshed and id in (
    select fee.invoice_id from correction_adjustments adjustment
    join fees fee on fee.organization_id = adjustment.organization_id and fee.id = adjustment.new_fee_id
    where ${aboutBilled(scope, billed)})`;
