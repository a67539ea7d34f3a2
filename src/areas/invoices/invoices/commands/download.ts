import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { askForDocument } from '../../../messaging/documents/ask-for-document.ts';
import { documentLink } from '../../../messaging/documents/signed-link.ts';
import { getVisibleInvoice } from '../queries.ts';
import { showInvoice } from '../show-invoice.ts';

/**
 * Answers an invoice with the address of its document, which is drawn in the background the first time it is asked for:
 * a request of the address waits until then. A drawn document never changes.
 *
 * @throws Refusal 404 invoice, unless it is finalized
 * Rule: invoice-operations.md#operations "download".
 */
export async function downloadInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  const documentId = await askForDocument(ctx, { kind: 'invoice', subjectId: invoice.id, number: invoice.number });
  const { invoice: shown } = await showInvoice(ctx, invoice.id);
  return { invoice: { ...shown, file_url: await documentLink(ctx.db, ctx.config, documentId) } };
}
