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

/**
 * Usage of charges billed in advance: it shows the net units and prices what was billed in the period, so that units
 * given back do not lower the amount. Usage of other charges is unchanged. One statement, none without such a charge.
 *
 * only restriction of the usage; for several groups together no record says what was billed
 *
 * Rule: in-advance.md#units-of-one-event "current usage".
 */
export async function withBilledInAdvance(
  scope: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { proration, usage, only = {} }: { proration: Proration; usage: readonly CountedUsage[]; only?: WantedTexts },
): Promise<readonly CountedUsage[]> {
  const keys = usage.flatMap(({ charge, shares }) =>
    charge.pay_in_advance
      ? shares.map(({ filterId, groupedBy }) => ({
          charge_id: charge.id,
          charge_filter_id: filterId,
          grouped_by: { ...fixedGroup(charge, filterId, only), ...groupedBy },
          period: proration.period,
        }))
      : [],
  );
  if (keys.length === 0) return usage;
  const records = await listNewestRecords(scope, externalSubscriptionId, keys);
  return usage.map(({ charge, shares }) =>
    charge.pay_in_advance
      ? { charge, shares: shares.map((share) => billedShare(charge, share, records.shift(), proration)) }
      : { charge, shares },
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
