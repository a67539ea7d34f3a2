import { expect, test } from 'vitest';
import { chooseEuTax } from '../../../src/engine/taxes/eu/choose-eu-tax.ts';
import { euTaxesOn } from '../../../src/engine/taxes/eu/generated-taxes.ts';
import { retryDelayMinutes } from '../../../src/engine/taxes/eu/retry-delay.ts';

const valid = (country: string) => ({ country, hasValidFormat: true, isValid: true });
const invalid = (country: string) => ({ country, hasValidFormat: true, isValid: false });
const unasked = (country: string) => ({ country, hasValidFormat: true });
const malformed = { country: null, hasValidFormat: false };

// eu-taxes.md, golden-money.md, 11 to 17; the seller is in France.
test.each([
  ['11: outside the Union', 'US', '80095', 'none', 'svc_eu_tax_exempt'],
  ['12: another country of the Union', 'IT', '00146', 'none', 'svc_eu_it_standard'],
  ['13: a valid number there', 'IT', '00146', valid('IT'), 'svc_eu_reverse_charge'],
  ['14: a valid number here', 'FR', '75018', valid('FR'), 'svc_eu_fr_standard'],
  ['15: a territory, whatever the number', 'ES', '35001', unasked('ES'), 'svc_eu_es_exception_canary_islands'],
  ['a territory, blanks in its postcode', 'ES', ' 35 001', 'none', 'svc_eu_es_exception_canary_islands'],
  ['16: the register has to be asked', 'IT', null, unasked('IT'), 'ask'],
  ['a number that the register does not know', 'IT', null, invalid('IT'), 'svc_eu_it_standard'],
  ['a malformed number', 'IT', null, malformed, 'svc_eu_it_standard'],
  ['no country', null, null, 'none', 'svc_eu_fr_standard'],
  ['no country, an invalid number', null, null, invalid('IT'), 'svc_eu_fr_standard'],
  ['a French territory without a number', 'FR', '97110', 'none', 'svc_eu_fr_standard'],
  ['a French territory, a business', 'FR', '97110', unasked('FR'), 'svc_eu_fr_exception_guadeloupe'],
  ['a French territory, a malformed number', 'FR', '97110', malformed, 'svc_eu_fr_standard'],
  ['a valid number here, a postcode of a territory', null, '97600', valid('FR'), 'svc_eu_fr_exception_mayotte'],
  ['a valid number, a customer elsewhere', 'US', null, valid('IT'), 'svc_eu_reverse_charge'],
] as const)('the EU tax of a sale is chosen: %s', (_name, country, postcode, number, expected) => {
  const choice = chooseEuTax({ sellerCountry: 'FR', country, postcode, number });
  expect(choice === 'ask-register' ? 'ask' : choice.code).toBe(expected);
});

test('the standard rates of EU taxes are those of 2026', () => {
  const rates = Object.fromEntries(euTaxesOn('2026-01-01').map(({ code, rate }) => [code, Number(rate)]));
  const standard =
    'AT 20 BE 21 BG 20 CY 19 CZ 21 DE 19 DK 25 EE 24 ES 21 FI 25.5 FR 20 GR 24 HR 25 HU 27 IE 23 IT 22 LT 21 LU 17 LV 21 MT 18 NL 21 PL 23 PT 23 RO 21 SE 25 SI 22 SK 23';
  const words = standard.split(' ');
  for (let at = 0; at < words.length; at += 2)
    expect([words[at], rates[`svc_eu_${words[at]!.toLowerCase()}_standard`]]).toEqual([
      words[at],
      Number(words[at + 1]),
    ]);
  expect(rates).toMatchObject({
    svc_eu_at_exception_jungholz: 19,
    svc_eu_de_exception_busingen_am_hochrhein: 0,
    svc_eu_fr_exception_reunion: 8.5,
    svc_eu_it_exception_campione_d_italia: 0,
    svc_eu_pt_exception_madeira: 22,
    svc_eu_pt_exception_azores: 18,
    svc_eu_reverse_charge: 0,
    svc_eu_tax_exempt: 0,
  });
  expect(Object.keys(rates)).toHaveLength(27 + 18 + 2);
});

test.each([
  ['2020-01-01', '20'],
  ['2023-12-31', '20'],
  ['2024-01-01', '22'],
  ['2025-06-30', '22'],
  ['2025-07-01', '24'],
])('Estonia has its standard rate on %s', (day, rate) => {
  expect(euTaxesOn(day).find(({ code }) => code === 'svc_eu_ee_standard')?.rate).toBe(rate);
});

test('the register is asked again after 5, 5, 10, 20, 40 minutes, then every hour', () => {
  expect([1, 2, 3, 4, 5, 6, 100].map(retryDelayMinutes)).toEqual([5, 5, 10, 20, 40, 60, 60]);
});
