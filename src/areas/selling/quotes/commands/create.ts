import type { Context } from '../../../../platform/context.ts';
import { newId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { type CustomerRow, getCustomer } from '../../../customers/customers/queries.ts';
import { findShownByExternalId, type SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { recordQuote } from '../announce.ts';
import { readBillingItems } from '../billing-items/read-items.ts';
import { realigned } from '../billing-items/terms-of-items.ts';
import { termsOfDeal } from '../deal.ts';
import { readOwners } from '../owners.ts';
import { getQuote, getQuoteVersion } from '../queries.ts';
import type { QuoteCreate } from '../schema.ts';
import { quoteExtendedView } from '../view.ts';
import { insertQuote, insertQuoteOwners, insertVersion, nextNumber } from '../writes.ts';

/**
 * Makes a quote with its first version, a draft.
 *
 * @throws Refusal 404 customer, subscription, billing_entity; 422 by field, of items by `billing_items.<path>`
 * Rules: quotes.md#lifecycle, quotes.md#approval, quotes.md#billing-items.
 */
export async function createQuote(ctx: Context, { body }: { body: QuoteCreate }) {
  const customer = await getCustomer(ctx, body.external_customer_id);
  const target = await amended(ctx, customer, body);
  const terms = await termsOfDeal(ctx, { customer, target }, body);
  const { items, faults } = readBillingItems(body.billing_items, body.order_type, { isApproval: false });
  refuseFaults(faults);
  const ownerIds = await readOwners(ctx, body.owners ?? []);

  const id = newId();
  const versionId = newId();
  await insertQuote(
    ctx,
    {
      id,
      customer_id: customer.id,
      subscription_id: target?.id ?? null,
      number: await nextNumber(ctx, 'quote'),
      order_type: body.order_type,
    },
    ctx.now(),
  );
  if (ownerIds.length > 0) await insertQuoteOwners(ctx, id, ownerIds);
  await insertVersion(
    ctx,
    {
      id: versionId,
      quote_id: id,
      version: 1,
      ...terms,
      content: body.content ?? null,
      billing_items: realigned(items, terms.currency),
    },
    ctx.now(),
  );
  const [quote, version] = await Promise.all([getQuote(ctx, id), getQuoteVersion(ctx, versionId)]);
  recordQuote(ctx, 'quote.created', { quote, version });
  return { quote: quoteExtendedView(quote, version) };
}

/** The live subscription of the customer that an amendment is about; other kinds of order name none. */
async function amended(ctx: Context, customer: CustomerRow, body: QuoteCreate): Promise<SubscriptionShown | null> {
  const { order_type: orderType, external_subscription_id: externalId } = body;
  if (orderType !== 'subscription_amendment') {
    if (externalId) throw refuse.invalid({ external_subscription_id: ['not_supported_for_order_type'] });
    return null;
  }
  if (!externalId) throw refuse.notFound('subscription');
  const active = await findShownByExternalId(ctx, externalId, 'active');
  const live = active ?? (await findShownByExternalId(ctx, externalId, 'pending'));
  if (live?.customer_id !== customer.id) throw refuse.notFound('subscription');
  return live;
}
