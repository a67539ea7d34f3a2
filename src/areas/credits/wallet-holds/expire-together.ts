import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { WalletHoldId } from '../../../platform/ids.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { countHeld, lockHeldOfHolds } from '../../usage/access/held-sum.ts';
import { holdView } from './view.ts';
import { closeExpired } from './writes.ts';

/** Holds of one organization that are closed together. */
export const ExpiringHolds = z.object({ hold_ids: z.array(idOf<WalletHoldId>()) });

/**
 * Closes the holds whose time is over, and announces each. They have not counted since. Safe to run twice.
 * Rule: wallet-holds.md.
 */
export async function expireTogether(ctx: Context, { hold_ids }: z.infer<typeof ExpiringHolds>): Promise<void> {
  const walletIds = await lockHeldOfHolds(ctx, hold_ids);
  const [, closed] = await Promise.all([countHeld(ctx, walletIds, ctx.now()), closeExpired(ctx, hold_ids, ctx.now())]);
  const inTurn = closed.toSorted(
    (one, other) => Temporal.Instant.compare(one.expires_at, other.expires_at) || (one.id < other.id ? -1 : 1),
  );
  for (const hold of inTurn) {
    ctx.record({
      webhook: {
        type: 'wallet_hold.expired',
        objectType: 'wallet_hold',
        objectId: hold.id,
        customerId: hold.customer_id,
        object: holdView(hold),
      },
    });
  }
}

/** When the next open hold of an organization expires. */
export async function earliestHoldExpiry({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(expires_at) as at from wallet_holds where organization_id = ${organizationId} and status = 'open'`;
  return row!.at;
}
