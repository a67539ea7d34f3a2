import { later } from '../../engine/calendar/instants.ts';
import { localDate } from '../../engine/calendar/local-day.ts';
import { lastInstant, period, shownEnd, shownStart } from '../../engine/calendar/period.ts';
import { startOf } from '../../engine/calendar/terms.ts';
import { lineWindows } from '../../engine/calendar/windows.ts';
import { newDraft } from '../../engine/invoices/draft.ts';
import { computeInvoice } from '../../engine/invoices/steps.ts';
import type { Proration } from '../../engine/metrics/proration.ts';
import { type Currency, exponentOf } from '../../engine/money/currency.ts';
import type { Context } from '../../platform/context.ts';
import { refuse } from '../../platform/refusal.ts';
import { seconds } from '../../platform/schema/view.ts';
import { getCustomer } from '../customers/queries.ts';
import { findActiveOfCustomer, type SubscriptionShown } from '../subscriptions/queries.ts';
import { countUsage } from '../usage-counts/count-usage.ts';
import { listHeldTaxes, taxesOfFee } from './fee-taxes.ts';
import { type PricedShare, priceShares, toCount } from './price-usage.ts';
import { listPricedCharges, type PricedCharge } from './priced-charges.ts';
import type { CurrentUsageQuery } from './schema.ts';
import { chargeUsageView } from './view.ts';

export interface ChargeUsage {
  charge: PricedCharge;
  shares: PricedShare[];
}

/**
 * Usage of a subscription in its charges period in progress, priced as an invoice at the period's end would, and nothing
 * stored. Six round trips at most, whatever the number of charges, filters and groups.
 *
 * @throws Refusal 404 customer, charge; 405 no_active_subscription, full_usage_not_allowed
 * Rule: usage-and-charges G.1.
 */
export async function showCurrentUsage(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: string; query: CurrentUsageQuery },
) {
  const customer = await getCustomer(ctx.db, ctx.organizationId, external_customer_id);
  const subscription = await activeSubscription(ctx, customer.id, query.external_subscription_id);
  const charges = selectCharges(await listPricedCharges(ctx.db, ctx.organizationId, [subscription.plan_id]), query);
  const proration = prorationOf(ctx, subscription, charges, query);
  const window = proration.period;
  const [usage, held] = await Promise.all([
    priceUsage(ctx, subscription, charges, proration, query),
    query.apply_taxes === false
      ? []
      : listHeldTaxes(ctx.db, ctx.organizationId, {
          chargeIds: charges.map(({ id }) => id),
          planIds: [subscription.plan_id],
          customerId: customer.id,
          billingEntityId: customer.billing_entity_id,
        }),
  ]);
  const draft = computeInvoice(
    newDraft({
      invoiceType: 'subscription',
      isFinalizing: false,
      keepsZeroAmount: true,
      fees: usage.flatMap(({ charge, shares }) =>
        shares.map(({ fee }, index) => ({
          key: `${charge.id}-${index}`,
          amountCents: fee.amountCents,
          preciseAmountCents: fee.preciseAmountCents,
          taxes: taxesOfFee(held, 'charge', { chargeId: charge.id, planId: subscription.plan_id }),
        })),
      ),
    }),
  );
  return {
    customer_usage: {
      from_datetime: seconds(shownStart(window)),
      to_datetime: seconds(shownEnd(window)),
      issuing_date: localDate(lastInstant(window), subscription.zone).toString(),
      svc_invoice_id: null,
      currency: subscription.plan_amount_currency,
      amount_cents: draft.feesAmountCents,
      taxes_amount_cents: draft.taxesAmountCents,
      total_amount_cents: draft.totalAmountCents,
      charges_usage: usage.map((each) => chargeUsageView(each, subscription.plan_amount_currency)),
    },
  };
}

async function activeSubscription(
  ctx: Context,
  customerId: string,
  externalId: string | undefined,
): Promise<SubscriptionShown> {
  const subscription =
    externalId === undefined
      ? undefined
      : await findActiveOfCustomer(ctx.db, ctx.organizationId, customerId, externalId);
  if (!subscription) throw refuse.notAllowed('no_active_subscription');
  return subscription;
}

/** The first parameter that is there restricts the charges; sorted by name of their metric. */
function selectCharges(charges: readonly PricedCharge[], query: CurrentUsageQuery): PricedCharge[] {
  const id = query.charge_id ?? query.filter_by_charge_id;
  const code = query.charge_code ?? query.filter_by_charge_code;
  const metric = query.billable_metric_code ?? query.filter_by_metric_code;
  const fits = (charge: PricedCharge): boolean => {
    if (id !== undefined) return charge.id === id;
    if (code !== undefined) return charge.code === code;
    return metric === undefined || charge.metric.code === metric;
  };
  const selected = charges.filter(fits);
  if (selected.length === 0 && isRestricted(query)) throw refuse.notFound('charge');
  const nameOf = ({ metric: { name } }: PricedCharge) => name.toLowerCase();
  return selected.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}

const isRestricted = (query: CurrentUsageQuery): boolean =>
  [
    query.charge_id,
    query.filter_by_charge_id,
    query.charge_code,
    query.filter_by_charge_code,
    query.billable_metric_code,
    query.filter_by_metric_code,
  ].some((value) => value !== undefined);

/** The charges period in progress and its days; with `full_usage` it opens with the subscription. */
function prorationOf(
  ctx: Context,
  subscription: SubscriptionShown,
  charges: readonly PricedCharge[],
  query: CurrentUsageQuery,
): Proration {
  const { zone } = subscription;
  const at = later(ctx.now(), startOf(subscription));
  const windows = lineWindows({ plan: subscription, subscription, zone, at, mode: 'current' });
  const window = windows.charges!; // mode current always has it
  const proration = { period: window, periodDays: windows.chargesDurationDays, zone, isUpgraded: false };
  if (query.full_usage !== true) return proration;
  const isNarrowed = isRestricted(query) || groupOf(query) !== undefined;
  if (!isNarrowed || charges.some((charge) => charge.prorated)) throw refuse.notAllowed('full_usage_not_allowed');
  return { ...proration, period: period(startOf(subscription), window.to) };
}

const groupOf = (query: CurrentUsageQuery) => query.group ?? query.filter_by_group;

async function priceUsage(
  ctx: Context,
  subscription: SubscriptionShown,
  charges: readonly PricedCharge[],
  proration: Proration,
  query: CurrentUsageQuery,
): Promise<ChargeUsage[]> {
  if (charges.length === 0) return [];
  const opensWithStart = startOf(subscription).equals(proration.period.from);
  const startedAs = subscription.is_heir && opensWithStart ? subscription.id : undefined;
  const usage = { subscription, proration, startedAs, only: groupOf(query) };
  const counted = await countUsage(ctx.db, {
    organizationId: ctx.organizationId,
    charges: charges.map((charge) => toCount(charge, usage)),
  });
  const exponent = exponentOf(subscription.plan_amount_currency as Currency);
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  return charges.map((charge) => ({ charge, shares: priceShares(charge, sharesOf.get(charge.id) ?? [], exponent) }));
}
