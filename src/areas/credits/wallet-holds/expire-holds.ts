import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { ExpiringHolds, earliestHoldExpiry, expireTogether } from './expire-together.ts';

/** Holds of one organization that one job closes in one transaction: each of them announces its end. */
const HOLDS_IN_A_SET = 200;

/**
 * Closes holds whose time is over, in sets of one organization; they stop counting by themselves.
 * Rules: periodic-jobs.md#expire-holds, wallet-holds.md.
 */
export const expireHolds = periodicJob({
  name: 'expire-holds',
  item: ExpiringHolds,
  async select(sql, at, reach, page) {
    const sets = await listExpiredSets(sql, at, reach, page);
    const holds = sets.reduce((sum, { ids }) => sum + ids.length, 0);
    return {
      items: sets.map(({ organization_id, sandbox, ids }) => ({
        organization_id,
        sandbox,
        item: { hold_ids: ids },
        key: ids[0]!,
        resource: { type: 'WalletHold', id: ids[0]! },
      })),
      next: holds < page.limit ? null : sets.at(-1)!.place,
    };
  },
  work: (ctx, item) => expireTogether(ctx, item),
  nextDueAt: (scope) => earliestHoldExpiry(scope),
});

interface ExpiredSet extends Placed {
  organization_id: OrganizationId;
  sandbox: boolean;
  ids: string[];
}

/** Sets of a page of holds; the place of a set is that of its last hold. */
const listExpiredSets = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`hold.organization_id`, db`hold.expires_at, hold.id`);
  return db<ExpiredSet[]>`
    with expired as (
      select hold.organization_id, hold.id, hold.expires_at, ${rows.place}
      from wallet_holds hold
      where hold.status = 'open' and hold.expires_at <= ${at} and ${inReach(db, reach, db`hold.organization_id`)}
        and ${rows.isBehind}
      ${rows.order}
    ), numbered as (
      select *,
        (row_number() over (partition by organization_id order by expires_at, id) - 1) / ${HOLDS_IN_A_SET}::int as set
      from expired
    )
    select numbered.organization_id, organization.sandbox,
      array_agg(numbered.id order by numbered.expires_at, numbered.id) as ids,
      (array_agg(numbered.place order by numbered.expires_at desc, numbered.id desc))[1] as place
    from numbered
    join organizations organization on organization.id = numbered.organization_id
    group by numbered.organization_id, organization.sandbox, numbered.set
    order by numbered.organization_id, numbered.set`;
};
