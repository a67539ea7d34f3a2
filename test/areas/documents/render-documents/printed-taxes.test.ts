import { expect, test } from 'vitest';
import { printedTaxes } from '../../../../src/areas/documents/render-documents/printed-taxes.ts';

test.each([
  // Rate, base and stored amount of each tax; the tax of the document; what the page states.
  [
    'stored amounts that sum up stay',
    [
      ['19', 10_000, 1900],
      ['7', 1000, 70],
    ],
    1970,
    [1900, 70],
  ],
  [
    'one that was rounded up most gives the cent back',
    [
      ['19', 9999, 1900],
      ['7', 666, 47],
    ],
    1946,
    [1900, 46],
  ],
  [
    'one that was rounded down takes a cent',
    [
      ['19', 99, 19],
      ['7', 33, 2],
      ['8.875', 9999, 887],
    ],
    909,
    [19, 2, 888],
  ],
  [
    'whole yen',
    [
      ['19', 3003, 571],
      ['8.875', 333, 30],
    ],
    600,
    [571, 29],
  ],
  [
    'a rate of zero takes none',
    [
      ['0', 5000, 0],
      ['19', 33, 6],
      ['7', 33, 2],
    ],
    9,
    [0, 6, 3],
  ],
  [
    'what an engine computed is not computed again',
    [
      ['8.25', 10_000, 660],
      ['5', 1000, 51],
    ],
    710,
    [659, 51],
  ],
  ['no tax', [], 0, []],
] as const)('%s', (_, taxes, taxCents, expected) => {
  const given = taxes.map(([tax_rate, baseCents, amount_cents]) => ({ tax_rate, baseCents, amount_cents }));
  expect(printedTaxes(given, taxCents)).toEqual(expected);
});
