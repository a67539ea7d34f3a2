import { cents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, ONE, ZERO } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import { feeAmounts } from '../../../engine/pricing/fee-amounts.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type FixedChargeRow, listFixedChargesOfPlans } from '../../catalog/fixed-charges/queries.ts';
import { type FeeRow, listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import type { InvoiceRegeneration } from '../../invoices/invoices/regenerate-schema.ts';
import { priceShares } from '../../usage/usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { type LineFee, usageLineFee } from '../build-invoice/fees.ts';
import type { BilledLine } from '../build-invoice/lines.ts';

type Given = InvoiceRegeneration['fees'][number];

interface Catalog {
  charges: readonly PricedCharge[];
  fixedCharges: readonly FixedChargeRow[];
}

/**
 * The fees of the new invoice, in the order in which they were listed; true-ups keep their parent where it is listed
 * too.
 */
export async function regeneratedFees(
  ctx: Context,
  sourceId: string,
  lines: readonly BilledLine[],
  given: readonly Given[],
): Promise<LineFee[]> {
  const planIds = [...new Set(lines.map(({ subscription }) => subscription.plan_id))];
  const [stored, charges, fixedCharges] = await Promise.all([
    listFeesOfInvoice(ctx, sourceId),
    listPricedCharges(ctx, planIds),
    listFixedChargesOfPlans(ctx, planIds),
  ]);
  const catalog = { charges, fixedCharges };
  const copies = given.map((each) =>
    each.id ? copyOf(each, stored, lines, catalog) : newUsageFee(each, lines, catalog),
  );
  const newIds = new Map(
    copies.flatMap(({ sourceFeeId, fee }) => (sourceFeeId === null ? [] : [[sourceFeeId, fee.id]])),
  );
  return copies.map(({ fee }) => ({
    ...fee,
    true_up_parent_fee_id: newIds.get(fee.true_up_parent_fee_id ?? '') ?? null,
  }));
}

interface Copy {
  sourceFeeId: FeeId | null;
  fee: LineFee;
}

/** A fee of the voided invoice with what the input says differently. @throws Refusal 404 fee; 422 charge */
function copyOf(given: Given, stored: readonly FeeRow[], lines: readonly BilledLine[], catalog: Catalog): Copy {
  const row = stored.find(({ id }) => id === given.id);
  const line = lines.find(({ subscription }) => subscription.id === row?.subscription_id);
  if (!row || !line) throw refuse.notFound('fee');
  const charge = catalog.charges.find(({ id }) => id === row.charge_id);
  const fixedCharge = catalog.fixedCharges.find(({ id }) => id === row.fixed_charge_id);
  const fee: LineFee = {
    id: newId(),
    originalFeeId: row.original_fee_id ?? row.id,
    line,
    fee_type: row.fee_type,
    ...(charge === undefined ? {} : { charge }),
    ...(fixedCharge === undefined ? {} : { fixedCharge }),
    charge_filter_id: row.charge_filter_id,
    true_up_parent_fee_id: row.true_up_parent_fee_id,
    item: {
      id: row.item_id,
      code: row.item_code,
      name: row.item_name,
      description: row.item_description,
      displayName: given.invoice_display_name ?? row.invoice_display_name ?? row.item_name,
    },
    amountCents: cents(row.amount_cents),
    preciseAmountCents: row.precise_amount_cents,
    unitAmountCents: cents(row.unit_amount_cents),
    preciseUnitAmount: row.precise_unit_amount,
    units: row.units,
    totalAggregatedUnits: row.total_aggregated_units,
    eventsCount: row.events_count,
    groupedBy: row.grouped_by,
    amountDetails: row.amount_details,
    pricingUnitDetails: row.pricing_unit_details,
    window: { from: row.from_datetime ?? line.at, to: row.to_datetime ?? line.at },
    counted: null,
    // Its adjustments stay with the first fee.
    ...(row.correction_id === null ? {} : { correction: { id: row.correction_id, adjustmentIds: [] } }),
    facts: {
      kind: 'copied',
      fee_id: row.id,
      amount_cents: row.amount_cents,
      precise_amount_cents: row.precise_amount_cents,
      units: row.units,
    },
  };
  return { sourceFeeId: row.id, fee: overridden(fee, given) };
}

/** Units alone of a usage fee are priced by its charge model; everything else is units times a price. */
function overridden(fee: LineFee, given: Given): LineFee {
  if (given.units == null && given.unit_amount_cents === undefined) return fee;
  const units = given.units == null ? fee.units : decimal(given.units);
  if (given.unit_amount_cents === undefined && fee.charge !== undefined && fee.true_up_parent_fee_id === null)
    return { ...pricedByModel(fee.line, fee.charge, fee, units), ...identityOf(fee) };
  const exponent = exponentOf(fee.line.subscription.amount_currency);
  const unitAmount =
    given.unit_amount_cents === undefined
      ? fee.preciseUnitAmount
      : toMainUnit(decimal(given.unit_amount_cents), exponent);
  return { ...fee, ...amountsOf(units, unitAmount, exponent) };
}

const identityOf = ({ id, originalFeeId, item, window }: LineFee) => ({
  id,
  item,
  window,
  ...(originalFeeId === undefined ? {} : { originalFeeId }),
});

const amountsOf = (units: Decimal, unitAmount: Decimal, exponent: number) => ({
  ...feeAmounts({ amount: units.times(unitAmount), unitAmount }, { exponent }),
  units,
  totalAggregatedUnits: units,
  amountDetails: {},
  pricingUnitDetails: null,
  facts: { kind: 'by_hand' as const, units, unit_amount: unitAmount },
});

function pricedByModel(
  line: BilledLine,
  charge: PricedCharge,
  of: Pick<LineFee, 'charge_filter_id' | 'groupedBy' | 'window'>,
  units: Decimal,
): LineFee {
  const asksForEvents = charge.charge_model === 'percentage' || charge.charge_model === 'dynamic';
  if (asksForEvents || (charge.charge_model === 'graduated' && charge.prorated))
    throw refuse.invalid({ charge: ['invalid_charge_model'] });
  const counted = [{ filterId: of.charge_filter_id, groupedBy: of.groupedBy, units, eventsCount: 0 }];
  const [share] = priceShares(charge, counted, exponentOf(line.subscription.amount_currency));
  return usageLineFee(line, charge, share!, of.window);
}

/** Usage that the voided invoice did not have. @throws Refusal 404 subscription, charge, charge_filter */
function newUsageFee(given: Given, lines: readonly BilledLine[], { charges }: Catalog): Copy {
  const line = lines.find(({ subscription }) => subscription.id === given.subscription_id);
  if (!line) throw refuse.notFound('subscription');
  const charge = charges.find(({ id, plan_id }) => id === given.charge_id && plan_id === line.subscription.plan_id);
  if (!charge || line.windows.charges === null) throw refuse.notFound('charge');
  const filterId = given.charge_filter_id ?? null;
  if (filterId !== null && !charge.filters.some(({ id }) => id === filterId)) throw refuse.notFound('charge_filter');
  const units = given.units == null ? ONE : decimal(given.units);
  const of = { charge_filter_id: filterId, groupedBy: {}, window: line.windows.charges };
  const exponent = exponentOf(line.subscription.amount_currency);
  const [nothing] = priceShares(charge, [{ filterId, groupedBy: {}, units: ZERO, eventsCount: 0 }], exponent);
  const fee =
    given.unit_amount_cents === undefined
      ? pricedByModel(line, charge, of, units)
      : {
          ...usageLineFee(line, charge, nothing!, of.window),
          ...amountsOf(units, toMainUnit(decimal(given.unit_amount_cents), exponent), exponent),
        };
  const displayName = given.invoice_display_name ?? fee.item.displayName;
  return { sourceFeeId: null, fee: { ...fee, item: { ...fee.item, displayName } } };
}
