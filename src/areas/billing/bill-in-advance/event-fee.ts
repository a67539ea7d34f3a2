import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { presentationKeys, presentUnits } from '../../../engine/metrics/presentation.ts';
import { newId } from '../../../platform/ids.ts';
import type { EventPriced } from '../../usage/in-advance/price-event.ts';
import { pricingUnitDetails } from '../../usage/usage/pricing-unit-details.ts';
import { itemOfCharge, type LineFee } from '../build-invoice/fees.ts';
import type { BilledLine } from '../build-invoice/lines.ts';
import type { BillableEvent } from './billable-events.ts';

/**
 * The fee of one event. Rules: in-advance.md#units-of-one-event, usage-fees.md#fields, usage-fees.md#units-shown,
 * usage-fees.md#dates.
 */
export const eventFee = (
  line: BilledLine,
  event: Omit<BillableEvent, 'created_at'>,
  { charge, filter, groupedBy, fee, change, event: units, usage, ownAmount, billedBefore }: EventPriced,
): LineFee => ({
  ...itemOfCharge(line, charge, charge.invoiceable ? line.usageWindow! : wholeDays(line, line.usageWindow!)),
  id: newId(),
  charge_filter_id: filter?.id ?? null,
  true_up_parent_fee_id: null,
  amountCents: fee.amountCents,
  preciseAmountCents: fee.preciseAmountCents,
  unitAmountCents: fee.unitAmountCents,
  preciseUnitAmount: fee.preciseUnitAmount,
  units: fee.units,
  totalAggregatedUnits: fee.units,
  eventsCount: fee.eventsCount,
  groupedBy,
  amountDetails: fee.amountDetails,
  counted: null,
  pricingUnitDetails: pricingUnitDetails(charge, fee.pricingUnit),
  presentation: presentUnits(
    presentationKeys(charge.properties).displayed,
    [event.texts],
    (texts) => texts,
    () => (charge.metric.aggregation_type === 'unique_count_agg' ? units.billed : change),
  ),
  inAdvance: {
    invoiceable: charge.invoiceable,
    event: { id: event.id, transaction_id: event.transaction_id, units, usage, ownAmount, billedBefore },
  },
});

/** A standalone fee names the period that it pays for from the first local day on. */
const wholeDays = ({ zone }: BilledLine, { from, to }: Period): Period => ({
  from: dayStart(localDate(from, zone), zone),
  to,
});
