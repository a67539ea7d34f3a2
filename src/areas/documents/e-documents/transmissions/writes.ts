import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../../platform/db/connect.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import { json } from '../../../../platform/db/values.ts';
import type { DocumentId, IntegrationId, TransmissionId } from '../../../../platform/ids.ts';
import type { SendFault, TransmissionStatus } from '../../../../platform/senders/port.ts';
import type { TransmissionRow } from './queries.ts';

/** Stores a sending that is due at once, unless the document has one on its way. @returns whether it was stored */
export async function insertTransmission(
  { db, organizationId }: Scope,
  row: { id: TransmissionId; e_document_id: DocumentId; integration_id: IntegrationId },
  { now, realNow }: { now: Temporal.Instant; realNow: Temporal.Instant },
): Promise<boolean> {
  const made = await db`
    insert into e_document_transmissions (id, organization_id, e_document_id, integration_id, queued_at, next_at,
      created_at, updated_at)
    values (${row.id}, ${organizationId}, ${row.e_document_id}, ${row.integration_id}, ${realNow}, ${realNow},
      ${now}, ${now})
    on conflict (organization_id, e_document_id) where status not in ('rejected', 'failed') do nothing
    returning id`;
  return made.length > 0;
}

/** Lets a sending be looked at now. */
export const makeDue = ({ db, organizationId }: Scope, id: TransmissionId, realNow: Temporal.Instant) => db`
  update e_document_transmissions set next_at = ${realNow}
  where organization_id = ${organizationId} and id = ${id} and next_at is not null`;

/** How many ids of reports a sending keeps: it has six states, and each is reported a few times at most. */
const HEARD_MOST = 20;

/** What a call or a report changes of a sending. */
export interface Change {
  status: TransmissionStatus;
  /** Absent: as it was. */
  providerId?: string;
  error: SendFault | null;
  nextAt: Temporal.Instant | null;
  /** A report that would undo what was known. */
  isIgnored?: boolean;
  /** The id of a report that came by itself, and was no call. */
  heard?: string;
}

/** The ids that are kept when one more comes. */
const withHeard = (db: Db, id: string): Fragment => db`
  (heard || ${id}::text)[greatest(cardinality(heard) + 2 - ${HEARD_MOST}::int, 1):]`;

/**
 * Changes a sending as it was found, and counts the call: if another one changed it meanwhile, nothing happens.
 *
 * @returns whether it was changed
 */
export async function changeTransmission(
  { db, organizationId }: Scope,
  found: Pick<TransmissionRow, 'id' | 'status' | 'attempts'>,
  { status, providerId, error, nextAt, isIgnored = false, heard }: Change,
  now: Temporal.Instant,
): Promise<boolean> {
  const isMoved = status !== found.status;
  const isAnswer = status === 'accepted' || status === 'rejected' || status === 'paid_reported';
  const rows = await db`
    update e_document_transmissions set status = ${status}, attempts = attempts + ${heard === undefined ? 1 : 0},
      provider_id = coalesce(${providerId ?? null}, provider_id),
      error = ${error === null ? null : json({ ...error })}::jsonb, next_at = ${nextAt},
      heard = ${heard === undefined ? db`heard` : withHeard(db, heard)},
      ignored_reports = ignored_reports + ${isIgnored ? 1 : 0},
      sent_at = case when ${isMoved && status === 'sent'} then ${now}::timestamptz else sent_at end,
      delivered_at = case when ${isMoved && status === 'delivered'} then ${now}::timestamptz else delivered_at end,
      answered_at = case when ${isMoved && isAnswer} then ${now}::timestamptz else answered_at end,
      updated_at = ${now}
    where organization_id = ${organizationId} and id = ${found.id} and status = ${found.status}
      and attempts = ${found.attempts}
    returning id`;
  return rows.length > 0;
}
