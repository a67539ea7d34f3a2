import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { downloadCreditNoteXml } from '../../../credits/credit-notes/commands/download.ts';
import { getCreditNote } from '../../../credits/credit-notes/queries.ts';
import { downloadInvoiceXml } from '../../../invoices/invoices/commands/download.ts';
import { getVisibleInvoice } from '../../../invoices/invoices/queries.ts';
import { readEInvoice, readENote } from '../document-subjects.ts';
import { faultsOf } from './faults.ts';

/**
 * Answers an invoice with the address of its electronic document: UBL 2.1 under EN 16931.
 *
 * @throws Refusal 404 invoice, unless it is finalized; 422 by field, what EN 16931 lacks
 * Rule: other-routes.md "download_xml".
 */
export async function downloadXmlOfInvoice(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  if (invoice.status !== 'finalized') throw refuse.notFound('invoice');
  refuseFaults(faultsOf(await readEInvoice(ctx, invoice.id), invoice.self_billed));
  return downloadInvoiceXml(ctx, { svc_id });
}

/** The same of a credit note. @throws Refusal 404 credit_note; 422 by field, what EN 16931 lacks */
export async function downloadXmlOfNote(ctx: Context, { svc_id }: { svc_id: string }) {
  const note = await getCreditNote(ctx, svc_id);
  refuseFaults(faultsOf(await readENote(ctx, note.id), note.self_billed));
  return downloadCreditNoteXml(ctx, { svc_id });
}
