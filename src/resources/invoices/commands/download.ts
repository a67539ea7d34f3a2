import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { documentLink } from '../../documents/link.ts';
import { type DocumentKind, requestDocument } from '../../documents/queries.ts';
import { getVisibleInvoice } from '../queries.ts';
import { showInvoice } from '../show.ts';

/**
 * Answers an invoice with the address of its document, which is drawn in the background the first time it is asked for:
 * who opens the address meanwhile waits for it. What was drawn once stays as it is.
 *
 * @throws Refusal 404 invoice, unless it is finalized
 * Rule: subscriptions-and-invoices F.10 "download".
 */
export async function downloadInvoice(ctx: Context, path: { svc_id: string }) {
  const { shown, url } = await request(ctx, path, { kind: 'invoice', suffix: 'pdf' });
  return { invoice: { ...shown, file_url: url } };
}

/** The same for the electronic document: UBL 2.1 under EN 16931. Rule: platform P "download_xml". */
export async function downloadInvoiceXml(ctx: Context, path: { svc_id: string }) {
  const xml = { kind: 'invoice_xml', suffix: 'xml', contentType: 'application/xml' } as const;
  const { shown, url } = await request(ctx, path, xml);
  return { invoice: { ...shown, xml_url: url } };
}

async function request(
  ctx: Context,
  { svc_id }: { svc_id: string },
  { suffix, ...file }: { kind: DocumentKind; suffix: string; contentType?: string },
) {
  const { db, organizationId } = ctx;
  const invoice = await getVisibleInvoice(db, organizationId, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  const document = await requestDocument(
    db,
    { organizationId, ...file, subjectId: invoice.id, fileName: `${invoice.number}.${suffix}` },
    realNow(),
  );
  if (document.isNew) ctx.after({ job: 'document.render', payload: { document_id: document.id }, ownRow: true });
  const { invoice: shown } = await showInvoice(ctx, invoice.id);
  return { shown, url: await documentLink(db, ctx.config, document.id) };
}
