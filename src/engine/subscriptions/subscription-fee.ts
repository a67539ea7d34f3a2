import { dayDifference } from '../calendar/day-difference.ts';
import { dayCount, periodBefore, periodHolding } from '../calendar/grid.ts';
import { type Instant, isAfter, isBefore, isDateBefore } from '../calendar/instants.ts';
import { dayStart, localDate } from '../calendar/local-day.ts';
import { lastInstant, type Period } from '../calendar/period.ts';
import {
  gridsOf,
  isFirstMonth,
  isLong,
  type PlanTerms,
  type SubscriptionTerms,
  type Succession,
  startOf,
} from '../calendar/terms.ts';
import { isTerminated } from '../calendar/windows.ts';
import { type Cents, cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import type { SubscriptionStatus } from './subscription-states.ts';
import { isHeldByTrial, type TrialInput, trialEnd } from './trial.ts';

export interface SubscriptionFeeInput {
  plan: PlanTerms & TrialInput['plan'] & { amount_cents: number };
  subscription: SubscriptionTerms & TrialInput['subscription'] & { status: SubscriptionStatus; created_at: Instant };
  zone: string;
  /** Billing instant of the line. */
  at: Instant;
  /** The line's subscription window. */
  window: Period;
  /** What follows the subscription. */
  succession: Succession;
  /** How the subscription that this one replaced ended. */
  predecessor: Succession;
  firstStartedAt: Instant | null;
  /** When the invoice was made; `at` for a new one. */
  invoiceCreatedAt: Instant;
  /** Whether no other invoice of this subscription exists. */
  isOnlyInvoice: boolean;
  /** Whether an older subscription fee of this subscription exists. */
  hasOlderFee: boolean;
  /** Whether another invoice of the same local issuing day holds a subscription fee of this subscription. */
  hasFeeOfSameDay: boolean;
  /** Whether the line exists only to bill fixed charges in advance at the start of a plan in arrears. */
  isOnlyForFixedCharges: boolean;
}

export interface SubscriptionFee {
  amountCents: Cents;
  /** Unrounded, with the 15 decimals that are stored. */
  preciseAmountCents: Decimal;
  units: 1;
  unitAmountCents: Cents;
  amountDetails: { plan_amount_cents: Cents };
  /** Days billed of the days in the period; equal for a full one. */
  billedDays: number;
  periodDays: number;
}

/**
 * The subscription fee of an invoice line, or undefined when the line gets none.
 * Rules: subscription-fees.md#when-a-line-gets-a-fee, subscription-fees.md#amount, subscription-fees.md#trial.
 */
export const subscriptionFee = (input: SubscriptionFeeInput): SubscriptionFee | undefined =>
  bearsSubscriptionFee(input) ? subscriptionFeeAmount(input) : undefined;

/** Whether an invoice line gets a subscription fee. Rule: subscription-fees.md#when-a-line-gets-a-fee. */
export function bearsSubscriptionFee(input: SubscriptionFeeInput): boolean {
  const { plan, subscription, at, zone } = input;
  if (plan.pay_in_advance && input.hasFeeOfSameDay) return false;
  if (isLong(plan.interval) && !isLongPlanTurn(input)) return false;
  if (isHeldByTrial(input, at, zone)) return false;
  if (input.isOnlyForFixedCharges) return false;

  if (subscription.status === 'active' || subscription.status === 'incomplete') return true;
  if (subscription.status !== 'terminated') return false;
  return !plan.pay_in_advance || isAfter(subscription.terminated_at!, input.invoiceCreatedAt);
}

/**
 * The amount of a subscription fee: the whole plan amount, or its share `days × amount ÷ days of the grid period`.
 * A trial that ends inside the window moves its start; one that covers the window makes the fee 0.
 *
 *   1000 a month, started on the 5th of March → 27/31 → 871
 *
 * Rules: subscription-fees.md#amount, subscription-fees.md#trial.
 */
export function subscriptionFeeAmount(input: SubscriptionFeeInput): SubscriptionFee {
  const { plan, subscription, window, zone } = input;
  const grid = gridsOf(plan, subscription, zone).plan;
  const periodDays = dayCount(periodHolding(grid, localDate(window.from, zone)));
  const billedDays = billedDaysOf(input, periodDays);

  const exact = decimal(plan.amount_cents).times(billedDays).div(periodDays);
  const amountCents = roundToCents(exact);
  return {
    amountCents,
    preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
    units: 1,
    unitAmountCents: amountCents,
    amountDetails: { plan_amount_cents: cents(plan.amount_cents) },
    billedDays,
    periodDays,
  };
}

/** Whether the start lies on an earlier local day than the record; the time before is not billed. */
export const isStartedInPast = (
  subscription: { started_at: Instant | null; created_at: Instant },
  zone: string,
): boolean => isDateBefore(localDate(startOf(subscription), zone), localDate(subscription.created_at, zone));

/** The case that decides the amount. Rule: subscription-fees.md#amount. */
export type FeeCase = 'termination' | 'first after upgrade' | 'full period' | 'first period';

function billedDaysOf(input: SubscriptionFeeInput, periodDays: number): number {
  const { window, zone } = input;
  const feeCase = feeCaseOf(input);
  const last = lastInstant(window);
  const end = trialEnd(input);

  if (end !== undefined && !isBefore(end, last)) return 0;
  const isCutByTrial = end !== undefined && isAfter(end, window.from);
  if (feeCase === 'full period' && !isCutByTrial) return periodDays;

  const days = dayDifference(isCutByTrial ? end : window.from, last, zone);
  const upgradeDay = feeCase === 'termination' && input.succession === 'upgrade' ? 1 : 0;
  return Math.max(days - upgradeDay, 0);
}

/** The first matching case. Rule: subscription-fees.md#amount. */
export function feeCaseOf(input: SubscriptionFeeInput): FeeCase {
  const { plan, subscription, at, zone } = input;
  if (isTerminated(subscription, at) && !plan.pay_in_advance && input.succession !== 'downgrade') return 'termination';
  if (input.predecessor === 'upgrade' && input.isOnlyInvoice) return 'first after upgrade';

  const startedInPast = isStartedInPast(subscription, zone);
  const isWholeFirst =
    plan.pay_in_advance && subscription.billing_time === 'anniversary' && input.predecessor === 'none';
  const isFull =
    isWholeFirst ||
    input.hasOlderFee ||
    (startedInPast && (plan.pay_in_advance || isBefore(startOf(subscription), startOfPeriodBefore(input))));
  return isFull ? 'full period' : 'first period';
}

/** Start of the grid period before the one that holds the billing day. */
function startOfPeriodBefore({ plan, subscription, at, zone }: SubscriptionFeeInput): Instant {
  const grid = gridsOf(plan, subscription, zone).plan;
  return dayStart(periodBefore(grid, periodHolding(grid, localDate(at, zone))).first, zone);
}

/**
 * Whether a yearly or half-yearly plan bills its fee with this line. Rule: subscription-fees.md#when-a-line-gets-a-fee
 * (2).
 */
export function isLongPlanTurn({ plan, subscription, at, zone, hasOlderFee }: SubscriptionFeeInput): boolean {
  const grid = gridsOf(plan, subscription, zone).plan;
  const today = localDate(at, zone);
  const opensPeriod = isFirstMonth(grid, today);

  if (!plan.pay_in_advance) return opensPeriod || isTerminated(subscription, at);
  if (!isStartedInPast(subscription, zone)) return opensPeriod || !hasOlderFee;
  const firstPeriod = periodHolding(grid, localDate(startOf(subscription), zone));
  return opensPeriod && !firstPeriod.first.equals(periodHolding(grid, today).first);
}
