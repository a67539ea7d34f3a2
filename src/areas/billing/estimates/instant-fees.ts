import { randomUUID } from 'node:crypto';
import { filterChooser, textUnder } from '../../../engine/metrics/choose-filter.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, decimalText, ONE, ZERO } from '../../../engine/money/decimal.ts';
import { instantFee } from '../../../engine/pricing/instant-fee.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseIssues } from '../../../platform/schema/field-errors.ts';
import { present } from '../../../platform/schema/view.ts';
import { filterDisplayName } from '../../catalog/charges/view.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { EstimatedEvent, type EstimatedEvents } from './schema.ts';
import { coveringSubscriptions, type EstimatedSubscription } from './subscriptions.ts';

const NUMBER = /^[+-]?\d{1,1000}(\.\d{1,1000})?$/;

/**
 * What an event would cost under each standard and percentage charge that is paid in advance, as if it were the only
 * one.
 *
 * @throws Refusal 404 subscription; 422 code: does_not_match_an_instant_charge
 * Rule: estimates.md#instant-fees.
 */
export async function estimateInstantFees(ctx: Context, { body: event }: { body: EstimatedEvent }) {
  const [fees] = await feesOf(ctx, [event]);
  if (fees!.length === 0) throw refuse.invalid({ code: ['does_not_match_an_instant_charge'] });
  return { fees: fees! };
}

/**
 * The same of up to 100 events. One that matches no charge yields no fee, as long as its plan has any such charge.
 *
 * @throws Refusal 404 subscription; 422 events, code
 */
export async function estimateInstantFeesOfBatch(ctx: Context, { body }: { body: EstimatedEvents }) {
  const sent = Array.isArray(body.events) ? (body.events as unknown[]) : [];
  if (sent.length === 0) throw refuse.invalid({ events: ['no_events'] });
  if (sent.length > ctx.config.EVENTS_BATCH_MAX_LENGTH) throw refuse.invalid({ events: ['too_many_events'] });
  return { fees: (await feesOf(ctx, readEvents(sent))).flat() };
}

/** @throws Refusal 422 by the index of the event */
function readEvents(sent: readonly unknown[]): EstimatedEvent[] {
  const read = sent.map((each) => EstimatedEvent.safeParse(unwrapped(each)));
  const faults = read.flatMap(({ error }, index) => (error ? [[index, refuseIssues(error).body.error_details]] : []));
  if (faults.length > 0) throw refuse.invalid(Object.fromEntries(faults));
  return read.flatMap(({ data }) => (data ? [data] : []));
}

// An item that is not an event lacks everything that an event needs.
function unwrapped(item: unknown): object {
  const event = isObject(item) ? (item.event ?? item) : {};
  return isObject(event) ? event : {};
}

const isObject = (value: unknown): value is { event?: object } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function feesOf(ctx: Context, events: readonly EstimatedEvent[]) {
  const externalIds = [...new Set(events.map((event) => event.external_subscription_id))];
  const subscriptions = await coveringSubscriptions(ctx, externalIds);
  const planIds = [...new Set([...subscriptions.values()].map((subscription) => subscription.plan_id))];
  const ofPlans = await listPricedCharges(ctx, planIds, { pause: ctx.pause });
  const charges = ofPlans.filter(isInstant);
  for (const { plan_id } of subscriptions.values()) {
    if (!charges.some((charge) => charge.plan_id === plan_id))
      throw refuse.invalid({ code: ['does_not_match_an_instant_charge'] });
  }
  return events.map((event) => {
    const subscription = subscriptions.get(event.external_subscription_id)!;
    return charges
      .filter((charge) => charge.plan_id === subscription.plan_id && charge.metric.code === event.code)
      .map((charge) => feeOf(subscription, charge, event));
  });
}

const isInstant = ({ pay_in_advance, charge_model }: PricedCharge): boolean =>
  pay_in_advance && (charge_model === 'standard' || charge_model === 'percentage');

function feeOf(subscription: EstimatedSubscription, charge: PricedCharge, event: EstimatedEvent) {
  const { metric } = charge;
  const texts = Object.fromEntries(Object.entries(event.properties).map(([key, value]) => [key, propertyText(value)]));
  const declared = Object.fromEntries(metric.filters.map(({ key, values }) => [key, values]));
  const filter = filterChooser(charge.filters, declared)(texts);
  const fee = priced(charge, filter?.properties ?? charge.properties, unitsOf(metric.field_name, texts), subscription);
  const currency = subscription.plan_amount_currency;
  const preciseAmount = fee.preciseAmount.times(charge.conversion_rate ?? ONE).toNumber();
  return {
    svc_id: null,
    svc_charge_id: charge.id,
    svc_charge_filter_id: filter?.id ?? null,
    svc_invoice_id: null,
    svc_true_up_fee_id: null,
    svc_true_up_parent_fee_id: null,
    svc_subscription_id: subscription.id,
    svc_customer_id: subscription.customer_id,
    external_customer_id: subscription.external_customer_id,
    external_subscription_id: subscription.external_id,
    item: {
      type: 'charge',
      code: metric.code,
      name: metric.name,
      ...present({ description: metric.description }),
      invoice_display_name: charge.invoice_display_name ?? metric.name,
      filters: filter?.values ?? null,
      filter_invoice_display_name: filter ? filterDisplayName(filter) : null,
      svc_item_id: metric.id,
      item_type: 'BillableMetric',
      grouped_by: {},
    },
    amount_cents: fee.amountCents,
    amount_currency: currency,
    precise_amount: preciseAmount,
    precise_total_amount: preciseAmount,
    taxes_amount_cents: 0,
    taxes_precise_amount: 0,
    taxes_rate: 0,
    total_amount_cents: fee.amountCents,
    total_amount_currency: currency,
    units: decimalText(fee.units),
    precise_unit_amount: fee.preciseUnitAmount.toNumber(),
    precise_coupons_amount_cents: '0.0',
    events_count: 1,
    description: null,
    pay_in_advance: true,
    invoiceable: charge.invoiceable,
    payment_status: 'pending',
    created_at: null,
    succeeded_at: null,
    failed_at: null,
    refunded_at: null,
    event_transaction_id: event.transaction_id || randomUUID(),
    amount_details: null,
  };
}

function priced(
  charge: PricedCharge,
  properties: PricedCharge['properties'],
  units: Decimal,
  { plan_amount_currency }: EstimatedSubscription,
) {
  return instantFee({
    charge_model: charge.charge_model as 'standard' | 'percentage',
    properties,
    units,
    metric: charge.metric,
    exponent: exponentOf(plan_amount_currency),
    conversionRate: charge.conversion_rate,
  });
}

/** The number in the metric's field: 0 if it is missing or not a number, 1 for a metric without a field. */
function unitsOf(field: string | null, texts: Record<string, string | null>): Decimal {
  if (field === null) return ONE;
  const text = textUnder(texts, field);
  return text !== null && NUMBER.test(text) ? decimal(text) : ZERO;
}
