import type { Context } from '../../../../platform/context.ts';
import { newId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { recordQuote } from '../announce.ts';
import { findLivingVersion, getQuote, getQuoteVersion, listCurrentVersions } from '../queries.ts';
import { quoteVersionExtendedView } from '../view.ts';
import { insertVersion, touchQuote } from '../writes.ts';
import { lockVersion } from './lock-version.ts';
import { voidVersion } from './void.ts';

/**
 * Copies a version, whatever its state, into a new draft; a present draft is voided as superseded.
 *
 * @throws Refusal 404 quote_version; 422 status not_clonable, while a version of the quote is approved
 * Rule: quotes.md#routes.
 */
export async function cloneQuoteVersion(ctx: Context, { svc_id }: { svc_id: string }) {
  const { quote, version } = await lockVersion(ctx, svc_id);
  const living = await findLivingVersion(ctx, quote.id);
  if (living?.status === 'approved') throw refuse.invalid({ status: ['not_clonable'] });
  if (living) await voidVersion(ctx, living, 'superseded');
  const [newest] = await listCurrentVersions(ctx, [quote.id]);
  const id = newId();
  await insertVersion(
    ctx,
    {
      id,
      quote_id: quote.id,
      version: newest!.version + 1,
      currency: version.currency,
      billing_entity_code: version.own_billing_entity_code,
      content: version.content,
      billing_items: version.billing_items,
    },
    ctx.now(),
  );
  await touchQuote(ctx, quote.id, ctx.now());
  const [touched, copy] = await Promise.all([getQuote(ctx, quote.id), getQuoteVersion(ctx, id)]);
  recordQuote(ctx, 'quote.version_created', { quote: touched, version: copy });
  return { quote_version: quoteVersionExtendedView(copy) };
}
