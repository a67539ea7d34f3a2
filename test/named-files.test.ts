import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

// A reader who follows a name comes to a file: pages and comments name only what is there, and the page of each folder
// says where to look for what.

const ROOT = projectRoot();
const FOLDERS = ['.ci', 'bench', 'bin', 'console', 'docs', 'migrations', 'scenarios', 'src', 'test', 'workers'];

const paths = FOLDERS.flatMap((folder) => [
  folder,
  ...readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
]).concat(readdirSync(ROOT).filter((name) => statSync(join(ROOT, name)).isFile()));
const all = new Set(paths);
/** Every end of every path, by which a page may name it: `build-invoice/fees.ts`. */
const ends = new Set(paths.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))));
const texts = new Map(
  paths
    .filter((path) => /\.(ts|mts|mjs|sql|md)$/.test(path) && statSync(join(ROOT, path)).isFile())
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);

const COMMENT = /^\s*(?:\/?\*|--).*$|\/\/.*$/gm;
/** What a page sets in backticks, or what a comment says. */
function wordsOf(path: string): string[] {
  const text = texts.get(path)!;
  if (!path.endsWith('.md')) return text.match(COMMENT) ?? [];
  return text.replace(/^```[\s\S]*?^```/gm, '').match(/`[^`\n]+`/g) ?? [];
}

const FILE = /(?<![\w./@-])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|mts|mjs|sql)(?![\w/])/g;
/** Folders by whose name a path begins; anything else with a slash is no path of ours (`Europe/Paris`). */
const BEGINS = [
  ...FOLDERS,
  ...['src', 'src/areas'].flatMap((folder) => readdirSync(join(ROOT, folder))).filter((name) => !/\./.test(name)),
];
const FOLDER = new RegExp(
  `(?<![\\w./@-])(?:${BEGINS.map((name) => name.replace('.', '\\.')).join('|')})(?:/[\\w-]+)+/?(?![\\w./*-])`,
  'g',
);
/** Made by a tool, so not among the files. */
const MADE = new Set(['schema.d.ts']);

/** Whether a name without a folder stands where a reader of `from` looks: beside it, below it, or above it. */
function isNear(name: string, from: string): boolean {
  if (!from.startsWith('src/')) return ends.has(name);
  const folder = dirname(from);
  if (paths.some((path) => path.startsWith(`${folder}/`) && path.endsWith(`/${name}`))) return true;
  for (let above = dirname(folder); above !== '.'; above = dirname(above)) if (all.has(join(above, name))) return true;
  return false;
}

test('every file and folder that a page or a comment names is there', () => {
  const faults: string[] = [];
  let named = 0;
  for (const path of texts.keys()) {
    for (const words of wordsOf(path)) {
      for (const [found] of [...words.matchAll(FILE), ...words.matchAll(FOLDER)]) {
        const name = found.replace(/\/$/, '');
        if (MADE.has(name) || name.startsWith('docs/') || /^(jobs|commands|bin)\/[\w-]+$/.test(name)) continue;
        named += 1;
        if (!(name.includes('/') ? ends.has(name) : isNear(name, path))) faults.push(`${path}: ${name}`);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(named).toBeGreaterThan(800);
});

test('every migration that a page or a comment names by its number is there', () => {
  const numbers = new Set(readdirSync(join(ROOT, 'migrations')).map((name) => name.slice(0, 4)));
  const faults = [...texts.keys()].flatMap((path) =>
    [...texts.get(path)!.matchAll(/\bmigrations? (\d{4})\b/gi)]
      .filter(([, number]) => !numbers.has(number!))
      .map(([words]) => `${path}: ${words}`),
  );
  expect(faults).toEqual([]);
});

/** The rows of "Where is what": the paths in the first column of a page, from the root. */
function rowsOf(page: string): string[] {
  const table = texts.get(page)?.split('## Where is what\n')[1]?.split('\n## ')[0] ?? '';
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => normalize(join(dirname(page), name!)).replace(/\/$/, '')),
  );
}
const tables = paths.filter((path) => path.startsWith('src/') && basename(path) === 'README.md');

test('every row of "Where is what" leads to a file or a folder', () => {
  const faults = tables.flatMap((page) =>
    rowsOf(page)
      .filter((path) => !all.has(path))
      .map((path) => `${page}: ${path}`),
  );
  expect(faults).toEqual([]);
  expect(tables.flatMap(rowsOf).length).toBeGreaterThan(600);
});

test('the page of each area and floor has a row for each of its folders', () => {
  const areas = readdirSync(join(ROOT, 'src/areas')).map((area) => `src/areas/${area}`);
  const faults = [...areas, 'src/engine', 'src/ingress', 'src/jobs', 'src/platform', 'src/commands'].flatMap(
    (floor) => {
      const rows = new Set(rowsOf(`${floor}/README.md`));
      return readdirSync(join(ROOT, floor), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !rows.has(`${floor}/${entry.name}`))
        .map(({ name }) => `${floor}/README.md lacks ${name}`);
    },
  );
  expect(faults).toEqual([]);
});

/** Names whose meaning is the same in every room (docs/contributing.md "A room"). */
const OF_A_ROOM =
  /^(?:routes|schema|definition|commands|reads|queries|writes|view|announce|announcements|jobs)\.ts$|^README\.md$|\.d\.ts$/;
/** Folders whose row says what all their files are: one for each language or subject, or the same for each provider. */
const OF_ONE_KIND = /\/(?:texts|field-words|body-examples)$|^src\/platform\/payments\/\w+$/;
/** How many files of a folder may have names that explain themselves; with more the folder needs a page. */
const EXPLAIN_THEMSELVES = 5;

test('the files of a folder are explained in rows of its page or of one above, but for a few', () => {
  const rows = new Set(tables.flatMap(rowsOf));
  const folders = [...new Set(paths.filter((path) => path.startsWith('src/') && path.endsWith('.ts')).map(dirname))];
  const faults = folders
    .filter((folder) => folder !== 'src' && !OF_ONE_KIND.test(folder))
    .map((folder) =>
      readdirSync(join(ROOT, folder), { withFileTypes: true })
        .filter((entry) => entry.isFile() && !OF_A_ROOM.test(entry.name))
        .map(({ name }) => join(folder, name))
        .filter((path) => !rows.has(path)),
    )
    .filter((unexplained) => unexplained.length > EXPLAIN_THEMSELVES);
  expect(faults).toEqual([]);
});

/** Names that do not say what stands in a file. `src/steps.ts` is the table of steps, `commands/check.ts` a command. */
const SAYS_NOTHING = /(?:^|\/)(?:sql|[\w-]+-sql|steps?|check|prepare|shown|texts|helpers?|utils?|misc|common)\.ts$/;
const SAY_WHAT_THEY_ARE = new Set(['src/steps.ts', 'src/commands/check.ts', 'src/ingress/shared-sql.ts']);

test('the name of every file says what stands in it', () => {
  const faults = paths.filter((path) => path.startsWith('src/') && SAYS_NOTHING.test(path));
  expect(faults.filter((path) => !SAY_WHAT_THEY_ARE.has(path) && !OF_ONE_KIND.test(dirname(path)))).toEqual([]);
});
