import { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { type ArchiveFault, countArchive, hashContents, listBrokenDays } from './queries.ts';

/** No document is older. */
const EVER = Temporal.PlainDate.from('2000-01-01');
/** How many faults of each kind are named; with more the archive was not changed by accident. */
const MOST_FAULTS = 100;

/** How many contents one statement hashes: some tens of megabytes, so it ends long before the limit of a statement. */
const HASHED_AT_ONCE = 200;

/** What an archive holds, and what in it is not what was handed out. */
export interface VerifiedArchive {
  documents: number;
  days: number;
  faults: ArchiveFault[];
}

/**
 * Computes every checksum of an organization's electronic documents again, from the contents up to the roots of the
 * days. A day that is not in the chain yet is verified by its contents alone.
 *
 * Rule: e-documents.md#archive.
 */
export async function verifyArchive(scope: Scope): Promise<VerifiedArchive> {
  const counts = await countArchive(scope);
  const changed = await findChangedDocuments(scope, EVER, MOST_FAULTS);
  const broken = await listBrokenDays(scope, EVER, MOST_FAULTS);
  return { ...counts, faults: [...changed, ...broken] };
}

type ChangedDocument = Extract<ArchiveFault, { kind: 'content' }>;

/** Documents whose content is not what was handed out, of days from one on, at most `limit`: page by page. */
export async function findChangedDocuments(
  scope: Scope,
  from: Temporal.PlainDate,
  limit: number,
  atOnce = HASHED_AT_ONCE,
): Promise<ChangedDocument[]> {
  const changed: ChangedDocument[] = [];
  let after: DocumentId | null = null;
  while (changed.length < limit) {
    const page: Awaited<ReturnType<typeof hashContents>> = await hashContents(scope, from, { after, limit: atOnce });
    for (const { id, number, expected, actual } of page)
      if (actual !== null) changed.push({ kind: 'content', document_id: id, number, expected, actual });
    if (page.length < atOnce) break;
    after = page.at(-1)!.id;
  }
  return changed.slice(0, limit);
}
