import { z } from 'zod';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { DocumentKind } from './queries.ts';

/** How many missing characters are listed for one document; with more it needs another font anyway. */
const MOST_NAMED = 100;

/** The characters of a drawn document that no font has, as they are kept with it. */
export const namedMissing = (missing: string): string => [...missing].slice(0, MOST_NAMED).join('');

/** Column of a subject that an alias names: the missing characters of its document, once that has been drawn. */
export const missingCharacters = (db: Db, kind: DocumentKind, alias: string): Fragment => db`
  (select document.missing_characters from documents document
   where document.organization_id = ${db(alias)}.organization_id and document.kind = ${kind}
     and document.subject_id = ${db(alias)}.id and document.content is not null) as missing_characters`;

/**
 * Characters of the drawn document that no font has, each once: they print as empty boxes. Absent while there are none.
 */
export const MissingCharacters = z.string().optional();

export const missingOf = (missing: string | null): { missing_characters?: string } =>
  missing ? { missing_characters: missing } : {};
