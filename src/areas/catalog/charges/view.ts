import { ALL_FILTER_VALUES, type FilterValues } from '../../../engine/metrics/choose-filter.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import { shownProperties } from '../../../engine/pricing/validate-properties.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { taxView } from '../taxes/view.ts';
import type { ChargeFilterRow, ChargeRow } from './queries.ts';
import type { ChargeFilterView, ChargeView } from './schema.ts';
import type { ChargeShown } from './show-charges.ts';

/** A charge as the API shows it, with its filters in their order. */
export const chargeView = ({ charge, filters, taxes }: ChargeShown): ChargeView => ({
  svc_id: charge.id,
  svc_billable_metric_id: charge.billable_metric_id,
  code: charge.code,
  invoice_display_name: charge.invoice_display_name,
  billable_metric_code: charge.billable_metric_code,
  created_at: seconds(charge.created_at),
  charge_model: charge.charge_model,
  invoiceable: charge.invoiceable,
  regroup_paid_fees: charge.regroup_paid_fees,
  pay_in_advance: charge.pay_in_advance,
  prorated: charge.prorated,
  min_amount_cents: charge.min_amount_cents,
  accepts_target_wallet: charge.accepts_target_wallet,
  properties: shownProperties(charge.properties),
  applied_pricing_unit:
    charge.pricing_unit_code === null || charge.conversion_rate === null
      ? null
      : { code: charge.pricing_unit_code, conversion_rate: decimalText(charge.conversion_rate) },
  svc_parent_id: charge.parent_id,
  filters: filters.map(shownFilter),
  taxes: taxes.map(taxView),
});

/** A charge filter as its own routes show it. */
export const chargeFilterView = (filter: ChargeFilterRow, charge: Pick<ChargeRow, 'code'>): ChargeFilterView => ({
  svc_id: filter.id,
  charge_code: charge.code,
  ...shownFilter(filter),
});

/**
 * Name of a filter on documents: its own, else its values joined, where a wildcard shows its key.
 *
 *   {region: [us, eu], tier: [all]} → "us, eu, tier"
 *
 * Rule: groups-and-filters.md#filters-of-a-charge.
 */
export function filterDisplayName(filter: { invoice_display_name: string | null; values: FilterValues }): string {
  if (filter.invoice_display_name !== null) return filter.invoice_display_name;
  return Object.entries(filter.values)
    .map(([key, values]) => (values.includes(ALL_FILTER_VALUES) ? key : values.join(', ')))
    .join(', ');
}

const shownFilter = (filter: ChargeFilterRow) => ({
  invoice_display_name: filter.invoice_display_name,
  properties: shownProperties(filter.properties),
  values: filter.values as Record<string, string[]>,
});
