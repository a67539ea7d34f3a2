import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  CorrectionId,
  CreditNoteId,
  CustomerId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { BilledItemKey } from './billed-items.ts';

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
  { adjustments, now, turn = 0 }: { adjustments: readonly NewAdjustment[]; now: Temporal.Instant; turn?: number },
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
      uncreditable_amount_cents, total_units, late_events_left_out, turn, created_at)
    select id, ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, kind, fee_id, charge_id,
      charge_filter_id, grouped_by, from_datetime, to_datetime, invoice_display_name, units, old_amount_cents,
      new_amount_cents, delta_amount_cents, settled_amount_cents, left_amount_cents, billed_amount_cents, booked_as,
      new_fee_id, credit_note_id, given_back_amount_cents, credited_item, uncreditable_amount_cents, total_units,
      late_events_left_out, ${turn}::bigint, ${now}
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

/** Subscription records that continue and will have a next invoice. */
export async function listGoingOn({ db, organizationId }: Scope, ids: readonly SubscriptionId[]): Promise<Set<string>> {
  const rows = await db<{ id: SubscriptionId }[]>`
    select id from subscriptions
    where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'active'`;
  return new Set(rows.map(({ id }) => id));
}
