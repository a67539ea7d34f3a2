import { CURRENCIES, type Currency } from '../../engine/money/currency.ts';
import type { WireTable } from '../../engine/money/wire.ts';

/** The amounts of a provider that takes some currencies in our smallest units, and no other. */
export const takesOnly = (taken: readonly Currency[]): WireTable =>
  Object.fromEntries(CURRENCIES.filter((each) => !taken.includes(each)).map((each) => [each, null]));
