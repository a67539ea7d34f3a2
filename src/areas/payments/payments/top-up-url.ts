import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getTransaction, type TransactionRow } from '../../credits/wallet-transactions/queries.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { invoicePage } from './payment-url.ts';
import { awaitPage } from './provider-pages.ts';

/**
 * Link to a page where a top-up is paid.
 *
 * @throws Refusal 404 wallet_transaction; 422 base wallet_transaction_not_purchased,
 *   wallet_transaction_already_settled, wallet_transaction_has_no_attached_invoice, then those of an invoice's page
 * Rules: top-ups.md#paid-top-ups, payments.md#payment-url.
 */
export async function makeTopUpUrl(ctx: Context, { svc_id }: { svc_id: string }) {
  const transaction = await getTransaction(ctx, svc_id);
  const fault = faultOf(transaction);
  if (fault) throw refuse.invalid({ base: [fault] });
  const invoice = await readInvoice(ctx, transaction.invoice_id!);
  const { customer, url } = await invoicePage(ctx, invoice);
  return {
    wallet_transaction_payment_details: {
      svc_customer_id: customer.id,
      external_customer_id: customer.external_id,
      payment_provider: customer.payment_provider,
      svc_wallet_transaction_id: transaction.id,
      payment_url: url,
    },
  };
}

function faultOf({ transaction_status: kind, status, invoice_id }: TransactionRow): string | undefined {
  if (kind !== 'purchased') return 'wallet_transaction_not_purchased';
  if (status === 'settled') return 'wallet_transaction_already_settled';
  return invoice_id === null ? 'wallet_transaction_has_no_attached_invoice' : undefined;
}

/** The answer with the address that the provider gave. @throws Refusal 422 provider_error; 401; 429 */
export async function showTopUpUrl(ctx: Context, body: Awaited<ReturnType<typeof makeTopUpUrl>>) {
  const details = body.wallet_transaction_payment_details;
  return {
    wallet_transaction_payment_details: { ...details, payment_url: await awaitPage(ctx, details.payment_url) },
  };
}
