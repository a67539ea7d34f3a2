import { subscriptionDays } from '../../../engine/calendar/day-difference.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { sumCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { ONE, sum } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { Amounts } from '../../../engine/pricing/fee-amounts.ts';
import { PRICING_UNIT_EXPONENT, toCurrency } from '../../../engine/pricing/pricing-unit.ts';
import { spendingTrueUp, type TrueUp } from '../../../engine/pricing/spending-minimum.ts';
import { newId } from '../../../platform/ids.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import { pricingUnitDetails } from '../../usage/usage/pricing-unit-details.ts';
import type { LineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';

/** A usage fee with its amounts in the charge's pricing unit, when it has one. */
export interface UsedFee {
  fee: LineFee;
  pricingUnit: Amounts | null;
}

/**
 * What is missing to the spending minimum of a charge, tied to the fee of its default bucket. With a pricing unit both
 * are compared in its cents, and the difference is converted.
 *
 * Rules: minimums.md#true-up, pricing-units.md "true-up", minimums.md#spending-minimum.
 */
export function spendingTrueUpFee(
  line: BilledLine,
  charge: PricedCharge,
  used: readonly UsedFee[],
  window: Period,
): LineFee | undefined {
  const parent = used.find(({ fee }) => fee.charge_filter_id === null)?.fee;
  if (charge.min_amount_cents === 0 || parent === undefined) return undefined;
  const amounts = used.map(({ fee, pricingUnit }) => pricingUnit ?? fee);
  const minimum = {
    min_amount_cents: charge.min_amount_cents,
    periodDays: line.windows.chargesDurationDays,
    billedDays: subscriptionDays(window, line.zone, { upgraded: line.succession === 'upgrade' }),
    usedCents: sumCents(amounts.map(({ amountCents }) => amountCents)),
    usedPreciseCents: sum(amounts.map(({ preciseAmountCents }) => preciseAmountCents)),
  };
  const missing = spendingTrueUp(minimum);
  if (missing === undefined) return undefined;

  const exponent = exponentOf(line.subscription.amount_currency);
  const inCurrency =
    charge.conversion_rate === null ? missing : toCurrency(missing.amountCents, charge.conversion_rate, exponent);
  return {
    line,
    fee_type: 'charge',
    charge,
    item: parent.item,
    window,
    id: newId(),
    charge_filter_id: null,
    true_up_parent_fee_id: parent.id,
    ...amountsOf(inCurrency, exponent),
    units: ONE,
    totalAggregatedUnits: ONE,
    eventsCount: 0,
    groupedBy: {},
    amountDetails: {},
    counted: null,
    facts: { kind: 'true_up', ...minimum },
    pricingUnitDetails: pricingUnitDetails(
      charge,
      charge.conversion_rate === null ? null : amountsOf(missing, PRICING_UNIT_EXPONENT),
    ),
  };
}

/** Amounts of one unit that costs the whole. */
const amountsOf = ({ amountCents, preciseAmountCents }: TrueUp, exponent: number): Amounts => ({
  amountCents,
  preciseAmountCents,
  unitAmountCents: amountCents,
  preciseUnitAmount: toMainUnit(preciseAmountCents, exponent),
});
