import type { Context } from '../../../platform/context.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { getEDocument } from './queries.ts';
import { eDocumentView } from './view.ts';

/**
 * Writes that a document was made, or could not be, into the audit trail and sends its webhook. Nobody waits for a
 * document in the form that nobody chose, so that one is announced by its subject alone.
 *
 * Rule: e-documents.md#when.
 */
export async function recordEDocument(ctx: Context, type: 'created' | 'failed', id: DocumentId): Promise<void> {
  const row = await getEDocument(ctx, id);
  const object = await eDocumentView(ctx, row);
  ctx.record({
    activity: {
      type: `e_document.${type}`,
      resourceType: row.subject_type,
      resourceId: row.subject_id,
      object,
      externalCustomerId: row.external_customer_id,
    },
    webhook: {
      type: `e_document.${type}`,
      objectType: 'e_document',
      objectId: row.id,
      customerId: row.customer_id,
      object,
    },
  });
}
