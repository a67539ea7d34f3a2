import type { Context } from '../../../platform/context.ts';
import type { WalletTransactionId } from '../../../platform/ids.ts';
import { type Page, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getWallet } from '../wallets/queries.ts';
import {
  countTransactions,
  getTransaction,
  listConsumptions,
  listTransactions,
  listTransactionsById,
  type TransactionRow,
} from './queries.ts';
import type { TransactionListQuery } from './schema.ts';
import { consumptionView, transactionView } from './view.ts';

/** @throws Refusal 404 wallet */
export async function listWalletTransactions(
  ctx: Context,
  { svc_id, query }: { svc_id: string; query: TransactionListQuery },
) {
  const wallet = await getWallet(ctx, { id: svc_id });
  const { rows, total } = await pageOf(query, {
    rows: () => listTransactions(ctx, wallet.id, { filters: query, page: query }),
    count: () => countTransactions(ctx, wallet.id, query),
  });
  return { wallet_transactions: rows.map(transactionView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 wallet_transaction */
export async function showTransaction(ctx: Context, { svc_id }: { svc_id: string }) {
  return { wallet_transaction: transactionView(await getTransaction(ctx, svc_id)) };
}

/**
 * Where the money of credits went.
 *
 * @throws Refusal 404 wallet_transaction; 422 transaction_type invalid_transaction_type, of what took credits
 * Rule: wallets.md#traceability.
 */
export async function showConsumptions(ctx: Context, { svc_id, query }: { svc_id: string; query: Page }) {
  const { rows, meta } = await tracePage(ctx, svc_id, 'inbound', query);
  return { wallet_transaction_consumptions: rows, meta };
}

/** The sources of an outbound transaction. @throws Refusal as showConsumptions, for an inbound one */
export async function showFundings(ctx: Context, { svc_id, query }: { svc_id: string; query: Page }) {
  const { rows, meta } = await tracePage(ctx, svc_id, 'outbound', query);
  return { wallet_transaction_fundings: rows, meta };
}

async function tracePage(ctx: Context, id: WalletTransactionId, type: TransactionRow['transaction_type'], page: Page) {
  const transaction = await getTransaction(ctx, id);
  if (transaction.transaction_type !== type) throw refuse.invalid({ transaction_type: ['invalid_transaction_type'] });
  const { rows, totalCount } = await listConsumptions(ctx, transaction, page);
  const others = await listTransactionsById(
    ctx,
    rows.map(({ other_id }) => other_id),
  );
  const byId = new Map(others.map((other) => [other.id, other]));
  return {
    rows: rows.map((row) => consumptionView(row, byId.get(row.other_id)!)),
    meta: pageMeta(page, totalCount),
  };
}
