import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { AccountCode } from './postings.ts';

/** Balance of an account from one invoice, debits less credits. */
export type Balances = Partial<Record<AccountCode, number>>;

/** Balances of an invoice by account. */
export async function balancesOfInvoice({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<Balances> {
  const rows = await db<{ account_code: AccountCode; balance: number }[]>`
    select account_code, sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries
    where organization_id = ${organizationId} and invoice_id = ${invoiceId}
    group by account_code`;
  return Object.fromEntries(rows.map((row) => [row.account_code, row.balance]));
}
