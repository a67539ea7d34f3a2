import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../../platform/db/connect.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { DocumentId, IntegrationId, TransmissionId } from '../../../../platform/ids.ts';
import { seconds, secondsOrNull } from '../../../../platform/schema/view.ts';
import type { SendFault, TransmissionStatus } from '../../../../platform/senders/port.ts';
import type { TransmissionView } from './schema.ts';

/** A document on its way. */
export interface TransmissionRow {
  id: TransmissionId;
  e_document_id: DocumentId;
  integration_id: IntegrationId;
  /** By which id the access point knows it; null until it was taken. */
  provider_id: string | null;
  status: TransmissionStatus;
  attempts: number;
  error: SendFault | null;
  /** In real time, like the next two. */
  queued_at: Temporal.Instant;
  /** When it is looked at again; null once nothing more is waited for. */
  next_at: Temporal.Instant | null;
  sent_at: Temporal.Instant | null;
  delivered_at: Temporal.Instant | null;
  answered_at: Temporal.Instant | null;
  /** The ids of the latest reports that the access point made by itself, newest last. */
  heard: string[];
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, e_document_id, integration_id, provider_id, status, attempts, error, queued_at, next_at, sent_at, delivered_at,
  answered_at, heard, created_at`;

export async function findTransmission(
  { db, organizationId }: Scope,
  id: TransmissionId,
): Promise<TransmissionRow | undefined> {
  const [row] = await db<TransmissionRow[]>`
    select ${columns(db)} from e_document_transmissions where organization_id = ${organizationId} and id = ${id}`;
  return row;
}

/**
 * The sending that an access point knows by its id, locked, so that one report after the other sees what there is. Of
 * several connections to it the first that has one.
 */
export async function lockTransmissionOf(
  { db, organizationId }: Scope,
  integrationIds: readonly IntegrationId[],
  providerId: string,
): Promise<TransmissionRow | undefined> {
  const [row] = await db<TransmissionRow[]>`
    select ${columns(db)} from e_document_transmissions
    where organization_id = ${organizationId} and integration_id = any (${integrationIds})
      and provider_id = ${providerId}
    order by array_position(${integrationIds}::uuid[], integration_id) limit 1 for update`;
  return row;
}

/** The sendings of documents, the oldest of each first. */
export const listTransmissions = ({ db, organizationId }: Scope, ids: readonly DocumentId[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : db<TransmissionRow[]>`
        select ${columns(db)} from e_document_transmissions
        where organization_id = ${organizationId} and e_document_id = any (${ids as DocumentId[]})
        order by e_document_id, id`;

/** The latest sending of a document, locked, so that one request after the other sees what there is. */
export async function lockLastTransmission(
  { db, organizationId }: Scope,
  id: DocumentId,
): Promise<TransmissionRow | undefined> {
  await db`select from e_documents where organization_id = ${organizationId} and id = ${id} for key share`;
  const [row] = await db<TransmissionRow[]>`
    select ${columns(db)} from e_document_transmissions
    where organization_id = ${organizationId} and e_document_id = ${id}
    order by id desc limit 1 for update`;
  return row;
}

/** Whether the document that a cancellation cancels was given to the access point, or is about to be. */
export async function isSentToReceiver(
  { db, organizationId }: Scope,
  { subject_type, subject_id, profile }: { subject_type: string; subject_id: string; profile: string },
): Promise<boolean> {
  const rows = await db`
    select from e_documents document
    join e_document_transmissions transmission on transmission.organization_id = document.organization_id
      and transmission.e_document_id = document.id and transmission.status not in ('rejected', 'failed')
    where document.organization_id = ${organizationId} and document.subject_type = ${subject_type}
      and document.subject_id = ${subject_id} and document.kind = 'document' and document.profile = ${profile}
    limit 1`;
  return rows.length > 0;
}

/** Whether a billing entity wants its chosen documents to be sent without being asked. */
export async function sendsByItself({ db, organizationId }: Scope, entityId: string): Promise<boolean> {
  const [row] = await db<{ auto_send: boolean }[]>`
    select coalesce((e_invoicing ->> 'auto_send')::boolean, false) as auto_send from billing_entities
    where organization_id = ${organizationId} and id = ${entityId}`;
  return row?.auto_send ?? false;
}

export const transmissionView = (row: TransmissionRow): TransmissionView => ({
  svc_id: row.id,
  svc_integration_id: row.integration_id,
  provider_id: row.provider_id,
  status: row.status,
  attempts: row.attempts,
  error: row.error,
  created_at: seconds(row.created_at),
  sent_at: secondsOrNull(row.sent_at),
  delivered_at: secondsOrNull(row.delivered_at),
  answered_at: secondsOrNull(row.answered_at),
});
