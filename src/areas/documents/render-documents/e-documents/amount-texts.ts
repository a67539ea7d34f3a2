import type { VatRow } from '../../../../engine/e-documents/facts.ts';
import { type Profile, profileFacts } from '../../../../engine/e-documents/profiles.ts';
import type { Cents } from '../../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../../engine/money/currency.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';

export interface Amounts {
  /** 123456 → 1234.56. */
  amount(cents: number): string;
}

/** Amounts of a currency as electronic documents write them. */
export function amountTexts(currency: Currency): Amounts {
  const exponent = exponentOf(currency);
  return { amount: (cents) => toMainUnit(cents as Cents, exponent).toFixed(exponent) };
}

/** Rate of a VAT row: what is outside the tax has none, but XRechnung asks for one in every row (BR-DE-14). */
export const rateOfRow = ({ category, rate }: VatRow, profile: Profile): string | undefined =>
  category === 'O' && profileFacts[profile].receiver !== 'xrechnung' ? undefined : rate.toFixed();
