import { randomUUID } from 'node:crypto';
import { later } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { startOf, usageStartOf } from '../../../engine/calendar/terms.ts';
import { lineWindows } from '../../../engine/calendar/windows.ts';
import { type Draft, newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { evaluateExpression } from '../../../engine/metrics/evaluate-expression.ts';
import { parseExpression } from '../../../engine/metrics/parse-expression.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { AmountOutOfRange, sumCents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal, ZERO } from '../../../engine/money/decimal.ts';
import { own } from '../../../engine/own.ts';
import type { CollectedTaxes } from '../../../engine/taxes/provider/collect-taxes.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type BillableMetricRow, billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import { feeView } from '../../invoices/fees/view.ts';
import { type EventPriced, priceEvent } from '../../usage/in-advance/price-event.ts';
import { listHeldTaxes, taxesOfFee } from '../../usage/usage/fee-taxes.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { collectedByFee, NOTHING } from '../request-taxes/answered-taxes.ts';
import { documentOf, readDocumentFacts } from '../request-taxes/documents.ts';
import { estimateTaxes } from '../tax-engines/estimate-taxes.ts';
import { estimatedFeeRow } from './fee-row.ts';
import type { EstimatedEvent } from './schema.ts';
import { coveringSubscriptions, type EstimatedSubscription } from './subscriptions.ts';

/** No engine keeps a document of this id. */
const ESTIMATED_ID = 'svc:estimate';
const FLOAT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*$/;
const AMOUNT = /^[+-]?\d{1,25}(\.\d+)?$/;

/**
 * What an event sent now would cost under each charge that is paid in advance, with its taxes, based on the stored
 * events. Nothing is stored.
 *
 * @throws Refusal 404 subscription, billable_metric; 422 timestamp, properties, expression, code; tax_error of the
 *   engine that taxes the customer
 * Rules: estimates.md#fees, tax-engines.md#when-an-engine-is-asked.
 */
export async function estimateFees(ctx: Context, { body: event }: { body: EstimatedEvent }) {
  if (event.external_subscription_id.trim() === '') throw refuse.notFound('subscription');
  const subscriptions = await coveringSubscriptions(ctx, [event.external_subscription_id]);
  const subscription = subscriptions.get(event.external_subscription_id)!;
  if (!isNumber(event.timestamp)) throw refuse.invalid({ timestamp: ['invalid_format'] });
  const [metric, ofPlan] = await Promise.all([
    findRow(ctx, billableMetrics, event.code),
    listPricedCharges(ctx, [subscription.plan_id], { pause: ctx.pause }),
  ]);
  if (!metric) throw refuse.notFound('billable_metric');
  const properties = checkedProperties(ctx, metric, event);
  const charges = ofPlan.filter((charge) => charge.pay_in_advance && charge.metric.id === metric.id);
  if (charges.length === 0) throw refuse.invalid({ code: ['does_not_match_an_instant_charge'] });

  const window = windowNow(ctx, subscription);
  const [priced, held] = await Promise.all([
    priceOrRefuse(
      priceEvent(
        ctx,
        {
          subscription,
          startedAt: usageStartOf(subscription),
          proration: { ...window, zone: subscription.zone, isUpgraded: false },
          exponent: exponentOf(subscription.plan_amount_currency),
        },
        {
          event: {
            timestamp: ctx.now(),
            texts: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, propertyText(value)])),
            preciseTotalAmountCents: amountOf(event.precise_total_amount_cents),
          },
          charges,
        },
      ),
    ),
    listHeldTaxes(ctx, {
      chargeIds: charges.map(({ id }) => id),
      planIds: [subscription.plan_id],
      customerId: subscription.customer_id,
      billingEntityId: subscription.customer_billing_entity_id,
    }),
  ]);
  const collected = await collectedByEngine(ctx, subscription, priced);
  const draft = taxed(priced, (charge) => ({
    taxes: taxesOfFee(held, 'charge', { chargeId: charge.id, planId: subscription.plan_id }),
    ...(collected ? { collected: collected.get(charge.id) ?? NOTHING } : {}),
  }));
  const transactionId = event.transaction_id || randomUUID();
  return {
    fees: priced.map((each, index) => {
      const row = estimatedFeeRow(subscription, each, {
        taxes: draft.fees[index]!,
        window: window.period,
        transactionId,
        now: ctx.now(),
      });
      const { amount_details: _details, applied_taxes: _taxes, ...shown } = feeView(row);
      return { ...shown, svc_id: null, created_at: null };
    }),
  };
}

const isNumber = (timestamp: unknown): boolean =>
  timestamp === undefined ||
  timestamp === null ||
  (typeof timestamp === 'number' && Number.isFinite(timestamp)) ||
  (typeof timestamp === 'string' && FLOAT.test(timestamp));

const amountOf = (text: string): Decimal => (AMOUNT.test(text.trim()) ? decimal(text.trim()) : ZERO);

/** Properties of the event, with what the metric's expression gives. */
function checkedProperties(
  ctx: Context,
  { aggregation_type, field_name, expression }: BillableMetricRow,
  event: EstimatedEvent,
): Record<string, unknown> {
  const { properties } = event;
  const isNumeric =
    aggregation_type === 'max_agg' || aggregation_type === 'sum_agg' || aggregation_type === 'latest_agg';
  const text = field_name === null ? null : propertyText(own(properties, field_name));
  if (isNumeric && text !== null && !FLOAT.test(text))
    throw refuse.invalid({ properties: ['value_is_not_valid_number'] });
  const parsed = expression === null ? undefined : parseExpression(expression);
  if (!parsed || field_name === null) return properties;
  const evaluated = evaluateExpression(parsed, {
    code: event.code,
    timestamp: Math.floor(ctx.now().epochMilliseconds / 1000),
    properties,
  });
  if (!evaluated.ok) throw refuse.invalid({ expression: [`expression_evaluation_failed: ${evaluated.reason}`] });
  return { ...properties, [field_name]: evaluated.value };
}

/** The charges period in progress and the days of the full one. */
function windowNow(ctx: Context, subscription: EstimatedSubscription) {
  const at = later(ctx.now(), startOf(subscription));
  const windows = lineWindows({ plan: subscription, subscription, zone: subscription.zone, at, mode: 'current' });
  return { period: windows.charges!, periodDays: windows.chargesDurationDays }; // mode current always has it
}

/** The caller sets units and prices, so an amount that overflows is refused. */
async function priceOrRefuse(priced: Promise<EventPriced[]>): Promise<EventPriced[]> {
  try {
    return await priced;
  } catch (error) {
    if (error instanceof AmountOutOfRange) throw refuse.invalid({ base: ['value_is_out_of_range'] });
    throw error;
  }
}

/** What the engine that taxes the customer would collect, by charge; undefined if none does. */
async function collectedByEngine(
  ctx: Context,
  { customer_id, customer_billing_entity_id, plan_amount_currency: currency }: EstimatedSubscription,
  priced: readonly EventPriced[],
): Promise<Map<string, CollectedTaxes> | undefined> {
  const facts = await readDocumentFacts(ctx, customer_id, customer_billing_entity_id);
  if (!facts) return undefined;
  const fees = priced
    .filter(({ fee }) => fee.amountCents > 0)
    .map(({ charge, fee }) => ({
      id: charge.id,
      fee_type: 'charge' as const,
      item_code: charge.metric.code,
      units: fee.units,
      amount_cents: fee.amountCents,
      precise_amount_cents: fee.preciseAmountCents,
      precise_coupons_amount_cents: ZERO,
    }));
  if (fees.length === 0) return new Map();
  const date = localDate(ctx.now(), facts.timezone);
  const netTotalCents = sumCents(fees.map(({ amount_cents }) => amount_cents));
  const document = documentOf(facts, { id: ESTIMATED_ID, date, currency }, { fees, netTotalCents });
  const organization = { id: ctx.organizationId, sandbox: ctx.sandbox };
  const { answer } = await estimateTaxes(ctx, organization, { integrationId: facts.integration_id, document });
  return collectedByFee(document, answer);
}

const taxed = (
  priced: readonly EventPriced[],
  taxesOf: (charge: PricedCharge) => Pick<Draft['fees'][number], 'taxes' | 'collected'>,
): Draft =>
  computeInvoice(
    newDraft({
      invoiceType: 'subscription',
      isFinalizing: false,
      keepsZeroAmount: true,
      fees: priced.map(({ charge, fee }) => ({
        key: charge.id,
        amountCents: fee.amountCents,
        preciseAmountCents: fee.preciseAmountCents,
        ...taxesOf(charge),
      })),
    }),
  );
