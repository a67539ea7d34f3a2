import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { type DocumentKind, requestDocument } from './queries.ts';

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
  const { id, isNew } = await requestDocument(
    ctx.db,
    { organizationId: ctx.organizationId, kind, subjectId, fileName: `${number}.pdf`, contentType: 'application/pdf' },
    realNow(),
  );
  if (isNew) ctx.after({ nudge: 'document.render', payload: { document_id: id } });
  return id;
}
