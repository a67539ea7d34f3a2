import { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { type ArchiveFault, countArchive, listBrokenDays, listChangedDocuments } from './queries.ts';

/** No document is older. */
const EVER = Temporal.PlainDate.from('2000-01-01');
/** How many faults of each kind are named; with more the archive was not changed by accident. */
const MOST_FAULTS = 100;

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
  const changed = await listChangedDocuments(scope, EVER, MOST_FAULTS);
  const broken = await listBrokenDays(scope, EVER, MOST_FAULTS);
  return { ...counts, faults: [...changed, ...broken] };
}
