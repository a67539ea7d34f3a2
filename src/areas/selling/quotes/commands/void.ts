import { assert } from '../../../../engine/assert.ts';
import { canVoidQuoteVersion, type QuoteVersionVoidReason } from '../../../../engine/quotes/quote-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { recordQuote } from '../announce.ts';
import { getQuote, getQuoteVersion, type QuoteVersionRow } from '../queries.ts';
import { quoteVersionExtendedView } from '../view.ts';
import { markVoided, touchQuote } from '../writes.ts';
import { lockVersion } from './lock-version.ts';

/**
 * Voids a draft by hand.
 *
 * @throws Refusal 404 quote_version; 422 status not_voidable
 * Rule: quotes.md#routes.
 */
export async function voidQuoteVersion(ctx: Context, { svc_id }: { svc_id: string }) {
  const { version } = await lockVersion(ctx, svc_id);
  if (!canVoidQuoteVersion(version.status, 'manual')) throw refuse.invalid({ status: ['not_voidable'] });
  return { quote_version: quoteVersionExtendedView(await voidVersion(ctx, version, 'manual')) };
}

/** Voids a version for a reason that its state allows; the caller holds the quote. Rule: quotes.md#lifecycle. */
export async function voidVersion(
  ctx: Context,
  version: QuoteVersionRow,
  reason: QuoteVersionVoidReason,
): Promise<QuoteVersionRow> {
  assert(canVoidQuoteVersion(version.status, reason), 'a version is voided from the state that its reason asks for');
  await markVoided(ctx, version.id, { reason, now: ctx.now() });
  await touchQuote(ctx, version.quote_id, ctx.now());
  const [quote, voided] = await Promise.all([getQuote(ctx, version.quote_id), getQuoteVersion(ctx, version.id)]);
  recordQuote(ctx, 'quote.voided', { quote, version: voided });
  return voided;
}
