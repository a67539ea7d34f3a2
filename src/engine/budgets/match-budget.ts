import { propertyText } from '../metrics/property-text.ts';
import type { Decimal } from '../money/decimal.ts';
import { own } from '../own.ts';
import type { BudgetOverride, BudgetSelection } from './budget.ts';

/** An event, or a question about one. */
export interface Usage {
  customer_id: string | null;
  external_subscription_id: string;
  code: string | null;
  properties: Readonly<Record<string, unknown>>;
}

/** Values of `group_by`; null where a property is absent. */
export type Group = readonly (string | null)[];

/**
 * Whether usage counts in a budget: of its scope, of one of its codes, and with equal properties. A budget of codes
 * takes no usage without one.
 *
 * Rule: budgets.md#definition.
 */
export function matchesBudget(budget: BudgetSelection, usage: Usage): boolean {
  const { customer_id, external_subscription_id, codes, match } = budget;
  if (customer_id !== null && customer_id !== usage.customer_id) return false;
  if (external_subscription_id !== null && external_subscription_id !== usage.external_subscription_id) return false;
  if (codes !== null && (usage.code === null || !codes.includes(usage.code))) return false;
  return Object.entries(match).every(([key, value]) => propertyText(own(usage.properties, key)) === value);
}

/** The group of usage in a budget: without `group_by` the only one. Rule: budgets.md#definition. */
export const groupOf = ({ group_by }: Pick<BudgetSelection, 'group_by'>, properties: Usage['properties']): Group =>
  group_by.map((key) => propertyText(own(properties, key)));

/** The limit of a group: that of its own values, else the budget's. Rule: budgets.md#definition. */
export const limitOf = (
  { limit, overrides }: { limit: Decimal; overrides: readonly BudgetOverride[] },
  group: Group,
): Decimal => overrides.find(({ values }) => isSameGroup(values, group))?.limit ?? limit;

const isSameGroup = (a: Group, b: Group): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);
