import { type Instant, later } from '../../../engine/calendar/instants.ts';
import { isEmpty, lastInstant, type Period } from '../../../engine/calendar/period.ts';
import { type Succession, startOf, usageStartOf } from '../../../engine/calendar/terms.ts';
import { boundaryWindows, type LineWindows, lineWindows } from '../../../engine/calendar/windows.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import type { BilledSubscription } from './payer-and-issuer.ts';
import { subscriptionOfLine } from './subscription-as-billed.ts';

/** A line of an invoice: a subscription, why it is on it, and its windows. */
export interface BilledLine {
  subscription: BilledSubscription;
  reason: InvoicingReason;
  /** Billing instant. */
  at: Instant;
  zone: string;
  windows: LineWindows;
  /** Whether the subscription ends for good on the first day of a period that is not billed. */
  closesOnBoundary: boolean;
  /** What follows the subscription, and how the one before it ended. */
  succession: Succession;
  predecessor: Succession;
  /** Whether the line bills a subscription whose trial is over, not one that has just started. */
  endsTrial?: boolean | undefined;
  /** The window whose usage the line bills; undefined when it bills none. */
  usageWindow: Period | undefined;
  /** For a line in advance: the fixed charges of a start, or those whose units changed. */
  fixedCharges?: 'opening' | UnitsChanges | undefined;
}

/** Fixed charges whose units changed at once, and the records of these changes. */
export interface UnitsChanges {
  ids: readonly string[];
  recordIds: readonly string[];
}

/**
 * Computes the windows of a line from its subscription as it was then. Rules: billing-periods.md#windows,
 * termination.md#ending-on-a-boundary, invoice-amounts.md#order-of-computation "line inclusion".
 */
export function billedLine(found: BilledSubscription, reason: InvoicingReason, at: Instant, zone: string): BilledLine {
  const subscription = subscriptionOfLine(found, reason, at);
  const succession = successionOf(subscription);
  const input = {
    ...(reason === 'progressive_billing' ? { mode: 'current' as const } : {}),
    plan: subscription,
    subscription,
    zone,
    at,
    succession,
    ...(subscription.moved_charges === null && subscription.moved_fixed_charges === null
      ? {}
      : { movedFrom: { charges: subscription.moved_charges, fixedCharges: subscription.moved_fixed_charges } }),
  };
  const mayCloseOnBoundary = reason === 'subscription_terminating' && !subscription.has_recurring_line_of_day;
  const boundary = mayCloseOnBoundary ? boundaryWindows(input) : undefined;
  const windows = boundary ?? lineWindows(input);
  const hasUsage =
    reason !== 'subscription_starting' &&
    reason !== 'in_advance_charge' &&
    windows.charges !== null &&
    !isEmpty(windows.charges);
  return {
    subscription,
    reason,
    at,
    zone,
    windows,
    closesOnBoundary: boundary !== undefined,
    succession,
    predecessor: subscription.switch_kind ?? 'none',
    usageWindow: hasUsage ? windows.charges! : undefined,
  };
}

/**
 * A line about the charges period that holds the instant `inside`, billed at `at`: what an event in advance is billed
 * by. Rule: billing-periods.md#windows "mode current".
 */
export function currentLine(
  subscription: BilledSubscription,
  reason: InvoicingReason,
  { at, zone, inside = at }: { at: Instant; zone: string; inside?: Instant },
): BilledLine {
  const succession = successionOf(subscription);
  const windows = lineWindows({
    plan: subscription,
    subscription,
    zone,
    at: later(inside, startOf(subscription)),
    mode: 'current',
    succession,
  });
  return {
    subscription,
    reason,
    at,
    zone,
    windows,
    succession,
    predecessor: subscription.switch_kind ?? 'none',
    closesOnBoundary: false,
    usageWindow: windows.charges!, // mode current always has it
  };
}

/**
 * The days that weigh the units of a line's usage window. Rules: aggregation.md#weighted-sum,
 * aggregation.md#prorated-sum, aggregation.md#prorated-unique-count.
 */
export const prorationOf = ({ windows, zone, succession }: BilledLine, window: Period): Proration => ({
  period: window,
  periodDays: windows.chargesDurationDays,
  zone,
  isUpgraded: succession === 'upgrade',
});

/**
 * Instants at which an event may belong to either of two records of an external id.
 * Rule: events.md#subscription-of-an-event.
 */
export function sharedInstants(
  { subscription }: Pick<BilledLine, 'subscription'>,
  window: Period,
): { startedAs?: string; replacedBy?: string } {
  const { terminated_at, heir_id } = subscription;
  const opensWithStart = subscription.is_heir && usageStartOf(subscription).equals(window.from);
  const closesWithEnd = heir_id !== null && terminated_at?.equals(lastInstant(window));
  return {
    ...(opensWithStart ? { startedAs: subscription.id } : {}),
    ...(closesWithEnd ? { replacedBy: heir_id } : {}),
  };
}

/**
 * A downgrade that came after the run of its day, whose first payment was late, ends a period midway like an upgrade.
 */
function successionOf({ successor_kind, was_renewed_beside_successor }: BilledSubscription): Succession {
  if (successor_kind === null) return 'none';
  return was_renewed_beside_successor ? 'upgrade' : successor_kind;
}
