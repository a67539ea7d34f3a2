import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { getCustomer } from '../../customers/customers/queries.ts';

/** What a customer and the organization owe each other in one currency, in its smallest unit. */
const CurrencyBalance = z.object({
  currency: z.string(),
  due_amount_cents: z.int(),
  overdue_amount_cents: z.int(),
  credit_notes_amount_cents: z.int(),
  wallets_amount_cents: z.int(),
  unapplied_amount_cents: z.int(),
  refunds_payable_amount_cents: z.int(),
});
export type CurrencyBalance = z.infer<typeof CurrencyBalance>;

export const CustomerBalanceEnvelope = z.object({
  customer_balance: z.object({
    svc_customer_id: z.uuid(),
    external_customer_id: z.string(),
    currencies: z.array(CurrencyBalance),
  }),
});

/**
 * The balance of a customer by currency, read from the journal in two statements.
 *
 *   due              receivable; below 0 when more was given back than was due
 *   overdue          that part of it which stands on overdue invoices
 *   credit notes     open balance of credit notes
 *   wallets          credits bought and given that can be used
 *   unapplied        money received that no invoice owes
 *   refunds payable  refunds promised and not paid out yet
 *
 * @throws Refusal 404 customer
 * Rule: other-routes.md#records "customer currency, write-off, unapplied receipts".
 */
export async function showCustomerBalance(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  const currencies = await sumCustomer(ctx, customer.id);
  return {
    customer_balance: { svc_customer_id: customer.id, external_customer_id: customer.external_id, currencies },
  };
}

/** The figures of showCustomerBalance, in the order of the currencies. */
export const sumCustomer = ({ db, organizationId }: Scope, customerId: CustomerId) => {
  const debit = db`case entry.side when 'debit' then entry.amount_cents else -entry.amount_cents end`;
  const owes = (account: string) =>
    db`coalesce(sum(${debit}) filter (where entry.account_code = ${account}), 0)::bigint`;
  const isOwed = (...accounts: string[]) =>
    db`coalesce(-sum(${debit}) filter (where entry.account_code = any (${accounts})), 0)::bigint`;
  return db<CurrencyBalance[]>`
    select entry.currency, ${owes('receivable')} as due_amount_cents,
      coalesce(sum(${debit}) filter (where entry.account_code = 'receivable' and invoice.payment_overdue), 0)::bigint
        as overdue_amount_cents,
      ${isOwed('customer_credit')} as credit_notes_amount_cents,
      ${isOwed('prepaid_purchased', 'prepaid_granted')} as wallets_amount_cents,
      ${isOwed('unapplied_receipts')} as unapplied_amount_cents,
      ${isOwed('refunds_payable')} as refunds_payable_amount_cents
    from ledger_entries entry
    left join invoices invoice on invoice.organization_id = entry.organization_id and invoice.id = entry.invoice_id
    where entry.organization_id = ${organizationId} and entry.customer_id = ${customerId}
    group by entry.currency
    order by entry.currency`;
};
