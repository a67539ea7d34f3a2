import { utcDate } from '../../../engine/calendar/instants.ts';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { type Page, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
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
  if (codes !== undefined) await checkBillingEntityCodes(ctx, codes);
  const customer = externalId === undefined ? undefined : await getCustomer(ctx, externalId);
  return page(ctx, { ...filtersOf(ctx, query), customerId: customer?.id }, query);
}

/** @throws Refusal 404 customer */
export async function listCustomerWallets(
  ctx: Context,
  { external_customer_id, query }: { external_customer_id: ExternalCustomerId; query: WalletListQuery },
) {
  const { id } = await getCustomer(ctx, external_customer_id);
  if (query.billing_entity_codes !== undefined) await checkBillingEntityCodes(ctx, query.billing_entity_codes);
  return page(ctx, { ...filtersOf(ctx, query), customerId: id }, query);
}

const filtersOf = (
  ctx: Context,
  { currency, statuses, billing_entity_codes, days_left_to }: WalletListQuery,
): WalletFilters => ({
  exhaustedBy: days_left_to === undefined ? undefined : utcDate(ctx.now()).add({ days: days_left_to }),
  currency,
  statuses,
  billing_entity_codes,
});

async function page(ctx: Context, filters: WalletFilters, asked: Page) {
  const { rows: wallets, total } = await pageOf(asked, {
    rows: () => listWallets(ctx, filters, asked),
    count: () => countWallets(ctx, filters),
  });
  const rules = await listRules(
    ctx,
    wallets.map(({ id }) => id),
  );
  return {
    wallets: wallets.map((wallet) => walletView(wallet, rules, ctx.now())),
    meta: pageMeta(asked, total),
  };
}

/** @throws Refusal 404 wallet */
export async function showWallet(ctx: Context, { svc_id }: { svc_id: string }) {
  return { wallet: await shownWallet(ctx, await getWallet(ctx, { id: svc_id })) };
}

/** @throws Refusal 404 customer, wallet */
export async function showCustomerWallet(
  ctx: Context,
  input: { external_customer_id: ExternalCustomerId; code: string },
) {
  const wallet = await getWallet(ctx, await keyOf(ctx, input));
  return { wallet: await shownWallet(ctx, wallet) };
}
