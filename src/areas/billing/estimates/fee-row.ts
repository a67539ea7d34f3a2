import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import type { DraftFee } from '../../../engine/invoices/draft.ts';
import { ZERO } from '../../../engine/money/decimal.ts';
import { newId } from '../../../platform/ids.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import type { EventPriced } from '../../usage/in-advance/price-event.ts';
import { pricingUnitDetails } from '../../usage/usage/pricing-unit-details.ts';
import type { EstimatedSubscription } from './subscriptions.ts';

/** The row that the fee of an event would have. */
export const estimatedFeeRow = (
  subscription: EstimatedSubscription,
  { charge, filter, groupedBy, fee }: EventPriced,
  {
    taxes,
    window,
    transactionId,
    now,
  }: { taxes: DraftFee; window: Period; transactionId: string; now: Temporal.Instant },
): FeeRow => ({
  id: newId(),
  customer_id: subscription.customer_id,
  invoice_id: null,
  subscription_id: subscription.id,
  charge_id: charge.id,
  charge_filter_id: filter?.id ?? null,
  fixed_charge_id: null,
  original_fee_id: null,
  correction_id: null,
  true_up_parent_fee_id: null,
  true_up_fee_id: null,
  fee_type: 'charge',
  item_id: charge.metric.id,
  item_code: charge.metric.code,
  item_name: charge.metric.name,
  item_description: charge.metric.description,
  invoice_display_name: charge.invoice_display_name ?? charge.metric.name,
  amount_cents: fee.amountCents,
  amount_currency: subscription.plan_amount_currency,
  precise_amount_cents: fee.preciseAmountCents,
  unit_amount_cents: fee.unitAmountCents,
  precise_unit_amount: fee.preciseUnitAmount,
  precise_coupons_amount_cents: ZERO,
  untaxed_amount_cents: ZERO,
  progressive_parts: null,
  taxes_amount_cents: taxes.taxesAmountCents,
  taxes_precise_amount_cents: taxes.taxesPreciseAmountCents,
  taxes_rate: taxes.taxesRate,
  units: fee.units,
  total_aggregated_units: fee.units,
  events_count: 1,
  unpriced_events: null,
  grouped_by: groupedBy,
  amount_details: fee.amountDetails,
  pricing_unit_details: pricingUnitDetails(charge, fee.pricingUnit),
  presentation_breakdowns: [],
  pay_in_advance: true,
  invoiceable: charge.invoiceable,
  event_transaction_id: transactionId,
  external_subscription_id: subscription.external_id,
  payment_status: 'pending',
  succeeded_at: null,
  failed_at: null,
  refunded_at: null,
  from_datetime: window.from,
  to_datetime: window.to,
  created_at: now,
  external_customer_id: subscription.external_customer_id,
  self_billed: subscription.self_billed,
  filter_values: (filter?.values as Record<string, string[]> | undefined) ?? null,
  filter_display_name: filter?.invoice_display_name ?? null,
  applied_taxes: [],
});
