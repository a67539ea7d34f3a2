import { expect, test } from 'vitest';
import { expectTestsToExist, listedCases, unlistedCases } from './support/golden-list.ts';

// The list of golden cases of AI usage names the test of each, and leaves none out.

/** How many cases there are by what they begin with. */
const CASES = { AI: 31, PB: 15, MG: 3, BU: 19 };
const rows = listedCases('golden-ai.md');

test('every golden case of AI usage is listed once, in order', () => {
  const all = Object.entries(CASES).flatMap(([code, count]) =>
    Array.from({ length: count }, (_, index) => `${code}${index + 1}`),
  );
  expect(rows.map(({ code }) => code)).toEqual(all);
});

test('every test that the list names exists under its title', () => expectTestsToExist(rows));

/** Titles end with their cases: `… (BU13, BU12)`, `… (BU2, by amount)`. */
const CASES_OF_TITLE = /\(((?:AI|PB|MG|BU)\d+\b[^()\n]*)\)(?=['"])/g;

test('every test whose title names a golden case of AI usage is in the list', () => {
  const casesOf = (text: string) =>
    [...text.matchAll(CASES_OF_TITLE)].flatMap(([, cases]) => cases!.match(/\b(?:AI|PB|MG|BU)\d+\b/g) ?? []);
  expect(unlistedCases(rows, { self: 'golden-ai.test.ts', casesOf })).toEqual([]);
});
