import { localDate } from '../../../engine/calendar/local-day.ts';
import { nextTopUpDay } from '../../../engine/credits/wallet-interval.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { chooseSections } from '../../customers/invoice-custom-sections/choose-sections.ts';
import { type WalletRow, wasToppedUp } from './queries.ts';
import type { ReadRule } from './top-up-rule-input.ts';
import { putRule, type RuleRow } from './top-up-rule-queries.ts';

/**
 * Stores a rule with its sections and the day of its next top-up: neither the day on which the wallet was made nor a
 * day with a top-up.
 */
export async function storeRule(
  ctx: Context,
  wallet: WalletRow,
  { id: givenId, fields, sections }: ReadRule,
  former?: RuleRow,
): Promise<void> {
  const today = localDate(ctx.now(), wallet.zone);
  const startedOn = localDate(fields.started_at ?? wallet.created_at, wallet.zone);
  const isNewWallet = localDate(wallet.created_at, wallet.zone).equals(today);
  const isDone = isNewWallet || (await wasToppedUp(ctx, wallet.id, today));
  const from = isDone ? today.add({ days: 1 }) : today;
  const id = former?.id ?? givenId ?? newId();
  await putRule(
    ctx,
    {
      ...fields,
      id,
      wallet_id: wallet.id,
      next_top_up_on: fields.interval === null ? null : nextTopUpDay(fields.interval, startedOn, from),
    },
    ctx.now(),
  );
  await chooseSections(ctx, { type: 'recurring_transaction_rule', id }, sections);
}
