import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { WalletId, WalletTransactionId } from '../../../../platform/ids.ts';
import type { Slice } from '../queries.ts';

/** A line in a wallet's history. */
export interface PortalTransaction {
  id: WalletTransactionId;
  transaction_type: 'inbound' | 'outbound';
  status: 'pending' | 'settled' | 'failed';
  transaction_status: 'purchased' | 'granted' | 'voided' | 'invoiced';
  name: string | null;
  amount_cents: number;
  credit_amount: Decimal;
  /** Number of the invoice that bills or spends it, once it has one. */
  invoice_number: string | null;
  has_invoice: boolean;
  created_at: Temporal.Instant;
}

/** A wallet's transactions, newest first. */
export const listPortalTransactions = ({ db, organizationId }: Scope, walletId: WalletId, slice: Slice) => db<
  PortalTransaction[]
>`
  select transaction.id, transaction.transaction_type, transaction.status, transaction.transaction_status,
    transaction.name, transaction.amount_cents, transaction.credit_amount,
    case when invoice.status = 'finalized' then invoice.number end as invoice_number,
    invoice.id is not null as has_invoice, transaction.created_at
  from wallet_transactions transaction
  left join invoices invoice
    on invoice.organization_id = transaction.organization_id and invoice.id = transaction.invoice_id
  where transaction.organization_id = ${organizationId} and transaction.wallet_id = ${walletId}
  order by transaction.created_at desc, transaction.id desc
  limit ${slice.limit} offset ${slice.offset}`;

/** What came into a wallet and left it, by local day since an instant. */
export const listDailyChanges = (
  { db, organizationId }: Scope,
  walletId: WalletId,
  { since, zone }: { since: Temporal.Instant; zone: string },
) => db<{ on: Temporal.PlainDate; change_cents: number }[]>`
  select (settled_at at time zone ${zone})::date as "on",
    sum(case transaction_type when 'inbound' then amount_cents else -amount_cents end)::bigint as change_cents
  from wallet_transactions
  where organization_id = ${organizationId} and wallet_id = ${walletId} and status = 'settled' and settled_at >= ${since}
  group by 1`;
