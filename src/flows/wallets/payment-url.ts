import type { Context } from '../../platform/context.ts';
import { refuse } from '../../platform/refusal.ts';
import { readCustomer } from '../../resources/customers/queries.ts';
import { getTransaction } from '../../resources/wallet-transactions/queries.ts';

/**
 * The page on which a top-up can be paid.
 *
 * @throws Refusal 404 wallet_transaction; 422 base wallet_transaction_not_purchased, wallet_transaction_already_settled,
 *   wallet_transaction_has_no_attached_invoice, then those of an invoice's page
 * Rules: credits-and-payments D.4, E.7.
 */
export async function walletTransactionPaymentUrl(ctx: Context, { svc_id }: { svc_id: string }): Promise<never> {
  const transaction = await getTransaction(ctx.db, ctx.organizationId, svc_id);
  const fault =
    transaction.transaction_status !== 'purchased'
      ? 'wallet_transaction_not_purchased'
      : transaction.status === 'settled'
        ? 'wallet_transaction_already_settled'
        : transaction.invoice_id === null
          ? 'wallet_transaction_has_no_attached_invoice'
          : undefined;
  if (fault) throw refuse.invalid({ base: [fault] });
  const customer = await readCustomer(ctx.db, ctx.organizationId, transaction.customer_id);
  throw refuse.invalid({
    base: [customer.payment_provider === null ? 'no_linked_payment_provider' : 'missing_payment_provider'],
  });
}
