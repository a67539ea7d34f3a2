import type { PlainDate } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { burnDown, RATE_DAYS, walletPoints } from '../../../engine/credits/burn-down.ts';
import type { Context } from '../../../platform/context.ts';
import type { WalletId } from '../../../platform/ids.ts';
import { keepDay, storeExhaustedOn } from './queries.ts';

interface ChangedWallet {
  id: WalletId;
  /** Zone of its customer. */
  zone: string;
  balance_cents: number;
  ongoing_balance_cents: number;
  exhausted_on: PlainDate | null;
}

/**
 * Keeps the figures of a changed, locked wallet as those of its day, and the day on which it is then used up. One
 * statement, two where that day changes.
 *
 * addedCents  topped up by this change; negative: voided
 * Rule: wallets.md#burn-down.
 */
export async function followDays(ctx: Context, wallet: ChangedWallet, addedCents: number): Promise<void> {
  const today = localDate(ctx.now(), wallet.zone);
  const { balance_cents, ongoing_balance_cents } = wallet;
  const before = await keepDay(ctx, wallet.id, {
    day: today,
    balance_cents,
    ongoing_balance_cents,
    added_cents: addedCents,
  });
  const complete = walletPoints(before, today.subtract({ days: RATE_DAYS }), today.subtract({ days: 1 }));
  const { daysLeft } = burnDown({
    available: ongoing_balance_cents,
    consumed: complete.map((point) => point.consumed_cents),
  });
  const exhaustedOn = dayAfter(today, daysLeft);
  if ((exhaustedOn?.toString() ?? null) !== (wallet.exhausted_on?.toString() ?? null))
    await storeExhaustedOn(ctx, wallet.id, exhaustedOn);
}

/** A century: what lasts longer has no day. */
const MOST_DAYS_LEFT = 36_500;

/** The day on which it is used up. */
export const dayAfter = (today: PlainDate, daysLeft: number | null): PlainDate | null =>
  daysLeft === null || daysLeft > MOST_DAYS_LEFT ? null : today.add({ days: daysLeft });
