import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { ExpiringHolds, earliestHoldExpiry, expireTogether } from './expire-together.ts';

/** Holds of one organization that one job closes in one transaction: each of them announces its end. */
const HOLDS_IN_A_SET = 200;

/**
 * Closes holds whose time is over, in sets of one organization; they stop counting by themselves. The first sets of all
 * organizations come before the second ones. Rules: periodic-jobs.md#expire-holds, wallet-holds.md.
 */
export const expireHolds = periodicJob({
  name: 'expire-holds',
  item: ExpiringHolds,
  select: async (sql, at, reach, limit) =>
    (await listExpiredSets(sql, at, reach, limit)).map(({ organization_id, sandbox, ids }) => ({
      organization_id,
      sandbox,
      item: { hold_ids: ids },
      key: ids[0]!,
      resource: { type: 'WalletHold', id: ids[0]! },
    })),
  work: (ctx, item) => expireTogether(ctx, item),
  nextDueAt: (scope) => earliestHoldExpiry(scope),
});

interface ExpiredSet {
  organization_id: OrganizationId;
  sandbox: boolean;
  ids: string[];
}

const listExpiredSets = (db: Db, at: Temporal.Instant, reach: Reach, limit: number) => db<ExpiredSet[]>`
  with expired as (
    select hold.organization_id, hold.id, hold.expires_at
    from wallet_holds hold
    where hold.status = 'open' and hold.expires_at <= ${at} and ${inReach(db, reach, db`hold.organization_id`)}
    order by hold.expires_at, hold.id
    limit ${limit * HOLDS_IN_A_SET}
  ), placed as (
    select *,
      (row_number() over (partition by organization_id order by expires_at, id) - 1) / ${HOLDS_IN_A_SET}::int as set
    from expired
  )
  select placed.organization_id, organization.sandbox, array_agg(placed.id order by placed.expires_at, placed.id) as ids
  from placed
  join organizations organization on organization.id = placed.organization_id
  group by placed.organization_id, organization.sandbox, placed.set
  order by placed.set, min(placed.expires_at), placed.organization_id
  limit ${limit}`;
