import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CreditNoteId, CustomerId, FeeId } from '../../../platform/ids.ts';

/** A fee on no invoice. */
export interface StandaloneFee {
  id: FeeId;
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  fee_type: FeeType;
  item_code: string;
  units: Decimal;
  amount_cents: number;
  amount_currency: string;
  precise_amount_cents: Decimal;
  precise_coupons_amount_cents: Decimal;
  created_at: Temporal.Instant;
}

/** Fees that are on no invoice and not paid, in the order of their ids. */
export const listStandaloneFees = ({ db, organizationId }: Scope, ids: readonly FeeId[]) => db<StandaloneFee[]>`
  select id, customer_id, billing_entity_id, fee_type, item_code, units, amount_cents, amount_currency,
    precise_amount_cents, precise_coupons_amount_cents, created_at
  from fees
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and invoice_id is null
    and payment_status = 'pending' and deleted_at is null
  order by id`;

/** A final note of an invoice that an engine has recorded; its items as fees of what they give back. */
export interface NoteToReport {
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  issuing_date: Temporal.PlainDate;
  currency: string;
  sub_total_excluding_taxes_amount_cents: number;
  items: (Pick<StandaloneFee, 'fee_type' | 'item_code' | 'units'> & {
    id: string;
    amount_cents: number;
    precise_amount_cents: Decimal;
    precise_coupons_amount_cents: Decimal;
  })[];
}

/** Undefined for a draft, a note that is void, and one of an invoice that no engine has recorded. */
export async function findNoteToReport(
  { db, organizationId }: Scope,
  id: CreditNoteId,
): Promise<NoteToReport | undefined> {
  const [note] = await db<Omit<NoteToReport, 'items'>[]>`
    select note.customer_id, note.billing_entity_id, note.issuing_date, note.currency,
      note.sub_total_excluding_taxes_amount_cents
    from credit_notes note
    where note.organization_id = ${organizationId} and note.id = ${id} and note.status = 'finalized'
      and note.sub_total_excluding_taxes_amount_cents > 0
      and exists (select from tax_documents document
        where document.organization_id = note.organization_id and document.invoice_id = note.invoice_id
          and document.kind = 'record' and document.status = 'answered')`;
  if (!note) return undefined;
  const items = await db<NoteToReport['items']>`
    select item.id, fee.fee_type, fee.item_code, fee.units, item.amount_cents,
      item.precise_amount_cents,
      case when fee.amount_cents = 0 then 0
        else round(fee.precise_coupons_amount_cents * item.precise_amount_cents / fee.amount_cents, 5)
      end as precise_coupons_amount_cents
    from credit_note_items item
    join fees fee on fee.organization_id = item.organization_id and fee.id = item.fee_id
    where item.organization_id = ${organizationId} and item.credit_note_id = ${id} and item.amount_cents > 0
    order by item.id`;
  return { ...note, items };
}
