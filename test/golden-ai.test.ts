import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../src/platform/project-root.ts';

// The list of golden cases of AI usage names the test of each, and leaves none out.

const ROOT = projectRoot();
/** How many cases there are by what they begin with. */
const CASES = { AI: 31, PB: 15, MG: 3, BU: 19 };
const page = readFileSync(join(ROOT, 'docs/rules/golden-ai.md'), 'utf8');

interface Listed {
  code: string;
  tests: { file: string; titles: string[] }[];
}

const rows: Listed[] = page.split('\n').flatMap((line) => {
  const [, code, tests] = /^\| \[([A-Z]{2}\d+)\]\([^)]*\) \|.*\| (`.*) \|$/.exec(line) ?? [];
  if (code === undefined) return [];
  const listed = tests!.split('<br>').map((each) => ({
    file: /^`([^`]+)`/.exec(each)![1]!,
    titles: [...each.matchAll(/“([^”]*)”/g)].map(([, title]) => title!),
  }));
  return [{ code, tests: listed }];
});

test('every golden case of AI usage is listed once, in order', () => {
  const all = Object.entries(CASES).flatMap(([code, count]) =>
    Array.from({ length: count }, (_, index) => `${code}${index + 1}`),
  );
  expect(rows.map(({ code }) => code)).toEqual(all);
});

test('every test that the list names exists under its title', () => {
  const missing = rows.flatMap(({ code, tests }) =>
    tests.flatMap(({ file, titles }) => {
      const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
      return titles.filter((title) => !text.includes(title)).map((title) => `${code}: ${file}: ${title}`);
    }),
  );
  expect(missing).toEqual([]);
  expect(rows.filter(({ tests }) => tests.every(({ titles }) => titles.length === 0))).toEqual([]);
});

/** Titles end with their cases: `… (BU13, BU12)`, `… (BU2, by amount)`. */
const CASES_OF_TITLE = /\(((?:AI|PB|MG|BU)\d+\b[^()\n]*)\)(?=['"])/g;

test('every test whose title names a golden case of AI usage is in the list', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const unlisted = files
    .filter((name) => name.endsWith('.test.ts') && name !== 'golden-ai.test.ts')
    .flatMap((name) => {
      const file = `test/${name}`;
      const titles = [...readFileSync(join(ROOT, file), 'utf8').matchAll(CASES_OF_TITLE)];
      const named = new Set(titles.flatMap(([, cases]) => cases!.match(/\b(?:AI|PB|MG|BU)\d+\b/g) ?? []));
      return [...named]
        .filter((code) => !rows.some((row) => row.code === code && row.tests.some((each) => each.file === file)))
        .map((code) => `${code}: ${file}`);
    });
  expect(unlisted).toEqual([]);
});
