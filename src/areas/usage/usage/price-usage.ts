import type { Temporal } from 'temporal-polyfill';
import { type GroupedBy, groupKeys } from '../../../engine/metrics/group-values.ts';
import { presentationKeys } from '../../../engine/metrics/presentation.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import { eventAmountExponent } from '../../../engine/pricing/dynamic.ts';
import { eventsNeeded } from '../../../engine/pricing/price.ts';
import { type UsageFee, usageFee } from '../../../engine/pricing/usage-fee.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import type { ChargeToCount, CountedShare, WantedTexts } from '../usage-counts/request.ts';
import type { PricedCharge, PricedFilter } from './priced-charges.ts';

/** The subscription and window of usage. */
export interface Usage {
  subscription: { id: SubscriptionId; external_id: string; previous_subscription_id: SubscriptionId | null };
  /** The window with its days. */
  proration: Proration;
  /** Id of the subscription whose start at `window.from` replaced another one. */
  startedAs?: string | undefined;
  /** Id of the subscription that replaced this one at the window's last instant. */
  replacedBy?: string | undefined;
  /** Only events with one of these texts under each key. */
  only?: WantedTexts | undefined;
}

/**
 * The request to count one charge; `key` identifies it in the answer. Rules: aggregation.md#selecting-events,
 * aggregation.md#recurring, groups-and-filters.md#groups, aggregation.md#weighted-sum.
 */
export function toCount(charge: PricedCharge, usage: Usage, key: string = charge.id) {
  const keysOf = (properties: Properties) => groupKeysOf(charge, properties, usage.only);
  const { subscription, proration } = usage;
  const { from, to } = proration.period;
  const { recurring, aggregation_type } = charge.metric;
  const isRunningTotal = aggregation_type === 'weighted_sum_agg';
  return {
    key,
    externalSubscriptionId: subscription.external_id,
    metric: charge.metric,
    filters: charge.filters.map((filter) => ({
      id: filter.id,
      created_at: filter.created_at,
      values: filter.values,
      groupKeys: keysOf(filter.properties),
    })),
    groupKeys: keysOf(charge.properties),
    presentationKeys: presentationKeys(charge.properties).all,
    window: {
      from: recurring && !isRunningTotal ? null : from,
      to,
      ...(usage.startedAs === undefined ? {} : { startedAs: usage.startedAs }),
      ...(usage.replacedBy === undefined ? {} : { replacedBy: usage.replacedBy }),
    } satisfies { from: Temporal.Instant | null; to: Temporal.Instant; startedAs?: string; replacedBy?: string },
    ...(usage.only === undefined ? {} : { only: usage.only }),
    proration,
    isProrated: charge.prorated,
    ...needsOf(charge),
    ...(recurring && isRunningTotal ? { carriedOver: carriedOver(charge, subscription) } : {}),
  };
}

/** Figures of single events that pricing needs. */
function needsOf(charge: PricedCharge): Pick<ChargeToCount, 'needs' | 'firstValues'> {
  const { charge_model, properties, filters, metric, prorated } = charge;
  if (charge_model === 'dynamic') return { needs: 'amounts' };
  if (prorated && charge_model === 'graduated') return { needs: 'moves' };
  const priced = [properties, ...filters.map((filter) => filter.properties)];
  const needed = priced
    .map((each) => eventsNeeded(charge_model, each, metric.aggregation_type))
    .filter((each) => each !== 'none');
  if (needed.length === 0) return {};
  const firsts = needed.flatMap((each) => (typeof each === 'object' && 'first' in each ? [each.first] : []));
  const areFirst = metric.aggregation_type === 'sum_agg' && firsts.length === needed.length;
  return areFirst ? { firstValues: Math.max(...firsts) } : { needs: 'values' };
}

const carriedOver = (charge: PricedCharge, subscription: Usage['subscription']) => ({
  subscriptionId: subscription.id,
  chargeId: charge.id,
  replacesAnother: subscription.previous_subscription_id !== null,
});

/** Pricing group keys of a charge or of one of its filters, without those that the caller fixed to one value. */
function groupKeysOf(charge: PricedCharge, properties: Properties, only: WantedTexts = {}): string[] {
  const keys = groupKeys(properties, { acceptsTargetWallet: charge.accepts_target_wallet });
  return keys.filter((key) => !Object.hasOwn(only, key));
}

/** A usage fee with its filter and group; filter undefined is the default bucket. */
export interface PricedShare {
  filter: PricedFilter | undefined;
  groupedBy: GroupedBy;
  counted: CountedShare;
  fee: UsageFee;
  /** The running total of a weighted sum, else the units shown. */
  totalUnits: Decimal;
}

/** Prices every share of a charge: those of filters with their own properties, the default bucket with the charge's. */
export const priceShares = (charge: PricedCharge, shares: readonly CountedShare[], exponent: number): PricedShare[] =>
  shares.map(sharePricer(charge, exponent));

/** Prices one share of a charge. */
export function sharePricer(charge: PricedCharge, exponent: number): (counted: CountedShare) => PricedShare {
  const denomination = { exponent, conversionRate: charge.conversion_rate };
  const filters = new Map(charge.filters.map((filter) => [filter.id, filter]));
  return (counted) => {
    const { filterId, groupedBy, totalUnits, preciseTotalAmountCents, ...usage } = counted;
    const filter = filterId === null ? undefined : filters.get(filterId);
    const { properties } = filter ?? charge;
    const amounts =
      preciseTotalAmountCents === undefined
        ? {}
        : { preciseTotalAmount: toMainUnit(preciseTotalAmountCents, eventAmountExponent(properties, denomination)) };
    const fee = usageFee({
      charge_model: charge.charge_model,
      properties,
      usage: { ...usage, ...amounts, aggregation: charge.metric.aggregation_type },
      metric: charge.metric,
      ...denomination,
    });
    return { filter, groupedBy, counted, fee, totalUnits: totalUnits ?? fee.units };
  };
}
