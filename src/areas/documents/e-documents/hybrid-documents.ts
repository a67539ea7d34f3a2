import { profileFacts } from '../../../engine/e-documents/profiles.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactAtPresent } from '../../../platform/records/transact.ts';
import { namedMissing } from '../../messaging/documents/missing-characters.ts';
import { type DocumentRow, findWaitingDocument, replaceDocument } from '../../messaging/documents/queries.ts';
import { releaseMails } from '../../messaging/mails/post-mail.ts';
import { documentSubjects, readChosenProfile } from '../render-documents/document-subjects.ts';
import { storeUnlessWithdrawn, subjectOf } from './commands.ts';
import { type EDocumentRow, findContent, findDocumentOf, hasLines, printedKind } from './queries.ts';

/**
 * Where a customer has chosen a page that carries XML, this page is what downloads, mails and the portal hand out, byte
 * for byte: also in the place of a plain page that was drawn while a fact was missing.
 *
 * Rule: e-documents.md#profiles.
 */
export async function printAsHybrid(
  ctx: Context,
  row: EDocumentRow,
  { content, missing }: { content: Uint8Array; missing: string },
): Promise<void> {
  const kind = printedKind(row);
  const drawn = { content, missing: namedMissing(missing) };
  const document = { kind, subjectId: row.subject_id, fileName: `${row.number}.pdf`, contentType: 'application/pdf' };
  const id = await replaceDocument(ctx, { ...document, ...drawn }, realNow());
  await documentSubjects[kind].announce(ctx, row.subject_id);
  await releaseMails(ctx, id);
}

/** A page that waited for its XML is drawn without it, because there will be none for now. */
export async function printPlain(ctx: Context, row: EDocumentRow): Promise<void> {
  const id = await findWaitingDocument(ctx, printedKind(row), row.subject_id);
  if (id) ctx.after({ nudge: 'document.render', payload: { document_id: id } });
}

/**
 * What is handed out in the place of a plain page: nothing else, the page that carries XML, or that page as soon as it
 * is made, which is asked for here.
 */
type HybridPage = 'none' | 'made-later' | Uint8Array;

/** Finds the page that carries XML for a printed document, where its customer has chosen one. */
export const hybridPages =
  (deps: SystemDeps) =>
  async (scope: Scope, { kind, subject_id, is_asked: isAsked }: DocumentRow): Promise<HybridPage> => {
    if (kind !== 'invoice' && kind !== 'credit_note') return 'none';
    const subject = await subjectOf(scope, { kind, subject_id });
    const profile = await readChosenProfile(scope, subject.invoice_id);
    if (profile === null || !profileFacts[profile].isPdf) return 'none';
    if (!(await hasLines(scope, subject.type, subject.id))) return 'none';
    const found = await findDocumentOf(scope, { type: subject.type, id: subject.id, profile });
    if (found?.status === 'failed') return 'none';
    if (found?.status === 'ready') return (await findContent(scope, found.id)) ?? 'none';
    let isOwed = true;
    await transactAtPresent(deps, scope.organizationId, async (ctx) => {
      const inBackground = !isAsked;
      if (!found) isOwed = await storeUnlessWithdrawn(ctx, subject, profile, { inBackground });
      else if (isAsked) ctx.after({ nudge: 'e-document.render', payload: { e_document_id: found.id } });
    });
    return isOwed ? 'made-later' : 'none';
  };
