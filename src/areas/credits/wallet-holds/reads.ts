import type { Context } from '../../../platform/context.ts';
import type { WalletHoldId } from '../../../platform/ids.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getWallet } from '../wallets/queries.ts';
import { countHolds, findHolds, listHolds } from './queries.ts';
import type { HoldsQuery } from './schema.ts';
import { holdView } from './view.ts';

/** Holds of a wallet, newest first. @throws Refusal 404 wallet */
export async function listAllHolds(ctx: Context, { svc_id, query }: { svc_id: string; query: HoldsQuery }) {
  const wallet = await getWallet(ctx, { id: svc_id });
  const filters = { walletId: wallet.id, statuses: query.statuses };
  const [holds, count] = await Promise.all([
    listHolds(ctx, filters, { now: ctx.now(), page: query }),
    countHolds(ctx, filters, ctx.now()),
  ]);
  return { holds: holds.map(holdView), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 wallet, wallet_hold */
export async function showHold(ctx: Context, { svc_id, hold_id }: { svc_id: string; hold_id: WalletHoldId }) {
  const wallet = await getWallet(ctx, { id: svc_id });
  const address = { walletId: wallet.id, ids: [hold_id] };
  const [hold] = await findHolds(ctx, address, ctx.now());
  if (!hold) throw refuse.notFound('wallet_hold');
  return { hold: holdView(hold) };
}
