import type { Context } from '../../../platform/context.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';

/**
 * Keeps a quote with its versions, order forms and orders for this transaction; taken before any other lock. Who read
 * something of it before reads again afterwards.
 *
 * @throws `refusal`, when another transaction kept it too long
 * Rule: quotes.md#lifecycle.
 */
export async function lockQuote(
  ctx: Context,
  quoteId: string,
  refusal: Refusal = refuse.invalid({ base: ['concurrency_conflict'] }),
): Promise<void> {
  const [row] = await ctx.db<{ held: boolean }[]>`select lock_quote(${quoteId}::uuid) as held`;
  if (!row!.held) throw refusal;
}
