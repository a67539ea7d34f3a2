import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../src/platform/project-root.ts';

/** A page of docs/rules that lists golden cases, each with the tests that show it. */
interface GoldenList {
  /** `golden-scale.md`. */
  page: string;
  /** What the cases are about. */
  about: string;
  /** What their numbers begin with. */
  letters: string;
  /** How many there are. */
  cases: number;
  /** The test that calls this, which names cases as well. */
  self: string;
}

interface Listed {
  code: string;
  tests: { file: string; titles: string[] }[];
}

const ROOT = projectRoot();

/** The rows of a page of golden cases, whose codes have two letters and a number. */
export function listedCases(page: string): Listed[] {
  return readFileSync(join(ROOT, 'docs/rules', page), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, code, tests] = /^\| \[([A-Z]{2}\d+)\]\([^)]*\) \|.*\| (`.*) \|$/.exec(line) ?? [];
      if (code === undefined) return [];
      const listed = tests!.split('<br>').map((each) => ({
        file: /^`([^`]+)`/.exec(each)![1]!,
        titles: [...each.matchAll(/“([^”]*)”/g)].map(([, title]) => title!),
      }));
      return [{ code, tests: listed }];
    });
}

/** Every test that the list names exists under its title, and every case has one. */
export function expectTestsToExist(rows: readonly Listed[]): void {
  const missing = rows.flatMap(({ code, tests }) =>
    tests.flatMap(({ file, titles }) => {
      const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
      return titles.filter((title) => !text.includes(title)).map((title) => `${code}: ${file}: ${title}`);
    }),
  );
  expect(missing).toEqual([]);
  expect(rows.filter(({ tests }) => tests.every(({ titles }) => titles.length === 0))).toEqual([]);
}

/**
 * What tests name of golden cases and the list does not have for them.
 *
 * self     the test that asks, which is left out
 * casesOf  the codes that the text of a test names
 */
export function unlistedCases(
  rows: readonly Listed[],
  { self, casesOf }: { self: string; casesOf: (text: string) => Iterable<string> },
): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && name !== self)
    .flatMap((name) => {
      const file = `test/${name}`;
      const named = new Set(casesOf(readFileSync(join(ROOT, file), 'utf8')));
      return [...named]
        .filter((code) => !rows.some((row) => row.code === code && row.tests.some((each) => each.file === file)))
        .map((code) => `${code}: ${file}`);
    });
}

/** The tests of a list whose cases have one kind of number. */
export function testGoldenList({ page, about, letters, cases, self }: GoldenList): void {
  const rows = listedCases(page);
  const codes = Array.from({ length: cases }, (_, index) => `${letters}${index + 1}`);

  test(`every golden case of ${about} is listed once, in order`, () => {
    expect(rows.map(({ code }) => code)).toEqual(codes);
  });

  test('every test that the list names exists under its title', () => expectTestsToExist(rows));

  test(`every test that names a golden case of ${about} is in the list`, () => {
    const named = new RegExp(`(?<=[('\\s])${letters}(\\d+)\\b`, 'g');
    const casesOf = (text: string) =>
      [...text.matchAll(named)]
        .map(([, number]) => Number(number))
        .filter((number) => number <= cases)
        .map((number) => `${letters}${number}`);
    expect(unlistedCases(rows, { self, casesOf })).toEqual([]);
  });
}
