import type { Proration } from '../../engine/metrics/proration.ts';
import { proratedUsageInAdvance, type RunningRecord, usageInAdvance } from '../../engine/metrics/running-record.ts';
import type { Db } from '../../platform/db/connect.ts';
import { listNewestRecords } from '../in-advance/records.ts';
import type { CountedShare } from './price-usage.ts';
import type { PricedCharge } from './priced-charges.ts';

/** Counted usage of a charge. */
export interface CountedUsage {
  charge: PricedCharge;
  shares: readonly CountedShare[];
}

/**
 * Usage of charges billed in advance: shown are the net units, priced is what was billed in the period, so that units given
 * back do not lower it. Usage of other charges stays as it is. One statement, none without such a charge.
 *
 * Rule: usage-and-charges C.10 "current usage".
 */
export async function withBilledInAdvance(
  db: Db,
  organizationId: string,
  externalSubscriptionId: string,
  proration: Proration,
  usage: readonly CountedUsage[],
): Promise<readonly CountedUsage[]> {
  const keys = usage.flatMap(({ charge, shares }) =>
    charge.pay_in_advance
      ? shares.map(({ filterId, groupedBy }) => ({
          charge_id: charge.id,
          charge_filter_id: filterId,
          grouped_by: groupedBy,
          period: proration.period,
        }))
      : [],
  );
  if (keys.length === 0) return usage;
  const records = await listNewestRecords(db, organizationId, externalSubscriptionId, keys);
  return usage.map(({ charge, shares }) =>
    charge.pay_in_advance
      ? { charge, shares: shares.map((share) => billedShare(charge, share, records.shift(), proration)) }
      : { charge, shares },
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
