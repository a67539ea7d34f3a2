import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { type DocumentKind, insertDocument, requestDocument } from './queries.ts';

/** What a document is drawn of; its number names the file. */
interface Subject {
  kind: DocumentKind;
  subjectId: string;
  number: string;
}

/**
 * Requests the document of a subject: it is drawn in the background the first time and never changes. One that waits
 * behind others, because nobody had asked for it, waits no longer.
 *
 * @returns the id of the document
 */
export async function askForDocument(ctx: Context, subject: Subject): Promise<string> {
  const { id, isOwed } = await requestDocument(ctx, fileOf(subject), realNow());
  if (isOwed) ctx.after({ nudge: 'document.render', payload: { document_id: id } });
  return id;
}

/** Has a document drawn whose drawing was given up. */
export async function askAgain({ db, organizationId, after }: Context, id: DocumentId): Promise<void> {
  const owed = await db`
    update documents set given_up_at = null, is_asked = true, enqueued_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${id} and content is null and given_up_at is not null
    returning id`;
  if (owed.length > 0) after({ nudge: 'document.render', payload: { document_id: id } });
}

/**
 * Owes the document of a subject that became final before anybody asks for it: one statement, and a job that runs after
 * everything that somebody waits for.
 *
 * Rule: e-documents.md#pages-before-anybody-asks.
 */
export async function drawUnasked(ctx: Context, subject: Subject): Promise<void> {
  const id = await insertDocument(ctx, { ...fileOf(subject), isAsked: false }, realNow());
  if (id) ctx.after({ nudge: 'document.render', payload: { document_id: id }, inBackground: true });
}

const fileOf = ({ kind, subjectId, number }: Subject) => ({
  kind,
  subjectId,
  fileName: `${number}.pdf`,
  contentType: 'application/pdf',
});
