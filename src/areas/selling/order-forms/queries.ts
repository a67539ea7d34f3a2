import type { Temporal } from 'temporal-polyfill';
import type { OrderFormStatus } from '../../../engine/quotes/quote-states.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CustomerId,
  DocumentId,
  ExternalCustomerId,
  OrderFormId,
  OrganizationId,
  QuoteId,
  QuoteVersionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isOwned } from '../quotes/queries.ts';
import type { OrderFormsQuery } from './schema.ts';

export interface OrderFormRow {
  id: OrderFormId;
  organization_id: OrganizationId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  quote_id: QuoteId;
  quote_version_id: QuoteVersionId;
  number: string;
  status: OrderFormStatus;
  void_reason: 'manual' | 'expired' | 'invalid' | null;
  expires_at: Temporal.Instant | null;
  signed_at: Temporal.Instant | null;
  voided_at: Temporal.Instant | null;
  /** The uploaded file with the signature. */
  document_id: DocumentId | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  form.id, form.organization_id, form.customer_id, customer.external_id as external_customer_id, form.quote_id,
  form.quote_version_id, form.number, form.status, form.void_reason, form.expires_at, form.signed_at, form.voided_at,
  form.created_at, form.updated_at,
  (select document.id from documents document
   where document.organization_id = form.organization_id and document.kind = 'order_form'
     and document.subject_id = form.id) as document_id`;

const tables = (db: Db, forms = db`order_forms`) => db`
  ${forms} form
  join quotes quote on quote.organization_id = form.organization_id and quote.id = form.quote_id
  join customers customer on customer.organization_id = form.organization_id and customer.id = form.customer_id`;

/** @throws Refusal 404 order_form */
export async function getOrderForm({ db, organizationId }: Scope, id: OrderFormId): Promise<OrderFormRow> {
  const [row] = isUuid(id)
    ? await db<OrderFormRow[]>`
      select ${columns(db)} from ${tables(db)} where form.organization_id = ${organizationId} and form.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('order_form');
  return row;
}

/** A page of order forms, newest first, and how many there are. Rule: lists.md#filters-and-order. */
export async function listOrderForms(
  { db, organizationId }: Scope,
  query: OrderFormsQuery,
): Promise<{ rows: OrderFormRow[]; totalCount: Total }> {
  const { limit, offset } = limitOf(query);
  const passing = db`form.organization_id = ${organizationId}
    ${query.search_term ? db`and form.number ilike ${containsPattern(query.search_term)}` : db``}
    ${query.status ? db`and form.status = any (${query.status})` : db``}
    ${query.customer_id ? db`and form.customer_id = any (${query.customer_id.filter(isUuid)}::uuid[])` : db``}
    ${query.number ? db`and form.number = any (${query.number})` : db``}
    ${query.quote_number ? db`and quote.number = any (${query.quote_number})` : db``}
    ${query.owner_id ? db`and ${isOwned(db, query.owner_id)}` : db``}
    ${query.created_at_from ? db`and form.created_at >= ${query.created_at_from}` : db``}
    ${query.created_at_to ? db`and form.created_at < ${query.created_at_to}` : db``}
    ${query.expires_at_from ? db`and form.expires_at >= ${query.expires_at_from}` : db``}
    ${query.expires_at_to ? db`and form.expires_at < ${query.expires_at_to}` : db``}`;
  // No table is joined but for a filter: Postgres would take a page for one row, which it finds by sorting all.
  const isJoined = query.quote_number || query.owner_id;
  const listed = isJoined ? tables(db) : db`order_forms form`;
  const page = db`(
    select form.* from ${listed} where ${passing}
    order by form.created_at desc, form.id desc
    limit ${limit} offset ${offset})`;
  const [rows, totalCount] = await Promise.all([
    db<OrderFormRow[]>`
      select ${columns(db)} from ${tables(db, page)} order by form.created_at desc, form.id desc`,
    countRecords(db, db`${listed} where ${passing}`),
  ]);
  return { rows, totalCount };
}

export const insertOrderForm = (
  db: Db,
  form: Pick<OrderFormRow, 'id' | 'organization_id' | 'customer_id' | 'quote_id' | 'quote_version_id' | 'number'> & {
    expires_at: string | null;
  },
  now: Temporal.Instant,
) => db`
  insert into order_forms (id, organization_id, customer_id, quote_id, quote_version_id, number, expires_at,
    created_at, updated_at)
  values (${form.id}, ${form.organization_id}, ${form.customer_id}, ${form.quote_id}, ${form.quote_version_id},
    ${form.number}, ${form.expires_at}, ${now}, ${now})`;

export const markSigned = ({ db, organizationId }: Scope, id: OrderFormId, now: Temporal.Instant) => db`
  update order_forms set status = 'signed', signed_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Ends a form that was not signed. */
export const markEnded = (
  { db, organizationId }: Scope,
  id: OrderFormId,
  { end, now }: { end: { status: 'expired' | 'voided'; reason: 'expired' | 'manual' }; now: Temporal.Instant },
) => db`
  update order_forms set status = ${end.status}, void_reason = ${end.reason}, voided_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Stores the uploaded file with a signature. */
export const insertSignedDocument = (
  { db, organizationId }: Scope,
  document: {
    id: DocumentId;
    order_form_id: OrderFormId;
    file_name: string;
    content_type: string;
    content: Uint8Array;
  },
  realNow: Temporal.Instant,
) => db`
  insert into documents (id, organization_id, kind, subject_id, file_name, content_type, content, requested_at,
    enqueued_at, rendered_at)
  values (${document.id}, ${organizationId}, 'order_form', ${document.order_form_id}, ${document.file_name},
    ${document.content_type}, ${Buffer.from(document.content)}, ${realNow}, ${realNow}, ${realNow})`;
