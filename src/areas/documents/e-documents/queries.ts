import type { Temporal } from 'temporal-polyfill';
import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Problem } from '../../../engine/e-documents/rules.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, DocumentId, ExternalCustomerId, InvoiceId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EDocumentsQuery } from './schema.ts';

export type SubjectType = 'Invoice' | 'CreditNote';

/** An electronic document without its content. */
export interface EDocumentRow {
  id: DocumentId;
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  external_customer_id: ExternalCustomerId;
  subject_type: SubjectType;
  subject_id: string;
  kind: 'document' | 'cancellation';
  number: string;
  issued_on: Temporal.PlainDate;
  profile: Profile;
  /** In the profile that was chosen, not one that a request named. */
  is_chosen: boolean;
  /** `download_xml` made it, and nobody chose or named its profile: its problems keep it from nothing. */
  is_by_default: boolean;
  status: 'pending' | 'ready' | 'failed';
  sha256: string | null;
  size: number | null;
  problems: Problem[];
  retain_until: Temporal.PlainDate;
  ready_at: Temporal.Instant | null;
  /** When it was last put into the queue. */
  enqueued_at: Temporal.Instant;
  created_at: Temporal.Instant;
}

/** The printed document of the same subject. */
export const printedKind = ({ subject_type }: Pick<EDocumentRow, 'subject_type'>): 'invoice' | 'credit_note' =>
  subject_type === 'Invoice' ? 'invoice' : 'credit_note';

const columns = (db: Db) => db`
  document.id, document.billing_entity_id, document.customer_id, customer.external_id as external_customer_id,
  document.subject_type, document.subject_id, document.kind, document.number, document.issued_on, document.profile,
  document.is_chosen, document.is_by_default, document.status, document.sha256, document.size, document.problems,
  document.retain_until, document.ready_at, document.enqueued_at, document.created_at`;

const tables = (db: Db) => db`
  e_documents document
  join customers customer on customer.organization_id = document.organization_id
    and customer.id = document.customer_id`;

export async function findEDocument({ db, organizationId }: Scope, id: string): Promise<EDocumentRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await db<EDocumentRow[]>`
    select ${columns(db)} from ${tables(db)} where document.organization_id = ${organizationId} and document.id = ${id}`;
  return row;
}

/** @throws Refusal 404 e_document */
export async function getEDocument(scope: Scope, id: string): Promise<EDocumentRow> {
  const row = await findEDocument(scope, id);
  if (!row) throw refuse.notFound('e_document');
  return row;
}

/** The document of a subject in a profile, or the one that cancels it. */
export async function findDocumentOf(
  { db, organizationId }: Scope,
  subject: { type: SubjectType; id: string; profile: Profile; kind?: EDocumentRow['kind'] },
): Promise<EDocumentRow | undefined> {
  const [row] = await db<EDocumentRow[]>`
    select ${columns(db)} from ${tables(db)}
    where document.organization_id = ${organizationId} and document.subject_type = ${subject.type}
      and document.subject_id = ${subject.id} and document.kind = ${subject.kind ?? 'document'}
      and document.profile = ${subject.profile}`;
  return row;
}

/** The content of a document; undefined while there is none. */
export async function findContent({ db, organizationId }: Scope, id: DocumentId): Promise<Uint8Array | undefined> {
  const [row] = await db<{ content: Uint8Array | null }[]>`
    select content from e_documents where organization_id = ${organizationId} and id = ${id}`;
  return row?.content ?? undefined;
}

/** Whether an invoice or note has anything that a line could state (BR-16). */
export async function hasLines({ db, organizationId }: Scope, type: SubjectType, id: string): Promise<boolean> {
  const rows =
    type === 'Invoice'
      ? await db`
          select from fees
          where organization_id = ${organizationId} and invoice_id = ${id} and deleted_at is null limit 1`
      : await db`
          select from credit_note_items
          where organization_id = ${organizationId} and credit_note_id = ${id} and fee_id is not null limit 1`;
  return rows.length > 0;
}

/** Documents of an invoice that were handed out or are about to be. */
export const listDocumentsOfInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<EDocumentRow[]>`
  select ${columns(db)} from ${tables(db)}
  where document.organization_id = ${organizationId} and document.subject_type = 'Invoice'
    and document.subject_id = ${invoiceId} and document.kind = 'document' and document.status <> 'failed'
  order by document.id`;

/** Documents that pass the filters, newest first. */
export async function listEDocuments({ db, organizationId }: Scope, query: EDocumentsQuery) {
  const { limit, offset } = limitOf(query);
  const passing = db`document.organization_id = ${organizationId}
    ${query.profiles ? db`and document.profile = any (${query.profiles})` : db``}
    ${query.statuses ? db`and document.status = any (${query.statuses})` : db``}
    ${
      query.transmission_statuses
        ? db`and exists (
            select from e_document_transmissions transmission
            where transmission.organization_id = document.organization_id
              and transmission.e_document_id = document.id
              and transmission.status = any (${query.transmission_statuses}))`
        : db``
    }
    ${query.external_customer_id === undefined ? db`` : db`and customer.external_id = ${query.external_customer_id}`}
    ${query.issued_from === undefined ? db`` : db`and document.issued_on >= ${query.issued_from}`}
    ${query.issued_to === undefined ? db`` : db`and document.issued_on <= ${query.issued_to}`}`;
  const [rows, [count]] = await Promise.all([
    db<EDocumentRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by document.created_at desc, document.id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from ${tables(db)} where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
