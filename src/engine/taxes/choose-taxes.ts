export const FEE_TYPES = ['subscription', 'charge', 'fixed_charge', 'commitment', 'add_on', 'credit'] as const;
export type FeeType = (typeof FEE_TYPES)[number];

/** Taxes at each level that may tax a fee. */
export interface TaxLevels<Tax> {
  /** Given with the line of a one-off invoice; an empty list counts as not given. */
  explicit?: readonly Tax[];
  /** The taxes of the add-on, charge, fixed charge or minimum commitment. */
  own?: readonly Tax[];
  /** The taxes of the subscription's plan. */
  plan?: readonly Tax[];
  customer: readonly Tax[];
  /** The taxes of the customer's billing entity. */
  billingEntity: readonly Tax[];
}

type Level = keyof TaxLevels<unknown>;

/** Levels that may tax a fee of each type, the first with a tax wins. Rule: taxes.md#which-taxes-apply. */
const LEVELS: Readonly<Record<FeeType, readonly Level[]>> = {
  subscription: ['plan', 'customer', 'billingEntity'],
  charge: ['own', 'plan', 'customer', 'billingEntity'],
  fixed_charge: ['own', 'plan', 'customer', 'billingEntity'],
  commitment: ['own', 'plan', 'customer', 'billingEntity'],
  add_on: ['explicit', 'own', 'customer', 'billingEntity'],
  credit: [],
};

/** Taxes of a fee: those of the first level that has any; levels are never merged. Rule: taxes.md#which-taxes-apply. */
export function chooseTaxes<Tax>(feeType: FeeType, levels: TaxLevels<Tax>): readonly Tax[] {
  const level = LEVELS[feeType].find((name) => (levels[name]?.length ?? 0) > 0);
  return level === undefined ? [] : levels[level]!;
}
