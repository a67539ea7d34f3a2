import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../platform/context.ts';
import type { Db } from '../../platform/db/connect.ts';
import { lockHold } from './commands.ts';
import { holdView } from './view.ts';
import { closeHold } from './writes.ts';

/**
 * Marks a hold whose time is over, and tells. It has not counted since. Safe to run twice.
 * Rule: beyond 11.3.
 */
export async function expireHold(ctx: Context, { wallet_id, hold_id }: ExpiringHold): Promise<void> {
  const { wallet, hold } = await lockHold(ctx, { svc_id: wallet_id, hold_id });
  if (hold.status !== 'expired') return;
  const closing = { id: hold.id, status: 'expired', closed_at: hold.expires_at } as const;
  const { count } = await closeHold(ctx.db, ctx.organizationId, closing, ctx.now());
  if (count === 0) return;
  ctx.record({
    webhook: {
      type: 'wallet_hold.expired',
      objectType: 'wallet_hold',
      objectId: hold.id,
      customerId: wallet.customer_id,
      object: holdView(hold),
    },
  });
}

export interface ExpiringHold {
  wallet_id: string;
  hold_id: string;
}

/** When the next open hold of an organization expires. */
export async function earliestHoldExpiry(db: Db, organizationId: string): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(expires_at) as at from wallet_holds where organization_id = ${organizationId} and status = 'open'`;
  return row!.at;
}
