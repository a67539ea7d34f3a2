import { assert } from '../../../../engine/assert.ts';
import { canQuoteVersionMove } from '../../../../engine/quotes/quote-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { announce } from '../../../../platform/reactions.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { refuseFaults } from '../../../../platform/schema/faults.ts';
import { seconds } from '../../../../platform/schema/view.ts';
import { getBillingEntity } from '../../../customers/billing-entities/queries.ts';
import { type CustomerRow, readCustomer } from '../../../customers/customers/queries.ts';
import { readOrganization } from '../../../tenancy/organizations/queries.ts';
import { quoteApproved } from '../../announcements.ts';
import { recordQuote } from '../announce.ts';
import { businessFaults } from '../billing-items/check-against-catalog.ts';
import { addFault } from '../billing-items/read-fields.ts';
import { readBillingItems } from '../billing-items/read-items.ts';
import { endsOf } from '../billing-items/terms-of-items.ts';
import { targetOf, zoneOf } from '../deal.ts';
import { dealDateFault } from '../deal-dates.ts';
import { getQuote, getQuoteVersion, type QuoteRow, type QuoteVersionRow } from '../queries.ts';
import type { QuoteVersionApprove } from '../schema.ts';
import { quoteVersionExtendedView } from '../view.ts';
import { markApproved, touchQuote } from '../writes.ts';
import { lockVersion } from './lock-version.ts';

/**
 * Approves a draft: its printed contents are frozen, and its order form is created.
 *
 * @throws Refusal 404 quote_version, customer; 422 status not_approvable; expires_at invalid_date,
 *   after_deal_expiration; what is wrong with the deal, by field
 * Rule: quotes.md#approval.
 */
export async function approveQuoteVersion(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body: QuoteVersionApprove | undefined },
) {
  const { quote, version } = await lockVersion(ctx, svc_id);
  if (!canQuoteVersionMove(version.status, 'approved')) throw refuse.invalid({ status: ['not_approvable'] });
  const customer = await readCustomer(ctx, quote.customer_id);
  if (customer.deleted_at) throw refuse.notFound('customer');
  assert(version.currency, 'a version has the currency of its deal');
  const { items, faults } = readBillingItems(version.billing_items ?? {}, quote.order_type, { isApproval: true });
  const target = await targetOf(ctx, quote);
  if (items && Object.keys(faults).length === 0)
    Object.assign(
      faults,
      await businessFaults(ctx, items, {
        customer,
        target,
        orderType: quote.order_type,
        currency: version.currency,
      }),
    );
  const dateFault = dealDateFault(ctx, body?.expires_at, { ends: endsOf(items), zone: zoneOf(customer) });
  if (dateFault) addFault(faults, 'expires_at', dateFault);
  const entity = await getBillingEntity(ctx, version.billing_entity_code);
  if (entity.archived_at && version.own_billing_entity_code)
    addFault(faults, 'billing_entity_code', 'billing_entity_not_found');
  refuseFaults(faults);
  assert(items, 'an approved deal holds something');

  const displayVariables = {
    ...(await displayed(ctx, quote, version, customer)),
    billing_entity: { code: entity.code, name: entity.name, legal_name: entity.legal_name },
    net_payment_term: customer.net_payment_term ?? entity.net_payment_term,
    term: (items.plans ?? []).map(({ payload }) => ({
      start_date: payload.startDate ?? null,
      end_date: payload.endDate ?? null,
    })),
  };
  await markApproved(ctx, version.id, { approval: { billingItems: items, displayVariables }, now: ctx.now() });
  await touchQuote(ctx, quote.id, ctx.now());
  const [touched, approved] = await Promise.all([getQuote(ctx, quote.id), getQuoteVersion(ctx, version.id)]);
  recordQuote(ctx, 'quote.approved', { quote: touched, version: approved });
  await announce(ctx, quoteApproved, { quote: touched, version: approved, expires_at: body?.expires_at ?? null });
  return { quote_version: quoteVersionExtendedView(approved) };
}

/** The parties as a printed quote shows them now. Rule: quotes.md#approval "display variables". */
async function displayed(ctx: Context, quote: QuoteRow, version: QuoteVersionRow, customer: CustomerRow) {
  const { name } = await readOrganization(ctx);
  return {
    organization: { name },
    customer: {
      external_id: customer.external_id,
      name: customer.name,
      legal_name: customer.legal_name,
      email: customer.email,
    },
    quote: {
      number: quote.number,
      created_at: seconds(quote.created_at),
      version: version.version,
      currency: version.currency,
    },
  };
}
