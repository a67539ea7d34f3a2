import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { documentLink } from '../../documents/link.ts';
import { type DocumentKind, requestDocument } from '../../documents/queries.ts';
import { getCreditNote } from '../queries.ts';
import { viewOf } from '../show.ts';

/**
 * Answers a note with the address of its document, which is drawn in the background the first time it is asked for.
 *
 * @throws Refusal 404 credit_note
 * Rule: credits-and-payments C.2.
 */
export async function downloadCreditNote(ctx: Context, path: { svc_id: string }) {
  const { shown, url } = await request(ctx, path, { kind: 'credit_note', suffix: 'pdf' });
  return { credit_note: { ...shown, file_url: url } };
}

/** The same for the electronic document: UBL 2.1 under EN 16931. Rule: platform P "download_xml". */
export async function downloadCreditNoteXml(ctx: Context, path: { svc_id: string }) {
  const xml = { kind: 'credit_note_xml', suffix: 'xml', contentType: 'application/xml' } as const;
  const { shown, url } = await request(ctx, path, xml);
  return { credit_note: { ...shown, xml_url: url } };
}

async function request(
  ctx: Context,
  { svc_id }: { svc_id: string },
  { suffix, ...file }: { kind: DocumentKind; suffix: string; contentType?: string },
) {
  const { db, organizationId } = ctx;
  const note = await getCreditNote(db, organizationId, svc_id);
  const document = await requestDocument(
    db,
    { organizationId, ...file, subjectId: note.id, fileName: `${note.number}.${suffix}` },
    realNow(),
  );
  if (document.isNew) ctx.after({ job: 'document.render', payload: { document_id: document.id }, ownRow: true });
  return { shown: await viewOf(ctx, note), url: await documentLink(db, ctx.config, document.id) };
}
