import type { Decimal } from '../../money/decimal.ts';

/** A tax that an engine computed for a line. */
export interface AnsweredTax {
  jurisdiction: string;
  name: string;
  /** A fraction: 0.0481 is 4.81 %. */
  rate: Decimal;
  /** Exact amount in cents, with decimals. */
  amountCents: Decimal;
}

/** What an engine answers about one line. */
export interface AnsweredLine {
  /** Key of the fee. */
  key: string;
  /** What has to be collected, in whole cents. */
  collectedCents: number;
  taxes: readonly AnsweredTax[];
  /** Why nothing is taxed, as a word in snake case; null for a line with taxes. */
  notTaxed: string | null;
}
