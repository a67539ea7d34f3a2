import { type Currency, exponentOf } from '../../money/currency.ts';
import { Decimal, ZERO } from '../../money/decimal.ts';
import { KINDS, type Kind, type Parts } from '../kinds.ts';
import type { ResolvedPrice, ResolvedPrices } from './resolve-prices.ts';

/** What one part costs, exactly: its call is rounded, no part is. */
export interface RatedPart {
  kind: Kind;
  quantity: Decimal;
  /** Null: the kind has no price. */
  price: ResolvedPrice | null;
  costCents: Decimal | null;
  amountCents: Decimal | null;
}

/** The parts of a call with what each costs, in the order of kinds: why a rating is what it is. */
export const ratedParts = (parts: Parts, prices: ResolvedPrices, currency: Currency): RatedPart[] =>
  KINDS.flatMap((kind): RatedPart[] => {
    const quantity = parts[kind];
    if (!quantity) return [];
    const price = prices.priceOf(kind);
    if (!price) return [{ kind, quantity, price: null, costCents: null, amountCents: null }];
    return [
      {
        kind,
        quantity,
        price,
        costCents: centsOf(quantity.times(price.cost), currency),
        amountCents: centsOf(quantity.times(price.cost.plus(price.margin ?? ZERO)), currency),
      },
    ];
  });

/** An amount in main units, in the currency's smallest unit and its parts. */
export const centsOf = (amount: Decimal, currency: Currency): Decimal => amount.times(CENTS[exponentOf(currency)]!);

const CENTS = [0, 1, 2, 3, 4].map((digits) => new Decimal(10).pow(digits));
