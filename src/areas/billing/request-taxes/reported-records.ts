import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CreditNoteId, CustomerId, FeeId, IntegrationId } from '../../../platform/ids.ts';
import type { TaxDocument } from '../../../platform/taxes/port.ts';
import { isTakenBack } from './take-back.ts';

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

/** Fees that are on no invoice and not paid, in the order of their ids; also those whose payment failed. */
export const listStandaloneFees = ({ db, organizationId }: Scope, ids: readonly FeeId[]) => db<StandaloneFee[]>`
  select id, customer_id, billing_entity_id, fee_type, item_code, units, amount_cents, amount_currency,
    precise_amount_cents, precise_coupons_amount_cents, created_at
  from fees
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and invoice_id is null
    and payment_status in ('pending', 'failed') and deleted_at is null
  order by id`;

/** Locks a fee, so that it is neither paid, refunded nor deleted before its taxes are stored. */
export const lockStandaloneFee = ({ db, organizationId }: Scope, id: FeeId) => db`
  select from fees where organization_id = ${organizationId} and id = ${id} for update`;

/** Whom fees are billed to, in the order of their ids. */
export const listPayersOfFees = ({ db, organizationId }: Scope, ids: readonly FeeId[]) => db<
  { customer_id: CustomerId }[]
>`
  select distinct customer_id from fees
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])
  order by customer_id`;

/** A fee that is, or was, on no invoice; `is_billed` unless it was deleted or refunded. */
export async function findStandaloneFee(
  { db, organizationId }: Scope,
  id: FeeId,
): Promise<{ customer_id: CustomerId; is_billed: boolean; has_engine_taxes: boolean } | undefined> {
  const [fee] = await db<{ customer_id: CustomerId; is_billed: boolean; has_engine_taxes: boolean }[]>`
    select fee.customer_id, fee.deleted_at is null and fee.payment_status <> 'refunded' as is_billed,
      exists (select from fee_applied_taxes tax where tax.organization_id = fee.organization_id
        and tax.fee_id = fee.id and tax.tax_id is null) as has_engine_taxes
    from fees fee where fee.organization_id = ${organizationId} and fee.id = ${id}`;
  return fee;
}

/** The part of a note that gives back one fee, with the record of that fee at an engine. */
export interface NoteItem {
  id: string;
  fee_id: FeeId;
  fee_type: FeeType;
  item_code: string;
  units: Decimal;
  amount_cents: number;
  precise_amount_cents: Decimal;
  precise_coupons_amount_cents: Decimal;
  /** Null for a fee that no engine has recorded. */
  record_id: string | null;
}

/** What an engine has recorded. */
export interface EngineRecord {
  integration_id: IntegrationId;
  document: TaxDocument;
}

/** A final note, with what engines have recorded of the fees that it gives back. */
export interface NoteToReport {
  customer_id: CustomerId;
  issuing_date: Temporal.PlainDate;
  sub_total_excluding_taxes_amount_cents: number;
  /** Whether all of its invoice is taken back. */
  isOver: boolean;
  items: NoteItem[];
  /** By id, each once: a record of an invoice is that of all of its fees. */
  records: ReadonlyMap<string, EngineRecord>;
}

/** Undefined for a draft, and for a note that gives nothing back. */
export async function findNoteToReport(
  { db, organizationId }: Scope,
  id: CreditNoteId,
): Promise<NoteToReport | undefined> {
  const [note] = await db<(Omit<NoteToReport, 'items' | 'records' | 'isOver'> & InvoiceState)[]>`
    select note.customer_id, note.issuing_date, note.sub_total_excluding_taxes_amount_cents, invoice.status,
      invoice.payment_dispute_lost_at
    from credit_notes note
    join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
    where note.organization_id = ${organizationId} and note.id = ${id} and note.status = 'finalized'
      and note.sub_total_excluding_taxes_amount_cents > 0`;
  if (!note) return undefined;
  const items = await db<NoteItem[]>`
    select item.id, fee.id as fee_id, fee.fee_type, fee.item_code, fee.units, item.amount_cents,
      item.precise_amount_cents,
      case when fee.amount_cents = 0 then 0 else least(item.amount_cents,
        round(fee.precise_coupons_amount_cents * item.precise_amount_cents / fee.amount_cents, 5))
      end as precise_coupons_amount_cents,
      record.id as record_id
    from credit_note_items item
    join fees fee on fee.organization_id = item.organization_id and fee.id = item.fee_id
    left join lateral (
      select document.id from tax_documents document
      where document.organization_id = fee.organization_id and document.kind = 'record'
        and document.status = 'answered' and (document.fee_id = fee.id or document.invoice_id = fee.invoice_id)
      order by document.id desc limit 1
    ) record on true
    where item.organization_id = ${organizationId} and item.credit_note_id = ${id} and item.amount_cents > 0
    order by item.id`;
  const ids = [...new Set(items.flatMap(({ record_id }) => record_id ?? []))];
  const records = await db<(EngineRecord & { id: string })[]>`
    select id, integration_id, document from tax_documents
    where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;
  return { ...note, isOver: isTakenBack(note), items, records: new Map(records.map((each) => [each.id, each])) };
}

type InvoiceState = Parameters<typeof isTakenBack>[0];
