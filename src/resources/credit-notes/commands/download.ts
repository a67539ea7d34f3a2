import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { documentLink } from '../../documents/link.ts';
import { requestDocument } from '../../documents/queries.ts';
import { getCreditNote } from '../queries.ts';
import { viewOf } from '../show.ts';

/**
 * Answers a note with the address of its document, which is drawn in the background the first time it is asked for.
 *
 * @throws Refusal 404 credit_note
 * Rule: credits-and-payments C.2.
 */
export async function downloadCreditNote(ctx: Context, { svc_id }: { svc_id: string }) {
  const { db, organizationId } = ctx;
  const note = await getCreditNote(db, organizationId, svc_id);
  const document = await requestDocument(
    db,
    { organizationId, kind: 'credit_note', subjectId: note.id, fileName: `${note.number}.pdf` },
    realNow(),
  );
  if (document.isNew) ctx.after({ job: 'document.render', payload: { document_id: document.id }, ownRow: true });
  return { credit_note: { ...(await viewOf(ctx, note)), file_url: await documentLink(db, ctx.config, document.id) } };
}
