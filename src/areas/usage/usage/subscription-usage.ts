import { type Instant, later } from '../../../engine/calendar/instants.ts';
import { period } from '../../../engine/calendar/period.ts';
import { startOf, usageStartOf } from '../../../engine/calendar/terms.ts';
import { lineWindows } from '../../../engine/calendar/windows.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { type Cents, sumCents } from '../../../engine/money/cents.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { countUsage } from '../usage-counts/count-usage.ts';
import type { WantedTexts } from '../usage-counts/request.ts';
import { type PricedShare, sharePricer, toCount } from './price-usage.ts';
import { listPricedCharges, type PricedCharge } from './priced-charges.ts';
import { withBilledInAdvance } from './usage-in-advance.ts';

export interface ChargeUsage {
  charge: PricedCharge;
  shares: PricedShare[];
}

/**
 * The charges period of a subscription that holds `at` and its days; with `isWhole` it opens with the subscription.
 *
 * Rule: usage-reads.md#current-usage "computation".
 */
export function usagePeriod(subscription: SubscriptionShown, at: Instant, isWhole = false): Proration {
  const { zone } = subscription;
  const start = startOf(subscription);
  const windows = lineWindows({ plan: subscription, subscription, zone, at: later(at, start), mode: 'current' });
  const window = windows.charges!; // mode current always has it
  return {
    period: isWhole ? period(usageStartOf(subscription), window.to) : window,
    periodDays: windows.chargesDurationDays,
    zone,
    isUpgraded: false,
  };
}

/**
 * Charges of a subscription over a period; `only` names property texts of which the events must have one under each
 * key.
 */
export interface WantedUsage {
  subscription: SubscriptionShown;
  charges: readonly PricedCharge[];
  proration: Proration;
  only?: WantedTexts | undefined;
}

/** Usage of charges of a subscription over a period: `usageOfSeveral` of one. */
export async function usageOf(
  ctx: Context,
  subscription: SubscriptionShown,
  charges: readonly PricedCharge[],
  period: Pick<WantedUsage, 'proration' | 'only'>,
): Promise<ChargeUsage[]> {
  const [usage] = await usageOfSeveral(ctx, [{ subscription, charges, ...period }]);
  return usage!;
}

/**
 * Usage of subscriptions in the requested order, counted and priced as an invoice at the end of each period would;
 * nothing is stored. Two round trips at most, one more with charges billed in advance, whatever the number of
 * subscriptions, charges, filters and groups.
 */
export async function usageOfSeveral(ctx: Context, wanted: readonly WantedUsage[]): Promise<ChargeUsage[][]> {
  const askedOf = ({ subscription, charges, proration, only }: WantedUsage, n: number) => {
    const opensWithStart = usageStartOf(subscription).equals(proration.period.from);
    const startedAs = subscription.is_heir && opensWithStart ? subscription.id : undefined;
    const usage = { subscription, proration, startedAs, only };
    return mapInSlices(charges, (charge) => toCount(charge, usage, keyOf(n, charge)), ctx.pause);
  };
  const asked = (await mapInSlices(wanted, askedOf, ctx.pause)).flat();
  if (asked.length === 0) return wanted.map(() => []);
  const counted = await countUsage(ctx.db, {
    organizationId: ctx.organizationId,
    charges: asked,
    pause: ctx.pause,
  });
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  const billedOf = await withBilledInAdvance(
    ctx,
    wanted.map(({ subscription, charges, proration, only }, n) => ({
      externalSubscriptionId: subscription.external_id,
      proration,
      usage: charges.map((charge) => ({ charge, shares: sharesOf.get(keyOf(n, charge)) ?? [] })),
      only,
    })),
  );
  return Promise.all(
    wanted.map(async ({ subscription }, n) => {
      const exponent = exponentOf(subscription.plan_amount_currency as Currency);
      const billed = billedOf[n]!;
      const priced = async ({ charge, shares }: (typeof billed)[number]) => ({
        charge,
        shares: await mapInSlices(shares, sharePricer(charge, exponent), ctx.pause),
      });
      return mapInSlices(billed, priced, ctx.pause);
    }),
  );
}

/** Key of a charge of one of several subscriptions, which may have the same plan. */
const keyOf = (n: number, charge: PricedCharge): string => `${n}-${charge.id}`;

/** All usage of the charges period that holds `at`: four round trips at most. */
export async function wholeUsageOf(ctx: Context, subscription: SubscriptionShown, at: Instant): Promise<ChargeUsage[]> {
  const charges = await listPricedCharges(ctx, [subscription.plan_id], { pause: ctx.pause });
  return usageOf(ctx, subscription, charges, { proration: usagePeriod(subscription, at) });
}

/** The amount of usage without taxes. */
export const amountOf = (usage: readonly ChargeUsage[]): Cents =>
  sumCents(usage.flatMap(({ shares }) => shares.map(({ fee }) => fee.amountCents)));
