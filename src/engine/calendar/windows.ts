import { type DateRange, dayCount, type Grid, periodBefore, periodHolding } from './grid.ts';
import { earlier, type Instant, isAfter, isBefore, later, type PlainDate, wholeSecond } from './instants.ts';
import { dayStart, daysBefore, daysPeriod, localDate } from './local-day.ts';
import { lastInstant, type Period, periodThrough } from './period.ts';
import {
  gridsOf,
  isFirstMonth,
  type PlanTerms,
  type SubscriptionTerms,
  type Succession,
  splitsCharges,
  splitsFixedCharges,
  startOf,
  usageStartOf,
} from './terms.ts';

/**
 * regular the windows of a billed line: the past period in arrears, the coming one in advance
 * current   every window on the period in progress: current usage, progressive billing, in-advance charges
 */
export type WindowMode = 'regular' | 'current';

export interface WindowInput {
  plan: PlanTerms;
  subscription: SubscriptionTerms;
  zone: string;
  /** The billing instant of the line. */
  at: Instant;
  mode?: WindowMode;
  /** What follows the subscription; matters once it is terminated. */
  succession?: Succession;
  /** The subscription's last line, if its invoice was made in another time zone. */
  movedFrom?: { charges: Period | null; fixedCharges: Period | null };
}

export interface LineWindows {
  /** Decides the subscription fee; starts with a local day. */
  subscription: Period;
  /** Decides usage charges; null if this run of a split plan bills none. Starts at the exact start of the usage. */
  charges: Period | null;
  /** Decides fixed charges in arrears; may be null too. */
  fixedCharges: Period | null;
  /** Decides fixed charges in advance: always the period in progress. */
  fixedChargesInAdvance: Period;
  /** Days of the full grid period that the window was cut from: denominators of proration. */
  chargesDurationDays: number;
  fixedChargesDurationDays: number;
  fixedChargesInAdvanceDurationDays: number;
}

/**
 * The windows of one invoice line.
 *
 * A subscription counts as terminated when `terminated_at` is not after `at`, in whole seconds. Windows are clamped to
 * the subscription's life: the subscription window to the local day of the start and the second of the end, the others
 * to the exact instants. A window without anything left is empty.
 *
 *   monthly in arrears, anniversary, started 2024-01-31T01:00, run 2024-02-29
 *   → subscription 01-31T00:00 – 02-28T23:59:59, charges 01-31T01:00 – 02-28T23:59:59
 *
 * Rule: billing-periods.md#windows. A line that closes a split plan carries both other windows, whatever the month,
 * because nothing would bill them later.
 */
export function lineWindows(input: WindowInput): LineWindows {
  const { plan, subscription, zone, at, succession = 'none' } = input;
  const today = localDate(at, zone);
  const grids = gridsOf(plan, subscription, zone);

  const isClosing = isTerminated(subscription, at);
  const isCurrent = input.mode === 'current' || (isClosing && succession === 'upgrade');
  const closesArrears = isClosing && !plan.pay_in_advance && succession !== 'downgrade';
  const isFinal = isClosing && succession === 'none';

  const ownPeriod = pick(grids.plan, today, isCurrent || plan.pay_in_advance || closesArrears);
  const usesCurrentCharges = isCurrent || isFinal || closesArrears;
  const chargesPeriod = pick(grids.charges, today, usesCurrentCharges);
  const fixedPeriod = pick(grids.fixedCharges, today, usesCurrentCharges);
  const coming = periodHolding(grids.fixedCharges, today);

  const opensOrCloses = isCurrent || isClosing || isFirstMonth(grids.plan, today);
  const hasCharges = opensOrCloses || splitsCharges(plan) || !splitsFixedCharges(plan);
  const hasFixedCharges = opensOrCloses || splitsFixedCharges(plan) || !splitsCharges(plan);

  const usageWindow = (range: DateRange, before?: Period | null) =>
    joined(
      clampToInstants(daysPeriod(range.first, range.last, zone), subscription, usageStartOf(subscription)),
      before,
    );
  return {
    subscription: clampToDays(daysPeriod(ownPeriod.first, ownPeriod.last, zone), {
      start: plan.pay_in_advance ? startOf(subscription) : usageStartOf(subscription),
      end: isClosing ? subscription.terminated_at : null,
      zone,
    }),
    charges: hasCharges ? usageWindow(chargesPeriod, input.movedFrom?.charges) : null,
    fixedCharges: hasFixedCharges ? usageWindow(fixedPeriod, input.movedFrom?.fixedCharges) : null,
    // Paid before an end was known, so a later end does not cut it.
    fixedChargesInAdvance: clampToInstants(
      daysPeriod(coming.first, coming.last, zone),
      { terminated_at: null },
      startOf(subscription),
    ),
    chargesDurationDays: dayCount(chargesPeriod),
    fixedChargesDurationDays: dayCount(fixedPeriod),
    fixedChargesInAdvanceDurationDays: dayCount(coming),
  };
}

/**
 * The windows with which a subscription that ends for good on the first local day of a period closes the past period
 * without an extra day; undefined if it does not end so. They apply only if no recurring line has these windows;
 * otherwise `lineWindows` gives the one day of the new period.
 *
 * Each window moves back only when its own grid starts a period on this day, so a yearly plan that ends on the first
 * day of a month still closes its year so far.
 *
 * Rule: termination.md#ending-on-a-boundary.
 */
export function boundaryWindows(input: WindowInput): LineWindows | undefined {
  const { plan, subscription, zone, at, succession = 'none' } = input;
  const today = localDate(at, zone);
  const grids = gridsOf(plan, subscription, zone);
  const startsToday = (grid: Grid) => periodHolding(grid, today).first.equals(today);

  if (!isTerminated(subscription, at) || succession !== 'none' || !startsToday(grids.billing)) return undefined;
  if (isAfter(startOf(subscription), daysBefore(at, 1, zone))) return undefined;

  const closing = lineWindows(input);
  const regular = lineWindows({ ...input, subscription: { ...subscription, terminated_at: null } });
  const forPlan = startsToday(grids.plan) ? regular : closing;
  const forCharges = startsToday(grids.charges) ? regular : closing;
  const forFixedCharges = startsToday(grids.fixedCharges) ? regular : closing;
  return {
    ...closing,
    subscription: forPlan.subscription,
    charges: forCharges.charges,
    chargesDurationDays: forCharges.chargesDurationDays,
    fixedCharges: forFixedCharges.fixedCharges,
    fixedChargesDurationDays: forFixedCharges.fixedChargesDurationDays,
  };
}

/**
 * The charges window in progress, or the first one of a subscription that will start at `started_at`.
 * Rule: subscriptions.md#fields "current_billing_period".
 */
export function currentBillingPeriod(
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  now: Instant,
): Period {
  const at = later(now, startOf(subscription));
  const { charges } = lineWindows({ plan, subscription, zone, at, mode: 'current' });
  return charges!; // mode current always has it
}

/** Whether a subscription counts as terminated for a line at `at`, compared in whole seconds. */
export const isTerminated = ({ terminated_at }: { terminated_at: Instant | null }, at: Instant): boolean =>
  terminated_at !== null && !isAfter(wholeSecond(terminated_at), wholeSecond(at));

const pick = (grid: Grid, today: PlainDate, holdsToday: boolean): DateRange => {
  const current = periodHolding(grid, today);
  return holdsToday ? current : periodBefore(grid, current);
};

function clampToDays(
  full: Period,
  { start, end: endedAt, zone }: { start: Instant; end: Instant | null; zone: string },
): Period {
  const from = isBefore(full.from, start) ? dayStart(localDate(start, zone), zone) : full.from;
  const end = endedAt === null ? lastInstant(full) : earlier(lastInstant(full), wholeSecond(endedAt));
  return periodThrough(from, later(end, start));
}

function clampToInstants(
  full: Period,
  { terminated_at }: Pick<SubscriptionTerms, 'terminated_at'>,
  start: Instant,
): Period {
  const end = terminated_at === null ? lastInstant(full) : earlier(lastInstant(full), terminated_at);
  return periodThrough(later(full.from, start), later(end, start));
}

/** Largest shift of midnights by a change of time zone. */
const ZONE_CHANGE_HOURS = 26;

/** The window, starting where the last one ended if a change of time zone would leave a gap or an overlap. */
function joined(window: Period, before: Period | null | undefined): Period {
  if (before === null || before === undefined) return window;
  const gapHours = window.from.since(before.to).total('hours');
  if (Math.abs(gapHours) >= ZONE_CHANGE_HOURS) return window;
  return { from: before.to, to: later(window.to, before.to) };
}
