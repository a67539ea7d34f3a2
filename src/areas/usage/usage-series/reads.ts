import { type Instant, isAfter } from '../../../engine/calendar/instants.ts';
import { usageStartOf } from '../../../engine/calendar/terms.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { type Cents, cents, sumCents } from '../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimalText, sum, ZERO } from '../../../engine/money/decimal.ts';
import { elapsedDays, projectFee } from '../../../engine/pricing/projection.ts';
import { projectionBand } from '../../../engine/pricing/projection-band.ts';
import { shownUnits } from '../../../engine/pricing/usage-fee.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import { findShownByExternalId, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { planWeight } from '../usage/plan-weight.ts';
import { type PricedShare, sharePricer, toCount } from '../usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../usage/priced-charges.ts';
import { selectCharges } from '../usage/select-charges.ts';
import { usagePeriod } from '../usage/subscription-usage.ts';
import { countSteps } from '../usage-counts/count-steps.ts';
import type { CountedShare } from '../usage-counts/request.ts';
import type { UsageSeriesEnvelope, UsageSeriesQuery } from './schema.ts';
import { type Step, stepsOf } from './steps-of-period.ts';

/** How many charges stand apart; the others are summed. */
const MOST_CHARGES = 20;
/** Groups times steps above which a charge is counted and not priced. */
const MOST_PRICED = 20_000;

/** A charge at the ends of the steps that have begun, with the state at the first one's beginning in front. */
interface ChargeSeries {
  charge: PricedCharge;
  /** Null where units come from more single events than a series may read. */
  ends: ChargeAtEnd[] | null;
  /** Its shares at the last end; null where their prices need more single events than a series may read. */
  last: PricedShare[] | null;
  isPartial: boolean;
}

interface ChargeAtEnd {
  units: Decimal;
  /** Null where it is counted and not priced. */
  amountCents: Cents | null;
  /** Units by `keyOf` of a share. */
  unitsOf: ReadonlyMap<string, Decimal>;
}

/**
 * Current usage of a subscription as it stood at the end of each step: counted with the events before it, and priced by
 * the code of the invoice. At most six round trips, whatever the number of charges, groups and steps; every event is
 * read at most once.
 *
 * @throws Refusal 404 subscription, charge; 422 from, to, step
 * Rule: console-reads.md#usage-series.
 */
export async function showUsageSeries(
  ctx: Context,
  { external_id, query }: { external_id: ExternalSubscriptionId; query: UsageSeriesQuery },
): Promise<UsageSeriesEnvelope> {
  const subscription = await findShownByExternalId(ctx, external_id, 'active');
  if (!subscription) throw refuse.notFound('subscription');
  const { external_customer_id: externalCustomerId } = subscription;
  await ctx.heavy?.admit(`series ${external_id}`, () =>
    planWeight(ctx, { externalCustomerId, externalId: external_id }),
  );
  const proration = usagePeriod(subscription, ctx.now());
  const steps = stepsOf(query, proration.period, proration.zone, ctx.now());
  const all = await listPricedCharges(ctx, [subscription.plan_id], { pause: ctx.pause });
  const charges = selectCharges(all, query.charge_code === undefined ? {} : { charge_code: query.charge_code });
  const begun = steps.filter((step) => !isAfter(step.from, ctx.now()));
  const series = await seriesOf(ctx, subscription, charges, proration, begun);
  const shown = series
    .map((each) => shownSeries(each, steps.length))
    .sort(
      (a, b) => (b.cumulative_amount_cents[begun.length - 1] ?? 0) - (a.cumulative_amount_cents[begun.length - 1] ?? 0),
    );
  const totals = steps.map((_step, index) => totalAt(shown, index));
  return {
    usage_series: {
      external_subscription_id: subscription.external_id,
      currency: subscription.plan_amount_currency,
      step: query.step,
      steps: steps.map(({ name }) => name),
      charges:
        shown.length <= MOST_CHARGES
          ? shown
          : [...shown.slice(0, MOST_CHARGES), rest(shown.slice(MOST_CHARGES), steps)],
      cumulative_amount_cents: totals,
      projection: projectionOf(ctx, series, { proration, subscription, begun, isByDay: query.step === 'day' }),
    },
  };
}

/** Counts each charge once, and prices it at the beginning of the first step and at the end of each. */
async function seriesOf(
  ctx: Context,
  subscription: SubscriptionShown,
  charges: readonly PricedCharge[],
  proration: Proration,
  steps: readonly Step[],
): Promise<ChargeSeries[]> {
  if (charges.length === 0 || steps.length === 0) return [];
  const { period } = proration;
  const opensWithStart = usageStartOf(subscription).equals(period.from);
  const startedAs = subscription.is_heir && opensWithStart ? subscription.id : undefined;
  // The step of now is counted to the end of the period, as current usage is: events may be ahead of their time.
  const ends: Instant[] = [
    steps[0]!.from,
    ...steps.map(({ to }, index) => (index === steps.length - 1 && isAfter(to, ctx.now()) ? period.to : to)),
  ];
  const asked = charges.map((charge) => {
    const whole = toCount(charge, { subscription, proration, startedAs });
    return { ...whole, presentationKeys: [], window: { ...whole.window, to: ends.at(-1)! } };
  });
  const counted = await countSteps(ctx, asked, { ends, pause: ctx.pause });
  const exponent = exponentOf(subscription.plan_amount_currency as Currency);
  const isEmpty = (end: number) => end === 0 && ends[0]!.equals(period.from);
  return mapInSlices(
    counted,
    async ({ at, hasValues }, n): Promise<ChargeSeries> => {
      const charge = charges[n]!;
      const priced = sharePricer(charge, exponent);
      const isPriced = at !== null && hasValues && at.at(-1)!.length * ends.length <= MOST_PRICED;
      return {
        charge,
        ends:
          at &&
          (await mapInSlices(
            at,
            (shares, end) => atEnd(charge, isEmpty(end) ? [] : shares, isPriced ? priced : null),
            ctx.pause,
          )),
        last: at && hasValues ? await mapInSlices(at.at(-1)!, priced, ctx.pause) : null,
        isPartial: !isPriced,
      };
    },
    ctx.pause,
  );
}

/** The figures of a charge at one end, without amounts where it is not priced. */
function atEnd(
  { metric }: PricedCharge,
  shares: readonly CountedShare[],
  priced: ((share: CountedShare) => PricedShare) | null,
): ChargeAtEnd {
  const fees = priced && shares.map((share) => priced(share).fee);
  const units = fees?.map((fee) => fee.units) ?? shares.map((usage) => shownUnits({ usage, metric }));
  return {
    units: sum(units),
    amountCents: fees && sumCents(fees.map(({ amountCents }) => amountCents)),
    unitsOf: new Map(shares.map((share, n) => [keyOf(share), units[n]!])),
  };
}

const keyOf = ({ filterId, groupedBy }: Pick<CountedShare, 'filterId' | 'groupedBy'>): string =>
  JSON.stringify([filterId, groupedBy]);

type ShownCharge = UsageSeriesEnvelope['usage_series']['charges'][number];

function shownSeries({ charge, ends, isPartial }: ChargeSeries, steps: number): ShownCharge {
  const shown = <Figure>(figure: (end: ChargeAtEnd, before: ChargeAtEnd) => Figure): (Figure | null)[] =>
    Array.from({ length: steps }, (_, step) => {
      const [before, end] = [ends?.[step], ends?.[step + 1]];
      return before && end ? figure(end, before) : null;
    });
  return {
    charge_code: charge.code,
    billable_metric_code: charge.metric.code,
    units: shown((end, before) => decimalText(end.units.minus(before.units))),
    cumulative_units: shown(({ units }) => decimalText(units)),
    amount_cents: shown(({ amountCents }, before) =>
      amountCents === null || before.amountCents === null ? null : amountCents - before.amountCents,
    ),
    cumulative_amount_cents: shown(({ amountCents }) => amountCents),
    is_partial: isPartial,
  };
}

const totalAt = (shown: readonly ShownCharge[], index: number): number | null =>
  shown.length > 0 && shown.every(({ cumulative_amount_cents }) => cumulative_amount_cents[index] !== null)
    ? shown.reduce((total, each) => total + each.cumulative_amount_cents[index]!, 0)
    : null;

/** Charges beyond the first twenty as one: their units are of different kinds and cannot be summed. */
function rest(others: readonly ShownCharge[], steps: readonly Step[]): ShownCharge {
  const added = (key: 'amount_cents' | 'cumulative_amount_cents') =>
    steps.map((_step, index) =>
      others.every((each) => each[key][index] !== null)
        ? others.reduce((total, each) => total + each[key][index]!, 0)
        : null,
    );
  return {
    charge_code: null,
    billable_metric_code: null,
    units: steps.map(() => null),
    cumulative_units: steps.map(() => null),
    amount_cents: added('amount_cents'),
    cumulative_amount_cents: added('cumulative_amount_cents'),
    is_partial: others.some(({ is_partial }) => is_partial),
  };
}

/**
 * The projection of current usage, and what the least and the greatest of the last days would make of it; null where a
 * charge has too many single events.
 */
function projectionOf(
  ctx: Context,
  series: readonly ChargeSeries[],
  {
    proration,
    subscription,
    begun,
    isByDay,
  }: { proration: Proration; subscription: SubscriptionShown; begun: readonly Step[]; isByDay: boolean },
) {
  if (series.some(({ last }) => last === null)) return { amount_cents: null, low_cents: null, high_cents: null };
  const elapsed = elapsedDays(proration.period, ctx.now(), proration.zone);
  const exponent = exponentOf(subscription.plan_amount_currency as Currency);
  let [amount, low, high] = [0, 0, 0];
  let hasBand = isByDay;
  for (const { charge, ends, last } of series)
    for (const share of last ?? []) {
      const terms = {
        charge_model: charge.charge_model,
        properties: (share.filter ?? charge).properties,
        recurring: charge.metric.recurring,
        exponent,
        conversionRate: charge.conversion_rate,
      };
      const { amountCents } = projectFee(share.fee, terms, elapsed);
      const daily = dailyUnits(ends ?? [], keyOf(share.counted), begun.length - 1);
      const band = projectionBand(share.fee, terms, { daily, daysLeft: elapsed.of - elapsed.days }, amountCents);
      amount += amountCents;
      hasBand &&= band !== undefined;
      low += band?.lowCents ?? 0;
      high += band?.highCents ?? 0;
    }
  return {
    amount_cents: cents(amount),
    low_cents: hasBand ? cents(low) : null,
    high_cents: hasBand ? cents(high) : null,
  };
}

/** Units of one share on each complete day: today is none yet. */
function dailyUnits(ends: readonly ChargeAtEnd[], key: string, complete: number): Decimal[] {
  const at = (day: number) => ends[day]?.unitsOf.get(key) ?? ZERO;
  return Array.from({ length: Math.max(0, complete) }, (_, day) => at(day + 1).minus(at(day)));
}
