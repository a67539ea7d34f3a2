import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { zipWriter } from '../../../platform/documents/zip.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { type HandedOut, listHandedOut } from './queries.ts';

/** How many documents are read at once, so that memory stays small whatever their number. */
const AT_ONCE = 50;

/**
 * Writes every electronic document that was handed out and was issued in a period into one ZIP file, byte for byte,
 * with a list of them behind it: `index.csv` with number, profile, checksum and file. An export that was broken off
 * has no list and no end, so no program takes it for a whole one.
 *
 * @returns how many documents it holds
 * Rule: e-documents.md#archive.
 */
export async function exportArchive(
  scope: Scope,
  period: { from: Temporal.PlainDate; to: Temporal.PlainDate },
  { write, at }: { write: (bytes: Uint8Array) => Promise<void>; at: Date },
): Promise<number> {
  const zip = zipWriter(write, at);
  const names = new Set<string>();
  const lines = ['number,profile,sha256,file'];
  let after: DocumentId | null = null;
  for (;;) {
    const page: readonly HandedOut[] = await listHandedOut(scope, period, { after, limit: AT_ONCE });
    for (const document of page) {
      const name = nameOf(document, names);
      names.add(name);
      await zip.add(name, document.content);
      lines.push([document.number, document.profile, document.sha256, name].map(cell).join(','));
    }
    if (page.length < AT_ONCE) break;
    after = page.at(-1)!.id;
  }
  await zip.add('index.csv', Buffer.from(`${lines.join('\r\n')}\r\n`));
  await zip.end();
  return names.size;
}

/** A name that every file system takes; with the id where two documents would have the same. */
function nameOf({ id, number, profile, content_type }: HandedOut, taken: ReadonlySet<string>): string {
  const suffix = content_type === 'application/pdf' ? 'pdf' : 'xml';
  const name = `${number.replaceAll(/[^\p{L}\p{N}._-]/gu, '_')}.${profile}`;
  return taken.has(`${name}.${suffix}`) ? `${name}.${id}.${suffix}` : `${name}.${suffix}`;
}

/** A cell of the list: no spreadsheet takes it for a formula. */
const cell = (text: string): string => `"${text.replace(/^[=+@\t\r-]/, "'$&").replaceAll('"', '""')}"`;
