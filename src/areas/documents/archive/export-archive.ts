import type { Scope } from '../../../platform/db/scope.ts';
import type { ZippedFile } from '../../../platform/documents/zip.ts';
import { type HandedOut, listHandedOut, type Period, type Place } from './queries.ts';

/** How many documents are read at once, and how many bytes, so that memory stays small whatever their number. */
const AT_ONCE = 50;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/**
 * Every electronic document that was handed out and was issued in a period, byte for byte, as a file, and a list of
 * them behind it: `index.csv` with number, profile, checksum and file.
 *
 * Rule: e-documents.md#archive.
 */
export async function* filesOfArchive(scope: Scope, period: Period): AsyncGenerator<ZippedFile> {
  const names = new Set<string>();
  const lines = ['number,profile,sha256,file'];
  let after: Place | null = null;
  for (;;) {
    const page: readonly HandedOut[] = await listHandedOut(scope, period, {
      after,
      limit: AT_ONCE,
      mostBytes: BYTES_AT_ONCE,
    });
    if (page.length === 0) break;
    for (const document of page) {
      const name = nameOf(document, names);
      names.add(name);
      lines.push([document.number, document.profile, document.sha256, name].map(cell).join(','));
      yield { name, content: document.content };
    }
    after = page.at(-1)!;
  }
  yield { name: 'index.csv', content: Buffer.from(`${lines.join('\r\n')}\r\n`) };
}

/** A name that every file system takes; with the id where two documents would have the same. */
function nameOf({ id, number, profile, content_type }: HandedOut, taken: ReadonlySet<string>): string {
  const suffix = content_type === 'application/pdf' ? 'pdf' : 'xml';
  const name = `${number.replaceAll(/[^\p{L}\p{N}._-]/gu, '_')}.${profile}`;
  return taken.has(`${name}.${suffix}`) ? `${name}.${id}.${suffix}` : `${name}.${suffix}`;
}

/** A cell of the list: no spreadsheet takes it for a formula. */
const cell = (text: string): string => `"${text.replace(/^[=+@\t\r-]/, "'$&").replaceAll('"', '""')}"`;
