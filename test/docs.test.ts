import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

// What the repository says of itself can be followed: from a rule that code cites to its heading, from page to page.

const ROOT = projectRoot();
const FOLDERS = ['.ci', 'bench', 'bin', 'docs', 'migrations', 'scenarios', 'src', 'test', 'workers'];
const TEXT = /\.(ts|mts|mjs|js|sql|md|txt|json)$/;

const files = [
  ...readdirSync(ROOT).filter((name) => TEXT.test(name) && name !== 'package-lock.json'),
  ...FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
].filter((name) => TEXT.test(name) && statSync(join(ROOT, name)).isFile());
const texts = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
const pages = files.filter((name) => name.endsWith('.md'));

/** `## Ending on a boundary` → `ending-on-a-boundary`, as readers of Markdown make it. */
const slug = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of a page: its headings, and the places that it names itself. */
function anchorsOf(page: string): string[] {
  const found: string[] = [];
  let isCode = false;
  for (const line of texts.get(page)!.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    if (isCode) continue;
    const heading = /^#{1,6} (.+)$/.exec(line);
    if (heading) found.push(slug(heading[1]!));
    for (const [, id] of line.matchAll(/<a id="([^"]+)"/g)) found.push(id!);
  }
  return found;
}
const anchors = new Map(pages.map((page) => [page, new Set(anchorsOf(page))]));

/** Why nothing stands behind `page#anchor`, or undefined when something does. */
function fault(page: string, anchor: string | undefined): string | undefined {
  if (!texts.has(page)) return existsSync(join(ROOT, page)) && anchor === undefined ? undefined : 'no such file';
  return anchor === undefined || anchors.get(page)?.has(anchor) ? undefined : 'no such heading';
}

/** A page as code names it: a rule by its file alone, another page by its path from the root or from the file. */
function pageNamed(name: string, file: string): string {
  const places = [join('docs/rules', name), relative(ROOT, resolve(ROOT, dirname(file), name)), name];
  return places.find((place) => texts.has(place)) ?? places[0]!;
}

const CITED = /(?<![\w./-])((?:[\w-]+\/)*[\w-]+\.md)(?:#([\w-]+))?/g;

test('every page and heading that code, tests and migrations refer to exists', () => {
  const faults: string[] = [];
  let cited = 0;
  for (const [file, text] of texts) {
    if (file.endsWith('.md') || file.endsWith('.json')) continue;
    for (const [whole, name, anchor] of text.matchAll(CITED)) {
      cited += 1;
      const why = fault(pageNamed(name!, file), anchor);
      if (why !== undefined) faults.push(`${file}: ${whole}: ${why}`);
    }
  }
  expect(faults).toEqual([]);
  expect(cited).toBeGreaterThan(1_000);
});

test('every "Rule:" of a comment names a page of the rules or a standard', () => {
  const faults: string[] = [];
  for (const [file, text] of texts) {
    if (file.endsWith('.md') || file.endsWith('.json') || file === 'test/docs.test.ts') continue;
    for (const match of text.matchAll(/^.*(?:\*|\/\/|--) (?:.*\s)?Rules?:[^\n]*(?:\n[^\n]*)?/gm)) {
      const behind = match[0].slice(match[0].search(/Rules?:/));
      if (!/[\w-]+\.md\b|EN 16931/.test(behind)) faults.push(`${file}: ${behind.split('\n')[0]}`);
    }
  }
  expect(faults).toEqual([]);
});

test('every relative link of every page leads to a file, and to a heading where it names one', () => {
  const faults: string[] = [];
  let links = 0;
  for (const page of pages) {
    const prose = texts
      .get(page)!
      .replace(/```[\s\S]*?```/g, '')
      .replace(/`[^`\n]*`/g, '');
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      links += 1;
      const [path, anchor] = target!.split('#') as [string, string?];
      const why = fault(path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path)), anchor);
      if (why !== undefined) faults.push(`${page}: ${target}: ${why}`);
    }
  }
  expect(faults).toEqual([]);
  expect(links).toBeGreaterThan(500);
});

test('no page has two headings with the same anchor', () => {
  const twice = pages.flatMap((page) => {
    const all = anchorsOf(page);
    return all.filter((anchor, index) => all.indexOf(anchor) !== index).map((anchor) => `${page}#${anchor}`);
  });
  expect(twice).toEqual([]);
});

test('the index of the rules lists every page of them', () => {
  const index = texts.get('docs/rules/README.md')!;
  const rules = pages.filter((page) => dirname(page) === 'docs/rules' && basename(page) !== 'README.md');
  expect(rules.filter((page) => !index.includes(`](${basename(page)})`))).toEqual([]);
});

test('every rule code in an explanation is listed where the codes are documented', () => {
  const listed = texts.get('docs/rules/fee-explanations.md')!;
  const codes = files
    .filter((file) => dirname(file) === 'src/engine/explain')
    .flatMap((file) => [...texts.get(file)!.matchAll(/'([A-H]\.\d+|[IM]:[A-H\d][.\d]*)'/g)].map(([, code]) => code!));
  expect(codes.length).toBeGreaterThan(40);
  expect([...new Set(codes)].filter((code) => !listed.includes(`| \`${code}\` | [`))).toEqual([]);
});

/** Characters of a line. The formatter breaks code; comments, SQL and migrations are broken by hand. */
const WIDTH = 120;
/** Rows of tables, headings, addresses and examples stand on one line; everything else is broken. */
const isProse = (line: string): boolean => !/^(?:\||#| {4,}[^\s*\d-]|\[[^\]]+\]:)/.test(line) && / /.test(line.trim());

test('no line of prose on a page is longer than a line of code', () => {
  const long = pages.flatMap((page) => {
    let isCode = false;
    return texts
      .get(page)!
      .split('\n')
      .flatMap((line, index) => {
        if (line.startsWith('```')) isCode = !isCode;
        return !isCode && [...line].length > WIDTH && isProse(line) ? [`${page}:${index + 1}`] : [];
      });
  });
  expect(long).toEqual([]);
});

const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*|--)/.test(line);
/** What cannot be broken: texts in quotes, expressions within templates, rows of a table, regular expressions. */
const holdsText = (line: string): boolean => /['"`{]|^\s*\//.test(line);

test('no comment and no statement of SQL is longer than a line', () => {
  const long = files
    .filter((file) => /\.(ts|mjs|sql)$/.test(file) && !file.startsWith('docs'))
    .flatMap((file) =>
      texts
        .get(file)!
        .split('\n')
        .flatMap((line, index) =>
          line.length > WIDTH && (isComment(line) || !holdsText(line)) ? [`${file}:${index + 1}`] : [],
        ),
    );
  expect(long).toEqual([]);
});
