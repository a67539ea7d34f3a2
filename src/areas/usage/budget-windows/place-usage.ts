import type { Temporal } from 'temporal-polyfill';
import type { Budget } from '../../../engine/budgets/budget.ts';
import { budgetWindow } from '../../../engine/budgets/budget-window.ts';
import { type Group, groupOf, limitOf, matchesBudget, type Usage } from '../../../engine/budgets/match-budget.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { groupKey, storedGroup, windowId } from './window-id.ts';

type Instant = Temporal.Instant;

/** How many budgets one event or decision may count in (budgets.md#definition). */
export const MOST_MATCHING = 8;

/** A window as it is made at first use. */
export interface PlacedWindow {
  id: string;
  budget: Budget;
  groupKey: string;
  group: Group;
  limit: Decimal;
  from: Instant;
  to: Instant | null;
}

/** The charges period of a subscription that holds an instant; undefined while it has none. */
export type BillingPeriods = (externalSubscriptionId: ExternalSubscriptionId, at: Instant) => Period | undefined;

/** Budgets that usage counts in, oldest first, as many as there are. */
export const matching = (budgets: readonly Budget[], usage: Usage): Budget[] =>
  budgets.filter((budget) => matchesBudget(budget, usage));

/**
 * The window of a budget in which usage of an instant counts; undefined for a budget by billing period whose
 * subscription has none. Rule: budgets.md#windows.
 */
export const placeUsage = (
  budget: Budget,
  usage: Pick<Usage, 'external_subscription_id' | 'properties'>,
  { at, billingPeriods }: { at: Instant; billingPeriods: BillingPeriods },
): PlacedWindow | undefined =>
  windowOfGroup(budget, groupOf(budget, usage.properties), {
    at,
    billingPeriod: () => billingPeriods(usage.external_subscription_id, at),
  });

/** The window of a group of a budget that holds an instant. */
export function windowOfGroup(
  budget: Budget,
  given: Group,
  { at, billingPeriod }: { at: Instant; billingPeriod: () => Period | undefined },
): PlacedWindow | undefined {
  const isBilled = budget.period === 'billing_period';
  const period = isBilled ? billingPeriod() : undefined;
  if (isBilled && !period) return undefined;
  const recent = isBilled ? undefined : recentWindows(budget);
  const key = given.length === 0 ? '' : JSON.stringify(given);
  const known = recent?.get(key);
  if (known && holds(known, at)) return known;
  const terms = { period: budget.period, zone: budget.timezone, createdAt: budget.created_at, billingPeriod: period };
  const { from, to } = budgetWindow(terms, at);
  const group = storedGroup(given);
  const id = windowId(budget.id, group, from);
  const window = { id, budget, groupKey: groupKey(group), group, limit: limitOf(budget, given), from, to };
  if (recent && recent.size >= MOST_RECENT) recent.clear();
  recent?.set(key, window);
  return window;
}

/** Latest window of each group that a process has placed usage in: most usage is of the present. */
const recentOf = new WeakMap<Budget, Map<string, PlacedWindow>>();
const MOST_RECENT = 1000;

function recentWindows(budget: Budget): Map<string, PlacedWindow> {
  const known = recentOf.get(budget) ?? new Map<string, PlacedWindow>();
  recentOf.set(budget, known);
  return known;
}

const holds = ({ from, to }: PlacedWindow, { epochMilliseconds: at }: Instant): boolean =>
  at >= from.epochMilliseconds && (to === null || at < to.epochMilliseconds);
