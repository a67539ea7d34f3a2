import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import { ENGINE_VERSION } from '../../../engine/version.ts';
import type { Difference } from './schema.ts';

type Value = number | Decimal | string | null;

/** Collects compared values and differences. */
export interface Comparison {
  readonly differences: Difference[];
  readonly notVerified: { path: string; reason: string }[];
  amounts: number;
  /** Compares a stored number with the computed one. */
  compare(path: string, stored: Value, computed: Value, cause?: Difference['cause']): void;
  differs(path: string, stored: unknown, computed: unknown, cause: Difference['cause']): void;
}

export function newComparison(): Comparison {
  const comparison: Comparison = {
    differences: [],
    notVerified: [],
    amounts: 0,
    compare(path, stored, computed, cause = 'arithmetic') {
      comparison.amounts += 1;
      if (isSame(stored, computed)) return;
      comparison.differs(path, shown(stored), shown(computed), cause);
    },
    differs(path, stored, computed, cause) {
      if (!comparison.differences.some((each) => each.path === path))
        comparison.differences.push({ path, stored, computed, cause });
    },
  };
  return comparison;
}

/** Why an amount differs, of inputs that were made by a version of the engine. */
export const causeOf = (engineVersion: number, isDigestRight: boolean): Difference['cause'] => {
  if (!isDigestRight) return 'inputs_digest_mismatch';
  return engineVersion === ENGINE_VERSION ? 'arithmetic' : 'engine_changed';
};

const isSame = (a: Value, b: Value): boolean =>
  a === null || b === null || typeof a === 'string' || typeof b === 'string' ? a === b : decimal(a).eq(decimal(b));

const shown = (value: Value): unknown => (typeof value === 'object' && value !== null ? value.toFixed() : value);
