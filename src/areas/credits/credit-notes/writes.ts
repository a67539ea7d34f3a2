import type { Temporal } from 'temporal-polyfill';
import type { NoteAmounts } from '../../../engine/credits/credit-note-amounts.ts';
import { alignedTotal } from '../../../engine/credits/credit-note-amounts.ts';
import type { NoteParts } from '../../../engine/credits/credit-note-parts.ts';
import type {
  CreditNoteReason,
  CreditNoteStatus,
  CreditStatus,
  RefundStatus,
} from '../../../engine/credits/credit-note-states.ts';
import { roundToCents } from '../../../engine/money/cents.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues, json } from '../../../platform/db/values.ts';
import type {
  BillingEntityId,
  CreditNoteId,
  CustomerId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import { noteNumber } from './note-number.ts';
import { type CreditNoteRow, getCreditNote, readCreditNote } from './queries.ts';

/**
 * A final note, locked until the transaction ends; its customer is locked first, as in all code that
 * spends notes.
 *
 * @throws Refusal 404 credit_note
 */
export async function lockCreditNote(ctx: Context, id: CreditNoteId): Promise<CreditNoteRow> {
  const { db, organizationId } = ctx;
  const { customer_id } = await getCreditNote(ctx, id);
  await db`select from customers where organization_id = ${organizationId} and id = ${customer_id} for no key update`;
  await db`select from credit_notes where organization_id = ${organizationId} and id = ${id} for update`;
  return getCreditNote(ctx, id);
}

/** An item of a note that is about to be stored. */
export interface NewItem {
  fee: FeeRow;
  preciseAmountCents: Decimal;
  /**
   * The fees by which the credited one was taken over, none where it was asked for itself, and how much of it is given
   * back; undefined for notes by hand.
   */
  givenFor?: { feeIds: readonly FeeId[]; partCents: number } | undefined;
}

export interface NewNote {
  id: CreditNoteId;
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  invoice_id: InvoiceId;
  /** The invoice's number, from which that of the note is made. */
  invoice_number: string;
  status: CreditNoteStatus;
  currency: string;
  reason: CreditNoteReason;
  description: string | null;
  issuing_date: Temporal.PlainDate;
  metadata: Record<string, string | null> | null;
  terminated_subscription_id: SubscriptionId | null;
}

/** Stores a note with its items and taxes. The next number of its invoice, which is locked, is its own. */
export async function insertCreditNote(
  ctx: Context,
  note: NewNote,
  { items, amounts, parts }: { items: readonly NewItem[]; amounts: NoteAmounts; parts: NoteParts },
): Promise<void> {
  const { db, organizationId } = ctx;
  const [next] = await db<{ sequential_id: number }[]>`
    select coalesce(max(sequential_id), 0) + 1 as sequential_id from credit_notes
    where organization_id = ${organizationId} and invoice_id = ${note.invoice_id}`;
  const { invoice_number: invoiceNumber, ...own } = note;
  const row = {
    organization_id: organizationId,
    ...own,
    sequential_id: next!.sequential_id,
    number: noteNumber(invoiceNumber, next!.sequential_id),
    credit_status: 'available',
    refund_status: parts.refundCents > 0 ? 'pending' : null,
    ...amountColumns(amounts, parts),
    created_at: ctx.now(),
    updated_at: ctx.now(),
  };
  await db`insert into credit_notes ${db(columnValues(row))}`;
  await insertItems(ctx, note, items);
  await insertTaxes(ctx, note, amounts);
}

const amountColumns = (amounts: NoteAmounts, parts: NoteParts) => ({
  total_amount_cents: alignedTotal(amounts),
  credit_amount_cents: parts.creditCents,
  refund_amount_cents: parts.refundCents,
  offset_amount_cents: parts.offsetCents,
  balance_amount_cents: parts.creditCents,
  precise_total_amount_cents: amounts.preciseTotalAmountCents,
  sub_total_excluding_taxes_amount_cents: amounts.subTotalExcludingTaxesAmountCents,
  coupons_adjustment_amount_cents: amounts.couponsAdjustmentAmountCents,
  precise_coupons_adjustment_amount_cents: amounts.preciseCouponsAdjustmentAmountCents,
  taxes_amount_cents: amounts.taxesAmountCents,
  precise_taxes_amount_cents: amounts.preciseTaxesAmountCents,
  taxes_rate: amounts.taxesRate,
});

type NoteOwner = Pick<NewNote, 'id' | 'currency'>;

async function insertItems(ctx: Context, note: NoteOwner, items: readonly NewItem[]): Promise<void> {
  const rows = items.map(({ fee, preciseAmountCents, givenFor }) => ({
    id: newId(),
    fee_id: fee.id,
    amount_cents: roundToCents(preciseAmountCents),
    precise_amount_cents: preciseAmountCents,
    given_for_fee_ids: givenFor?.feeIds ?? null,
    given_part_cents: givenFor?.partCents ?? null,
  }));
  await ctx.db`
    insert into credit_note_items (id, organization_id, credit_note_id, fee_id, fee_key, fee_amount_cents, amount_cents,
      precise_amount_cents, given_for_fee_ids, given_part_cents, amount_currency, created_at)
    select item.id, ${ctx.organizationId}::uuid, ${note.id}::uuid, fee.id, ${feeKey(ctx.db)}, fee.amount_cents,
      item.amount_cents, item.precise_amount_cents, item.given_for_fee_ids, item.given_part_cents, ${note.currency},
      ${ctx.now()}
    from jsonb_to_recordset(${json(rows)}::jsonb) as item (id uuid, fee_id uuid, amount_cents bigint,
      precise_amount_cents numeric, given_for_fee_ids uuid[], given_part_cents bigint)
    join fees fee on fee.organization_id = ${ctx.organizationId} and fee.id = item.fee_id`;
}

/** Key of what a fee bills, equal across computations. */
const feeKey = (db: Db) => db`
  jsonb_build_array(fee.subscription_id, fee.fee_type, fee.charge_id, fee.charge_filter_id, fee.fixed_charge_id,
    fee.grouped_by, fee.true_up_parent_fee_id is not null)::text`;

async function insertTaxes(ctx: Context, note: NoteOwner, amounts: NoteAmounts): Promise<void> {
  if (amounts.appliedTaxes.length === 0) return;
  const rows = amounts.appliedTaxes.map(({ tax, baseAmountCents, amountCents }) => ({
    id: newId(),
    tax_id: tax.id,
    tax_code: tax.code,
    tax_name: tax.name,
    tax_rate: tax.rate,
    tax_description: tax.description,
    base_amount_cents: baseAmountCents,
    amount_cents: amountCents,
  }));
  await ctx.db`
    insert into credit_note_applied_taxes (id, organization_id, credit_note_id, tax_id, tax_code, tax_name, tax_rate,
      tax_description, base_amount_cents, amount_cents, amount_currency, created_at)
    select id, ${ctx.organizationId}::uuid, ${note.id}::uuid, tax_id, tax_code, tax_name, tax_rate, tax_description,
      base_amount_cents, amount_cents, ${note.currency}, ${ctx.now()}
    from jsonb_to_recordset(${json(rows)}::jsonb) as tax (id uuid, tax_id uuid, tax_code text, tax_name text,
      tax_rate numeric, tax_description text, base_amount_cents bigint, amount_cents bigint)`;
}

export interface CreditNoteChange {
  status?: CreditNoteStatus;
  number?: string;
  issuing_date?: Temporal.PlainDate;
  credit_status?: CreditStatus;
  refund_status?: RefundStatus;
  balance_amount_cents?: number;
  metadata?: Record<string, string | null> | null;
  refunded_at?: Temporal.Instant | null;
  voided_at?: Temporal.Instant;
}

/** Changes columns of a note and gives it back as it then is. */
export async function changeCreditNote(
  ctx: Context,
  id: CreditNoteId,
  change: CreditNoteChange,
): Promise<CreditNoteRow> {
  await ctx.db`
    update credit_notes set ${ctx.db(columnValues({ ...change, updated_at: ctx.now() }))}
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  return readCreditNote(ctx, id);
}

/** Gives a draft note the amounts of its invoice's new computation. */
export async function rewriteNote(
  ctx: Context,
  note: NoteOwner,
  { items, amounts, parts }: { items: readonly NewItem[]; amounts: NoteAmounts; parts: NoteParts },
): Promise<void> {
  const { db, organizationId } = ctx;
  await db`delete from credit_note_items where organization_id = ${organizationId} and credit_note_id = ${note.id}`;
  await db`
    delete from credit_note_applied_taxes where organization_id = ${organizationId} and credit_note_id = ${note.id}`;
  await insertItems(ctx, note, items);
  await insertTaxes(ctx, note, amounts);
  const change = { ...amountColumns(amounts, parts), refund_status: null, updated_at: ctx.now() };
  await db`
    update credit_notes set ${db(columnValues(change))}
    where organization_id = ${organizationId} and id = ${note.id}`;
}

/** Moves items of a draft note to the fees of a new computation that bill the same. */
export const listMovedItems = ({ db, organizationId }: Scope, noteId: CreditNoteId, invoiceId: InvoiceId) =>
  db<
    {
      fee_id: FeeId;
      fee_amount_cents: number;
      precise_amount_cents: Decimal;
      given_for_fee_ids: FeeId[] | null;
      given_part_cents: number | null;
    }[]
  >`
    select fee.id as fee_id, item.fee_amount_cents, item.precise_amount_cents, item.given_for_fee_ids,
      item.given_part_cents
    from credit_note_items item
    join fees fee on fee.organization_id = item.organization_id and fee.invoice_id = ${invoiceId}
      and fee.deleted_at is null and ${feeKey(db)} = item.fee_key
    where item.organization_id = ${organizationId} and item.credit_note_id = ${noteId}
    order by item.id`;

/** What a note settles of its invoice. Rule: credit-notes.md#other-effects. */
export const insertSettlement = (ctx: Context, note: CreditNoteRow) => ctx.db`
  insert into invoice_settlements (id, organization_id, invoice_id, settlement_type, credit_note_id, amount_cents,
    amount_currency, created_at)
  values (${newId()}, ${ctx.organizationId}, ${note.invoice_id}, 'credit_note', ${note.id},
    ${note.offset_amount_cents}, ${note.currency}, ${ctx.now()})`;

/** Deletes the drafts that follow an invoice which is gone. */
export async function deleteDraftNotes(ctx: Context, { invoice_id }: { invoice_id: InvoiceId }): Promise<void> {
  await ctx.db`
    update credit_notes set status = 'deleted', updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and invoice_id = ${invoice_id} and status = 'draft'`;
}

/** Takes from notes what they pay of an invoice; a note whose balance is gone is consumed. */
export const takeFromNotes = (
  ctx: Context,
  uses: readonly { credit_note_id: CreditNoteId; amount_cents: number }[],
) => ctx.db`
  update credit_notes note
  set balance_amount_cents = note.balance_amount_cents - used.amount_cents,
    credit_status = case when note.balance_amount_cents = used.amount_cents then 'consumed' else 'available' end,
    updated_at = ${ctx.now()}
  from jsonb_to_recordset(${json(uses)}::jsonb) as used (credit_note_id uuid, amount_cents bigint)
  where note.organization_id = ${ctx.organizationId} and note.id = used.credit_note_id`;

/** What notes paid of an invoice. */
export const listUsesOnInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) =>
  db<{ credit_id: string; credit_note_id: CreditNoteId; amount_cents: number }[]>`
    select id as credit_id, credit_note_id, amount_cents from credits
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and credit_note_id is not null
    order by id`;
