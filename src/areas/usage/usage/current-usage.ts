import { localDate } from '../../../engine/calendar/local-day.ts';
import { lastInstant, shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { newDraft } from '../../../engine/invoices/draft.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, ExternalCustomerId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { findActiveOfCustomer, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { countWaitingCalls } from '../unpriced-events/count-waiting.ts';
import { computeInSlices } from './compute-in-slices.ts';
import { listHeldTaxes, taxesOfFee } from './fee-taxes.ts';
import { planWeight } from './plan-weight.ts';
import type { PricedShare } from './price-usage.ts';
import { listPricedCharges, type PricedCharge } from './priced-charges.ts';
import type { CurrentUsageQuery } from './schema.ts';
import { isRestricted, selectCharges } from './select-charges.ts';
import { type ChargeUsage, usageOf, usagePeriod } from './subscription-usage.ts';
import { chargeUsageView, shownShare } from './view.ts';

/** Usage of a subscription in progress, with its totals as an invoice. */
export interface UsageInProgress {
  subscription: SubscriptionShown;
  proration: Proration;
  usage: ChargeUsage[];
  /** Calls of language models without an amount, by code; none where no charge is dynamic. */
  unpriced: ReadonlyMap<string, number>;
  totals: {
    amount_cents: number;
    taxes_amount_cents: number;
    total_amount_cents: number;
  };
}

/**
 * Usage of a subscription in its charges period in progress, priced as an invoice at the period's end would price it,
 * without storing anything. Six round trips at most, whatever the number of charges, filters and groups; nothing is
 * cached, so an accepted event shows in the next read.
 *
 * @throws Refusal 404 customer, charge; 405 no_active_subscription, full_usage_not_allowed
 * Rule: usage-reads.md#current-usage.
 */
export async function showCurrentUsage(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: CurrentUsageQuery },
) {
  const inProgress = await usageInProgress(ctx, external_customer_id, query);
  const { plan_amount_currency: currency } = inProgress.subscription;
  const { totals, usage } = inProgress;
  const shown = { keys: query.filter_by_presentation, pause: ctx.pause };
  return {
    customer_usage: {
      ...periodView(inProgress),
      ...totals,
      charges_usage: await mapInSlices(
        usage,
        async ({ charge, shares }) => ({
          ...(await chargeUsageView(charge, await mapInSlices(shares, shownShare, ctx.pause), currency, shown)),
          ...unpricedOf(charge, inProgress.unpriced),
        }),
        ctx.pause,
      ),
    },
  };
}

const isDynamic = ({ charge_model: model }: Pick<PricedCharge, 'charge_model'>): boolean => model === 'dynamic';

/** How many calls of a dynamic charge have no amount, where there are some. Rule: price-book.md#unknown-models. */
export function unpricedOf(charge: PricedCharge, unpriced: UsageInProgress['unpriced']): { unpriced_events?: number } {
  const events = isDynamic(charge) ? (unpriced.get(charge.metric.code) ?? 0) : 0;
  return events === 0 ? {} : { unpriced_events: events };
}

/** The fields of a usage answer that name its period. */
export const periodView = ({ subscription, proration }: Pick<UsageInProgress, 'subscription' | 'proration'>) => ({
  from_datetime: seconds(shownStart(proration.period)),
  to_datetime: seconds(shownEnd(proration.period)),
  issuing_date: localDate(lastInstant(proration.period), subscription.zone).toString(),
  svc_invoice_id: null,
  currency: subscription.plan_amount_currency,
});

/** Common parts of current and projected usage: finding, counting, pricing, taxing. */
export async function usageInProgress(
  ctx: Context,
  externalCustomerId: ExternalCustomerId,
  query: CurrentUsageQuery,
): Promise<UsageInProgress> {
  const subject = JSON.stringify([externalCustomerId, query.external_subscription_id]);
  const [customer] = await Promise.all([
    getCustomer(ctx, externalCustomerId),
    admit(ctx, subject, externalCustomerId, query.external_subscription_id),
  ]);
  const subscription = await activeSubscription(ctx, customer.id, query.external_subscription_id);
  const allCharges = await listPricedCharges(ctx, [subscription.plan_id], { pause: ctx.pause });
  const charges = selectCharges(allCharges, query);
  const only = query.group ?? query.filter_by_group;
  if (query.full_usage === true) {
    const isNarrowed = isRestricted(query) || only !== undefined;
    if (!isNarrowed || charges.some((charge) => charge.prorated)) throw refuse.notAllowed('full_usage_not_allowed');
  }
  const proration = usagePeriod(subscription, ctx.now(), query.full_usage);
  const [usage, held, unpriced] = await Promise.all([
    usageOf(ctx, subscription, charges, { proration, only }),
    query.apply_taxes === false
      ? []
      : listHeldTaxes(ctx, {
          chargeIds: charges.map(({ id }) => id),
          planIds: [subscription.plan_id],
          customerId: customer.id,
          billingEntityId: customer.billing_entity_id,
        }),
    charges.some(isDynamic)
      ? countWaitingCalls(ctx, { subscription: query.external_subscription_id, ...proration.period })
      : new Map<string, number>(),
  ]);
  const ofPlan = allCharges.reduce((total, { filters }) => total + 1 + filters.length, 0);
  const ofUsage = usage.reduce((total, { shares }) => total + shares.length, 0);
  ctx.heavy?.weighed(subject, Math.max(ofPlan, ofUsage));
  // A fee of zero changes no total, and with hundreds of filters most fees are zero.
  const feesOf = async ({ charge, shares }: ChargeUsage) => {
    const taxes = taxesOfFee(held, 'charge', { chargeId: charge.id, planId: subscription.plan_id });
    const feeOf = ({ fee: { amountCents, preciseAmountCents } }: PricedShare, index: number) =>
      amountCents !== 0 || !preciseAmountCents.isZero()
        ? [{ key: `${charge.id}-${index}`, amountCents, preciseAmountCents, taxes }]
        : [];
    return (await mapInSlices(shares, feeOf, ctx.pause)).flat();
  };
  const draft = await computeInSlices(
    newDraft({
      invoiceType: 'subscription',
      isFinalizing: false,
      keepsZeroAmount: true,
      fees: (await mapInSlices(usage, feesOf, ctx.pause)).flat(),
    }),
    ctx.pause,
  );
  return {
    subscription,
    proration,
    usage,
    unpriced,
    totals: {
      amount_cents: draft.feesAmountCents,
      taxes_amount_cents: draft.taxesAmountCents,
      total_amount_cents: draft.totalAmountCents,
    },
  };
}

/** Waits for the organization's turn when the subscription's usage is heavy to read. */
async function admit(
  ctx: Context,
  subject: string,
  externalCustomerId: ExternalCustomerId,
  externalId: string,
): Promise<void> {
  await ctx.heavy?.admit(subject, () => planWeight(ctx, { externalCustomerId, externalId }));
}

async function activeSubscription(
  ctx: Context,
  customerId: CustomerId,
  externalId: string,
): Promise<SubscriptionShown> {
  const subscription = await findActiveOfCustomer(ctx, customerId, externalId);
  if (!subscription) throw refuse.notAllowed('no_active_subscription');
  return subscription;
}
