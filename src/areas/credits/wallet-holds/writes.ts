import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, WalletHoldId, WalletId } from '../../../platform/ids.ts';
import { lockHeld } from '../../usage/access/held-sum.ts';
import { type HoldRow, holdColumns } from './queries.ts';

/** Stores new holds of one wallet. */
export const insertHolds = ({ db, organizationId }: Scope, holds: readonly HoldRow[], now: Temporal.Instant) => db`
  insert into wallet_holds (id, organization_id, wallet_id, status, amount_cents, available_cents, settled_amount_cents,
    reference, external_subscription_id, settlement_digest, expires_at, closed_at, created_at, updated_at)
  select id, ${organizationId}::uuid, wallet_id, status, amount_cents, available_cents, settled_amount_cents,
    reference, external_subscription_id, decode(settlement_digest, 'hex'), expires_at, closed_at, ${now}, ${now}
  from ${rowsOf(db, holds)}`;

/** Stores open holds as they are from now on; one that is no longer open is left alone. */
export const changeHolds = ({ db, organizationId }: Scope, holds: readonly HoldRow[], now: Temporal.Instant) => db`
  update wallet_holds hold set status = row.status, amount_cents = row.amount_cents,
    available_cents = row.available_cents, settled_amount_cents = row.settled_amount_cents,
    event_transaction_id = row.event_transaction_id, settlement_digest = decode(row.settlement_digest, 'hex'),
    awaits_refresh = row.awaits_refresh, expires_at = row.expires_at, closed_at = row.closed_at, updated_at = ${now}
  from ${rowsOf(db, holds)}
  where hold.organization_id = ${organizationId} and hold.id = row.id and hold.status = 'open'`;

const rowsOf = (db: Db, holds: readonly HoldRow[]) => db`
  jsonb_to_recordset(${json(holds.map(jsonOf))}::jsonb) as row (id uuid, wallet_id uuid, status text,
    amount_cents bigint,
    available_cents bigint, settled_amount_cents bigint, reference text, external_subscription_id text,
    event_transaction_id text, settlement_digest text, awaits_refresh boolean, expires_at timestamptz,
    closed_at timestamptz)`;

const jsonOf = (hold: HoldRow) => ({
  ...hold,
  settlement_digest: hold.settlement_digest && Buffer.from(hold.settlement_digest).toString('hex'),
});

/** Expires the holds whose time is over. A hold that is being changed is left to the next run. */
export const closeExpired = ({ db, organizationId }: Scope, ids: readonly WalletHoldId[], now: Temporal.Instant) => db<
  (HoldRow & { customer_id: CustomerId })[]
>`
  update wallet_holds hold set status = 'expired', closed_at = hold.expires_at, updated_at = ${now}
  from wallets wallet
  where hold.organization_id = ${organizationId} and wallet.organization_id = hold.organization_id
    and wallet.id = hold.wallet_id and hold.id = any (array(
      select id from wallet_holds
      where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and status = 'open'
        and expires_at <= ${now}
      order by id
      for update skip locked))
  returning ${holdColumns(db, now)}, wallet.customer_id`;

/** Holds of a customer's wallets that were settled with an event and still count. */
export const listAwaiting = ({ db, organizationId }: Scope, customerId: CustomerId) => db<
  { id: WalletHoldId; wallet_id: WalletId }[]
>`
  select hold.id, hold.wallet_id
  from wallets wallet
  join wallet_holds hold on hold.wallet_id = wallet.id and hold.organization_id = wallet.organization_id
    and hold.awaits_refresh
  where wallet.organization_id = ${organizationId} and wallet.customer_id = ${customerId}`;

/** The ongoing balances contain the events of settled holds: these no longer count. */
export async function forgetSettled(
  scope: Scope,
  settled: readonly { id: string; wallet_id: WalletId }[],
): Promise<void> {
  if (settled.length === 0) return;
  await Promise.all([
    lockHeld(
      scope,
      settled.map(({ wallet_id }) => wallet_id),
    ),
    scope.db`
      update wallet_holds set awaits_refresh = false
      where organization_id = ${scope.organizationId} and id = any (${settled.map(({ id }) => id)}::uuid[])
        and awaits_refresh`,
  ]);
}
