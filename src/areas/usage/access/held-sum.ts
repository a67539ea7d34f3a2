import type { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { WalletHoldId, WalletId } from '../../../platform/ids.ts';

/**
 * The held amount of a wallet at `now`, from its row `held` of `wallet_held`: the sum as of `counted_until` without
 * holds that end until `now`. Clocks of processes differ, and a transaction that waited may see an earlier instant than
 * another one; then holds that end in between count again.
 */
export const heldCentsAt = (db: Db, now: Temporal.Instant) => db`(
  held.held_cents
  - ${endingBetween(db, db`held.counted_until`, db`${now}::timestamptz`)}
  + ${endingBetween(db, db`${now}::timestamptz`, db`held.counted_until`)})::bigint`;

type Fragment = ReturnType<Db>;

const endingBetween = (db: Db, after: Fragment, until: Fragment) => db`
  coalesce((select sum(amount_cents) from wallet_holds
    where organization_id = held.organization_id and wallet_id = held.wallet_id and status = 'open'
      and expires_at > ${after} and expires_at <= ${until}), 0)`;

/**
 * Locks the sums of wallets, in one order, so that no two wait for each other: after the wallets, before their holds.
 * It is a separate statement, because a statement that waited for a lock sees other rows in their former state.
 */
export const lockHeld = ({ db, organizationId }: Scope, walletIds: readonly WalletId[]) => db`
  select from wallet_held
  where organization_id = ${organizationId} and wallet_id = any (${walletIds}::uuid[])
  order by wallet_id
  for no key update`;

/**
 * The held amounts of locked wallets at `now`. The instant is stored, so that the next call reads only holds that ended
 * since; the cost does not grow with the number of open holds.
 *
 * Rule: wallet-holds.md "available".
 */
export const countHeld = ({ db, organizationId }: Scope, walletIds: readonly WalletId[], now: Temporal.Instant) => db<
  { wallet_id: WalletId; held_cents: Cents }[]
>`
  update wallet_held held set held_cents = ${heldCentsAt(db, now)}, counted_until = ${now}
  where organization_id = ${organizationId} and wallet_id = any (${walletIds}::uuid[])
  returning wallet_id, held_cents`;

/** Locks the sums of the wallets of some holds, as `lockHeld` does. */
export const lockHeldOfHolds = async (
  { db, organizationId }: Scope,
  holdIds: readonly WalletHoldId[],
): Promise<string[]> =>
  (
    await db<{ wallet_id: WalletId }[]>`
      select wallet_id from wallet_held
      where organization_id = ${organizationId} and wallet_id in (
        select wallet_id from wallet_holds
        where organization_id = ${organizationId} and id = any (${holdIds}::uuid[]))
      order by wallet_id
      for no key update`
  ).map(({ wallet_id }) => wallet_id);
