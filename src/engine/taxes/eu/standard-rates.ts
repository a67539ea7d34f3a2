/** A standard rate of VAT in percent, and the day from which it applies. */
export interface DatedRate {
  /** ISO date. */
  from: string;
  rate: string;
}

// Rates of 1 March 2021, the first day after the last temporary cuts, apply to every earlier day too.
const FIRST_DAY = '2021-03-01';
const since2021 = (rate: string): DatedRate[] => [{ from: FIRST_DAY, rate }];

/** Standard rates of the countries of the Union, oldest first. Rule: eu-taxes.md. */
export const EU_STANDARD_RATES: Readonly<Record<string, readonly DatedRate[]>> = {
  AT: since2021('20'),
  BE: since2021('21'),
  BG: since2021('20'),
  CY: since2021('19'),
  CZ: since2021('21'),
  DE: since2021('19'),
  DK: since2021('25'),
  EE: [...since2021('20'), { from: '2024-01-01', rate: '22' }, { from: '2025-07-01', rate: '24' }],
  ES: since2021('21'),
  FI: [...since2021('24'), { from: '2024-09-01', rate: '25.5' }],
  FR: since2021('20'),
  GR: since2021('24'),
  HR: since2021('25'),
  HU: since2021('27'),
  IE: since2021('23'),
  IT: since2021('22'),
  LT: since2021('21'),
  LU: [...since2021('17'), { from: '2023-01-01', rate: '16' }, { from: '2024-01-01', rate: '17' }],
  LV: since2021('21'),
  MT: since2021('18'),
  NL: since2021('21'),
  PL: since2021('23'),
  PT: since2021('23'),
  RO: [...since2021('19'), { from: '2025-08-01', rate: '21' }],
  SE: since2021('25'),
  SI: since2021('22'),
  SK: [...since2021('20'), { from: '2025-01-01', rate: '23' }],
};

export const isEuCountry = (country: string | null): country is string =>
  country !== null && Object.hasOwn(EU_STANDARD_RATES, country);

/** The newest rate whose day has come. */
export function rateOn(rates: readonly DatedRate[], day: string): string {
  return (rates.findLast(({ from }) => from <= day) ?? rates[0]!).rate;
}
