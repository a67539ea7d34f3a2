import type { Instant } from '../../../engine/calendar/instants.ts';
import { isBefore } from '../../../engine/calendar/instants.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { filterChooser, type Texts, textUnder } from '../../../engine/metrics/choose-filter.ts';
import { type GroupedBy, groupKeys, groupOf, TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { type EventUnits, eventUnits, uniqueChange } from '../../../engine/metrics/running-record.ts';
import { operationOf } from '../../../engine/metrics/usage-event.ts';
import { type Decimal, decimal, ONE, ZERO } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import { eventAmountExponent } from '../../../engine/pricing/dynamic.ts';
import { inAdvanceFee } from '../../../engine/pricing/in-advance-fee.ts';
import type { Usage } from '../../../engine/pricing/priced.ts';
import type { UsageFee } from '../../../engine/pricing/usage-fee.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { meteredText } from '../../catalog/usage-shapes/numeric-properties.ts';
import { listNewestRecords } from '../in-advance-records/in-advance-records.ts';
import { toCount } from '../usage/price-usage.ts';
import type { PricedCharge, PricedFilter } from '../usage/priced-charges.ts';
import { countUsage } from '../usage-counts/count-usage.ts';
import type { CountedShare } from '../usage-counts/request.ts';

/** An event to be priced. */
export interface EventToPrice {
  /** Id of a stored event; undefined for an estimated one. */
  id?: EventId;
  timestamp: Instant;
  /** Texts of its properties. */
  texts: Texts;
  preciseTotalAmountCents: Decimal | null;
}

/** The subscription of the event, and the charges period that holds it. */
export interface EventContext {
  subscription: {
    id: SubscriptionId;
    external_id: string;
    previous_subscription_id: SubscriptionId | null;
    is_heir: boolean;
  };
  startedAt: Instant;
  proration: Proration;
  exponent: number;
}

/** One event under one charge. */
export interface EventPriced {
  charge: PricedCharge;
  /** Undefined is the default bucket. */
  filter: PricedFilter | undefined;
  /** As fees show it. */
  groupedBy: GroupedBy;
  /** As running records distinguish it. */
  group: GroupedBy;
  /** Change of the units in use. */
  change: Decimal;
  event: EventUnits;
  /** Usage up to and including the event, not rounded, and the event's own amount in the main unit. */
  usage: Usage;
  ownAmount: Decimal;
  /** Whether anything of the group was billed before in the period. */
  billedBefore: boolean;
  fee: UsageFee;
}

/** Filter and group in which an event counts under a charge. */
export interface Bucket {
  charge: PricedCharge;
  filter: PricedFilter | undefined;
  /** Null values are groups of their own. */
  group: GroupedBy;
  /** Number or text that the metric aggregates. */
  value: string | null;
}

/**
 * Prices one event under each of some charges in advance that count it, without storing anything. A charge whose metric
 * cannot aggregate the event is left out. Three round trips at most, whatever the number of charges.
 *
 * Rule: in-advance.md#units-of-one-event.
 */
export async function priceEvent(
  scope: Scope,
  context: EventContext,
  { event, charges }: { event: EventToPrice; charges: readonly PricedCharge[] },
): Promise<EventPriced[]> {
  const buckets = charges.flatMap((charge) => bucketOf(charge, event));
  if (buckets.length === 0) return [];
  const { external_id: externalId } = context.subscription;
  const [counted, records] = await Promise.all([
    countUsage(scope.db, {
      organizationId: scope.organizationId,
      charges: buckets.flatMap((bucket, n) => toCountBefore(bucket, n, context, event)),
    }),
    listNewestRecords(
      scope,
      buckets.map(({ charge, filter, group }) => ({
        external_subscription_id: externalId,
        charge_id: charge.id,
        charge_filter_id: filter?.id ?? null,
        grouped_by: group,
        period: context.proration.period,
      })),
    ),
  ]);
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  return buckets.map((bucket, n): EventPriced => {
    const { charge, filter } = bucket;
    const before = shareOf(bucket, sharesOf.get(`${n}`)!);
    const member = sharesOf.get(`${n}-member`);
    const isActive = member !== undefined && !(shareOf(bucket, member)?.units ?? ZERO).isZero();
    const change = changeBy(bucket, event, isActive);
    const units = eventUnits(
      change,
      records[n],
      charge.prorated ? { at: event.timestamp, proration: context.proration } : undefined,
    );
    const denomination = { exponent: context.exponent, conversionRate: charge.conversion_rate };
    const { properties } = filter ?? charge;
    const amountExponent = eventAmountExponent(properties, denomination);
    const own = toMainUnit(event.preciseTotalAmountCents ?? ZERO, amountExponent);
    const usage = usageIncluding(bucket, before, {
      change,
      ownAmountInMainUnit: own,
      exponent: amountExponent,
    });
    const carried = sharesOf.get(`${n}-carried`);
    const carriedEvents = (carried && shareOf(bucket, carried)?.eventsCount) ?? 0;
    const billedBefore = carriedEvents > 0 || !(records[n]?.max ?? ZERO).isZero();
    const fee = inAdvanceFee({
      charge_model: charge.charge_model,
      properties,
      usage,
      event: { ...units, preciseTotalAmount: own, billedBefore },
      ...denomination,
    });
    const group = { groupedBy: shownGroup(bucket), group: bucket.group };
    return { charge, filter, ...group, change, event: units, usage, ownAmount: own, billedBefore, fee };
  });
}

/** The filter and group of an event; undefined if the metric cannot aggregate it. */
export function bucketOf(charge: PricedCharge, { texts }: Pick<EventToPrice, 'texts'>): Bucket[] {
  const { aggregation_type: type, field_name: field } = charge.metric;
  const text = field === null ? null : textUnder(texts, field);
  const value = type === 'sum_agg' ? meteredText(text) : text;
  if (type !== 'count_agg' && (value === null || value.trim() === '')) return [];
  const declared = Object.fromEntries(charge.metric.filters.map(({ key, values }) => [key, values]));
  const filter = filterChooser(charge.filters, declared)(texts);
  const keys = groupKeys((filter ?? charge).properties, { acceptsTargetWallet: charge.accepts_target_wallet });
  return [{ charge, filter, group: groupOf(keys, texts), value }];
}

/**
 * The usage before the event; for a unique count whether its value is in use, and for a renewed charge the units
 * carried into the period.
 */
function toCountBefore(bucket: Bucket, n: number, context: EventContext, event: EventToPrice) {
  const { charge, group, value } = bucket;
  const { period } = context.proration;
  const from = isBefore(event.timestamp, period.from) ? event.timestamp : period.from;
  const upTo: Period = { from, to: event.timestamp.add({ microseconds: 1 }) };
  const only = Object.fromEntries(
    Object.entries(group).flatMap(([key, text]) => (text === null ? [] : [[key, [text]] as const])),
  );
  const usage = {
    subscription: context.subscription,
    proration: { ...context.proration, period: upTo },
    ...(context.subscription.is_heir && context.startedAt.equals(period.from)
      ? { startedAs: context.subscription.id }
      : {}),
    // Events of the same instant with a greater id come after it.
    replacedBy: event.id ?? newId(),
  };
  // Charges in advance bill full units: the increase is weighted by days, not the stock.
  const unweighed = { ...charge, prorated: false };
  const before = toCount(unweighed, { ...usage, only }, `${n}`);
  const asked = [before];
  if (charge.metric.recurring) {
    const opening = { ...context.proration, period: { from: period.from, to: period.from } };
    asked.push(toCount(unweighed, { subscription: context.subscription, proration: opening, only }, `${n}-carried`));
  }
  if (charge.metric.aggregation_type !== 'unique_count_agg') return asked;
  const member = { ...only, [charge.metric.field_name!]: [value!] };
  return [...asked, toCount(unweighed, { ...usage, only: member }, `${n}-member`)];
}

/** The share of the event's filter with the event's group. Keys fixed by the request are not in it. */
const shareOf = ({ filter, group }: Bucket, shares: readonly CountedShare[]): CountedShare | undefined =>
  shares.find(
    (share) =>
      share.filterId === (filter?.id ?? null) &&
      Object.entries(share.groupedBy).every(([key, text]) => group[key] === text),
  );

function changeBy({ charge, value }: Bucket, { texts }: EventToPrice, isActive: boolean): Decimal {
  if (charge.metric.aggregation_type === 'sum_agg') return decimal(value!);
  if (charge.metric.aggregation_type === 'count_agg') return ONE;
  return uniqueChange(operationOf(textUnder(texts, 'operation_type')), isActive);
}

function usageIncluding(
  { charge }: Bucket,
  before: CountedShare | undefined,
  { change, ownAmountInMainUnit, exponent }: { change: Decimal; ownAmountInMainUnit: Decimal; exponent: number },
): Usage {
  const aggregation = charge.metric.aggregation_type;
  const units = (before?.units ?? ZERO).plus(change);
  const former = before?.preciseTotalAmountCents;
  return {
    aggregation,
    units,
    eventsCount: aggregation === 'unique_count_agg' ? units.toNumber() : (before?.eventsCount ?? 0) + 1,
    ...(before?.values === undefined ? {} : { values: [...before.values, change] }),
    ...(former === undefined ? {} : { preciseTotalAmount: toMainUnit(former, exponent).plus(ownAmountInMainUnit) }),
  };
}

/** A target wallet is shown only when the event names one. Rule: groups-and-filters.md#groups. */
export const shownGroup = ({ charge, group }: Pick<Bucket, 'charge' | 'group'>): GroupedBy =>
  charge.accepts_target_wallet && group[TARGET_WALLET_KEY] === null
    ? Object.fromEntries(Object.entries(group).filter(([key]) => key !== TARGET_WALLET_KEY))
    : group;
