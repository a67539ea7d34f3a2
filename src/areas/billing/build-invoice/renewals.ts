import { periodHolding } from '../../../engine/calendar/grid.ts';
import { later } from '../../../engine/calendar/instants.ts';
import { dayStart, daysPeriod, localDate } from '../../../engine/calendar/local-day.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { gridsOf, startOf } from '../../../engine/calendar/terms.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { isStored } from '../../../engine/pricing/usage-fee.ts';
import type { Context } from '../../../platform/context.ts';
import { priceShares, toCount } from '../../usage/usage/price-usage.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import { countUsage } from '../../usage/usage-counts/count-usage.ts';
import { type LineFee, usageLineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';

/**
 * The charges period that a line pays for when units are carried into it: the one that starts on the day of a periodic
 * run, or, when the line starts a subscription after a downgrade, the one that holds this day. In whole local days.
 *
 * Rule: in-advance.md#units-of-one-event "billed at each period start".
 */
export function renewedPeriod({
  subscription,
  reason,
  at,
  zone,
  windows,
  predecessor,
}: BilledLine): Period | undefined {
  const today = localDate(at, zone);
  const range = periodHolding(gridsOf(subscription, subscription, zone).charges, today);
  const period = daysPeriod(range.first, range.last, zone);
  if (reason === 'subscription_periodic')
    return windows.charges !== null && range.first.equals(today) ? period : undefined;

  const takesOver =
    reason === 'subscription_starting' &&
    predecessor === 'downgrade' &&
    localDate(startOf(subscription), zone).equals(today);
  return takesOver ? { from: later(period.from, dayStart(today, zone)), to: period.to } : undefined;
}

/** Whether a charge bills the units of its recurring metric again when a period starts. */
export const isRenewed = (charge: PricedCharge): boolean => charge.pay_in_advance && charge.metric.recurring;

/**
 * Fees of the units that lines carry into the period that starts, in full and not weighted by days: of invoiceable
 * charges they belong to the invoice of the line, of others they stand alone and are stored even when they are 0.
 *
 * Rules: in-advance.md#units-of-one-event, usage-fees.md#dates, usage-fees.md#when-a-fee-is-stored,
 * invoice-amounts.md#order-of-computation.
 */
export async function renewalFees(
  ctx: Context,
  lines: readonly BilledLine[],
  charges: readonly PricedCharge[],
  kind: 'invoiceable' | 'standalone',
): Promise<LineFee[]> {
  const asked = lines.flatMap((line) => {
    const period = renewedPeriod(line);
    if (period === undefined) return [];
    return charges
      .filter((charge) => charge.plan_id === line.subscription.plan_id && isRenewed(charge))
      .filter((charge) => charge.invoiceable === (kind === 'invoiceable'))
      .map((charge) => ({ line, charge, period }));
  });
  if (asked.length === 0) return [];
  const counted = await countUsage(ctx.db, {
    organizationId: ctx.organizationId,
    charges: asked.map(({ line, charge, period }, index) =>
      toCount(
        { ...charge, prorated: false },
        {
          subscription: line.subscription,
          proration: {
            period: { from: period.from, to: period.from },
            periodDays: line.windows.chargesDurationDays,
            zone: line.zone,
            isUpgraded: false,
          },
        },
        String(index),
      ),
    ),
  });
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  return asked.flatMap(({ line, charge, period }, index) =>
    priceShares(charge, sharesOf.get(String(index)) ?? [], exponentOf(line.subscription.amount_currency))
      .filter((share) => kind === 'standalone' || isStored(share.fee))
      .map((share) => ({
        ...usageLineFee(line, charge, share, period),
        countedUntil: period.from,
        ...(kind === 'standalone' ? { inAdvance: { invoiceable: false } } : {}),
      })),
  );
}
