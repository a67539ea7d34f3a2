import { propertyText } from '../../metrics/property-text.ts';
import { Decimal } from '../../money/decimal.ts';
import type { Kind } from '../kinds.ts';

/** A price as a file has it, of no layer and no time yet. */
export interface FilePrice {
  provider: string;
  model: string;
  tier: string;
  kind: Kind;
  min_input_tokens: number;
  cost: Decimal;
  sell: Decimal | null;
  per: number;
  /** UTC text where the file says it. */
  valid_from?: string;
  source_ref?: string;
}

/** What was read of a file, and how much was left out for which reason. */
export interface PriceFile {
  prices: FilePrice[];
  skipped: Record<string, number>;
}

export const TOKENS_PER = 1_000_000;

const NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i;
/** Largest price in a file: far above any real one. */
const MOST = 10 ** 9;
const DIGITS = 18;

/** A number of a file for `per` of a kind, exactly; null if it is none that can be a price. */
export function priceFrom(value: unknown, per: number): Decimal | null {
  const text = propertyText(value);
  if (text === null || text.length > 64 || !NUMBER.test(text)) return null;
  const price = new Decimal(text).times(per);
  return price.lte(MOST) && price.decimalPlaces() <= DIGITS ? price : null;
}

export function skip(file: PriceFile, reason: string): void {
  file.skipped[reason] = (file.skipped[reason] ?? 0) + 1;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
