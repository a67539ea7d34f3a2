import type { Currency } from '../../money/currency.ts';
import { Decimal, ZERO } from '../../money/decimal.ts';
import { KINDS, type Kind, type Parts } from '../kinds.ts';
import { centsOf } from './rated-parts.ts';
import type { ResolvedPrices } from './resolve-prices.ts';

/** Fractional digits of a stored amount in cents. */
const STORED_DIGITS = 15;
/** Reported and computed costs that are further apart than this part of the computed one are flagged. */
const MOST_DIFFERENCE = new Decimal('0.01');

/** Whose figure is the cost of a call. */
export const COST_SOURCES = ['book', 'reported', 'reported_else_book'] as const;
export type CostSource = (typeof COST_SOURCES)[number];

export const RATING_STATUSES = ['priced', 'partial', 'unpriced'] as const;
export type RatingStatus = (typeof RATING_STATUSES)[number];

export interface RatingInput {
  parts: Parts;
  prices: ResolvedPrices;
  currency: Currency;
  /** Flags that the call came with; `missing:…` says that a total was not reported. */
  flags: readonly string[];
  costSource?: CostSource;
  /** What the producer believes that the call cost, in cents of the book's currency. */
  reportedCostCents?: Decimal | null;
}

export interface Rating {
  /** What the provider asks; null when it is not known. */
  costCents: Decimal | null;
  /** What the seller asks before the terms of a plan; null unless every part has a price. */
  amountCents: Decimal | null;
  status: RatingStatus;
  /** All flags, those that the call came with too, sorted. */
  flags: string[];
  /** Kinds of parts above 0 without a price. */
  missingKinds: Kind[];
}

/**
 * Cost and amount of one call: quantity × price of each part, summed exactly and rounded once.
 *
 * A part above 0 without a price, or a total that was not reported, leaves no amount: half an amount looks like a whole
 * one. A call that the provider was not asked for (`served_from_cache`) costs 0, whosever figure the cost is, and is
 * sold as usual.
 *
 *   alpha: 1000 input at 2.5, sold at 3, 200 output at 10, sold at 12 → cost 0.45 cents, amount 0.54 (AI1)
 *
 * Rule: price-book.md#rating.
 */
export function rate(input: RatingInput): Rating {
  const { parts, prices, flags, currency } = input;
  const found = new Set([...flags, ...prices.flags]);
  const missingKinds: Kind[] = [];
  let [cost, margin, pricedParts] = [ZERO, ZERO, 0];
  for (const kind of KINDS) {
    const quantity = parts[kind];
    if (!quantity || quantity.isZero()) continue;
    const price = prices.priceOf(kind);
    if (!price) {
      missingKinds.push(kind);
      continue;
    }
    pricedParts += 1;
    cost = cost.plus(quantity.times(price.cost));
    if (price.margin) margin = margin.plus(quantity.times(price.margin));
    if (price.fallback) found.add(`price_fallback:${kind}`);
  }
  for (const kind of missingKinds) found.add(`price_missing:${kind}`);
  const isWhole = missingKinds.length === 0 && !flags.some((flag) => flag.startsWith('missing:'));
  const isCached = found.has('served_from_cache');
  const bookCost = isCached ? ZERO : isWhole ? inCents(cost, currency) : null;
  if (areApart(bookCost, input.reportedCostCents ?? null)) found.add('cost_differs');
  return {
    costCents: isCached ? ZERO : costOf(input, bookCost),
    amountCents: isWhole ? inCents(cost.plus(margin), currency) : null,
    status: isWhole ? 'priced' : missingKinds.length > 0 && pricedParts === 0 ? 'unpriced' : 'partial',
    flags: [...found].sort(),
    missingKinds,
  };
}

const inCents = (amount: Decimal, currency: Currency): Decimal =>
  centsOf(amount, currency).toDecimalPlaces(STORED_DIGITS, Decimal.ROUND_HALF_UP);

function costOf({ costSource = 'book', reportedCostCents = null }: RatingInput, bookCost: Decimal | null) {
  if (costSource === 'book') return bookCost;
  return costSource === 'reported' ? reportedCostCents : (reportedCostCents ?? bookCost);
}

function areApart(book: Decimal | null, reported: Decimal | null): boolean {
  if (!book || !reported) return false;
  return reported.minus(book).abs().gt(book.abs().times(MOST_DIFFERENCE));
}
