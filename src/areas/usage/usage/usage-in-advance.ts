import { type GroupedBy, groupKeys } from '../../../engine/metrics/group-values.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { proratedUsageInAdvance, type RunningRecord, usageInAdvance } from '../../../engine/metrics/running-record.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeFilterId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { listNewestRecords } from '../in-advance-records/in-advance-records.ts';
import type { CountedShare, WantedTexts } from '../usage-counts/request.ts';
import type { PricedCharge } from './priced-charges.ts';

/** Counted usage of a charge. */
export interface CountedUsage {
  charge: PricedCharge;
  shares: readonly CountedShare[];
}

/** Counted usage of charges of a subscription in a period, and the texts to which it is restricted. */
export interface CountedOfSubscription {
  externalSubscriptionId: ExternalSubscriptionId;
  proration: Proration;
  usage: readonly CountedUsage[];
  /** For several groups together no record says what was billed. */
  only?: WantedTexts | undefined;
}

/**
 * Usage of charges billed in advance: it shows the net units and prices what was billed in the period, so that units
 * given back do not lower the amount. Usage of other charges is unchanged. One statement for all, none without such a
 * charge.
 *
 * Rule: in-advance.md#units-of-one-event "current usage".
 */
export async function withBilledInAdvance(
  scope: Scope,
  counted: readonly CountedOfSubscription[],
): Promise<(readonly CountedUsage[])[]> {
  const keys = counted.flatMap(({ externalSubscriptionId, proration, usage, only = {} }) =>
    usage.flatMap(({ charge, shares }) =>
      charge.pay_in_advance
        ? shares.map(({ filterId, groupedBy }) => ({
            external_subscription_id: externalSubscriptionId,
            charge_id: charge.id,
            charge_filter_id: filterId,
            grouped_by: { ...fixedGroup(charge, filterId, only), ...groupedBy },
            period: proration.period,
          }))
        : [],
    ),
  );
  if (keys.length === 0) return counted.map(({ usage }) => usage);
  const records = await listNewestRecords(scope, keys);
  return counted.map(({ usage, proration }) =>
    usage.map(({ charge, shares }) =>
      charge.pay_in_advance
        ? { charge, shares: shares.map((share) => billedShare(charge, share, records.shift(), proration)) }
        : { charge, shares },
    ),
  );
}

/** The group keys that the restriction fixes to one value; records distinguish them too. */
function fixedGroup(charge: PricedCharge, filterId: ChargeFilterId | null, only: WantedTexts): GroupedBy {
  const { properties } = charge.filters.find(({ id }) => id === filterId) ?? charge;
  const keys = groupKeys(properties, { acceptsTargetWallet: charge.accepts_target_wallet });
  return Object.fromEntries(
    keys.flatMap((key) =>
      Object.hasOwn(only, key) && only[key]!.length === 1 ? [[key, only[key]![0]!] as const] : [],
    ),
  );
}

function billedShare(
  charge: PricedCharge,
  share: CountedShare,
  former: RunningRecord | undefined,
  proration: Proration,
): CountedShare {
  if (!charge.prorated) return { ...share, ...usageInAdvance(share.units, former) };
  const { units, fullUnits = units } = share;
  return { ...share, ...proratedUsageInAdvance({ units, fullUnits }, former, proration) };
}
