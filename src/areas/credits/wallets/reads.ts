import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { checkBillingEntityCodes } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { shownWallet } from './announce.ts';
import { countWallets, getWallet, keyOf, listWallets, type WalletFilters } from './queries.ts';
import type { WalletListQuery } from './schema.ts';
import { listRules } from './top-up-rule-queries.ts';
import { walletView } from './view.ts';

/** @throws Refusal 404 customer, billing_entity, of filters that name none */
export async function listAllWallets(ctx: Context, { query }: { query: WalletListQuery }) {
  const { external_customer_id: externalId, billing_entity_codes: codes } = query;
  if (codes !== undefined) await checkBillingEntityCodes(ctx.db, ctx.organizationId, codes);
  const customer = externalId === undefined ? undefined : await getCustomer(ctx.db, ctx.organizationId, externalId);
  return page(ctx, { customerId: customer?.id, currency: query.currency, billing_entity_codes: codes }, query);
}

/** @throws Refusal 404 customer */
export async function listCustomerWallets(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: string; query: WalletListQuery },
) {
  const { id } = await getCustomer(ctx.db, ctx.organizationId, external_customer_id);
  if (query.billing_entity_codes !== undefined)
    await checkBillingEntityCodes(ctx.db, ctx.organizationId, query.billing_entity_codes);
  return page(
    ctx,
    { customerId: id, currency: query.currency, billing_entity_codes: query.billing_entity_codes },
    query,
  );
}

async function page(ctx: Context, filters: WalletFilters, asked: Page) {
  const { db, organizationId } = ctx;
  const [wallets, total] = await Promise.all([
    listWallets(db, organizationId, filters, asked),
    countWallets(db, organizationId, filters),
  ]);
  const rules = await listRules(
    db,
    organizationId,
    wallets.map(({ id }) => id),
  );
  return {
    wallets: wallets.map((wallet) => walletView(wallet, rules, ctx.now())),
    meta: pageMeta(asked, total),
  };
}

/** @throws Refusal 404 wallet */
export async function showWallet(ctx: Context, { svc_id }: { svc_id: string }) {
  return { wallet: await shownWallet(ctx, await getWallet(ctx.db, ctx.organizationId, { id: svc_id })) };
}

/** @throws Refusal 404 customer, wallet */
export async function showCustomerWallet(ctx: Context, input: { external_customer_id: string; code: string }) {
  const wallet = await getWallet(ctx.db, ctx.organizationId, await keyOf(ctx, input));
  return { wallet: await shownWallet(ctx, wallet) };
}
