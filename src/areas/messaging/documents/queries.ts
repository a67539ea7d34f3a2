import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentId, OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';

export const DOCUMENT_KINDS = [
  'invoice',
  'credit_note',
  'payment_receipt',
  /** The page of an invoice that was not final when it was mailed; its subject is the mail. */
  'mailed_draft',
] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

export interface DocumentRow {
  id: DocumentId;
  organization_id: OrganizationId;
  kind: DocumentKind;
  subject_id: string;
  file_name: string;
  is_rendered: boolean;
  /** Somebody waits for it, or it is mailed. */
  is_asked: boolean;
}

/** A document to be drawn. */
interface NewDocument {
  kind: DocumentKind;
  subjectId: string;
  fileName: string;
  contentType: string;
  isAsked: boolean;
}

/** Stores a document that is to be drawn, unless its subject has one. @returns its id, if it was stored */
export async function insertDocument(
  { db, organizationId }: Scope,
  subject: NewDocument,
  realNow: Temporal.Instant,
): Promise<DocumentId | undefined> {
  const [made] = await db<{ id: DocumentId }[]>`
    insert into documents (id, organization_id, kind, subject_id, file_name, content_type, is_asked, requested_at,
      enqueued_at)
    values (${newId()}, ${organizationId}, ${subject.kind}, ${subject.subjectId}, ${subject.fileName},
      ${subject.contentType}, ${subject.isAsked}, ${realNow}, ${realNow})
    on conflict on constraint documents_subject_key do nothing
    returning id`;
  return made?.id;
}

/**
 * The document of a subject, asked for now; `isOwed` if somebody waits for it only now: it is new, was given up, or
 * waits to be drawn though nobody had asked for it.
 */
export async function requestDocument(
  scope: Scope,
  subject: Omit<NewDocument, 'isAsked'>,
  realNow: Temporal.Instant,
): Promise<{ id: DocumentId; isOwed: boolean }> {
  const id = await insertDocument(scope, { ...subject, isAsked: true }, realNow);
  if (id) return { id, isOwed: true };
  const { db, organizationId } = scope;
  const [found] = await db<{ id: DocumentId; is_owed: boolean }[]>`
    select id, given_up_at is not null or (content is null and not is_asked) as is_owed from documents
    where organization_id = ${organizationId} and kind = ${subject.kind} and subject_id = ${subject.subjectId}`;
  if (!found!.is_owed) return { id: found!.id, isOwed: false };
  await db`
    update documents set given_up_at = null, is_asked = true, enqueued_at = ${realNow}
    where organization_id = ${organizationId} and id = ${found!.id}`;
  return { id: found!.id, isOwed: true };
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

/** Id of the document of a subject that waits to be drawn. */
export async function findWaitingDocument(
  { db, organizationId }: Scope,
  kind: DocumentKind,
  subjectId: string,
): Promise<DocumentId | undefined> {
  const [row] = await db<{ id: DocumentId }[]>`
    select id from documents
    where organization_id = ${organizationId} and kind = ${kind} and subject_id = ${subjectId} and content is null`;
  return row?.id;
}

/** A document that waits to be drawn; undefined once it has been. */
export async function findPendingDocument(
  { db, organizationId }: Scope,
  id: DocumentId,
): Promise<DocumentRow | undefined> {
  const [row] = await db<DocumentRow[]>`
    select id, organization_id, kind, subject_id, file_name, content is not null as is_rendered, is_asked from documents
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

/** Stores the document of a subject that was made elsewhere, also over one that was drawn before. @returns its id */
export async function replaceDocument(
  { db, organizationId }: Scope,
  made: {
    kind: DocumentKind;
    subjectId: string;
    fileName: string;
    contentType: string;
    content: Uint8Array;
    missing: string;
  },
  realNow: Temporal.Instant,
): Promise<DocumentId> {
  const [row] = await db<{ id: DocumentId }[]>`
    insert into documents (id, organization_id, kind, subject_id, file_name, content_type, content, missing_characters,
      requested_at, enqueued_at, rendered_at)
    values (${newId()}, ${organizationId}, ${made.kind}, ${made.subjectId}, ${made.fileName}, ${made.contentType},
      ${Buffer.from(made.content)}, ${made.missing}, ${realNow}, ${realNow}, ${realNow})
    on conflict on constraint documents_subject_key do update set content = excluded.content,
      missing_characters = excluded.missing_characters, rendered_at = excluded.rendered_at, given_up_at = null
    returning id`;
  return row!.id;
}

/** Stores that every try to draw a document failed, so that it is not tried again by itself. @returns whether it was */
export async function giveUpDocument(
  { db, organizationId }: Scope,
  id: DocumentId,
  realNow: Temporal.Instant,
): Promise<boolean> {
  const rows = await db`
    update documents set given_up_at = ${realNow}
    where organization_id = ${organizationId} and id = ${id} and content is null and given_up_at is null
    returning id`;
  return rows.length > 0;
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

/** Takes documents whose job was lost, those that were asked for or the others, oldest first, for another try. */
export const takeLostDocuments = (
  db: Db,
  { isAsked, before }: { isAsked: boolean; before: Temporal.Instant },
  { realNow, limit }: { realNow: Temporal.Instant; limit: number },
) => db<{ id: DocumentId; organization_id: OrganizationId }[]>`
  update documents set enqueued_at = ${realNow}
  where id in (
    select id from documents
    where content is null and given_up_at is null and is_asked = ${isAsked} and enqueued_at <= ${before}
    order by enqueued_at limit ${limit} for update skip locked)
  returning id, organization_id`;
