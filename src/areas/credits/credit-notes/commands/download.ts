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
  const note = await getCreditNote(ctx, svc_id);
  const documentId = await askForDocument(ctx, { kind: 'credit_note', subjectId: note.id, number: note.number });
  return {
    credit_note: { ...(await viewOf(ctx, note)), file_url: await documentLink(ctx.db, ctx.config, documentId) },
  };
}
