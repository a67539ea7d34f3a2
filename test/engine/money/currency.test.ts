import codes from 'currency-codes';
import { expect, test } from 'vitest';
import { CURRENCIES, exponentOf, isCurrency } from '../../../src/engine/money/currency.ts';

/** Codes of the contract that ISO 4217 has withdrawn, with the decimals they had. */
const WITHDRAWN = { ANG: 2, BGN: 2, HRK: 2, MRO: 2, SLL: 2, STD: 2 } as Record<string, number>;

test('the list of currencies has every code of the contract and eight more, each once', () => {
  expect(CURRENCIES).toHaveLength(146);
  expect(new Set(CURRENCIES).size).toBe(146);
});

test.each(CURRENCIES)('%s has the decimals of ISO 4217', (code) => {
  expect(exponentOf(code)).toBe(codes.code(code)?.digits ?? WITHDRAWN[code]);
});

test('currencies whose decimals differ elsewhere keep those of ISO 4217', () => {
  expect(['HUF', 'IDR', 'AFN', 'MGA', 'JPY', 'KWD'].map((code) => exponentOf(code as 'HUF'))).toEqual([
    2, 2, 2, 2, 0, 3,
  ]);
});

test('currency codes are accepted in exact case only', () => {
  expect(['USD', 'usd', 'XXX', '', '__proto__'].map(isCurrency)).toEqual([true, false, false, false, false]);
});
