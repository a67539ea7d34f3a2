import type { Context } from '../../../platform/context.ts';
import { linkSecret } from '../../../platform/keys/deployment-keys.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { listTaxesOfCustomers } from '../../catalog/taxes/queries.ts';
import { portalUrl } from '../../messaging/mails/portal-token.ts';
import { checkBillingEntityCodes } from '../billing-entities/queries.ts';
import { listApplicableSections } from '../invoice-custom-sections/queries.ts';
import { getCustomer, listCustomers } from './queries.ts';
import type { CustomerListQuery, PortalUrlQuery } from './schema.ts';
import { listTaxErrors } from './tax-errors.ts';
import { customerListView, customerView } from './view.ts';

/** @throws Refusal 404 billing_entity, when a filter names an unknown one */
export async function listCustomersPage(ctx: Context, { query }: { query: CustomerListQuery }) {
  await checkBillingEntityCodes(ctx, query.billing_entity_codes ?? []);
  const { rows, total } = await listCustomers(ctx, query);
  const taxes = await listTaxesOfCustomers(
    ctx,
    rows.map((customer) => customer.id),
  );
  return {
    customers: rows.map((customer) =>
      customerListView(
        customer,
        taxes.filter((tax) => tax.customer_id === customer.id),
      ),
    ),
    meta: pageMeta(query, total),
  };
}

/** @throws Refusal 404 customer */
export async function showCustomer(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  const [taxes, sections, errors] = await Promise.all([
    listTaxesOfCustomers(ctx, [customer.id]),
    listApplicableSections(ctx, customer),
    listTaxErrors(ctx, customer.id),
  ]);
  return { customer: customerView(customer, taxes, sections, errors) };
}

interface PortalUrlInput {
  external_id: string;
  query: PortalUrlQuery;
}

/**
 * Link to the customer's own page, see portalUrl. With `scope=read`, and for a key that may not write customers,
 * nothing can be done from it.
 *
 * @throws Refusal 404 customer
 */
export async function showPortalUrl(ctx: Context, { external_id, query }: PortalUrlInput) {
  const customer = await getCustomer(ctx, external_id);
  const mayAct = query.scope !== 'read' && ctx.holds?.('customer', 'write') === true;
  const url = portalUrl(ctx.config, await linkSecret(ctx), { customerId: customer.id, mayAct });
  return { customer: { portal_url: url } };
}
