import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findRenderedDocument } from '../../messaging/documents/queries.ts';
import { findPortalNumber, PORTAL_DOCUMENTS, type PortalCustomer, type PortalDocuments } from './queries.ts';

/** A document that a customer may open: its subject, and its id once it has been drawn. */
export interface PortalSubject {
  kind: (typeof PORTAL_DOCUMENTS)[PortalDocuments];
  subjectId: string;
  number: string;
  documentId: DocumentId | undefined;
}

/**
 * The document behind an address on a customer's page.
 *
 * @throws Refusal 404, unless the customer's page lists it
 */
export async function getPortalSubject(
  ctx: Scope,
  customer: PortalCustomer,
  { listed, id }: { listed: PortalDocuments; id: string },
): Promise<PortalSubject> {
  const kind = PORTAL_DOCUMENTS[listed];
  const number = isUuid(id) ? await findPortalNumber(ctx, customer.id, { listed, id }) : undefined;
  if (number === undefined) throw refuse.notFound(kind);
  return { kind, subjectId: id, number, documentId: await findRenderedDocument(ctx, kind, id) };
}
