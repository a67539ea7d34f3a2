import type { Context } from '../../../../platform/context.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { readCustomer } from '../../../customers/customers/queries.ts';
import { recordQuote } from '../announce.ts';
import { readBillingItems } from '../billing-items/read-items.ts';
import { realigned } from '../billing-items/terms-of-items.ts';
import { targetOf, termsOfDeal } from '../deal.ts';
import { getQuote, getQuoteVersion } from '../queries.ts';
import type { QuoteVersionUpdate } from '../schema.ts';
import { quoteVersionExtendedView } from '../view.ts';
import { touchQuote, updateVersion } from '../writes.ts';
import { lockVersion } from './lock-version.ts';

/**
 * Changes a draft: what is absent stays. Overridden currencies and wallets follow the currency of the deal.
 *
 * @throws Refusal 404 quote_version, billing_entity; 422 status not_editable, by field, of items by
 *   `billing_items.<path>`
 * Rules: quotes.md#lifecycle, quotes.md#approval, quotes.md#billing-items.
 */
export async function updateQuoteVersion(ctx: Context, { svc_id, body }: { svc_id: string; body: QuoteVersionUpdate }) {
  const { quote, version } = await lockVersion(ctx, svc_id);
  if (version.status !== 'draft') throw refuse.invalid({ status: ['not_editable'] });
  const customer = await readCustomer(ctx, quote.customer_id);
  const target = await targetOf(ctx, quote);
  const terms = await termsOfDeal(ctx, { customer, target }, body, {
    currency: version.currency,
    billing_entity_code: version.own_billing_entity_code,
  });
  const { items, faults } =
    body.billing_items === undefined
      ? { items: version.billing_items, faults: {} }
      : readBillingItems(body.billing_items, quote.order_type, { isApproval: false });
  refuseFaults(faults);
  await updateVersion(ctx, version.id, {
    fields: {
      ...terms,
      content: body.content === undefined ? version.content : body.content,
      billing_items: realigned(items, terms.currency),
    },
    now: ctx.now(),
  });
  await touchQuote(ctx, quote.id, ctx.now());
  const [touched, changed] = await Promise.all([getQuote(ctx, quote.id), getQuoteVersion(ctx, version.id)]);
  recordQuote(ctx, 'quote.updated', { quote: touched, version: changed, before: version });
  return { quote_version: quoteVersionExtendedView(changed) };
}
