import { dayDifference } from '../../../engine/calendar/day-difference.ts';
import { isAfter, isBefore } from '../../../engine/calendar/instants.ts';
import { lastInstant, type Period } from '../../../engine/calendar/period.ts';
import { fixedUnits } from '../../../engine/metrics/fixed-units.ts';
import { type Cents, cents, sumCents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { sum, ZERO } from '../../../engine/money/decimal.ts';
import { noAmounts } from '../../../engine/pricing/fee-amounts.ts';
import {
  alreadyPaidCents,
  type FixedChargeFee,
  fixedChargeFee,
  unitsChangeFee,
} from '../../../engine/pricing/fixed-charge-fee.ts';
import type { Context } from '../../../platform/context.ts';
import type { FixedChargeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { type FixedChargeRow, listFixedChargesOfPlans } from '../../catalog/fixed-charges/queries.ts';
import type { Adjuster } from './adjustments.ts';
import type { LineFee } from './fees.ts';
import { type FormerFee, listFormerFees, listUnits, type StoredUnits } from './fixed-charge-units.ts';
import type { BilledLine } from './lines.ts';

/** What fixed charges of lines are computed from. */
interface Facts {
  units: readonly StoredUnits[];
  former: readonly FormerFee[];
}

/**
 * Fees of the fixed charges of lines: a starting line bears those in advance, a closing one those in arrears, a
 * periodic one both; a line in advance those that it was made for.
 *
 * @param adjuster keeps its target even if the amount is zero
 * @returns what makes the fees of a line: fees are shown in the order in which they are made
 * Rules: fixed-charges.md#aggregation, fixed-charges.md#fee-of-a-period, fixed-charges.md#change-inside-a-period,
 * invoice-amounts.md#order-of-computation, in-advance.md#fees-in-advance.
 */
export async function fixedChargeFees(
  ctx: Context,
  lines: readonly BilledLine[],
  adjuster: Pick<Adjuster, 'targets'>,
): Promise<(line: BilledLine) => LineFee[]> {
  const withSome = lines.filter(({ subscription }) => subscription.has_fixed_charges);
  if (withSome.length === 0) return () => [];
  const planIds = [...new Set(withSome.map(({ subscription }) => subscription.plan_id))];
  const fixedCharges = await listFixedChargesOfPlans(ctx, planIds);
  if (fixedCharges.length === 0) return () => [];
  const [units, former] = await Promise.all([listUnits(ctx, lines), listFormerFees(ctx, lines)]);
  return (line) =>
    fixedCharges
      .filter((fixedCharge) => fixedCharge.plan_id === line.subscription.plan_id && isOn(line, fixedCharge))
      .map((fixedCharge) => feeOf(line, fixedCharge, { units, former }))
      .filter((fee) => isUnitsChange(line) || !isNothing(fee) || adjuster.targets(fee));
}

function isOn(
  { reason, fixedCharges, windows }: BilledLine,
  { id, parent_id, pay_in_advance }: FixedChargeRow,
): boolean {
  if (reason === 'in_advance_charge') {
    if (!pay_in_advance || fixedCharges === undefined) return false;
    // Units that changed just before the subscription got an override are those of the parent plan.
    return fixedCharges === 'opening' || fixedCharges.ids.some((changed) => changed === id || changed === parent_id);
  }
  if (pay_in_advance) return reason === 'subscription_starting' || reason === 'subscription_periodic';
  const isClosing = reason === 'subscription_terminating' || reason === 'subscription_periodic';
  return isClosing && windows.fixedCharges !== null;
}

/** The window in which a line bills a fixed charge; undefined when it does not. */
export function fixedChargeWindow(line: BilledLine, fixedCharge: FixedChargeRow): Period | undefined {
  if (!isOn(line, fixedCharge)) return undefined;
  return fixedCharge.pay_in_advance ? line.windows.fixedChargesInAdvance : line.windows.fixedCharges!;
}

/** A change of units is shown even when it costs nothing. Rule: fixed-charges.md#change-inside-a-period. */
const isUnitsChange = ({ fixedCharges }: BilledLine): boolean => typeof fixedCharges === 'object';

function feeOf(line: BilledLine, fixedCharge: FixedChargeRow, facts: Facts): LineFee {
  if (!fixedCharge.pay_in_advance) return arrearsFee(line, fixedCharge, facts);
  return isUnitsChange(line) ? changeFee(line, fixedCharge, facts) : advanceFee(line, fixedCharge, facts);
}

function arrearsFee(line: BilledLine, fixedCharge: FixedChargeRow, facts: Facts): LineFee {
  const window = line.windows.fixedCharges!;
  const units = unitsIn(line, fixedCharge, facts, window, line.windows.fixedChargesDurationDays);
  const fee = fixedChargeFee(fixedCharge, units, { exponent: exponentOf(line.subscription.amount_currency) });
  return lineFee(line, fixedCharge, {
    fee,
    window,
    facts: {
      kind: 'fixed_units',
      ...units,
      already_paid_cents: 0,
      records: recordsOf(line, fixedCharge, facts),
    },
  });
}

/** Subtracts what was billed for the same window before. */
function advanceFee(line: BilledLine, fixedCharge: FixedChargeRow, facts: Facts): LineFee {
  const { fixedChargesInAdvance: window, fixedChargesInAdvanceDurationDays: days } = line.windows;
  const isBilled = sameWindow(line, fixedCharge, facts).some((fee) => !fee.units.isZero() || fee.amount_cents !== 0);
  const units = isBilled ? { units: ZERO, fullUnits: ZERO } : unitsIn(line, fixedCharge, facts, window, days);
  const exponent = exponentOf(line.subscription.amount_currency);
  const alreadyPaid = coveredCents(line, fixedCharge, facts);
  const fee = isBilled
    ? { ...noAmounts({ exponent }), units: ZERO, amountDetails: {} }
    : fixedChargeFee(fixedCharge, units, { exponent, alreadyPaid });
  return lineFee(line, fixedCharge, {
    fee,
    window,
    facts: {
      kind: 'fixed_units',
      ...units,
      already_paid_cents: alreadyPaid,
      records: recordsOf(line, fixedCharge, facts),
    },
  });
}

function changeFee(line: BilledLine, fixedCharge: FixedChargeRow, facts: Facts): LineFee {
  const { fixedChargesInAdvance: window, fixedChargesInAdvanceDurationDays: periodDays } = line.windows;
  const known = { ...facts, units: untilChange(line, fixedCharge, facts.units) };
  const { fullUnits } = unitsIn(line, { ...fixedCharge, prorated: false }, known, window, periodDays);
  const billedUnits = sum(sameWindow(line, fixedCharge, facts).map((fee) => fee.units));
  const share = { days: dayDifference(line.at, lastInstant(window), line.zone), periodDays };
  const change = { units: fullUnits, billedUnits };
  const fee = unitsChangeFee(fixedCharge, change, { exponent: exponentOf(line.subscription.amount_currency), share });
  return lineFee(line, fixedCharge, { fee, window, facts: { kind: 'fixed_units_change', ...change, ...share } });
}

/**
 * Records up to the change that a line bills, so that units which fell again before the line was made are still billed.
 */
function untilChange(
  { subscription, fixedCharges }: BilledLine,
  fixedCharge: FixedChargeRow,
  units: readonly StoredUnits[],
): readonly StoredUnits[] {
  const recordIds = typeof fixedCharges === 'object' ? fixedCharges.recordIds : [];
  const own = units.filter((each) => each.subscription_id === subscription.id && isOf(fixedCharge, each));
  const last = own.findLastIndex(({ id }) => recordIds.includes(id));
  return last < 0 ? own : own.slice(0, last + 1);
}

const isNothing = ({ units, amountCents }: LineFee): boolean => units.isZero() && amountCents === 0;

const unitsIn = (
  { subscription, zone }: BilledLine,
  fixedCharge: FixedChargeRow,
  { units }: Facts,
  period: Period,
  periodDays: number,
) =>
  fixedUnits(
    units.filter((each) => each.subscription_id === subscription.id && isOf(fixedCharge, each)),
    { period, periodDays, zone },
    fixedCharge,
  );

/** Units of the fixed charge over time, as the stored inputs keep them. */
const recordsOf = ({ subscription }: BilledLine, fixedCharge: FixedChargeRow, { units }: Facts) =>
  units
    .filter((each) => each.subscription_id === subscription.id && isOf(fixedCharge, each))
    .map((each) => ({ units: each.units, timestamp: each.timestamp }));

const isOf = ({ id, parent_id }: FixedChargeRow, { fixed_charge_id }: { fixed_charge_id: FixedChargeId }): boolean =>
  fixed_charge_id === id || fixed_charge_id === parent_id;

/** Fees that earlier invoices hold of a fixed charge, or its parent, for the same window. */
const sameWindow = ({ subscription, windows }: BilledLine, fixedCharge: FixedChargeRow, { former }: Facts) =>
  former.filter(
    (fee) =>
      fee.subscription_id === subscription.id &&
      isOf(fixedCharge, fee) &&
      fee.from_datetime.equals(windows.fixedChargesInAdvance.from) &&
      fee.to_datetime.equals(windows.fixedChargesInAdvance.to),
  );

/**
 * The part of a prorated fixed charge's first window that fees of the replaced plan on the same add-on cover.
 * Rules: fixed-charges.md#fee-of-a-period "upgrade", in-advance.md#fees-in-advance.
 */
function coveredCents(
  { subscription, windows, zone }: BilledLine,
  fixedCharge: FixedChargeRow,
  { former }: Facts,
): Cents {
  const window = windows.fixedChargesInAdvance;
  const isFirst = subscription.started_at !== null && !isBefore(subscription.started_at, window.from);
  if (!fixedCharge.prorated || subscription.previous_subscription_id === null || !isFirst) return ZERO_CENTS;
  const newDays = dayDifference(window.from, lastInstant(window), zone);
  return sumCents(
    former
      .filter((fee) => fee.subscription_id === subscription.previous_subscription_id)
      .filter((fee) => fee.add_on_id === fixedCharge.add_on_id && isAfter(fee.to_datetime, window.from))
      .map((fee) => {
        const last = lastInstant({ from: fee.from_datetime, to: fee.to_datetime });
        const paidDays = dayDifference(fee.billed_at, last, zone);
        return paidDays > 0 ? alreadyPaidCents(cents(fee.amount_cents), { newDays, paidDays }) : ZERO_CENTS;
      }),
  );
}

const lineFee = (
  line: BilledLine,
  fixedCharge: FixedChargeRow,
  { fee, window, facts }: { fee: FixedChargeFee; window: Period; facts: NonNullable<LineFee['facts']> },
): LineFee => ({
  id: newId(),
  line,
  fee_type: 'fixed_charge',
  fixedCharge,
  charge_filter_id: null,
  true_up_parent_fee_id: null,
  item: {
    id: fixedCharge.add_on_id,
    code: fixedCharge.add_on_code,
    name: fixedCharge.add_on_full_name,
    description: fixedCharge.add_on_description,
    displayName: fixedCharge.invoice_display_name ?? fixedCharge.add_on_name,
  },
  amountCents: fee.amountCents,
  preciseAmountCents: fee.preciseAmountCents,
  unitAmountCents: fee.unitAmountCents,
  preciseUnitAmount: fee.preciseUnitAmount,
  units: fee.units,
  totalAggregatedUnits: fee.units,
  eventsCount: null,
  groupedBy: {},
  amountDetails: fee.amountDetails,
  window,
  counted: null,
  facts,
});
