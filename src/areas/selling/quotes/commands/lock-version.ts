import type { Context } from '../../../../platform/context.ts';
import type { QuoteVersionId } from '../../../../platform/ids.ts';
import { lockQuote } from '../lock-quote.ts';
import { getQuote, getQuoteVersion, type QuoteRow, type QuoteVersionRow } from '../queries.ts';

/**
 * A version with its quote, locked until the transaction ends.
 *
 * @throws Refusal 404 quote_version; 422 base concurrency_conflict
 */
export async function lockVersion(
  ctx: Context,
  id: QuoteVersionId,
): Promise<{ quote: QuoteRow; version: QuoteVersionRow }> {
  const { quote_id: quoteId } = await getQuoteVersion(ctx, id);
  await lockQuote(ctx, quoteId);
  const [quote, version] = await Promise.all([getQuote(ctx, quoteId), getQuoteVersion(ctx, id)]);
  return { quote, version };
}
