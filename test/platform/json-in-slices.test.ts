import { expect, test } from 'vitest';
import { jsonInSlices } from '../../src/platform/turns/json-in-slices.ts';

// everywhere.md#bounded-cost: an answer of megabytes is written in pieces, between which others are answered.

const charge = (n: number) => ({
  code: `c${n}`,
  name: null,
  left: undefined,
  nested: { list: [n, undefined, 'ä"\u2028'] },
});

test.each([
  ['small', { usage: charge(1) }],
  [
    'a list of many',
    { usage: { charges: Array.from({ length: 5000 }, (_, n) => charge(n)), total: 1, left: undefined } },
  ],
  ['one charge with many groups', [{ groups: [Array.from({ length: 9000 }, (_, n) => n)], empty: [], none: {} }]],
  ['what is not there in a list of many', Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? undefined : null))],
  ['what writes itself', Array.from({ length: 1200 }, () => ({ at: new Date(0), id: new URL('http://a/') }))],
])('JSON in slices writes %s as JSON.stringify does', async (_what, value) => {
  expect(await jsonInSlices(value, undefined)).toBe(JSON.stringify(value));
});

test('JSON in slices pauses after each piece of at most a thousand values', async () => {
  const count = async (groups: number) => {
    let pauses = 0;
    const pause = () => {
      pauses += 1;
      return undefined;
    };
    await jsonInSlices({ charges: Array.from({ length: 10 }, () => Array.from({ length: groups }, charge)) }, pause);
    return pauses;
  };
  expect(await count(5)).toBe(0);
  // Ten charges of 5 000 groups: each group is a piece, each charge is one, and their list.
  expect(await count(5000)).toBe(50_000 + 10 + 1);
});
