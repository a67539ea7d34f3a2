import type { Temporal } from 'temporal-polyfill';
import type { HoldStatus } from '../../../engine/credits/wallet-hold.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, WalletHoldId, WalletId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';

export interface HoldRow {
  id: WalletHoldId;
  wallet_id: WalletId;
  /** Status by the clock: a hold past its time is expired whether it was marked or not. */
  status: HoldStatus;
  amount_cents: Cents;
  /** What could be held when the amount was last set. */
  available_cents: Cents;
  settled_amount_cents: Cents | null;
  currency: string;
  reference: string | null;
  external_subscription_id: ExternalSubscriptionId | null;
  event_transaction_id: string | null;
  settlement_digest: Uint8Array | null;
  /** Settled with an event that the ongoing balance does not contain yet. */
  awaits_refresh: boolean;
  expires_at: Temporal.Instant;
  created_at: Temporal.Instant;
  closed_at: Temporal.Instant | null;
}

const statusAt = (db: Db, now: Temporal.Instant) =>
  db`case when hold.status = 'open' and hold.expires_at <= ${now} then 'expired' else hold.status end`;

/** The columns of a hold, from the tables `hold` and `wallet`. */
export const holdColumns = (db: Db, now: Temporal.Instant) => db`
  hold.id, hold.wallet_id, ${statusAt(db, now)} as status, hold.amount_cents, hold.available_cents,
  hold.settled_amount_cents, wallet.currency, hold.reference, hold.external_subscription_id, hold.event_transaction_id,
  hold.settlement_digest, hold.awaits_refresh, hold.expires_at, hold.created_at, coalesce(hold.closed_at, case
    when hold.expires_at <= ${now} then hold.expires_at end) as closed_at`;

const tables = (db: Db) => db`
  wallet_holds hold
  join wallets wallet on wallet.organization_id = hold.organization_id and wallet.id = hold.wallet_id`;

/** The holds of the wallet among some ids, as of `now`. */
export const findHolds = async (
  { db, organizationId }: Scope,
  { walletId, ids }: { walletId: WalletId; ids: readonly string[] },
  now: Temporal.Instant,
): Promise<HoldRow[]> =>
  ids.some(isUuid)
    ? db<HoldRow[]>`
        select ${holdColumns(db, now)} from ${tables(db)}
        where hold.organization_id = ${organizationId} and hold.wallet_id = ${walletId}
          and hold.id = any (${ids.filter(isUuid)}::uuid[])`
    : [];

export interface HoldFilters {
  walletId: WalletId;
  statuses?: readonly HoldStatus[] | undefined;
}

const matching = ({ db, organizationId }: Scope, { walletId, statuses }: HoldFilters, now: Temporal.Instant) => db`
  hold.organization_id = ${organizationId} and hold.wallet_id = ${walletId}
  ${statuses === undefined ? db`` : db`and ${statusAt(db, now)} = any (${statuses})`}`;

/** A page of the holds of a wallet, newest first. */
export const listHolds = (
  scope: Scope,
  filters: HoldFilters,
  { now, page }: { now: Temporal.Instant; page: Page },
) => scope.db<HoldRow[]>`
  select ${holdColumns(scope.db, now)} from ${tables(scope.db)} where ${matching(scope, filters, now)}
  order by hold.created_at desc, hold.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countHolds(scope: Scope, filters: HoldFilters, now: Temporal.Instant): Promise<number> {
  const [row] = await scope.db<{ count: number }[]>`
    select count(*) from ${tables(scope.db)} where ${matching(scope, filters, now)}`;
  return row!.count;
}
