import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { type DocumentKind, requestDocument } from './queries.ts';

const PDF = { suffix: 'pdf', contentType: 'application/pdf' };
const XML = { suffix: 'xml', contentType: 'application/xml' };
const FILES: Readonly<Record<DocumentKind, typeof PDF>> = {
  invoice: PDF,
  invoice_xml: XML,
  credit_note: PDF,
  credit_note_xml: XML,
  payment_receipt: PDF,
  mailed_draft: PDF,
};

/**
 * Requests the document of a subject, whose number names the file: it is drawn in the background the first time and
 * never changes.
 *
 * @returns the id of the document
 */
export async function askForDocument(
  ctx: Context,
  { kind, subjectId, number }: { kind: DocumentKind; subjectId: string; number: string },
): Promise<string> {
  const { suffix, contentType } = FILES[kind];
  const { id, isNew } = await requestDocument(
    ctx.db,
    { organizationId: ctx.organizationId, kind, subjectId, fileName: `${number}.${suffix}`, contentType },
    realNow(),
  );
  if (isNew) ctx.after({ nudge: 'document.render', payload: { document_id: id } });
  return id;
}
