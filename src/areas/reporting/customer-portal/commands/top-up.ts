import type { Context } from '../../../../platform/context.ts';
import type { CustomerId, WalletId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { createWalletTransaction } from '../../../billing/bill-wallets/create-transactions.ts';
import { TransactionCreate } from '../../../credits/wallet-transactions/schema.ts';
import { lockWallet } from '../../../credits/wallets/queries.ts';
import { findMethod } from '../../../customers/payment-methods/queries.ts';
import { creditsFor, readAmount, topUpBounds } from '../wallet/top-up.ts';
import { lockAllowed } from './allowed.ts';
import { done, type PortalOutcome, refused } from './outcome.ts';

/** Top-ups of a wallet on its customer's page within a day, and those of them that are not paid. */
const MOST_A_DAY = 5;
const MOST_UNPAID = 2;

/** Metadata by which a purchase on the page is known. */
const ON_PAGE = { key: 'bought_on', value: 'portal' };

/**
 * Buys credits for a wallet: an invoice that gives them once it is paid. The default method is charged, else the
 * customer pays on a page.
 *
 * @throws Refusal 404 wallet, of others
 * Rule: portal.md#top-ups.
 */
export async function topUpWallet(
  ctx: Context,
  input: { customer_id: CustomerId; wallet_id: WalletId; amount: string },
): Promise<PortalOutcome> {
  const { customer } = await lockAllowed(ctx, input.customer_id, 'top_up');
  const wallet = await lockWallet(ctx, { id: input.wallet_id });
  if (wallet?.customer_id !== customer.id) throw refuse.notFound('wallet');
  if (wallet.status !== 'active') return refused({ form: 'notNow' });
  const read = readAmount(input.amount, wallet, topUpBounds(wallet, ctx.config));
  if ('fault' in read) return refused({ amount: read.fault });
  const { today, unpaid } = await countBought(ctx, wallet.id);
  if (today >= MOST_A_DAY) return refused({ amount: 'tooMany' });
  if (unpaid >= MOST_UNPAID) return refused({ amount: 'unpaid' });
  const method = await findMethod(ctx, customer.id, null);
  const made = await createWalletTransaction(ctx, {
    body: TransactionCreate.parse({
      wallet_id: wallet.id,
      paid_credits: creditsFor(read.amountCents, wallet).credits.toFixed(),
      invoice_requires_successful_payment: true,
      metadata: [ON_PAGE],
    }),
  });
  return done({
    svc_wallet_transaction_id: made.wallet_transactions[0]!.svc_id,
    is_charged: method !== undefined,
  });
}

/** What was bought on the page for a wallet within 24 hours of the organization's clock, and is not paid. */
async function countBought({ db, organizationId, now }: Context, walletId: WalletId) {
  const since = now().subtract({ hours: 24 });
  const [row] = await db<{ today: number; unpaid: number }[]>`
    select count(*) filter (where created_at > ${since})::int as today,
      count(*) filter (where status <> 'settled')::int as unpaid
    from wallet_transactions
    where organization_id = ${organizationId} and wallet_id = ${walletId} and transaction_status = 'purchased'
      and metadata @> ${db.json([ON_PAGE])}`;
  return row!;
}
