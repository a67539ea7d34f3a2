import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentId, OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

export const DOCUMENT_KINDS = ['invoice', 'invoice_xml', 'credit_note', 'credit_note_xml', 'payment_receipt'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

export interface DocumentRow {
  id: DocumentId;
  organization_id: OrganizationId;
  kind: DocumentKind;
  subject_id: string;
  file_name: string;
  is_rendered: boolean;
}

/** The document of a subject, requested now unless it was before; `isNew` if it was not. */
export async function requestDocument(
  db: Db,
  subject: {
    organizationId: OrganizationId;
    kind: DocumentKind;
    subjectId: string;
    fileName: string;
    contentType: string;
  },
  realNow: Temporal.Instant,
): Promise<{ id: string; isNew: boolean }> {
  const id = newId();
  const [made] = await db<{ id: DocumentId }[]>`
    insert into documents (id, organization_id, kind, subject_id, file_name, content_type, requested_at, enqueued_at)
    values (${id}, ${subject.organizationId}, ${subject.kind}, ${subject.subjectId}, ${subject.fileName},
      ${subject.contentType}, ${realNow}, ${realNow})
    on conflict on constraint documents_subject_key do nothing
    returning id`;
  if (made) return { id, isNew: true };
  const [found] = await db<{ id: DocumentId }[]>`
    select id from documents
    where organization_id = ${subject.organizationId} and kind = ${subject.kind} and subject_id = ${subject.subjectId}`;
  return { id: found!.id, isNew: false };
}

/** Id of the document of a subject, once it has been drawn. */
export async function findRenderedDocument(
  { db, organizationId }: Scope,
  kind: DocumentKind,
  subjectId: string,
): Promise<string | undefined> {
  const [row] = await db<{ id: DocumentId }[]>`
    select id from documents
    where organization_id = ${organizationId} and kind = ${kind} and subject_id = ${subjectId} and content is not null`;
  return row?.id;
}

/** A document that waits to be drawn; undefined once it has been. */
export async function findPendingDocument(
  { db, organizationId }: Scope,
  id: DocumentId,
): Promise<DocumentRow | undefined> {
  const [row] = await db<DocumentRow[]>`
    select id, organization_id, kind, subject_id, file_name, content is not null as is_rendered from documents
    where organization_id = ${organizationId} and id = ${id} and content is null`;
  return row;
}

/** Stores a drawn document with its missing characters, unless one is stored. @returns whether this one was stored */
export async function storeDocument(
  { db, organizationId }: Scope,
  id: DocumentId,
  { content, missing }: { content: Uint8Array; missing: string },
  realNow: Temporal.Instant,
): Promise<boolean> {
  const [row] = await db<{ id: DocumentId }[]>`
    update documents set content = ${Buffer.from(content)}, missing_characters = ${missing}, rendered_at = ${realNow}
    where organization_id = ${organizationId} and id = ${id} and content is null
    returning id`;
  return row !== undefined;
}

export interface StoredFile {
  file_name: string;
  content_type: string;
  content: Uint8Array | null;
  missing_characters: string;
}

/**
 * The file behind a signed link: the signature names the document, so no key and no organization come with it.
 *
 * @returns `content` null while it is being drawn; undefined for an unknown id
 */
export async function readFile(db: Db, id: DocumentId): Promise<StoredFile | undefined> {
  const [row] = await db<StoredFile[]>`
    select file_name, content_type, content, missing_characters from documents where id = ${id}
    union all
    select file_name, content_type, content, '' from e_documents where id = ${id}`;
  return row;
}

/** Takes documents whose job was lost, oldest first, for another try. */
export const takeLostDocuments = (
  db: Db,
  before: Temporal.Instant,
  { realNow, limit }: { realNow: Temporal.Instant; limit: number },
) => db<{ id: DocumentId; organization_id: OrganizationId }[]>`
  update documents set enqueued_at = ${realNow}
  where id in (
    select id from documents where content is null and enqueued_at <= ${before}
    order by enqueued_at limit ${limit} for update skip locked)
  returning id, organization_id`;
