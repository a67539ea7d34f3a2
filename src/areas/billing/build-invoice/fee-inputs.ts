import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { Moves } from '../../../engine/metrics/proration.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, sum, ZERO } from '../../../engine/money/decimal.ts';
import { trialEnd } from '../../../engine/subscriptions/trial.ts';
import { canonicalDigest } from '../../../platform/canonical-json.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { plainJson } from '../../../platform/plain-json.ts';
import type { FixedChargeRow } from '../../catalog/fixed-charges/queries.ts';
import type { AdjustedFeeRow } from '../../invoices/adjusted-fees/queries.ts';
import type { HeldTax } from '../../usage/usage/fee-taxes.ts';
import { type InAdvanceFee, type LineFee, subscriptionFeeInput } from './fees.ts';
import { type BilledLine, sharedInstants } from './lines.ts';

/** What a fee was computed from, as it is stored beside it. Rule: invoice-verification.md#stored-inputs. */
export function feeInputs(fee: LineFee, taxes: readonly HeldTax[], draft: TakenOff): object {
  const { line } = fee;
  return plain({
    fee_type: fee.fee_type,
    window: {
      ...windowInputs(line, fee.window),
      ...(fee.countedUntil === undefined ? {} : { renewed: true }),
    },
    price: priceInputs(fee),
    metric: fee.charge === undefined ? null : metricInputs(fee),
    usage: fee.charge === undefined && fee.fixedCharge === undefined ? null : usageInputs(fee),
    before: beforeInputs(line),
    ...(fee.commitment === undefined ? {} : { commitment: fee.commitment }),
    ...(fee.facts === undefined ? {} : { facts: fee.facts }),
    ...(fee.adjustment === undefined ? {} : { manual_adjustment: adjustmentInputs(fee.adjustment) }),
    tail: {
      ...takenOff(fee.id, draft),
      taxes: taxes.map(({ code, rate, holder }) => ({ code, rate, level: holder })),
      exponent: exponentOf(line.subscription.amount_currency),
    },
  });
}

type TakenOff = Pick<Draft, 'couponUses' | 'progressiveCredits'>;

/** What came off a fee before taxes: its part of what was billed progressively, and of each coupon in order. */
export const takenOff = (feeId: FeeId, { couponUses, progressiveCredits }: TakenOff) => ({
  progressive_credit_cents: sum(progressiveCredits.map(({ shares }) => shares.get(feeId) ?? ZERO)),
  coupons: couponUses.flatMap(({ coupon, amountCents, base, shares }) => {
    const share = shares.get(feeId);
    if (share === undefined) return [];
    return [{ code: coupon.code, credit_cents: amountCents, base, share_of: share.of, amount: share.amount }];
  }),
});

const adjustmentInputs = ({ units, unit_precise_amount, invoice_display_name, created_at }: AdjustedFeeRow) => ({
  units,
  unit_precise_amount,
  invoice_display_name,
  created_at,
});

const windowInputs = (
  { subscription, windows, zone, at, succession, predecessor, reason }: BilledLine,
  window: Period,
) => ({
  fee: window,
  subscription: windows.subscription,
  charges: windows.charges,
  fixed_charges: windows.fixedCharges,
  timezone: zone,
  billed_at: at,
  invoicing_reason: reason,
  charges_duration_days: windows.chargesDurationDays,
  trial_end: trialEnd({ plan: subscription, subscription, firstStartedAt: subscription.first_started_at }) ?? null,
  succession,
  predecessor,
  ...(windows.charges === null ? {} : sharedInstants({ subscription }, windows.charges)),
});

const priceInputs = (fee: LineFee): object => {
  if (fee.charge !== undefined) return chargePrice(fee);
  return fee.fixedCharge === undefined ? planPrice(fee.line) : fixedChargePrice(fee.line, fee.fixedCharge);
};

const fixedChargePrice = ({ windows, fixedCharges }: BilledLine, fixedCharge: FixedChargeRow) => ({
  charge_model: fixedCharge.charge_model,
  properties: fixedCharge.properties,
  fixed_charge_id: fixedCharge.id,
  pay_in_advance: fixedCharge.pay_in_advance,
  prorated: fixedCharge.prorated,
  duration_days: fixedCharge.pay_in_advance
    ? windows.fixedChargesInAdvanceDurationDays
    : windows.fixedChargesDurationDays,
  is_units_change: typeof fixedCharges === 'object',
});

const planPrice = ({ subscription }: BilledLine) => ({
  plan_amount_cents: subscription.amount_cents,
  interval: subscription.interval,
  pay_in_advance: subscription.pay_in_advance,
  bill_charges_monthly: subscription.bill_charges_monthly,
  bill_fixed_charges_monthly: subscription.bill_fixed_charges_monthly,
  trial_period: subscription.trial_period,
});

const chargePrice = ({ charge, charge_filter_id, true_up_parent_fee_id }: LineFee) => ({
  charge_model: charge!.charge_model,
  properties: (charge!.filters.find(({ id }) => id === charge_filter_id) ?? charge!).properties,
  charge_filter_id,
  sibling_filters: charge!.filters.map(({ id, values, created_at }) => ({ id, values, created_at })),
  pay_in_advance: charge!.pay_in_advance,
  prorated: charge!.prorated,
  pricing_unit_rate: charge!.conversion_rate,
  min_amount_cents: charge!.min_amount_cents,
  is_true_up: true_up_parent_fee_id !== null,
});

const metricInputs = ({ charge }: LineFee) => {
  const { code, aggregation_type, field_name, recurring, rounding_function, rounding_precision, filters } =
    charge!.metric;
  return { code, aggregation_type, field_name, recurring, rounding_function, rounding_precision, filters };
};

/**
 * More single values than this are stored as their number and sum only. Rule: invoice-verification.md#stored-inputs
 * "per-event list".
 */
const MOST_STORED_ENTRIES = 5000;

const usageInputs = ({ counted, units, totalAggregatedUnits, eventsCount, groupedBy, inAdvance }: LineFee) => ({
  aggregated_units: counted?.units ?? null,
  units,
  total_aggregated_units: totalAggregatedUnits,
  events_count: eventsCount,
  grouped_by: groupedBy,
  ...(counted?.fullUnits === undefined ? {} : { full_units: counted.fullUnits }),
  ...(counted?.moves === undefined ? {} : { pieces: storedPieces(counted.moves) }),
  ...(counted?.values === undefined ? {} : { values: storedValues(counted.values) }),
  ...(counted?.preciseTotalAmountCents === undefined
    ? {}
    : { precise_total_amount_cents: counted.preciseTotalAmountCents }),
  ...(inAdvance?.event === undefined ? {} : { event: eventInputs(inAdvance.event) }),
});

const eventInputs = ({
  id,
  transaction_id,
  units,
  usage,
  ownAmount,
  billedBefore,
}: NonNullable<InAdvanceFee['event']>) => ({
  id,
  transaction_id,
  billed: units.billed,
  units: units.units,
  own_amount: ownAmount,
  billed_before: billedBefore,
  including: {
    units: usage.units,
    events_count: usage.eventsCount,
    ...(usage.values === undefined ? {} : { values: storedValues(usage.values) }),
    ...(usage.preciseTotalAmount === undefined ? {} : { precise_total_amount: usage.preciseTotalAmount }),
  },
  running_record: {
    current: units.record.current,
    max: units.record.max,
    max_prorated: units.record.maxProrated,
  },
});

const storedValues = (values: readonly Decimal[]) =>
  values.length <= MOST_STORED_ENTRIES ? values : { count: values.length, sum: sum(values) };

const storedPieces = ({ list, divisor }: Moves) =>
  list.length <= MOST_STORED_ENTRIES
    ? { list, divisor }
    : { count: list.length, weighed: sum(list.map(({ weighed }) => weighed)), divisor };

const beforeInputs = (line: BilledLine) => {
  const { subscription } = line;
  const { isOnlyInvoice, hasOlderFee, hasFeeOfSameDay, firstStartedAt } = subscriptionFeeInput(line);
  return {
    status: subscription.status,
    subscription_at: subscription.subscription_at,
    billing_time: subscription.billing_time,
    started_at: subscription.started_at,
    terminated_at: subscription.terminated_at,
    created_at: subscription.created_at,
    trial_ended_at: subscription.trial_ended_at,
    first_started_at: firstStartedAt,
    is_only_invoice: isOnlyInvoice,
    has_older_fee: hasOlderFee,
    has_fee_of_same_day: hasFeeOfSameDay,
  };
};

/**
 * The steps of the whole invoice. Rules: invoice-verification.md#stored-inputs "invoice level",
 * invoice-amounts.md#steps-by-invoice-type.
 */
export const invoiceInputs = (draft: Draft, billedAt: Instant): object =>
  plain({
    billed_at: billedAt,
    invoice_type: draft.invoiceType,
    keeps_zero_amount: draft.keepsZeroAmount,
    fee_ids: draft.fees.map(({ key }) => key),
    fees_amount_cents: draft.feesAmountCents,
    progressive_billing_credit_amount_cents: draft.progressiveBillingCreditAmountCents,
    coupons: draft.couponUses.map(({ coupon, amountCents, base }) => ({
      applied_coupon_id: coupon.id,
      code: coupon.code,
      amount_cents: amountCents,
      base,
    })),
    coupons_amount_cents: draft.couponsAmountCents,
    sub_total_excluding_taxes_amount_cents: draft.subTotalExcludingTaxesAmountCents,
    taxes: draft.appliedTaxes.map(({ tax, feesAmountCents, amountCents }) => ({
      code: tax.code,
      rate: tax.rate,
      fees_amount_cents: feesAmountCents,
      amount_cents: amountCents,
    })),
    taxes_amount_cents: draft.taxesAmountCents,
    sub_total_including_taxes_amount_cents: draft.subTotalIncludingTaxesAmountCents,
    credit_notes: draft.creditNoteUses.map(({ creditNoteId, amountCents }) => ({
      credit_note_id: creditNoteId,
      balance_cents: draft.creditNotes.find(({ id }) => id === creditNoteId)!.balanceCents,
      amount_cents: amountCents,
    })),
    credit_notes_amount_cents: draft.creditNotesAmountCents,
    wallets: draft.walletPayments.map(({ walletId, amountCents }) => ({
      wallet_id: walletId,
      amount_cents: amountCents,
    })),
    prepaid_credit_amount_cents: draft.prepaidCreditAmountCents,
    total_amount_cents: draft.totalAmountCents,
  });

/** Digest of stored inputs, computed from their plain JSON because that is what is read back. */
export const digestOf = (inputs: object): Buffer => canonicalDigest(inputs);

/** Decimals and instants as their texts. */
const plain = (value: object): object => plainJson(value) as object;
