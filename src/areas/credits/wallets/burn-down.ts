import { isDateBefore } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { burnDown, RATE_DAYS, walletPoints } from '../../../engine/credits/burn-down.ts';
import type { Context } from '../../../platform/context.ts';
import { dayAfter } from '../wallet-days/follow-days.ts';
import { listDays } from '../wallet-days/queries.ts';
import { getWallet } from './queries.ts';
import type { WalletBurnDown, WalletBurnDownQuery } from './schema.ts';
import { listRules } from './top-up-rule-queries.ts';
import { isInForce } from './view.ts';

const RATE_DIGITS = 2;

/**
 * The newest days of a wallet, how fast it is used up, and when it will be. Three statements.
 *
 * @throws Refusal 404 wallet
 * Rule: wallets.md#burn-down.
 */
export async function showWalletBurnDown(
  ctx: Context,
  { svc_id, query }: { svc_id: string; query: WalletBurnDownQuery },
): Promise<WalletBurnDown> {
  const wallet = await getWallet(ctx, { id: svc_id });
  const today = localDate(ctx.now(), wallet.zone);
  const from = today.subtract({ days: query.days - 1 });
  const rateFrom = today.subtract({ days: RATE_DAYS });
  const first = isDateBefore(from, rateFrom) ? from : rateFrom;
  const [known, rules] = await Promise.all([listDays(ctx, wallet.id, first), listRules(ctx, [wallet.id])]);
  const points = walletPoints(known, first, today);
  const complete = points.filter(({ day }) => isDateBefore(day, today)).map((point) => point.consumed_cents);
  const available = Math.max(0, wallet.ongoing_balance_cents);
  const { rate, daysLeft } = burnDown({ available, consumed: complete });
  const tops = rules
    .filter((rule) => rule.next_top_up_on !== null && isInForce(rule, ctx.now()))
    .map((rule) => rule.next_top_up_on!.toString())
    .sort();
  return {
    burn_down: {
      currency: wallet.currency,
      points: points
        .filter(({ day }) => !isDateBefore(day, from))
        .map((point) => ({
          day: point.day.toString(),
          balance_cents: point.balance_cents,
          ongoing_balance_cents: point.ongoing_balance_cents,
          added_cents: point.added_cents,
          consumed_cents: point.consumed_cents,
        })),
      available_cents: available,
      daily_rate_cents: rate?.toFixed(RATE_DIGITS) ?? null,
      days_left: daysLeft,
      exhausted_on: dayAfter(today, daysLeft)?.toString() ?? null,
      next_top_up_on: tops[0] ?? null,
    },
  };
}
