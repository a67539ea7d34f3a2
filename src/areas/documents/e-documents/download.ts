import { DEFAULT_PROFILE, type Profile } from '../../../engine/e-documents/profiles.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { downloadCreditNoteXml } from '../../credits/credit-notes/commands/download.ts';
import { getCreditNote } from '../../credits/credit-notes/queries.ts';
import { viewOf } from '../../credits/credit-notes/show-credit-note.ts';
import { downloadInvoiceXml } from '../../invoices/invoices/commands/download.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { documentLink } from '../../messaging/documents/signed-link.ts';
import { readChosenProfile, readEInvoice, readENote } from '../render-documents/document-subjects.ts';
import { faultsOf } from '../render-documents/e-documents/faults.ts';
import { refuseWithdrawn } from './cancellations.ts';
import { makeEDocument } from './commands.ts';

interface Asked {
  svc_id: string;
  query?: { profile?: Profile | undefined };
}

/**
 * Answers an invoice with the address of its electronic document: in the profile that the request names, else in the
 * chosen one, else UBL 2.1 under EN 16931.
 *
 * @throws Refusal 404 invoice, unless it is finalized; 422 by field, what EN 16931 lacks; 422 base
 *   e_document_not_available, with the problems of a named or chosen profile
 * Rules: other-routes.md "download_xml", e-documents.md#profiles.
 */
export async function downloadXmlOfInvoice(ctx: Context, { svc_id, query }: Asked) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  const profile = query?.profile ?? (await readChosenProfile(ctx, invoice.id));
  if (profile === null) {
    refuseFaults(faultsOf(await readEInvoice(ctx, invoice.id), invoice.self_billed));
    return downloadInvoiceXml(ctx, { svc_id });
  }
  const { id } = await makeEDocument(ctx, { ...invoice, type: 'Invoice', invoice_id: invoice.id }, profile);
  const { invoice: shown } = await showInvoice(ctx, invoice.id);
  return { invoice: { ...shown, xml_url: await documentLink(ctx.db, ctx.config, id) } };
}

/** The same of a credit note. @throws Refusal 404 credit_note; 422 as of an invoice */
export async function downloadXmlOfNote(ctx: Context, { svc_id, query }: Asked) {
  const note = await getCreditNote(ctx, svc_id);
  const profile = query?.profile ?? (await readChosenProfile(ctx, note.invoice_id));
  if (profile === null) {
    await refuseWithdrawn(ctx, { ...note, type: 'CreditNote' }, DEFAULT_PROFILE);
    refuseFaults(faultsOf(await readENote(ctx, note.id), note.self_billed));
    return downloadCreditNoteXml(ctx, { svc_id });
  }
  const { id } = await makeEDocument(ctx, { ...note, type: 'CreditNote' }, profile);
  return { credit_note: { ...(await viewOf(ctx, note)), xml_url: await documentLink(ctx.db, ctx.config, id) } };
}
