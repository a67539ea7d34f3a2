import type { Context } from '../../../platform/context.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { getEDocument } from './queries.ts';
import { eDocumentView } from './view.ts';

/**
 * Writes that a document was made, or could not be, into the audit trail and sends its webhook.
 *
 * Rule: e-documents.md#when.
 */
export async function recordEDocument(ctx: Context, type: 'created' | 'failed', id: DocumentId): Promise<void> {
  const row = await getEDocument(ctx, id);
  const object = await eDocumentView(ctx, row);
  const about = { objectId: row.id, customerId: row.customer_id, object };
  ctx.record({
    activity: {
      type: `e_document.${type}`,
      resourceType: row.subject_type,
      resourceId: row.subject_id,
      object,
      externalCustomerId: row.external_customer_id,
    },
    webhook:
      type === 'created'
        ? { type: 'e_document.created', objectType: 'e_document', ...about }
        : { type: 'e_document.failed', objectType: 'e_document', ...about },
  });
}
