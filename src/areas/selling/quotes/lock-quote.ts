import type { Context } from '../../../platform/context.ts';
import type { QuoteId } from '../../../platform/ids.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';

/**
 * Locks a quote with its versions, order forms and orders for this transaction, before any other lock. Anything read
 * before must be read again.
 *
 * @throws `refusal`, when another transaction holds it too long
 * Rule: quotes.md#lifecycle.
 */
export async function lockQuote(
  ctx: Context,
  quoteId: QuoteId,
  refusal: Refusal = refuse.invalid({ base: ['concurrency_conflict'] }),
): Promise<void> {
  const [row] = await ctx.db<{ held: boolean }[]>`select lock_quote(${quoteId}::uuid) as held`;
  if (!row!.held) throw refusal;
}
