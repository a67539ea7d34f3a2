import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import type { PeriodicJob, Scope } from '../../platform/periodic-job.ts';
import { type ExpiringHold, earliestHoldExpiry, expireHold } from '../../resources/wallet-holds/expire.ts';
import { inScope } from '../bill-subscriptions/scope.ts';

/** Marks holds whose time is over; they stop counting by themselves. Rules: platform L `expire-holds`, beyond 11.3. */
export const expireHolds: PeriodicJob = {
  name: 'expire-holds',
  select: async (sql, at, scope, limit) =>
    (await listExpiredHolds(sql, at, scope, limit)).map(({ organization_id, sandbox, wallet_id, id }) => ({
      organization_id,
      sandbox,
      item: { wallet_id, hold_id: id } satisfies ExpiringHold,
      key: id,
      resource: { type: 'WalletHold', id },
    })),
  work: (ctx, item) => expireHold(ctx, item as ExpiringHold),
  nextDueAt: (db, organizationId) => earliestHoldExpiry(db, organizationId),
};

interface ExpiredHold {
  organization_id: string;
  sandbox: boolean;
  wallet_id: string;
  id: string;
}

const listExpiredHolds = (db: Db, at: Temporal.Instant, scope: Scope, limit: number) => db<ExpiredHold[]>`
  select hold.organization_id, organization.sandbox, hold.wallet_id, hold.id
  from wallet_holds hold
  join organizations organization on organization.id = hold.organization_id
  where hold.status = 'open' and hold.expires_at <= ${at} and ${inScope(db, scope, db`hold.organization_id`)}
  order by hold.expires_at, hold.id
  limit ${limit}`;
