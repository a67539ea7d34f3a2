import type { Context } from '../../../platform/context.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { missingOf } from './missing-characters.ts';
import { documentLinks } from './signed-link.ts';

/**
 * Documents that exist for a subject; null where none does. Any object with these fields fits, so that a row of an
 * invoice or a credit note can be passed.
 */
interface Drawn {
  document_id: DocumentId | null;
  missing_characters: string | null;
  xml_document_id: DocumentId | null;
}

export interface DocumentUrls {
  file_url: string | null;
  xml_url: string | null;
  missing_characters?: string;
}

/** Addresses of the documents of one subject. */
export const urlsOf = async (ctx: Pick<Context, 'db' | 'config'>, subject: Drawn): Promise<DocumentUrls> =>
  (await urlReader(ctx, [subject]))(subject);

/** Reads the addresses of the documents of many subjects: at most one statement, whatever their number. */
export async function urlReader(
  ctx: Pick<Context, 'db' | 'config'>,
  subjects: readonly Drawn[],
): Promise<(subject: Drawn) => DocumentUrls> {
  const ids = subjects.flatMap(({ document_id, xml_document_id }) => [document_id, xml_document_id]);
  const links = await documentLinks(
    ctx.db,
    ctx.config,
    ids.filter((id) => id !== null),
  );
  const urlOf = (id: string | null): string | null => (id === null ? null : (links.get(id) ?? null));
  return ({ document_id, xml_document_id, missing_characters }) => ({
    file_url: urlOf(document_id),
    xml_url: urlOf(xml_document_id),
    ...missingOf(missing_characters),
  });
}
