import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, found upwards from this file; the same from `src/` and from `dist/src/`. */
export const projectRoot = findUpwards(dirname(fileURLToPath(import.meta.url)), 'package.json');

/** Where `npm start` keeps its data, and downloaded programs. */
export const defaultDataDir = join(projectRoot, '.data');

function findUpwards(folder: string, file: string): string {
  if (existsSync(join(folder, file))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`no ${file} above this program`);
  return findUpwards(parent, file);
}
