import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

let root: string | undefined;

/**
 * Folder of package.json, whether the code runs from src/ or from dist/. Looked for once: a release that is put in
 * place below a running service takes the file away for a moment.
 */
export function projectRoot(): string {
  root ??= rootAbove(dirname(fileURLToPath(import.meta.url)));
  return root;
}

/** The nearest folder at or above `folder` that has a package.json. @throws Error where there is none */
export function rootAbove(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) throw new Error(`there is no package.json at or above ${folder}`);
  }
}
