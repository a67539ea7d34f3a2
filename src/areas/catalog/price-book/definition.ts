import { isTokenKind, type Kind } from '../../../engine/ai/kinds.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import { addFaults } from '../../../platform/schema/faults.ts';
import { INVALID, OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import type { PriceEntryInput } from './schema.ts';

/** An entry as it will be written; its layer and version are known when it is. */
export interface PriceDraft {
  provider: string;
  model: string;
  tier: string;
  kind: Kind;
  min_input_tokens: number;
  cost: Decimal;
  sell: Decimal | null;
  per: number;
  currency: Currency;
  /** UTC text, cut to microseconds. */
  valid_from: string;
  source: string | null;
  source_ref: string | null;
}

/** Greatest price, and most fractional digits: products with a quantity stay exact. */
const PRICE_MAX = 10 ** 9;
const PRICE_DIGITS = 18;
const PER_MAX = 10 ** 9;
const PER_TOKENS = 1_000_000;

/** The quantity that a price is for, unless it is said. */
export const defaultPer = (kind: Kind): number => (isTokenKind(kind) ? PER_TOKENS : 1);

/** Whether a price may stand in the book. */
export const isPrice = (price: Decimal): boolean =>
  !price.isNegative() && price.lte(PRICE_MAX) && price.decimalPlaces() <= PRICE_DIGITS;

/**
 * Entries with their defaults, and the faults of all of them.
 *
 * now  when those are valid from that do not say
 *
 * Rule: price-book.md#entries.
 */
export function priceDrafts(
  inputs: readonly PriceEntryInput[],
  { currency, now }: { currency: Currency; now: string },
): { drafts: PriceDraft[]; faults: FieldCodes } {
  const faults: FieldCodes = {};
  const drafts = inputs.map((input, index): PriceDraft => {
    const cost = decimal(input.cost);
    const sell = input.sell === undefined || input.sell === null ? null : decimal(input.sell);
    const per = input.per ?? defaultPer(input.kind);
    const own: FieldCodes = {};
    if (!isPrice(cost)) own.cost = [OUT_OF_RANGE];
    if (sell && !isPrice(sell)) own.sell = [OUT_OF_RANGE];
    if (!isPowerOfTen(per)) own.per = [INVALID];
    if (input.currency !== undefined && input.currency !== currency) own.currency = [INVALID];
    addFaults(faults, own, ['entries', index]);
    const { provider, model, tier, kind, min_input_tokens, source = null, source_ref = null } = input;
    const valid_from = input.valid_from ?? now;
    return { provider, model, tier, kind, min_input_tokens, cost, sell, per, currency, valid_from, source, source_ref };
  });
  return { drafts, faults };
}

const isPowerOfTen = (per: number): boolean => per >= 1 && per <= PER_MAX && Number.isInteger(Math.log10(per));
