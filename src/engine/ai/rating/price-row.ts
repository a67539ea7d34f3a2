import type { Decimal } from '../../money/decimal.ts';
import type { Kind } from '../kinds.ts';

/** Who wrote a price: the organization itself, or the operator for all organizations. */
export type Layer = 'organization' | 'deployment';

/** A price of one model as the book holds it. A row is never changed: a correction is a later row. */
export interface PriceRow {
  id: string;
  layer: Layer;
  /** Lower-case word: standard, batch, priority, … */
  tier: string;
  kind: Kind;
  /** The row holds for calls with more input tokens than this; 0: for all. */
  min_input_tokens: number;
  /** Main units of the book's currency for `per` of the kind. */
  cost: Decimal;
  /** What the seller asks; null: what it costs. */
  sell: Decimal | null;
  /** A power of ten, so that every sum is exact. */
  per: number;
  /** ISO text with microseconds, which sorts as the instants do. */
  valid_from: string;
  /** Version of its layer that brought it. */
  book_version: number;
}

/** A row with its price for one of the kind, which is computed once for many calls. */
export interface UnitPrice {
  row: PriceRow;
  cost: Decimal;
  /** What the seller adds to it; null: nothing. */
  margin: Decimal | null;
}

export const unitPrice = (row: PriceRow): UnitPrice => ({
  row,
  cost: row.cost.div(row.per),
  margin: row.sell === null ? null : row.sell.minus(row.cost).div(row.per),
});

export const STANDARD_TIER = 'standard';

/** Kinds whose price is asked for next where a kind has none of its own. Rule: price-book.md#fallbacks. */
export const FALLBACKS: Partial<Record<Kind, readonly Kind[]>> = {
  cache_read: ['input'],
  cache_write: ['input'],
  cache_write_1h: ['cache_write', 'input'],
  reasoning: ['output'],
  input_image: ['input'],
  input_video: ['input'],
  cache_read_audio: ['input_audio'],
};
