import { ZERO } from '../../money/decimal.ts';
import { INPUT_KINDS, KINDS, type Kind, type Parts } from '../kinds.ts';
import { FALLBACKS, STANDARD_TIER, type UnitPrice } from './price-row.ts';
import { type PriceTable, priceAt } from './price-table.ts';

/** Which prices are asked for: of a call of this size at this instant. */
export interface PriceQuestion {
  tier: string;
  /** ISO text with microseconds. */
  at: string;
  inputTokens: number;
  /** Whether prices of the deployment count where the organization has none. */
  usesDeployment: boolean;
}

/** The price of a kind: its own, or that of another kind which stands in. */
export interface ResolvedPrice extends UnitPrice {
  fallback: Kind | null;
}

export interface ResolvedPrices {
  /** Undefined: the kind has no price, and none stands in. */
  priceOf(kind: Kind): ResolvedPrice | undefined;
  /** `tier_fallback` where the model has no prices of the tier. */
  flags: readonly string[];
}

/**
 * Prices of one model that hold for a call. Of each kind: the rows in force, an organization's before the deployment's
 * at the same threshold; of these the one of the greatest threshold below the call's input; without one, that of the
 * kind which stands in.
 *
 *   above 200 000 input tokens 6, else 3: a call of 200 000 costs 3, one of 200 001 costs 6, all of it
 *
 * Rule: price-book.md#resolution.
 */
export function resolvePrices(table: PriceTable, question: PriceQuestion): ResolvedPrices {
  const isKnown = hasTier(table, question.tier, question);
  const kinds = table.get(isKnown ? question.tier : STANDARD_TIER);
  const found = (kind: Kind, fallback: Kind | null): ResolvedPrice | undefined => {
    for (const { min, organization, deployment } of kinds?.get(kind) ?? []) {
      if (min > 0 && min >= question.inputTokens) continue;
      const price =
        priceAt(organization, question.at) ?? (question.usesDeployment ? priceAt(deployment, question.at) : undefined);
      if (price) return { row: price.row, cost: price.cost, margin: price.margin, fallback };
    }
    return undefined;
  };
  return {
    priceOf: (kind) => {
      const own = found(kind, null);
      if (own) return own;
      for (const fallback of FALLBACKS[kind] ?? []) {
        const price = found(fallback, fallback);
        if (price) return price;
      }
      return undefined;
    },
    flags: isKnown || question.tier === STANDARD_TIER ? [] : ['tier_fallback'],
  };
}

/** Whether any price of the tier is in force. */
function hasTier(table: PriceTable, tier: string, { at, usesDeployment }: PriceQuestion): boolean {
  for (const thresholds of table.get(tier)?.values() ?? [])
    for (const { organization, deployment } of thresholds)
      if (priceAt(organization, at) || (usesDeployment && priceAt(deployment, at))) return true;
  return false;
}

/** Prices of every kind that has one, in the order of kinds. */
export const allPrices = (prices: ResolvedPrices): [Kind, ResolvedPrice][] =>
  KINDS.flatMap((kind): [Kind, ResolvedPrice][] => {
    const price = prices.priceOf(kind);
    return price ? [[kind, price]] : [];
  });

/** Input tokens of a call, by which the threshold is chosen. */
export function inputTokensOf(parts: Parts): number {
  let total = ZERO;
  for (const kind of INPUT_KINDS) {
    const part = parts[kind];
    if (part) total = total.plus(part);
  }
  return total.toNumber(); // whole tokens, at most 8 × 10^12
}
