import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';

/**
 * Holds what stands between `<!-- NAME -->` and `<!-- /NAME -->` of a document against what the code says.
 * UPDATE_DOCS=1 rewrites it.
 */
export function expectInDocument(document: string, name: string, wanted: string): void {
  const path = join(projectRoot(), document);
  const text = readFileSync(path, 'utf8');
  const region = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
  expect(text).toMatch(region);
  const rewritten = text.replace(region, (_all, begin, end) => `${begin}${wanted}\n${end}`);
  if (process.env.UPDATE_DOCS) writeFileSync(path, rewritten);
  expect(readFileSync(path, 'utf8'), `${document}: UPDATE_DOCS=1 rewrites its table`).toBe(rewritten);
}

/** A markdown table; `|` in a cell is escaped. */
export const tableOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
