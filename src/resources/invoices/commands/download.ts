import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { documentLink } from '../../documents/link.ts';
import { requestDocument } from '../../documents/queries.ts';
import { getVisibleInvoice } from '../queries.ts';
import { showInvoice } from '../show.ts';

/**
 * Answers an invoice with the address of its document, which is drawn in the background the first time it is asked for:
 * who opens the address meanwhile waits for it. What was drawn once stays as it is.
 *
 * @throws Refusal 404 invoice, unless it is finalized
 * Rule: subscriptions-and-invoices F.10 "download".
 */
export async function downloadInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const { db, organizationId } = ctx;
  const invoice = await getVisibleInvoice(db, organizationId, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  const document = await requestDocument(
    db,
    { organizationId, kind: 'invoice', subjectId: invoice.id, fileName: `${invoice.number}.pdf` },
    realNow(),
  );
  if (document.isNew) ctx.after({ job: 'document.render', payload: { document_id: document.id }, ownRow: true });
  const shown = await showInvoice(ctx, invoice.id);
  return { invoice: { ...shown.invoice, file_url: await documentLink(db, ctx.config, document.id) } };
}
