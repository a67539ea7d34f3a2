import type { Context } from '../../../../platform/context.ts';
import { askForDocument } from '../../../messaging/documents/ask-for-document.ts';
import { documentLink } from '../../../messaging/documents/signed-link.ts';
import { getCreditNote } from '../queries.ts';
import { viewOf } from '../show-credit-note.ts';

/**
 * Answers a note with the address of its document, which is drawn in the background the first time it is asked for.
 *
 * @throws Refusal 404 credit_note
 * Rule: credit-notes.md#endpoints.
 */
export async function downloadCreditNote(ctx: Context, { svc_id }: { svc_id: string }) {
  const { shown, url } = await withDocument(ctx, svc_id, 'credit_note');
  return { credit_note: { ...shown, file_url: url } };
}

/** The same for the electronic document: UBL 2.1 under EN 16931. Rule: other-routes.md "download_xml". */
export async function downloadCreditNoteXml(ctx: Context, { svc_id }: { svc_id: string }) {
  const { shown, url } = await withDocument(ctx, svc_id, 'credit_note_xml');
  return { credit_note: { ...shown, xml_url: url } };
}

async function withDocument(ctx: Context, id: string, kind: 'credit_note' | 'credit_note_xml') {
  const note = await getCreditNote(ctx, id);
  const documentId = await askForDocument(ctx, { kind, subjectId: note.id, number: note.number });
  return { shown: await viewOf(ctx, note), url: await documentLink(ctx.db, ctx.config, documentId) };
}
