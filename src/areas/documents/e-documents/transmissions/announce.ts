import type { Context } from '../../../../platform/context.ts';
import type { DocumentId } from '../../../../platform/ids.ts';
import { getEDocument } from '../queries.ts';
import { eDocumentView } from '../view.ts';

/**
 * Writes that the sending of a document changed its state into the audit trail and sends its webhook. The invoice stays
 * as it is, whatever the receiver says.
 *
 * Rule: e-documents.md#sending.
 */
export async function recordTransmission(ctx: Context, documentId: DocumentId): Promise<void> {
  const row = await getEDocument(ctx, documentId);
  const object = await eDocumentView(ctx, row);
  ctx.record({
    activity: {
      type: 'e_document.status_updated',
      resourceType: row.subject_type,
      resourceId: row.subject_id,
      object,
      externalCustomerId: row.external_customer_id,
    },
    webhook: {
      type: 'e_document.status_updated',
      objectType: 'e_document',
      objectId: row.id,
      customerId: row.customer_id,
      object,
    },
  });
}
