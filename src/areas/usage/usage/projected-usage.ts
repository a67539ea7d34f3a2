import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { type Elapsed, elapsedDays, projectFee, projectUnits } from '../../../engine/pricing/projection.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { present } from '../../../platform/schema/view.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import { periodView, unpricedOf, usageInProgress } from './current-usage.ts';
import type { PricedShare } from './price-usage.ts';
import type { PricedCharge } from './priced-charges.ts';
import type { ProjectedUsageQuery } from './schema.ts';
import { chargeUsageView, type ShownShare, shownShare } from './view.ts';

/**
 * Current usage and its projection to the end of the period if usage continues at the same rate. Each filter and group
 * is projected separately, so that the parts sum to the whole. Round trips and refusals are those of current usage.
 *
 * Rule: usage-reads.md#projected-usage.
 */
export async function showProjectedUsage(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: ProjectedUsageQuery },
) {
  const inProgress = await usageInProgress(ctx, external_customer_id, { ...query, full_usage: undefined });
  const { subscription, proration, usage, totals } = inProgress;
  const currency = subscription.plan_amount_currency;
  const elapsed = elapsedDays(proration.period, ctx.now(), proration.zone);
  const exponent = exponentOf(currency as Currency);
  const { pause } = ctx;
  const projected = async ({ charge, shares }: (typeof usage)[number]) => {
    const own = await mapInSlices(shares, (share) => projectedShare(charge, share, elapsed, exponent), pause);
    return {
      ...(await chargeUsageView(charge, own, currency, { keys: query.filter_by_presentation, pause })),
      ...unpricedOf(charge, inProgress.unpriced),
    };
  };
  const charges = await mapInSlices(usage, projected, pause);
  return {
    customer_projected_usage: {
      ...periodView(inProgress),
      ...totals,
      projected_amount_cents: charges.reduce((total, each) => total + (each.projected_amount_cents ?? 0), 0),
      // Unlike in current usage a missing name has no key here.
      charges_usage: charges.map(({ charge, ...each }) => ({ ...each, charge: present(charge) })),
    },
  };
}

function projectedShare(charge: PricedCharge, share: PricedShare, elapsed: Elapsed, exponent: number): ShownShare {
  const shown = shownShare(share);
  const { recurring } = charge.metric;
  const { units, amountCents, pricingUnitAmountCents } = projectFee(
    share.fee,
    {
      charge_model: charge.charge_model,
      properties: (share.filter ?? charge).properties,
      recurring,
      exponent,
      conversionRate: charge.conversion_rate,
    },
    elapsed,
  );
  const presented = recurring
    ? shown.presented
    : shown.presented.map((each) => ({ ...each, units: projectUnits(each.units, elapsed) }));
  return { ...shown, projected: { units, amountCents, pricingUnitCents: pricingUnitAmountCents, presented } };
}
