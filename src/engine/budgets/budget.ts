import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../money/decimal.ts';

export const BUDGET_SCOPES = ['organization', 'customer', 'subscription'] as const;
/** What a budget adds up. */
export const MEASURES = ['cost', 'amount', 'units', 'tokens'] as const;
export type Measure = (typeof MEASURES)[number];
export const BUDGET_PERIODS = ['day', 'week', 'month', 'billing_period', 'lifetime'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];
export const BUDGET_MODES = ['hard', 'soft'] as const;
export type BudgetMode = (typeof BUDGET_MODES)[number];

/** Whether a measure counts money, so that one figure answers for all of them. */
export const isMoney = (measure: Measure): boolean => measure === 'cost' || measure === 'amount';

/** What a budget looks at, of what happens: whose usage, of which codes, with which properties. */
export interface BudgetSelection {
  customer_id: string | null;
  external_subscription_id: string | null;
  /** Null: of any code. */
  codes: readonly string[] | null;
  /** Properties that must be equal. */
  match: Readonly<Record<string, string>>;
  /** Properties by whose values usage is counted apart. */
  group_by: readonly string[];
}

/** A limit of its own for single values of `group_by`. */
export interface BudgetOverride {
  values: readonly (string | null)[];
  limit: Decimal;
}

/** A budget as storing and decisions look at it. */
export interface Budget extends BudgetSelection {
  id: string;
  code: string;
  measure: Measure;
  /** The metric of `units`; a field is summed, without one events are counted. Null when it is deleted. */
  metric: { code: string; field_name: string | null } | null;
  currency: string | null;
  limit: Decimal;
  overrides: readonly BudgetOverride[];
  period: BudgetPeriod;
  timezone: string;
  mode: BudgetMode;
  alert_percents: readonly number[];
  on_outage: 'closed' | 'open';
  offline_allowance: Decimal;
  unknown_price: 'deny' | 'allow';
  /** Whether so many windows are live that no more are made. */
  is_full: boolean;
  created_at: Temporal.Instant;
}
