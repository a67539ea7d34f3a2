import type { Temporal } from 'temporal-polyfill';
import {
  type InvoiceStatus,
  type PaymentStatus,
  type TaxStatus,
  VISIBLE_INVOICE_STATUSES,
} from '../../../engine/invoices/invoice-states.ts';
import type { InvoiceType, InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  BillingEntityId,
  CustomerId,
  DocumentId,
  ExternalCustomerId,
  IntegrationId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { metadataCondition } from '../../../platform/lists/metadata-condition.ts';
import { refuse } from '../../../platform/refusal.ts';
import { liveCustomerId } from '../../customers/customers/queries.ts';
import {
  type AppliedSectionJson,
  appliedSections,
} from '../../customers/invoice-custom-sections/sections-of-invoice.ts';
import { missingCharacters } from '../../messaging/documents/missing-characters.ts';
import { xmlDocument } from '../../messaging/documents/xml-document.ts';
import type { AppliedTaxJson } from '../fees/queries.ts';

export interface InvoiceMetadataJson {
  id: string;
  key: string;
  value: string;
  created_at: string;
}

/** An invoice with its taxes and metadata: what lists show of it, its customer apart. */
export interface InvoiceRow {
  id: InvoiceId;
  billing_entity_id: BillingEntityId;
  billing_entity_code: string;
  customer_id: CustomerId;
  invoice_type: InvoiceType;
  status: InvoiceStatus;
  payment_status: PaymentStatus;
  payment_overdue: boolean;
  payment_dispute_lost_at: Temporal.Instant | null;
  tax_status: TaxStatus | null;
  /** Rises with each computation. */
  tax_version: number;
  /** The tax engine whose answer the taxes are. */
  tax_integration_id: IntegrationId | null;
  self_billed: boolean;
  number: string;
  sequential_id: number | null;
  currency: Currency;
  timezone: string;
  issuing_date: Temporal.PlainDate;
  expected_finalization_date: Temporal.PlainDate;
  payment_due_date: Temporal.PlainDate;
  net_payment_term: number;
  purchase_order_number: string | null;
  fees_amount_cents: number;
  progressive_billing_credit_amount_cents: number;
  coupons_amount_cents: number;
  sub_total_excluding_taxes_amount_cents: number;
  taxes_amount_cents: number;
  taxes_rate: Decimal;
  sub_total_including_taxes_amount_cents: number;
  credit_notes_amount_cents: number;
  prepaid_credit_amount_cents: number;
  prepaid_granted_credit_amount_cents: number | null;
  prepaid_purchased_credit_amount_cents: number | null;
  total_amount_cents: number;
  total_paid_amount_cents: number;
  total_offsetted_credit_note_amount_cents: number;
  total_written_off_amount_cents: number;
  /** What its billing entity has mailed. */
  email_settings: string[];
  /** Whether its billing entity chose electronic documents. */
  wants_e_documents: boolean;
  version_number: number;
  voided_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
  applied_taxes: (AppliedTaxJson & { fees_amount_cents: number })[];
  metadata: InvoiceMetadataJson[];
  /** Its document, once it has been drawn. */
  document_id: DocumentId | null;
  missing_characters: string | null;
  xml_document_id: DocumentId | null;
  /** The newest verification of it. Rule: invoice-verification.md#route. */
  last_verification: { status: string; level: string; verified_at: string } | null;
  applied_sections: AppliedSectionJson[];
  error_details: { id: string; error_code: string; details: Record<string, unknown> }[];
}

const invoiceColumns = (db: Db) => db`
  invoice.id, invoice.billing_entity_id, entity.code as billing_entity_code, invoice.customer_id, invoice.invoice_type,
  invoice.status, invoice.payment_status, invoice.payment_overdue, invoice.payment_dispute_lost_at,
  invoice.tax_status, invoice.tax_version, invoice.tax_integration_id, invoice.self_billed, invoice.number,
  invoice.sequential_id, invoice.currency, invoice.timezone,
  invoice.issuing_date, invoice.expected_finalization_date, invoice.payment_due_date, invoice.net_payment_term,
  invoice.purchase_order_number, invoice.fees_amount_cents, invoice.progressive_billing_credit_amount_cents,
  invoice.coupons_amount_cents, invoice.sub_total_excluding_taxes_amount_cents, invoice.taxes_amount_cents,
  invoice.taxes_rate, invoice.sub_total_including_taxes_amount_cents, invoice.credit_notes_amount_cents,
  invoice.prepaid_credit_amount_cents, invoice.prepaid_granted_credit_amount_cents,
  invoice.prepaid_purchased_credit_amount_cents, invoice.total_amount_cents, invoice.total_paid_amount_cents,
  invoice.total_offsetted_credit_note_amount_cents, invoice.total_written_off_amount_cents, invoice.version_number,
  invoice.voided_at, invoice.created_at, invoice.updated_at, entity.email_settings,
  (entity.e_document_profile is not null or entity.einvoicing) as wants_e_documents,
  (select coalesce(json_agg(json_build_object('id', tax.id, 'tax_id', tax.tax_id, 'tax_code', tax.tax_code,
     'tax_name', tax.tax_name, 'tax_rate', tax.tax_rate, 'tax_description', tax.tax_description,
     'amount_cents', tax.amount_cents, 'amount_currency', tax.amount_currency, 'created_at', tax.created_at,
     'fees_amount_cents', tax.fees_amount_cents) order by tax.id), '[]')
   from invoice_applied_taxes tax
   where tax.organization_id = invoice.organization_id and tax.invoice_id = invoice.id) as applied_taxes,
  (select coalesce(json_agg(json_build_object('id', item.id, 'key', item.key, 'value', item.value,
     'created_at', item.created_at) order by item.id), '[]')
   from invoice_metadata item
   where item.organization_id = invoice.organization_id and item.invoice_id = invoice.id) as metadata,
  (select coalesce(json_agg(json_build_object('id', error.id, 'error_code', error.error_code, 'details', error.details)
     order by error.id), '[]')
   from invoice_error_details error
   where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id) as error_details,
  ${appliedSections(db)} as applied_sections,
  (select document.id from documents document
   where document.organization_id = invoice.organization_id and document.kind = 'invoice'
     and document.subject_id = invoice.id and document.content is not null) as document_id,
  ${missingCharacters(db, 'invoice', 'invoice')},
  ${xmlDocument(db, { alias: 'invoice', subjectType: 'Invoice' })} as xml_document_id,
  (select json_build_object('status', verification.status, 'level', verification.level,
     'verified_at', verification.result ->> 'verified_at')
   from verifications verification
   where verification.organization_id = invoice.organization_id and verification.invoice_id = invoice.id
   order by verification.created_at desc, verification.id desc
   limit 1) as last_verification`;

const invoiceTables = (db: Db) => db`
  invoices invoice
  join billing_entities entity on entity.organization_id = invoice.organization_id
    and entity.id = invoice.billing_entity_id`;

/** An invoice in whatever status, by an id of ours. It is looked up by its key alone, as fees look up theirs. */
export async function readInvoice({ db, organizationId }: Scope, id: InvoiceId): Promise<InvoiceRow> {
  const [row] = await db<InvoiceRow[]>`
    select ${invoiceColumns(db)} from (select * from invoices where id = ${id} offset 0) invoice
    join billing_entities entity on entity.organization_id = invoice.organization_id
      and entity.id = invoice.billing_entity_id
    where invoice.organization_id = ${organizationId}`;
  return row!;
}

/** Invoices in whatever status, by ids of ours, oldest first. */
export const listInvoicesByIds = ({ db, organizationId }: Scope, ids: readonly InvoiceId[]) => db<InvoiceRow[]>`
  select ${invoiceColumns(db)} from ${invoiceTables(db)}
  where invoice.organization_id = ${organizationId} and invoice.id = any (${ids})
  order by invoice.id`;

/** @throws Refusal 404 invoice, when there is none or the API does not show its status. Rule: invoices.md#statuses. */
export async function getVisibleInvoice({ db, organizationId }: Scope, id: InvoiceId): Promise<InvoiceRow> {
  const [row] = isUuid(id)
    ? await db<InvoiceRow[]>`
      select ${invoiceColumns(db)} from ${invoiceTables(db)}
      where invoice.organization_id = ${organizationId} and invoice.id = ${id} and invoice.status = any (${VISIBLE_INVOICE_STATUSES})`
    : [];
  if (!row) throw refuse.notFound('invoice');
  return row;
}

/** The line of a subscription on an invoice: its windows, half-open. */
export interface InvoiceLineRow {
  subscription_id: SubscriptionId;
  invoicing_reason: InvoicingReason;
  ends_trial: boolean;
  from_datetime: Temporal.Instant | null;
  to_datetime: Temporal.Instant | null;
  charges_from_datetime: Temporal.Instant | null;
  charges_to_datetime: Temporal.Instant | null;
  fixed_charges_from_datetime: Temporal.Instant | null;
  fixed_charges_to_datetime: Temporal.Instant | null;
}

export const listLinesOfInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<InvoiceLineRow[]>`
  select subscription_id, invoicing_reason, ends_trial, from_datetime, to_datetime, charges_from_datetime,
    charges_to_datetime, fixed_charges_from_datetime, fixed_charges_to_datetime
  from invoice_subscriptions
  where organization_id = ${organizationId} and invoice_id = ${invoiceId}
  order by id`;

export interface InvoiceFilters {
  search_term?: string | undefined;
  external_customer_id?: ExternalCustomerId | undefined;
  /** Only invoices of this live customer, whatever the filter says. */
  customerId?: CustomerId | undefined;
  billing_entity_codes?: readonly string[] | undefined;
  currency?: string | undefined;
  invoice_type?: InvoiceType | undefined;
  issuing_date_from?: string | undefined;
  issuing_date_to?: string | undefined;
  statuses?: readonly string[] | undefined;
  payment_statuses?: readonly string[] | undefined;
  payment_overdue?: boolean | undefined;
  payment_dispute_lost?: boolean | undefined;
  partially_paid?: boolean | undefined;
  self_billed?: boolean | undefined;
  /** Bounds in cents, as decimal text. */
  amount_from?: string | undefined;
  amount_to?: string | undefined;
  metadata?: Record<string, string> | undefined;
  purchase_order_number?: string | undefined;
  settlements?: readonly string[] | undefined;
}

/** Conditions of a list of invoices. Rules: invoice-operations.md#list-filters, lists.md#filters-and-order. */
function matching({ db, organizationId }: Scope, filters: InvoiceFilters) {
  const parts = [
    db`invoice.organization_id = ${organizationId} and invoice.status = any (${filters.statuses ?? VISIBLE_INVOICE_STATUSES})`,
  ];
  if (filters.customerId !== undefined) parts.push(db`and invoice.customer_id = ${filters.customerId}`);
  if (filters.external_customer_id !== undefined)
    parts.push(db`and invoice.customer_id = ${liveCustomerId({ db, organizationId }, filters.external_customer_id)}`);
  if (filters.search_term !== undefined) parts.push(db`and ${containing(db, filters.search_term)}`);
  if (filters.billing_entity_codes !== undefined)
    parts.push(db`and entity.code = any (${filters.billing_entity_codes})`);
  if (filters.currency !== undefined) parts.push(db`and invoice.currency = ${filters.currency}`);
  if (filters.invoice_type !== undefined) parts.push(db`and invoice.invoice_type = ${filters.invoice_type}`);
  if (filters.issuing_date_from !== undefined)
    parts.push(db`and invoice.issuing_date >= ${filters.issuing_date_from}::date`);
  if (filters.issuing_date_to !== undefined)
    parts.push(db`and invoice.issuing_date <= ${filters.issuing_date_to}::date`);
  if (filters.payment_statuses !== undefined)
    parts.push(db`and invoice.payment_status = any (${filters.payment_statuses})`);
  if (filters.payment_overdue !== undefined) parts.push(db`and invoice.payment_overdue = ${filters.payment_overdue}`);
  if (filters.payment_dispute_lost !== undefined)
    parts.push(db`and (invoice.payment_dispute_lost_at is not null) = ${filters.payment_dispute_lost}`);
  if (filters.partially_paid !== undefined)
    parts.push(db`and (invoice.total_paid_amount_cents > 0
      and invoice.total_paid_amount_cents < invoice.total_amount_cents) = ${filters.partially_paid}`);
  if (filters.self_billed !== undefined) parts.push(db`and invoice.self_billed = ${filters.self_billed}`);
  if (filters.amount_from !== undefined)
    parts.push(db`and invoice.total_amount_cents >= ${filters.amount_from}::numeric`);
  if (filters.amount_to !== undefined) parts.push(db`and invoice.total_amount_cents <= ${filters.amount_to}::numeric`);
  if (filters.purchase_order_number !== undefined)
    parts.push(db`and lower(invoice.purchase_order_number) = lower(${filters.purchase_order_number})`);
  if (filters.settlements !== undefined)
    parts.push(db`and (${filters.settlements.includes('payment')} and invoice.total_paid_amount_cents > 0
      or ${filters.settlements.includes('credit_note')} and invoice.total_offsetted_credit_note_amount_cents > 0
      or ${filters.settlements.includes('write_off')} and invoice.total_written_off_amount_cents > 0)`);
  const items = db`from invoice_metadata item where item.organization_id = ${organizationId}`;
  const [owner, reference] = [db`invoice.id`, db`item.invoice_id`];
  parts.push(metadataCondition(db, { owner, items, reference }, filters.metadata));
  return parts;
}

function containing(db: Db, term: string) {
  const pattern = containsPattern(term);
  const byId = isUuid(term.trim()) ? db`or invoice.id = ${term.trim()}` : db``;
  return db`(invoice.number ilike ${pattern} ${byId} or customer.name ilike ${pattern} or customer.firstname ilike ${pattern}
    or customer.lastname ilike ${pattern} or customer.legal_name ilike ${pattern}
    or customer.external_id ilike ${pattern} or customer.email ilike ${pattern})`;
}

// The customer's row is read only where a filter asks for it.
const customerTable = (db: Db, filters: InvoiceFilters) =>
  filters.search_term === undefined
    ? db``
    : db`join customers customer on customer.organization_id = invoice.organization_id
      and customer.id = invoice.customer_id`;

/** A page of invoices, latest issued first. */
export const listInvoices = (
  scope: Scope,
  filters: InvoiceFilters,
  page: { limit: number; offset: number },
) => scope.db<InvoiceRow[]>`
  select ${invoiceColumns(scope.db)} from ${invoiceTables(scope.db)} ${customerTable(scope.db, filters)}
  where ${matching(scope, filters)}
  order by invoice.issuing_date desc, invoice.created_at desc, invoice.id desc
  limit ${page.limit} offset ${page.offset}`;

/** Ids of invoices above one id, oldest first. */
export async function listInvoiceIds(
  scope: Scope,
  filters: InvoiceFilters,
  { after, limit }: { after: string | null; limit: number },
): Promise<InvoiceId[]> {
  const { db } = scope;
  const rows = await db<{ id: string }[]>`
    select invoice.id from ${invoiceTables(db)} ${customerTable(db, filters)}
    where ${matching(scope, filters)} ${after === null ? db`` : db`and invoice.id > ${after}`}
    order by invoice.id
    limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** How many invoices a list has. */
export const countListed = (scope: Scope, filters: InvoiceFilters): Promise<Total> =>
  countRecords(
    scope.db,
    scope.db`${invoiceTables(scope.db)} ${customerTable(scope.db, filters)} where ${matching(scope, filters)}`,
  );

/** How many invoices pass, exactly, however many they are. */
export async function countInvoices(scope: Scope, filters: InvoiceFilters): Promise<number> {
  const { db } = scope;
  const [row] = await db<{ count: number }[]>`
    select count(*) from ${invoiceTables(db)} ${customerTable(db, filters)}
    where ${matching(scope, filters)}`;
  return row!.count;
}
