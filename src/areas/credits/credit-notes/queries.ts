import type { Temporal } from 'temporal-polyfill';
import type {
  CreditNoteReason,
  CreditNoteStatus,
  CreditStatus,
  RefundStatus,
} from '../../../engine/credits/credit-note-states.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CreditNoteId,
  CustomerId,
  DocumentId,
  ExternalCustomerId,
  FeeId,
  InvoiceId,
  TaxId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import { missingCharacters } from '../../messaging/documents/missing-characters.ts';
import { xmlDocument } from '../../messaging/documents/xml-document.ts';
import { keptOfVoided } from './kept-of-voided.ts';

export interface CreditNoteItemJson {
  id: string;
  fee_id: FeeId | null;
  amount_cents: number;
  precise_amount_cents: number | string;
  amount_currency: string;
}

export interface CreditNoteTaxJson {
  id: string;
  tax_id: TaxId | null;
  tax_code: string;
  tax_name: string;
  tax_rate: number;
  tax_description: string | null;
  base_amount_cents: number;
  amount_cents: number;
  amount_currency: string;
  created_at: string;
}

/** A credit note with its items and taxes, and what it takes from its invoice. */
export interface CreditNoteRow {
  id: CreditNoteId;
  billing_entity_id: BillingEntityId;
  billing_entity_code: string;
  customer_id: CustomerId;
  invoice_id: InvoiceId;
  invoice_number: string;
  purchase_order_number: string | null;
  self_billed: boolean;
  status: CreditNoteStatus;
  sequential_id: number;
  number: string;
  currency: Currency;
  reason: CreditNoteReason;
  description: string | null;
  issuing_date: Temporal.PlainDate;
  credit_status: CreditStatus;
  refund_status: RefundStatus | null;
  total_amount_cents: number;
  credit_amount_cents: number;
  refund_amount_cents: number;
  offset_amount_cents: number;
  balance_amount_cents: number;
  precise_total_amount_cents: Decimal;
  sub_total_excluding_taxes_amount_cents: number;
  coupons_adjustment_amount_cents: number;
  precise_coupons_adjustment_amount_cents: Decimal;
  taxes_amount_cents: number;
  precise_taxes_amount_cents: Decimal;
  taxes_rate: Decimal;
  metadata: Record<string, string | null> | null;
  refunded_at: Temporal.Instant | null;
  voided_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
  items: CreditNoteItemJson[];
  applied_taxes: CreditNoteTaxJson[];
  error_details: { svc_id: string; error_code: 'tax_error'; details: Record<string, string> }[];
  /** Ids of its documents, once they have been made. */
  document_id: DocumentId | null;
  missing_characters: string | null;
  xml_document_id: DocumentId | null;
}

const columns = (db: Db) => db`
  note.id, note.billing_entity_id, entity.code as billing_entity_code, note.customer_id, note.invoice_id,
  invoice.number as invoice_number, invoice.purchase_order_number, invoice.self_billed, note.status, note.sequential_id,
  note.number, note.currency, note.reason, note.description, note.issuing_date, note.credit_status, note.refund_status,
  note.total_amount_cents, note.credit_amount_cents, note.refund_amount_cents, note.offset_amount_cents,
  note.balance_amount_cents, note.precise_total_amount_cents, note.sub_total_excluding_taxes_amount_cents,
  note.coupons_adjustment_amount_cents, note.precise_coupons_adjustment_amount_cents, note.taxes_amount_cents,
  note.precise_taxes_amount_cents, note.taxes_rate, note.metadata, note.refunded_at, note.voided_at, note.created_at,
  note.updated_at,
  (select coalesce(json_agg(json_build_object('id', item.id, 'fee_id', item.fee_id, 'amount_cents', item.amount_cents,
     'precise_amount_cents', item.precise_amount_cents::text, 'amount_currency', item.amount_currency)
       order by item.id), '[]')
   from credit_note_items item
   where item.organization_id = note.organization_id and item.credit_note_id = note.id) as items,
  (select coalesce(json_agg(json_build_object('id', tax.id, 'tax_id', tax.tax_id, 'tax_code', tax.tax_code,
     'tax_name', tax.tax_name, 'tax_rate', tax.tax_rate, 'tax_description', tax.tax_description,
     'base_amount_cents', tax.base_amount_cents, 'amount_cents', tax.amount_cents,
     'amount_currency', tax.amount_currency, 'created_at', tax.created_at) order by tax.id), '[]')
   from credit_note_applied_taxes tax
   where tax.organization_id = note.organization_id and tax.credit_note_id = note.id) as applied_taxes,
  (select coalesce(json_agg(json_build_object('svc_id', error.id, 'error_code', error.error_code,
     'details', error.details) order by error.id), '[]')
   from credit_note_error_details error
   where error.organization_id = note.organization_id and error.credit_note_id = note.id) as error_details,
  (select document.id from documents document
   where document.organization_id = note.organization_id and document.kind = 'credit_note'
     and document.subject_id = note.id and document.content is not null) as document_id,
  ${missingCharacters(db, 'credit_note', 'note')},
  ${xmlDocument(db, { alias: 'note', subjectType: 'CreditNote' })} as xml_document_id`;

const tables = (db: Db) => db`
  credit_notes note
  join invoices invoice on invoice.organization_id = note.organization_id and invoice.id = note.invoice_id
  join billing_entities entity on entity.organization_id = note.organization_id and entity.id = note.billing_entity_id`;

/** A note of ours, in whatever status. */
export async function readCreditNote({ db, organizationId }: Scope, id: CreditNoteId): Promise<CreditNoteRow> {
  const [row] = await db<CreditNoteRow[]>`
    select ${columns(db)} from ${tables(db)} where note.organization_id = ${organizationId} and note.id = ${id}`;
  return row!;
}

/** A final note. @throws Refusal 404 credit_note, also for drafts */
export async function getCreditNote({ db, organizationId }: Scope, id: CreditNoteId): Promise<CreditNoteRow> {
  const [row] = isUuid(id)
    ? await db<CreditNoteRow[]>`
      select ${columns(db)} from ${tables(db)}
      where note.organization_id = ${organizationId} and note.id = ${id} and note.status = 'finalized'`
    : [];
  if (!row) throw refuse.notFound('credit_note');
  return row;
}

/** Drafts that follow an invoice, in the order in which they were made. */
export const listDraftNotes = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<CreditNoteRow[]>`
  select ${columns(db)} from ${tables(db)}
  where note.organization_id = ${organizationId} and note.invoice_id = ${invoiceId} and note.status = 'draft'
  order by note.sequential_id`;

export interface CreditNoteFilters {
  external_customer_id?: ExternalCustomerId | undefined;
  customerId?: CustomerId | undefined;
  issuing_date_from?: string | undefined;
  issuing_date_to?: string | undefined;
  search_term?: string | undefined;
  currency?: string | undefined;
  reason?: readonly string[] | undefined;
  credit_status?: readonly string[] | undefined;
  refund_status?: readonly string[] | undefined;
  invoice_number?: string | undefined;
  purchase_order_number?: string | undefined;
  /** Bounds in cents, as decimal text. */
  amount_from?: string | undefined;
  amount_to?: string | undefined;
  self_billed?: boolean | undefined;
  billing_entity_codes?: readonly string[] | undefined;
  types?: readonly string[] | undefined;
}

/** Conditions of a list of notes. Rules: credit-notes.md#list-filters, lists.md#filters-and-order. */
function matching({ db, organizationId }: Scope, filters: CreditNoteFilters) {
  const parts = [db`note.organization_id = ${organizationId} and note.status = 'finalized'`];
  const add = <Value>(value: Value | undefined, condition: (value: Value) => ReturnType<typeof tables>) => {
    if (value !== undefined) parts.push(db`and ${condition(value)}`);
  };
  add(filters.customerId, (id) => db`note.customer_id = ${id}`);
  add(filters.external_customer_id, (id) => db`note.customer_id = ${liveCustomerId({ db, organizationId }, id)}`);
  add(filters.issuing_date_from, (date) => db`note.issuing_date >= ${date}::date`);
  add(filters.issuing_date_to, (date) => db`note.issuing_date <= ${date}::date`);
  add(filters.currency, (currency) => db`note.currency = upper(${currency})`);
  add(filters.reason, (reasons) => db`note.reason = any (${reasons})`);
  add(filters.credit_status, (statuses) => db`note.credit_status = any (${statuses})`);
  add(filters.refund_status, (statuses) => db`note.refund_status = any (${statuses})`);
  add(filters.invoice_number, (number) => db`invoice.number = ${number}`);
  add(filters.purchase_order_number, (number) => db`lower(invoice.purchase_order_number) = lower(${number})`);
  add(filters.amount_from, (amount) => db`note.total_amount_cents >= ${amount}::numeric`);
  add(filters.amount_to, (amount) => db`note.total_amount_cents <= ${amount}::numeric`);
  add(filters.self_billed, (selfBilled) => db`invoice.self_billed = ${selfBilled}`);
  add(filters.billing_entity_codes, (codes) => db`entity.code = any (${codes})`);
  add(
    filters.types,
    (types) => db`(${types.includes('credit')} and note.credit_amount_cents > 0
      or ${types.includes('refund')} and note.refund_amount_cents > 0
      or ${types.includes('offset')} and note.offset_amount_cents > 0)`,
  );
  add(filters.search_term, (term) => containing(db, term));
  return parts;
}

function containing(db: Db, term: string) {
  const pattern = containsPattern(term);
  return db`(note.id::text ilike ${pattern} or note.number ilike ${pattern} or customer.name ilike ${pattern}
    or customer.firstname ilike ${pattern} or customer.lastname ilike ${pattern}
    or customer.legal_name ilike ${pattern} or customer.external_id ilike ${pattern}
    or customer.email ilike ${pattern})`;
}

// The customer's row is read only where a filter asks for it.
const customerTable = (db: Db, filters: CreditNoteFilters) =>
  filters.search_term === undefined
    ? db``
    : db`join customers customer on customer.organization_id = note.organization_id and customer.id = note.customer_id`;

/**
 * What the filters look at. No table is joined but for a filter: Postgres would take a page of a large organization for
 * one row, which it finds by sorting all.
 */
function listedTables(db: Db, filters: CreditNoteFilters) {
  const { invoice_number, purchase_order_number, self_billed, billing_entity_codes, search_term } = filters;
  const joining = [invoice_number, purchase_order_number, self_billed, billing_entity_codes, search_term];
  return joining.every((filter) => filter === undefined)
    ? db`credit_notes note`
    : db`${tables(db)} ${customerTable(db, filters)}`;
}

/** A page of final notes, newest first. */
export const listCreditNotes = (
  scope: Scope,
  filters: CreditNoteFilters,
  page: { limit: number; offset: number },
) => scope.db<CreditNoteRow[]>`
  select ${columns(scope.db)} from ${tables(scope.db)}
  where note.organization_id = ${scope.organizationId} and note.id in (
    select note.id from ${listedTables(scope.db, filters)} where ${matching(scope, filters)}
    order by note.created_at desc, note.id desc
    limit ${page.limit} offset ${page.offset})
  order by note.created_at desc, note.id desc`;

export const countCreditNotes = (scope: Scope, filters: CreditNoteFilters): Promise<Total> =>
  countRecords(scope.db, scope.db`${listedTables(scope.db, filters)} where ${matching(scope, filters)}`);

/** What notes of an invoice gave back so far, those of a draft too. */
export interface NotedSums {
  credit_cents: number;
  refund_cents: number;
  offset_cents: number;
  sub_total_cents: number;
  taxes_cents: number;
  /** Taxes of each, for the note that closes the invoice. */
  taxes: { taxes_amount_cents: number; precise_taxes_amount_cents: string }[];
  /** Credited of each fee, in cents. */
  fees: { fee_id: FeeId; credited_cents: number }[];
}

/**
 * Sums over the live notes of an invoice, except one that is computed again. Rule: credit-note-amounts.md#creation,
 * credit-note-amounts.md#what-is-left.
 */
export async function sumNotes(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  exceptId: string | null = null,
): Promise<NotedSums> {
  const [row] = await db<NotedSums[]>`
    with own as (
      select id, status, credit_amount_cents, refund_amount_cents, offset_amount_cents,
        sub_total_excluding_taxes_amount_cents, taxes_amount_cents, precise_taxes_amount_cents
      from credit_notes
      where organization_id = ${organizationId} and invoice_id = ${invoiceId} and status <> 'deleted'
        and id is distinct from ${exceptId}::uuid
    )
    select coalesce(sum(credit_amount_cents), 0)::bigint as credit_cents,
      coalesce(sum(refund_amount_cents), 0)::bigint as refund_cents,
      coalesce(sum(offset_amount_cents), 0)::bigint as offset_cents,
      coalesce(sum(sub_total_excluding_taxes_amount_cents), 0)::bigint as sub_total_cents,
      coalesce(sum(taxes_amount_cents), 0)::bigint as taxes_cents,
      coalesce(jsonb_agg(jsonb_build_object('taxes_amount_cents', taxes_amount_cents,
        'precise_taxes_amount_cents', precise_taxes_amount_cents::text)), '[]') as taxes,
      (select coalesce(jsonb_agg(jsonb_build_object('fee_id', credited.fee_id, 'credited_cents', credited.cents)), '[]')
       from (
         select item.fee_id, sum(item.amount_cents)::bigint as cents
         from credit_note_items item
         where item.organization_id = ${organizationId} and item.credit_note_id in (select id from own)
           and item.fee_id is not null
         group by item.fee_id
       ) credited) as fees
    from own`;
  return row!;
}

/** What the live notes of fees gave back of them, in cents; a fee that is missing was not credited. */
export async function sumItemsOfFees(
  { db, organizationId }: Scope,
  feeIds: readonly FeeId[],
): Promise<Map<string, number>> {
  const rows = await db<{ fee_id: FeeId; cents: number }[]>`
    select item.fee_id, sum(item.amount_cents)::bigint as cents
    from credit_note_items item
    join credit_notes note on note.organization_id = item.organization_id and note.id = item.credit_note_id
      and note.status <> 'deleted'
    where item.organization_id = ${organizationId} and item.fee_id = any (${feeIds}::uuid[])
    group by item.fee_id`;
  return new Map(rows.map(({ fee_id, cents }) => [fee_id, cents]));
}

/**
 * What live notes gave back of a fee, named by the first one in whose place it was made anew, for those that had taken
 * it over. Of a voided invoice that is what still counts, without a cent that is begun, so that nothing
 * is lost.
 */
export interface GivenPart {
  first_fee_id: FeeId;
  given_for_first_fee_ids: FeeId[];
  given_for_fee_ids: FeeId[];
  given_part_cents: number;
}

/** Such parts of fees of progressive invoices. Rule: event-corrections.md#usage-billed-progressively. */
export const listGivenParts = ({ db, organizationId }: Scope, firstFeeIds: readonly FeeId[]) => db<GivenPart[]>`
  select coalesce(fee.original_fee_id, fee.id) as first_fee_id,
    case when noted.status = 'voided' then floor(item.given_part_cents * coalesce(${keptOfVoided(db)}, 0))::bigint
      else item.given_part_cents end as given_part_cents, item.given_for_fee_ids, array(
      select coalesce(taker.original_fee_id, taker.id)
      from unnest(item.given_for_fee_ids) with ordinality as given (id, place)
      join fees taker on taker.organization_id = ${organizationId} and taker.id = given.id
      order by given.place
    ) as given_for_first_fee_ids
  from fees fee
  join credit_note_items item on item.organization_id = fee.organization_id and item.fee_id = fee.id
    and item.given_for_fee_ids is not null
  join credit_notes note on note.organization_id = item.organization_id and note.id = item.credit_note_id
    and note.status <> 'deleted'
  join invoices noted on noted.organization_id = note.organization_id and noted.id = note.invoice_id
  where fee.organization_id = ${organizationId}
    and (fee.id = any (${firstFeeIds}::uuid[]) or fee.original_fee_id = any (${firstFeeIds}::uuid[]))`;

/** A note that may pay an invoice. */
export interface SpendableRow {
  id: CreditNoteId;
  balance_amount_cents: number;
}

/** Notes of a customer with something left in a currency, oldest first. Rule: credit-notes.md#paying-later-invoices. */
export const listSpendableNotes = ({ db, organizationId }: Scope, customerId: CustomerId, currency: string) =>
  db<SpendableRow[]>`
    select id, balance_amount_cents from credit_notes
    where organization_id = ${organizationId} and customer_id = ${customerId} and currency = ${currency}
      and status = 'finalized' and credit_status = 'available' and balance_amount_cents > 0
    order by created_at, id`;
