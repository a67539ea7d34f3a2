import type { Temporal } from 'temporal-polyfill';
import { dayEnd, dayStart, localDate } from '../../../../engine/calendar/local-day.ts';
import { type Period, period } from '../../../../engine/calendar/period.ts';
import type { Proration } from '../../../../engine/metrics/proration.ts';
import { AmountOutOfRange, type Cents, cents } from '../../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../../engine/money/currency.ts';
import { type Decimal, sum } from '../../../../engine/money/decimal.ts';
import { type NextUnit, nextUnitOf } from '../../../../engine/pricing/next-unit.ts';
import { type Elapsed, elapsedDays, projectedBand, projectFee } from '../../../../engine/pricing/projection.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CustomerId } from '../../../../platform/ids.ts';
import { isUuid } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { listShown, type SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { listPricedCharges, type PricedCharge } from '../../../usage/usage/priced-charges.ts';
import { byMetricName } from '../../../usage/usage/select-charges.ts';
import {
  amountOf,
  type ChargeUsage,
  usageOfSeveral,
  usagePeriod,
  type WantedUsage,
} from '../../../usage/usage/subscription-usage.ts';

/** Units of one local day. */
export interface UsageDay {
  on: Temporal.PlainDate;
  units: Decimal;
}

export interface ChargeStanding {
  id: string;
  name: string;
  units: Decimal;
  amountCents: Cents;
  projectedCents: Cents;
  projectedUnits: Decimal;
  /** Lowest and highest by the last days; without days both are the projection. */
  band: { lowCents: Cents; highCents: Cents };
  /** Null where usage is split by filters or groups, or priced event by event. */
  next: NextUnit | null;
  /** Null where days do not sum up to the usage. */
  days: readonly UsageDay[] | null;
}

/** Usage of a subscription in its running period, and what it may come to. */
export interface UsageStanding {
  subscription: SubscriptionShown;
  proration: Proration;
  elapsed: Elapsed;
  charges: readonly ChargeStanding[];
  amountCents: Cents;
  projectedCents: Cents;
  lowCents: Cents;
  highCents: Cents;
}

/** How many days a chart has at most: of a longer period the last ones. */
const MOST_DAYS = 31;
/** How many complete days tell the lowest and highest day. */
const BAND_DAYS = 7;
/** Aggregations of which days have figures of their own. */
const BY_DAY = new Set(['count_agg', 'sum_agg', 'unique_count_agg', 'max_agg']);

/**
 * A subscription of a customer by the id in an address. One statement.
 *
 * @throws Refusal 404, of any other
 */
export async function getOwnSubscription(ctx: Context, customerId: CustomerId, id: string): Promise<SubscriptionShown> {
  const [found] = isUuid(id) ? await listShown(ctx, [id]) : [];
  if (found?.customer_id !== customerId) throw refuse.notFound('subscription');
  return found;
}

/**
 * Usage of active subscriptions in the requested order, in six statements at most and one for each with charges billed
 * in advance; null where an amount overflows.
 *
 * byDay  with the units of each day, of these charges in the order of their names
 */
export async function readUsage(
  ctx: Context,
  active: readonly SubscriptionShown[],
  { subject, byDay }: { subject: string; byDay?: { from: number; to: number } },
): Promise<UsageStanding[] | null> {
  if (active.length === 0) return [];
  const planIds = [...new Set(active.map(({ plan_id }) => plan_id))];
  const charges = await listPricedCharges(ctx, planIds, { pause: ctx.pause });
  const wanted = active.map((subscription) => ({
    subscription,
    charges: charges.filter(({ plan_id }) => plan_id === subscription.plan_id).sort(byMetricName),
    proration: usagePeriod(subscription, ctx.now()),
  }));
  const shown = (all: readonly PricedCharge[]) => (byDay ? all.slice(byDay.from, byDay.to) : []);
  const days = wanted.flatMap((each) => wantedDays({ ...each, charges: shown(each.charges) }, ctx.now()));
  await ctx.heavy?.admit(subject, async () => [...wanted, ...days].reduce((total, each) => total + weightOf(each), 0));
  try {
    const usage = await usageOfSeveral(ctx, [...wanted, ...days.map(({ day: _, ...each }) => each)]);
    const ofDays = days.map(({ day, subscription }, n) => ({ day, subscription, usage: usage[wanted.length + n]! }));
    return wanted.map((each, n) =>
      standingOf(
        each,
        usage[n]!,
        ofDays.filter(({ subscription }) => subscription === each.subscription),
        ctx.now(),
      ),
    );
  } catch (error) {
    if (error instanceof AmountOutOfRange) return null;
    throw error;
  }
}

const weightOf = ({ charges }: WantedUsage): number =>
  charges.reduce((total, { filters }) => total + 1 + filters.length, 0);

const hasDays = ({ metric, prorated }: PricedCharge): boolean =>
  BY_DAY.has(metric.aggregation_type) && !metric.recurring && !prorated;

/** A charge of which only the units matter: no event is read for its price. */
const unpriced = (charge: PricedCharge): PricedCharge => ({
  ...charge,
  charge_model: 'standard',
  pay_in_advance: false,
  pricing_unit: null,
  conversion_rate: null,
  properties: { ...charge.properties, amount: '0' },
  filters: charge.filters.map((filter) => ({ ...filter, properties: { ...filter.properties, amount: '0' } })),
});

/** The days of a period up to now, as usage to be counted. */
function wantedDays({ subscription, charges, proration }: WantedUsage, now: Temporal.Instant) {
  const { zone, period: whole } = proration;
  const counted = charges.filter(hasDays).map(unpriced);
  if (counted.length === 0) return [];
  return daysOf(whole, zone, now).map(({ on, during }) => ({
    day: on,
    subscription,
    charges: counted,
    proration: { ...proration, period: during },
  }));
}

/** The local days of a period up to now, the last MOST_DAYS of them; its first and last may be cut. */
function daysOf({ from, to }: Period, zone: string, now: Temporal.Instant) {
  const last = localDate(earlier(now, to.subtract({ microseconds: 1 })), zone);
  const first = localDate(from, zone);
  const days: { on: Temporal.PlainDate; during: Period }[] = [];
  for (let on = last; days.length < MOST_DAYS && on.toString() >= first.toString(); on = on.subtract({ days: 1 }))
    days.unshift({ on, during: period(later(dayStart(on, zone), from), earlier(dayEnd(on, zone), to)) });
  return days;
}

const earlier = (a: Temporal.Instant, b: Temporal.Instant) => (a.epochNanoseconds < b.epochNanoseconds ? a : b);
const later = (a: Temporal.Instant, b: Temporal.Instant) => (a.epochNanoseconds > b.epochNanoseconds ? a : b);

interface CountedDay {
  day: Temporal.PlainDate;
  usage: readonly ChargeUsage[];
}

function standingOf(
  { subscription, proration }: WantedUsage,
  usage: readonly ChargeUsage[],
  days: readonly CountedDay[],
  now: Temporal.Instant,
): UsageStanding {
  const elapsed = elapsedDays(proration.period, now, proration.zone);
  const exponent = exponentOf(subscription.plan_amount_currency as Currency);
  const charges = usage.map((each) => chargeStanding(each, { elapsed, exponent, days }));
  const total = (centsOf: (each: ChargeStanding) => number) =>
    cents(charges.reduce((sumOfCents, each) => sumOfCents + centsOf(each), 0));
  return {
    subscription,
    proration,
    elapsed,
    charges,
    amountCents: amountOf(usage),
    projectedCents: total(({ projectedCents }) => projectedCents),
    lowCents: total(({ band }) => band.lowCents),
    highCents: total(({ band }) => band.highCents),
  };
}

function chargeStanding(
  { charge, shares }: ChargeUsage,
  { elapsed, exponent, days }: { elapsed: Elapsed; exponent: number; days: readonly CountedDay[] },
): ChargeStanding {
  const priced = shares.map((share) => ({
    fee: share.fee,
    terms: {
      charge_model: charge.charge_model,
      properties: (share.filter ?? charge).properties,
      recurring: charge.metric.recurring,
      exponent,
      conversionRate: charge.conversion_rate,
    },
  }));
  const projected = priced.map(({ fee, terms }) => projectFee(fee, terms, elapsed));
  const [only] = priced;
  const isWhole = shares.length === 1 && charge.filters.length === 0;
  const unitsOfDays = days.flatMap(({ day, usage }): UsageDay[] => {
    const own = usage.find((each) => each.charge.id === charge.id);
    return own ? [{ on: day, units: sum(own.shares.map(({ fee }) => fee.units)) }] : [];
  });
  // Today is not over.
  const complete = unitsOfDays.slice(0, -1).slice(-BAND_DAYS);
  const projectedCents = totalCents(projected);
  const band =
    isWhole && charge.metric.aggregation_type !== 'max_agg' && charge.metric.aggregation_type !== 'unique_count_agg'
      ? projectedBand(only!.fee, only!.terms, { elapsed, days: complete.map(({ units }) => units) })
      : undefined;
  return {
    id: charge.id,
    name: charge.invoice_display_name || charge.metric.name,
    units: sum(shares.map(({ fee }) => fee.units)),
    amountCents: amountOf([{ charge, shares }]),
    projectedCents,
    projectedUnits: sum(projected.map(({ units }) => units)),
    band: {
      lowCents: band?.low.amountCents ?? projectedCents,
      highCents: band?.high.amountCents ?? projectedCents,
    },
    next:
      isWhole && charge.pricing_unit === null && !charge.prorated
        ? (nextUnitOf(charge.charge_model, charge.properties, only!.fee.units) ?? null)
        : null,
    days: unitsOfDays.length > 0 ? unitsOfDays : null,
  };
}

const totalCents = (parts: readonly { amountCents: Cents }[]): Cents =>
  cents(parts.reduce((total, { amountCents }) => total + amountCents, 0));
