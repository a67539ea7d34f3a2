import { DEFAULT_PROFILE, type Profile } from '../../../engine/e-documents/profiles.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { getCreditNote } from '../../credits/credit-notes/queries.ts';
import { viewOf } from '../../credits/credit-notes/show-credit-note.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { documentLink } from '../../messaging/documents/signed-link.ts';
import { readChosenProfile, readEInvoice, readENote } from '../render-documents/document-subjects.ts';
import { faultsOf } from '../render-documents/e-documents/faults.ts';
import { refuseWithdrawn } from './cancellations.ts';
import { makeEDocument, type Subject } from './commands.ts';

interface Asked {
  svc_id: string;
  query?: { profile?: Profile | undefined };
}

/**
 * Answers an invoice with the address of its electronic document: in the profile that the request names, else in the
 * chosen one, else UBL 2.1 under EN 16931, whatever its rules find.
 *
 * @throws Refusal 404 invoice, unless it is finalized; 422 by field, what EN 16931 lacks; 422 base
 *   e_document_not_available, with the problems of a named or chosen profile
 * Rules: other-routes.md "download_xml", e-documents.md#profiles, e-documents.md#by-default.
 */
export async function downloadXmlOfInvoice(ctx: Context, { svc_id, query }: Asked) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  const profile = query?.profile ?? (await readChosenProfile(ctx, invoice.id));
  if (profile === null) refuseFaults(faultsOf(await readEInvoice(ctx, invoice.id), invoice.self_billed));
  const xml_url = await xmlUrlOf(ctx, { ...invoice, type: 'Invoice', invoice_id: invoice.id }, profile);
  const { invoice: shown } = await showInvoice(ctx, invoice.id);
  return { invoice: { ...shown, xml_url } };
}

/** The same of a credit note. @throws Refusal 404 credit_note; 422 as of an invoice */
export async function downloadXmlOfNote(ctx: Context, { svc_id, query }: Asked) {
  const note = await getCreditNote(ctx, svc_id);
  const profile = query?.profile ?? (await readChosenProfile(ctx, note.invoice_id));
  const subject: Subject = { ...note, type: 'CreditNote' };
  if (profile === null) {
    await refuseWithdrawn(ctx, subject, DEFAULT_PROFILE);
    refuseFaults(faultsOf(await readENote(ctx, note.id), note.self_billed));
  }
  const xml_url = await xmlUrlOf(ctx, subject, profile);
  return { credit_note: { ...(await viewOf(ctx, note)), xml_url } };
}

async function xmlUrlOf(ctx: Context, subject: Subject, profile: Profile | null): Promise<string> {
  const isByDefault = profile === null;
  const { id } = await makeEDocument(ctx, subject, profile ?? DEFAULT_PROFILE, { isByDefault });
  return documentLink(ctx.db, ctx.config, id);
}
