import { assert } from '../assert.ts';
import { type BillingTime, type Grid, gridOf, type Interval, periodHolding } from './grid.ts';
import { type Instant, isAfter, type PlainDate } from './instants.ts';

/** The terms of a plan that decide when it is billed; structural: a plan's row can be passed. */
export interface PlanTerms {
  interval: Interval;
  pay_in_advance: boolean;
  bill_charges_monthly: boolean | null;
  bill_fixed_charges_monthly: boolean | null;
}

/**
 * The terms of a subscription that decide when it is billed; structural: the row of a started subscription can be
 * passed.
 */
export interface SubscriptionTerms {
  subscription_at: Instant;
  billing_time: BillingTime;
  started_at: Instant | null;
  terminated_at: Instant | null;
  /** For a record that replaced another one: which one, and when. */
  previous_subscription_id?: string | null | undefined;
  activated_at?: Instant | null | undefined;
}

/**
 * The kind of a plan change when it was made: to a plan with at least the same yearly amount, or with a smaller one. It
 * is stored with the record that takes over, because amounts of plans may change later. Rule:
 * plans.md#comparison-amount.
 */
export type SwitchKind = 'upgrade' | 'downgrade';

/** What follows a subscription: nothing, or another one and how it took over. */
export type Succession = 'none' | SwitchKind;

/** The three grids of a subscription, equal unless the plan splits its billing. */
export interface Grids {
  plan: Grid;
  charges: Grid;
  fixedCharges: Grid;
  /** The grid of the billing days: the finest of the three. */
  billing: Grid;
}

/** Whether a plan of a long interval bills charges, or fixed charges, every month. */
export const splitsCharges = (plan: PlanTerms): boolean => isLong(plan.interval) && plan.bill_charges_monthly === true;
export const splitsFixedCharges = (plan: PlanTerms): boolean =>
  isLong(plan.interval) && plan.bill_fixed_charges_monthly === true;

/** Intervals that may be split, and whose subscription fee waits for the first monthly run of a period. */
export const isLong = (interval: Interval): boolean => interval === 'yearly' || interval === 'semiannual';

/** Rule: billing-periods.md#billing-days "split billing", billing-periods.md#windows `P`, `Pc`, `Pf`. */
export function gridsOf(plan: PlanTerms, subscription: SubscriptionTerms, zone: string): Grids {
  const own = gridOf(plan.interval, subscription, zone);
  const monthly: Grid = { interval: 'monthly', anchor: own.anchor };
  const charges = splitsCharges(plan) ? monthly : own;
  const fixedCharges = splitsFixedCharges(plan) ? monthly : own;
  return { plan: own, charges, fixedCharges, billing: charges === monthly ? charges : fixedCharges };
}

/**
 * Whether a date lies in the monthly period that opens a plan period: January of a calendar year, January and July of
 * calendar half-years. Rule: billing-periods.md#windows "first monthly run".
 */
export const isFirstMonth = (planGrid: Grid, date: PlainDate): boolean =>
  periodHolding({ interval: 'monthly', anchor: planGrid.anchor }, date).first.equals(
    periodHolding(planGrid, date).first,
  );

/** The instant at which a subscription started; asserts that it has. */
export function startOf({ started_at }: { started_at: Instant | null }): Instant {
  assert(started_at, 'only a subscription that has started has billing periods');
  return started_at;
}

/**
 * The instant from which usage belongs to a subscription: its start, unless its predecessor ran on while this one
 * waited for its first payment. Rules: activation-rules.md, events.md#subscription-of-an-event.
 */
export function usageStartOf(subscription: SubscriptionTerms): Instant {
  const start = startOf(subscription);
  const { previous_subscription_id, activated_at } = subscription;
  return previous_subscription_id && activated_at && isAfter(activated_at, start) ? activated_at : start;
}
