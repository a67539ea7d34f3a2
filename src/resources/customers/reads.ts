import { createHmac } from 'node:crypto';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Context } from '../../platform/context.ts';
import { linkSecret } from '../../platform/keys/deployment-keys.ts';
import { pageMeta } from '../../platform/lists/pagination.ts';
import { publicUrl } from '../../platform/public-url.ts';
import { checkBillingEntityCodes } from '../billing-entities/queries.ts';
import { listApplicableSections } from '../invoice-custom-sections/queries.ts';
import { listTaxesOfCustomers } from '../taxes/queries.ts';
import { getCustomer, listCustomers } from './queries.ts';
import type { CustomerListQuery } from './schema.ts';
import { customerListView, customerView } from './view.ts';

/** @throws Refusal 404 billing_entity, when a filter names an unknown one */
export async function listCustomersPage(ctx: Context, { query }: { query: CustomerListQuery }) {
  await checkBillingEntityCodes(ctx.db, ctx.organizationId, query.billing_entity_codes ?? []);
  const { rows, totalCount } = await listCustomers(ctx.db, ctx.organizationId, query);
  const taxes = await listTaxesOfCustomers(
    ctx.db,
    ctx.organizationId,
    rows.map((customer) => customer.id),
  );
  return {
    customers: rows.map((customer) =>
      customerListView(
        customer,
        taxes.filter((tax) => tax.customer_id === customer.id),
      ),
    ),
    meta: pageMeta(query, totalCount),
  };
}

/** @throws Refusal 404 customer */
export async function showCustomer(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx.db, ctx.organizationId, external_id);
  const [taxes, sections] = await Promise.all([
    listTaxesOfCustomers(ctx.db, ctx.organizationId, [customer.id]),
    listApplicableSections(ctx.db, ctx.organizationId, customer),
  ]);
  return { customer: customerView(customer, taxes, sections) };
}

/**
 * Link to the customer's own pages, valid for 12 hours of real time, under a test clock too (platform O.2). Its token is
 * `base64url({sub, exp, aud}).base64url(HMAC-SHA256)`. Rule: platform F.4.
 *
 * @throws Refusal 404 customer
 */
export async function showPortalUrl(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx.db, ctx.organizationId, external_id);
  const expiresAt = realNow().add({ hours: ctx.config.PORTAL_TOKEN_TTL_HOURS });
  const claims = { sub: customer.id, exp: Math.floor(expiresAt.epochMilliseconds / 1000), aud: 'portal' };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const signature = createHmac('sha256', await linkSecret(ctx.db))
    .update(payload)
    .digest('base64url');
  return { customer: { portal_url: `${publicUrl(ctx.config)}/customer-portal/${payload}.${signature}` } };
}
