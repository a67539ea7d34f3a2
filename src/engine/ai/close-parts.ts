import { type Decimal, min, ZERO } from '../money/decimal.ts';
import type { FieldRow } from './formats/format.ts';
import type { Kind, Parts } from './kinds.ts';

/** A field with the number that was reported; undefined if it was not. */
export interface ReadField {
  row: FieldRow;
  quantity: Decimal | undefined;
}

export interface Closed {
  parts: Parts;
  /** The total excludes what it should contain, so both were added. */
  isExceeded: boolean;
  /** Tokens that are both cached and audio were found out, not reported. */
  isOverlapAssumed: boolean;
}

/**
 * Disjoint parts of the fields of a call: of each number what the numbers within it leave. No token is lost and no part
 * is negative: where the inner numbers exceed their total it evidently excludes them, and the total is raised to the
 * sum of all.
 *
 *   prompt_tokens 3819 with cached_tokens 3712 within → input 107, cache_read 3712
 *   prompt_tokens 100 with cached_tokens 160 within → input 100, cache_read 160, exceeded
 *
 * hasCachedDetails  the producer says which cached tokens are audio; otherwise an overlap is taken from both
 *
 * Rule: ai-usage.md#closing-checks.
 */
export function closeParts(fields: readonly ReadField[], hasCachedDetails: boolean): Closed {
  const closing: Closed = { parts: {}, isExceeded: false, isOverlapAssumed: false };
  for (const field of fields) if (field.row.within === undefined) totalOf(field, { fields, hasCachedDetails, closing });
  return closing;
}

interface Closing {
  fields: readonly ReadField[];
  hasCachedDetails: boolean;
  closing: Closed;
}

/** Adds the parts of a field and of those within it; their sum, which is at least the field's own number. */
function totalOf(field: ReadField, { fields, hasCachedDetails, closing }: Closing): Decimal {
  const { row, quantity } = field;
  const { parts } = closing;
  let inner: Decimal = ZERO;
  for (const other of fields)
    if (other.row.within === row.path[0]) inner = plus(inner, totalOf(other, { fields, hasCachedDetails, closing }));
  if (quantity === undefined) return inner;
  if (inner.isZero()) {
    add(parts, row.kind, quantity);
    return quantity;
  }
  const excess = inner.minus(quantity);
  if (row.kind === 'input' && excess.gt(0) && !hasCachedDetails && isOverlap(parts, excess)) {
    parts.cache_read = parts.cache_read!.minus(excess);
    parts.input_audio = parts.input_audio!.minus(excess);
    parts.cache_read_audio = excess;
    closing.isOverlapAssumed = true;
    add(parts, row.kind, ZERO);
    return quantity;
  }
  if (excess.gt(0)) closing.isExceeded = true;
  add(parts, row.kind, excess.gt(0) ? quantity : quantity.minus(inner));
  return excess.gt(0) ? quantity.plus(inner) : quantity;
}

const isOverlap = ({ cache_read, input_audio, cache_read_audio }: Parts, excess: Decimal): boolean =>
  cache_read !== undefined &&
  input_audio !== undefined &&
  cache_read_audio === undefined &&
  excess.lte(min(cache_read, input_audio));

const plus = (a: Decimal, b: Decimal): Decimal => (a.isZero() ? b : b.isZero() ? a : a.plus(b));

function add(parts: Parts, kind: Kind, quantity: Decimal): void {
  parts[kind] = parts[kind]?.plus(quantity) ?? quantity;
}
