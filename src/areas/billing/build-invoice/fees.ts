import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import { type PresentedUnits, presentationKeys, presentFewer } from '../../../engine/metrics/presentation.ts';
import type { EventUnits } from '../../../engine/metrics/running-record.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, ONE } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { Usage } from '../../../engine/pricing/priced.ts';
import { isStored } from '../../../engine/pricing/usage-fee.ts';
import { type SubscriptionFeeInput, subscriptionFee } from '../../../engine/subscriptions/subscription-fee.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { ChargeFilterId, CorrectionId, FeeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { FixedChargeRow } from '../../catalog/fixed-charges/queries.ts';
import type { AdjustedFeeRow } from '../../invoices/adjusted-fees/queries.ts';
import { subscriptionName } from '../../subscriptions/subscriptions/printed-name.ts';
import { type PricedShare, priceShares } from '../../usage/usage/price-usage.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import { pricingUnitDetails } from '../../usage/usage/pricing-unit-details.ts';
import type { CountedShare } from '../../usage/usage-counts/request.ts';
import { type Adjuster, isPricedByHand, NO_ADJUSTMENTS } from './adjustments.ts';
import type { BilledLine } from './lines.ts';
import { spendingTrueUpFee } from './spending-true-up.ts';

/** A fee of a line before taxes. */
export interface LineFee {
  id: FeeId;
  line: BilledLine;
  fee_type: FeeType;
  charge?: PricedCharge;
  fixedCharge?: FixedChargeRow;
  charge_filter_id: ChargeFilterId | null;
  true_up_parent_fee_id: FeeId | null;
  item: { id: string; code: string; name: string; description: string | null; displayName: string };
  amountCents: Cents;
  preciseAmountCents: Decimal;
  unitAmountCents: Cents;
  preciseUnitAmount: Decimal;
  units: Decimal;
  totalAggregatedUnits: Decimal;
  eventsCount: number | null;
  groupedBy: GroupedBy;
  amountDetails: object;
  window: Period;
  /** What was counted, before the metric's rounding; for the stored inputs. */
  counted: CountedShare | null;
  /** Units by the displayed presentation keys. */
  presentation?: readonly PresentedUnits[];
  /** How a fee of a minimum commitment was computed; for the stored inputs. */
  commitment?: object;
  /**
   * Other parts of its computation by `kind`, for the stored inputs. Rule: invoice-verification.md#stored-inputs
   * "before".
   */
  facts?: {
    kind: 'true_up' | 'fixed_units' | 'fixed_units_change' | 'by_hand' | 'copied' | 'correction';
  } & Record<string, unknown>;
  /** Amounts in the charge's pricing unit as the fee shows them; null or absent without one. */
  pricingUnitDetails?: Record<string, unknown> | null;
  /** End of what was counted, where that is not the end of the window. */
  countedUntil?: Instant;
  /** Set for a usage fee paid in advance. */
  inAdvance?: InAdvanceFee;
  /** Fee of a voided invoice that it was copied from, the first of a chain. */
  originalFeeId?: FeeId;
  /** What was set by hand about it, while it was on a draft. */
  adjustment?: AdjustedFeeRow;
  /**
   * For a fee that bills differences of a correction: the correction and the rows of its differences.
   * Rule: event-corrections.md#difference.
   */
  correction?: { id: CorrectionId; adjustmentIds: readonly string[] };
}

/** What only fees paid in advance have: those of one event, and standalone ones of a period's start. */
export interface InAdvanceFee {
  invoiceable: boolean;
  event?: {
    id: string;
    transaction_id: string;
    units: EventUnits;
    /** Usage up to and including the event, and its own amount in the main unit. */
    usage: Usage;
    ownAmount: Decimal;
    /** Whether any usage of the group was billed before in the period. */
    billedBefore: boolean;
  };
}

/** Everything on which the subscription fee of a line depends. */
export const subscriptionFeeInput = ({
  subscription,
  reason,
  at,
  zone,
  windows,
  succession,
  predecessor,
}: BilledLine): SubscriptionFeeInput => ({
  plan: subscription,
  subscription,
  zone,
  at,
  window: windows.subscription,
  succession,
  predecessor,
  firstStartedAt: subscription.first_started_at,
  // A draft that is refreshed after its subscription ended bills what it billed when it was made.
  invoiceCreatedAt: at,
  isOnlyInvoice: subscription.is_only_invoice,
  hasOlderFee: subscription.has_older_fee,
  hasFeeOfSameDay: subscription.has_fee_of_same_day,
  // The starting line of a plan in arrears exists for fixed charges and other items paid in advance.
  isOnlyForFixedCharges:
    reason === 'in_advance_charge' || (reason === 'subscription_starting' && !subscription.pay_in_advance),
});

/**
 * The subscription fee of a line, when it bears one. Rules: subscription-fees.md#when-a-line-gets-a-fee,
 * subscription-fees.md#amount, subscription-fees.md#trial.
 */
export function subscriptionLineFee(line: BilledLine): LineFee | undefined {
  const { subscription, windows } = line;
  const fee = subscriptionFee(subscriptionFeeInput(line));
  if (fee === undefined) return undefined;
  return {
    id: newId(),
    line,
    fee_type: 'subscription',
    charge_filter_id: null,
    true_up_parent_fee_id: null,
    item: {
      id: subscription.id,
      code: subscription.plan_code,
      name: subscription.plan_name,
      description: subscription.plan_description,
      displayName: subscriptionName(subscription),
    },
    amountCents: fee.amountCents,
    preciseAmountCents: fee.preciseAmountCents,
    unitAmountCents: fee.unitAmountCents,
    preciseUnitAmount: toMainUnit(fee.preciseAmountCents, exponentOf(subscription.amount_currency)),
    units: ONE,
    totalAggregatedUnits: ONE,
    eventsCount: null,
    groupedBy: {},
    amountDetails: fee.amountDetails,
    window: windows.subscription,
    counted: null,
  };
}

/**
 * Charges whose usage a line bills: those in arrears. A recurring charge that is not prorated is left to the plan of an
 * upgrade if that plan charges the same metric.
 *
 * Rules: plan-changes.md#upgrade "metered recurring metrics", invoice-amounts.md#order-of-computation.
 */
export function chargesOfLine(
  { subscription, succession }: BilledLine,
  charges: readonly PricedCharge[],
): PricedCharge[] {
  const nextMetrics = new Set(
    succession === 'upgrade'
      ? charges.filter((charge) => charge.plan_id === subscription.successor_plan_id).map((charge) => charge.metric.id)
      : [],
  );
  return charges.filter(
    (charge) =>
      charge.plan_id === subscription.plan_id &&
      charge.invoiceable &&
      !charge.pay_in_advance &&
      !(charge.metric.recurring && !charge.prorated && nextMetrics.has(charge.metric.id)),
  );
}

/**
 * The usage fees of one charge that are stored, with its true-up last. Rules: charge-models.md, minimums.md#true-up,
 * usage-fees.md#when-a-fee-is-stored.
 */
export function usageLineFees(
  line: BilledLine,
  charge: PricedCharge,
  {
    counted,
    window,
    adjuster = NO_ADJUSTMENTS,
  }: { counted: readonly CountedShare[]; window: Period; adjuster?: Adjuster },
): LineFee[] {
  const exponent = exponentOf(line.subscription.amount_currency);
  const shares = adjuster.shares({ subscriptionId: line.subscription.id, chargeId: charge.id, window }, counted);
  const fees = priceShares(charge, shares, exponent).map((share) => ({
    share,
    fee: adjuster.fee(usageLineFee(line, charge, share, window)),
  }));
  const trueUp = spendingTrueUpFee(
    line,
    charge,
    fees.map(({ fee, share }) => ({ fee, pricingUnit: isPricedByHand(fee) ? null : share.fee.pricingUnit })),
    window,
  );
  const stored = fees.filter(
    ({ share, fee }) => isStored(share.fee) || fee.adjustment !== undefined || fee.id === trueUp?.true_up_parent_fee_id,
  );
  return [...stored.map(({ fee }) => fee), ...(trueUp === undefined ? [] : [trueUp])];
}

/** The fee of one filter and group of a charge. */
export const usageLineFee = (
  line: BilledLine,
  charge: PricedCharge,
  { filter, groupedBy, counted, fee, totalUnits }: PricedShare,
  window: Period,
): LineFee => ({
  ...itemOfCharge(line, charge, window),
  id: newId(),
  charge_filter_id: filter?.id ?? null,
  true_up_parent_fee_id: null,
  amountCents: fee.amountCents,
  preciseAmountCents: fee.preciseAmountCents,
  unitAmountCents: fee.unitAmountCents,
  preciseUnitAmount: fee.preciseUnitAmount,
  units: fee.units,
  totalAggregatedUnits: totalUnits,
  eventsCount: fee.eventsCount,
  groupedBy,
  amountDetails: fee.amountDetails,
  counted,
  pricingUnitDetails: pricingUnitDetails(charge, fee.pricingUnit),
  presentation: presentFewer(counted.presented ?? [], presentationKeys(charge.properties).displayed),
});

/** What every usage fee says about its charge. */
export const itemOfCharge = (line: BilledLine, charge: PricedCharge, window: Period) => ({
  line,
  fee_type: 'charge' as const,
  charge,
  item: {
    id: charge.metric.id,
    code: charge.metric.code,
    name: charge.metric.name,
    description: charge.metric.description,
    displayName: charge.invoice_display_name ?? charge.metric.name,
  },
  window,
});
