import { z } from 'zod';
import { isAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { nextTopUpDay } from '../../../engine/credits/wallet-interval.ts';
import { topUpOf } from '../../../engine/credits/wallet-top-up.ts';
import type { Context } from '../../../platform/context.ts';
import { selected } from '../../../platform/db/keyset.ts';
import type { OrganizationId, WalletId } from '../../../platform/ids.ts';
import { type DueItem, periodicJob } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { recordWallet, shownWallet } from '../../credits/wallets/announce.ts';
import { lockWallet } from '../../credits/wallets/queries.ts';
import { terminate } from '../../credits/wallets/terminate-wallet.ts';
import { listRules, planTopUp, terminateRules } from '../../credits/wallets/top-up-rule-queries.ts';
import { isInForce } from '../../credits/wallets/view.ts';
import { earliestWalletMark, listMarkedCustomers, WALLET_ONGOING } from '../../usage/wallet-marks/wallet-marks.ts';
import { CustomerItem } from '../bill-subscriptions/due-subscriptions.ts';
import {
  earliestExpiry,
  earliestRuleExpiry,
  earliestTopUp,
  listDueTopUps,
  listExpiredRules,
  listExpiredWallets,
} from './due-wallets.ts';
import { readPurchases } from './ongoing-balance-queries.ts';
import { ruleOf, stateOf, wishesOf, workOffMarks } from './refresh-ongoing-balance.ts';
import { topUp } from './top-up.ts';

const WalletItem = z.object({ wallet_id: idOf<WalletId>() });

const dueWallet = ({
  organization_id,
  sandbox,
  id,
}: {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: string;
}): DueItem<z.infer<typeof WalletItem>> => ({
  organization_id,
  sandbox,
  item: { wallet_id: id },
  key: id,
  resource: { type: 'Wallet', id },
});

/**
 * Computes ongoing balances of marked customers. In real time a mark is nudged within a second and this job finds those
 * whose nudge was lost; under a test clock marks wait for it. Rule: periodic-jobs.md#wallet-ongoing.
 */
export const walletOngoing = periodicJob({
  name: WALLET_ONGOING,
  item: CustomerItem,
  select: async (sql, at, reach, page) =>
    selected(await listMarkedCustomers(sql, at, reach, page), page, ({ organization_id, sandbox, customer_id }) => ({
      organization_id,
      sandbox,
      item: { customer_id },
      key: customer_id,
      resource: { type: 'Customer', id: customer_id },
    })),
  work: (ctx, item) => workOffMarks(ctx, item.customer_id),
  nextDueAt: (scope) => earliestWalletMark(scope),
});

/** Ends wallets whose time is over. Rule: wallets.md#void-recredit-terminate. */
export const expireWallets = periodicJob({
  name: 'expire-wallets',
  item: WalletItem,
  select: async (sql, at, reach, page) => selected(await listExpiredWallets(sql, at, reach, page), page, dueWallet),
  async work(ctx, item) {
    const wallet = await lockWallet(ctx, { id: item.wallet_id });
    // Its end may have been moved since.
    if (!wallet?.expiration_at || isAfter(wallet.expiration_at, ctx.now())) return;
    await terminate(ctx, { id: wallet.id });
  },
  nextDueAt: async (scope) => (await earliestExpiry(scope))[0]!.at,
});

/** Ends rules whose time is over; they have stopped acting already. Rule: top-ups.md#recurring-rules. */
export const expireTopUpRules = periodicJob({
  name: 'expire-top-up-rules',
  item: WalletItem,
  select: async (sql, at, reach, page) => selected(await listExpiredRules(sql, at, reach, page), page, dueWallet),
  async work(ctx, item) {
    const wallet = await lockWallet(ctx, { id: item.wallet_id });
    const [rule] = wallet ? await listRules(ctx, [wallet.id]) : [];
    if (!wallet || !rule || isInForce(rule, ctx.now())) return;
    const before = await shownWallet(ctx, wallet);
    await terminateRules(ctx, wallet.id, { now: ctx.now() });
    await recordWallet(ctx, 'wallet.updated', wallet.id, before);
  },
  nextDueAt: async (scope) => (await earliestRuleExpiry(scope))[0]!.at,
});

/**
 * Tops up wallets whose interval rule is due: once, for the latest missed day.
 * Rules: top-ups.md#recurring-rules "interval", periodic-jobs.md#interval-top-ups.
 */
export const intervalTopUps = periodicJob({
  name: 'interval-top-ups',
  item: WalletItem,
  select: async (sql, at, reach, page) => selected(await listDueTopUps(sql, at, reach, page), page, dueWallet),
  work: (ctx, item) => topUpByInterval(ctx, item.wallet_id),
  nextDueAt: async (scope) => (await earliestTopUp(scope))[0]!.at,
});

async function topUpByInterval(ctx: Context, walletId: WalletId): Promise<void> {
  const wallet = await lockWallet(ctx, { id: walletId });
  if (wallet?.status !== 'active') return;
  const [rule] = await listRules(ctx, [wallet.id]);
  const today = localDate(ctx.now(), wallet.zone);
  const day = rule?.next_top_up_on;
  if (!rule?.interval || !day || day.until(today).sign < 0 || !isInForce(rule, ctx.now())) return;
  const { pending_credits: pending } = await readPurchases(ctx, wallet.id);
  const credits = topUpOf(ruleOf(rule), stateOf(wallet, pending));
  await topUp(ctx, wallet, credits, { ...wishesOf(rule, 'interval'), top_up_on: today });
  const startedOn = localDate(rule.started_at ?? wallet.created_at, wallet.zone);
  await planTopUp(ctx, rule.id, nextTopUpDay(rule.interval, startedOn, today.add({ days: 1 })));
}
