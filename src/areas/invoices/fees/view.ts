import { Temporal } from 'temporal-polyfill';
import { shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { roundToCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, decimalText } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { filterDisplayName } from '../../catalog/charges/view.ts';
import type { AppliedTaxJson, FeeRow } from './queries.ts';

const ITEM_TYPES: Record<FeeType, 'AddOn' | 'BillableMetric' | 'Subscription' | 'WalletTransaction'> = {
  subscription: 'Subscription',
  charge: 'BillableMetric',
  fixed_charge: 'AddOn',
  commitment: 'Subscription',
  add_on: 'AddOn',
  credit: 'WalletTransaction',
};

/**
 * A fee as the API shows it. Rules: usage-fees.md#fields, usage-fees.md#units-shown, usage-fees.md#dates,
 * invoice-amounts.md#amounts.
 */
export function feeView(row: FeeRow) {
  const inMainUnit = (cents: Decimal) => decimalText(toMainUnit(cents, exponentOf(row.amount_currency)));
  const subTotal = decimal(row.amount_cents).minus(row.precise_coupons_amount_cents);
  return {
    svc_id: row.id,
    svc_charge_id: row.charge_id,
    svc_charge_filter_id: row.charge_filter_id,
    svc_fixed_charge_id: row.fixed_charge_id,
    svc_invoice_id: row.invoice_id,
    svc_true_up_fee_id: row.true_up_fee_id,
    svc_true_up_parent_fee_id: row.true_up_parent_fee_id,
    svc_original_fee_id: row.original_fee_id,
    ...(row.correction_id === null ? {} : { svc_correction_id: row.correction_id }),
    svc_subscription_id: row.subscription_id,
    svc_customer_id: row.customer_id,
    external_customer_id: row.external_customer_id,
    external_subscription_id: row.external_subscription_id,
    item: itemOf(row),
    pay_in_advance: row.pay_in_advance,
    invoiceable: row.invoiceable,
    amount_cents: row.amount_cents,
    amount_currency: row.amount_currency,
    precise_amount: inMainUnit(row.precise_amount_cents),
    precise_total_amount: inMainUnit(row.precise_amount_cents.plus(row.taxes_precise_amount_cents)),
    taxes_amount_cents: row.taxes_amount_cents,
    taxes_precise_amount: inMainUnit(row.taxes_precise_amount_cents),
    taxes_rate: row.taxes_rate.toNumber(),
    total_amount_cents: row.amount_cents + row.taxes_amount_cents,
    total_amount_currency: row.amount_currency,
    units: decimalText(row.units),
    total_aggregated_units: decimalText(row.total_aggregated_units),
    precise_unit_amount: decimalText(row.precise_unit_amount),
    precise_coupons_amount_cents: decimalText(row.precise_coupons_amount_cents),
    sub_total_excluding_taxes_amount_cents: roundToCents(subTotal),
    sub_total_excluding_taxes_precise_amount_cents: decimalText(
      row.precise_amount_cents.minus(row.precise_coupons_amount_cents),
    ),
    events_count: row.events_count,
    ...(row.unpriced_events === null ? {} : { unpriced_events: row.unpriced_events }),
    ...datesOf(row),
    payment_status: row.payment_status,
    created_at: seconds(row.created_at),
    succeeded_at: secondsOrNull(row.succeeded_at),
    failed_at: secondsOrNull(row.failed_at),
    refunded_at: secondsOrNull(row.refunded_at),
    event_transaction_id: row.event_transaction_id,
    description: row.fee_type === 'add_on' ? row.item_description : null,
    amount_details: row.amount_details,
    self_billed: row.self_billed,
    pricing_unit_details: row.pricing_unit_details,
    presentation_breakdowns: row.presentation_breakdowns,
    applied_taxes: row.applied_taxes.map((tax) => ({ ...appliedTaxView(tax), svc_fee_id: row.id })),
  };
}

/** A tax as it was applied to a fee or an invoice. */
export const appliedTaxView = (tax: AppliedTaxJson) => ({
  svc_id: tax.id,
  svc_tax_id: tax.tax_id,
  tax_name: tax.tax_name,
  tax_code: tax.tax_code,
  tax_rate: tax.tax_rate,
  tax_description: tax.tax_description,
  amount_cents: tax.amount_cents,
  amount_currency: tax.amount_currency,
  created_at: seconds(Temporal.Instant.from(tax.created_at)),
});

const itemOf = (row: FeeRow) => ({
  type: row.fee_type,
  code: row.item_code,
  name: row.item_name,
  description: row.item_description,
  invoice_display_name: row.invoice_display_name ?? row.item_name,
  filters: row.filter_values,
  filter_invoice_display_name:
    row.filter_values === null
      ? null
      : filterDisplayName({ invoice_display_name: row.filter_display_name, values: row.filter_values }),
  svc_item_id: row.item_id,
  item_type: ITEM_TYPES[row.fee_type],
  grouped_by: row.grouped_by,
});

function datesOf({ from_datetime: from, to_datetime: to }: FeeRow) {
  if (from === null || to === null) return { from_date: null, to_date: null };
  const window = { from, to };
  return { from_date: seconds(shownStart(window)), to_date: seconds(shownEnd(window)) };
}
