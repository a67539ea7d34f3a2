import type { Temporal } from 'temporal-polyfill';
import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Problem } from '../../../engine/e-documents/rules.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, DocumentId, OrganizationId } from '../../../platform/ids.ts';
import type { Noted } from './cancellations.ts';
import type { EDocumentRow, SubjectType } from './queries.ts';

/** A document that is about to be made. */
export interface NewEDocument {
  id: DocumentId;
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  subject_type: SubjectType;
  subject_id: string;
  kind: EDocumentRow['kind'];
  number: string;
  issued_on: Temporal.PlainDate;
  profile: Profile;
  is_chosen: boolean;
  is_by_default: boolean;
  file_name: string;
  content_type: string;
  retain_until: Temporal.PlainDate;
  noted: Noted | null;
}

/** Stores a document to be made, unless its subject has one in that profile. @returns whether it was stored */
export async function insertEDocument(
  { db, organizationId }: Scope,
  row: NewEDocument,
  { now, realNow }: { now: Temporal.Instant; realNow: Temporal.Instant },
): Promise<boolean> {
  const made = await db`
    insert into e_documents (id, organization_id, billing_entity_id, customer_id, subject_type, subject_id, kind,
      number, issued_on, profile, is_chosen, is_by_default, file_name, content_type, retain_until, noted, enqueued_at,
      created_at, updated_at)
    values (${row.id}, ${organizationId}, ${row.billing_entity_id}, ${row.customer_id}, ${row.subject_type},
      ${row.subject_id}, ${row.kind}, ${row.number}, ${row.issued_on}, ${row.profile}, ${row.is_chosen},
      ${row.is_by_default}, ${row.file_name}, ${row.content_type}, ${row.retain_until},
      ${row.noted === null ? null : json(row.noted)}::jsonb, ${realNow}, ${now}, ${now})
    on conflict on constraint e_documents_subject_key do nothing
    returning id`;
  return made.length > 0;
}

/** Lets a failed document be tried again; one that is asked for without a profile whatever its problems are. */
export const markPending = (
  { db, organizationId }: Scope,
  { id, is_by_default }: { id: DocumentId; is_by_default: boolean },
  { now, realNow }: { now: Temporal.Instant; realNow: Temporal.Instant },
) => db`
  update e_documents set status = 'pending', problems = '[]', is_by_default = ${is_by_default}, enqueued_at = ${realNow},
    updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id} and status = 'failed'`;

/**
 * Stores what keeps a document from going out, unless it was put into the queue again since it was read: a try that
 * began before a fact was repaired does not undo the later one.
 *
 * @returns whether it was still to be made
 */
export async function markFailed(
  { db, organizationId }: Scope,
  { id, enqueued_at }: { id: DocumentId; enqueued_at: Temporal.Instant },
  { problems, now }: { problems: readonly Problem[]; now: Temporal.Instant },
): Promise<boolean> {
  const rows = await db`
    update e_documents set status = 'failed', problems = ${json([...problems])}::jsonb, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and enqueued_at = ${enqueued_at}
    returning id`;
  return rows.length > 0;
}

/** Stores a document for good. @returns whether it was still to be made */
export async function markReady(
  { db, organizationId }: Scope,
  id: DocumentId,
  made: {
    content: Uint8Array;
    sha256: string;
    engineVersion: number;
    problems: readonly Problem[];
    readyAt: Temporal.Instant;
    now: Temporal.Instant;
  },
): Promise<boolean> {
  const rows = await db`
    update e_documents set status = 'ready', content = ${Buffer.from(made.content)}, sha256 = ${made.sha256},
      size = ${made.content.byteLength}, engine_version = ${made.engineVersion},
      problems = ${json([...made.problems])}::jsonb, ready_at = ${made.readyAt}, updated_at = ${made.now}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending'
    returning id`;
  return rows.length > 0;
}

/** Takes documents whose job was lost, oldest first, for another try. */
export const takeLostEDocuments = (
  db: Db,
  before: Temporal.Instant,
  { realNow, limit }: { realNow: Temporal.Instant; limit: number },
) => db<{ id: DocumentId; organization_id: OrganizationId }[]>`
  update e_documents set enqueued_at = ${realNow}
  where id in (
    select id from e_documents where status = 'pending' and enqueued_at <= ${before}
    order by enqueued_at limit ${limit} for update skip locked)
  returning id, organization_id`;
