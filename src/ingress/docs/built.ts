import { existsSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../platform/project-root.ts';

/** Where the build puts the pages; src/commands/start/build-docs.mjs writes them. */
const FOLDER = join(projectRoot(), 'dist/docs');
export const FILES_FOLDER = join(FOLDER, 'files');

/** A page of docs/ as HTML. */
export interface BuiltPage {
  /** Below the service's root: `/docs/guide/events`. */
  path: string;
  title: string;
  /** First paragraph, without marks. */
  lead: string;
  html: string;
  headings: [level: number, id: string, text: string][];
}

/** Every page of docs/ by its path; none where nothing is built. */
export function builtPages(): ReadonlyMap<string, BuiltPage> {
  const text = textOf('pages.json');
  return new Map(text === undefined ? [] : (JSON.parse(text) as BuiltPage[]).map((page) => [page.path, page]));
}

/**
 * The API description that the build made, without address and version. Only for what runs from the build: sources that
 * are run themselves may have other routes.
 */
export const builtDescription = (): object | undefined => {
  const here = fileURLToPath(import.meta.url);
  const text = here.startsWith(join(projectRoot(), 'dist') + sep) ? textOf('openapi.json') : undefined;
  return text === undefined ? undefined : (JSON.parse(text) as object);
};

function textOf(name: string): string | undefined {
  const file = join(FOLDER, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
