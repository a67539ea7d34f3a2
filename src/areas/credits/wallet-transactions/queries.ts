import type { Temporal } from 'temporal-polyfill';
import type { Cents } from '../../../engine/money/cents.ts';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type {
  CreditNoteId,
  CustomerId,
  InvoiceId,
  PaymentMethodId,
  WalletId,
  WalletTransactionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type SelectedSectionJson, selectedSections } from '../../customers/invoice-custom-sections/queries.ts';
import type { MetadataPair } from '../wallets/top-up-rule-queries.ts';

export const TRANSACTION_STATUSES = ['pending', 'settled', 'failed'] as const;
export const TRANSACTION_TYPES = ['inbound', 'outbound'] as const;
export const TRANSACTION_KINDS = ['purchased', 'granted', 'voided', 'invoiced'] as const;
export const TRANSACTION_SOURCES = ['manual', 'interval', 'threshold'] as const;

/** A transaction with what its answer needs of its wallet. */
export interface TransactionRow {
  id: WalletTransactionId;
  wallet_id: WalletId;
  customer_id: CustomerId;
  transaction_type: (typeof TRANSACTION_TYPES)[number];
  status: (typeof TRANSACTION_STATUSES)[number];
  transaction_status: (typeof TRANSACTION_KINDS)[number];
  source: (typeof TRANSACTION_SOURCES)[number];
  amount_cents: Cents;
  amount: Decimal;
  credit_amount: Decimal;
  priority: number;
  name: string | null;
  metadata: MetadataPair[];
  remaining_amount_cents: Cents | null;
  remaining_purchased_cents: Cents | null;
  invoice_id: InvoiceId | null;
  credit_note_id: CreditNoteId | null;
  voided_invoice_id: InvoiceId | null;
  invoice_requires_successful_payment: boolean;
  payment_method_type: 'provider' | 'manual' | null;
  payment_method_id: PaymentMethodId | null;
  purchase_order_number: string | null;
  settled_at: Temporal.Instant | null;
  failed_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  rate_amount: Decimal;
  currency: Currency;
  billing_entity_code: string;
  custom_sections: SelectedSectionJson[];
}

const columns = (db: Db) => db`
  transaction.id, transaction.wallet_id, transaction.customer_id, transaction.transaction_type, transaction.status,
  transaction.transaction_status, transaction.source, transaction.amount_cents, transaction.amount,
  transaction.credit_amount, transaction.priority, transaction.name, transaction.metadata,
  transaction.remaining_amount_cents, transaction.remaining_purchased_cents, transaction.invoice_id,
  transaction.credit_note_id, transaction.voided_invoice_id, transaction.invoice_requires_successful_payment,
  transaction.payment_method_type, transaction.payment_method_id, transaction.purchase_order_number,
  transaction.settled_at, transaction.failed_at,
  transaction.created_at, wallet.rate_amount, wallet.currency, entity.code as billing_entity_code,
  ${selectedSections(db, 'wallet_transaction', { organizationId: db`transaction.organization_id`, ownerId: db`transaction.id` })} as custom_sections`;

const tables = (db: Db) => db`
  wallet_transactions transaction
  join wallets wallet on wallet.organization_id = transaction.organization_id and wallet.id = transaction.wallet_id
  join billing_entities entity on entity.organization_id = wallet.organization_id
    and entity.id = wallet.billing_entity_id`;

/**
 * Whether an invoice sells credits that a rule has bought outside any schedule: because few were left, or as the first
 * ones that its wallet buys by an interval. Rule: provider-connections.md#adyen "charge".
 */
export async function isUnscheduledTopUp({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<boolean> {
  const [row] = await db<{ is_unscheduled: boolean }[]>`
    select bought.source = 'threshold' or not exists (select from wallet_transactions before
      where before.organization_id = bought.organization_id and before.wallet_id = bought.wallet_id
        and before.source = 'interval' and before.transaction_status = 'purchased'
        and (before.created_at, before.id) < (bought.created_at, bought.id)) as is_unscheduled
    from wallet_transactions bought
    where bought.organization_id = ${organizationId} and bought.invoice_id = ${invoiceId}
      and bought.transaction_status = 'purchased' and bought.source <> 'manual'
    limit 1`;
  return row?.is_unscheduled ?? false;
}

/** @throws Refusal 404 wallet_transaction */
export async function getTransaction(scope: Scope, id: WalletTransactionId): Promise<TransactionRow> {
  const [row] = isUuid(id) ? await listTransactionsById(scope, [id]) : [];
  if (!row) throw refuse.notFound('wallet_transaction');
  return row;
}

/** Transactions by id, in no particular order. */
export const listTransactionsById = ({ db, organizationId }: Scope, ids: readonly WalletTransactionId[]) => db<
  TransactionRow[]
>`
  select ${columns(db)} from ${tables(db)}
  where transaction.organization_id = ${organizationId} and transaction.id = any (${ids}::uuid[])`;

/** The purchase that a top-up invoice bills. */
export async function findPurchaseOfInvoice(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<TransactionRow | undefined> {
  const [row] = await db<TransactionRow[]>`
    select ${columns(db)} from ${tables(db)}
    where transaction.organization_id = ${organizationId} and transaction.invoice_id = ${invoiceId}
      and transaction.transaction_status = 'purchased'
    limit 1`;
  return row;
}

/** What an invoice has taken from wallets. */
export const listTakenByInvoice = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<TransactionRow[]>`
  select ${columns(db)} from ${tables(db)}
  where transaction.organization_id = ${organizationId} and transaction.invoice_id = ${invoiceId}
    and transaction.transaction_status = 'invoiced'
  order by transaction.id`;

export interface OpenInbound {
  id: WalletTransactionId;
  remaining_amount_cents: Cents;
  remaining_purchased_cents: Cents;
}

/** Unconsumed credits of a wallet in the order of their use; locked. Rule: wallets.md#traceability. */
export const lockOpenInbound = ({ db, organizationId }: Scope, walletId: WalletId, onlyId: string | null) => db<
  OpenInbound[]
>`
  select id, remaining_amount_cents, remaining_purchased_cents from wallet_transactions
  where organization_id = ${organizationId} and wallet_id = ${walletId} and transaction_type = 'inbound'
    and status = 'settled' and remaining_amount_cents > 0 ${onlyId === null ? db`` : db`and id = ${onlyId}`}
  order by priority, transaction_status = 'purchased', created_at, id
  for update`;

export interface TransactionFilters {
  status?: string | undefined;
  transaction_status?: string | undefined;
  transaction_type?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

function matching({ db, organizationId }: Scope, walletId: WalletId, filters: TransactionFilters) {
  const { status, transaction_status: kind, transaction_type: type, metadata = {} } = filters;
  const pairs = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  return db`
    transaction.organization_id = ${organizationId} and transaction.wallet_id = ${walletId}
    ${status === undefined ? db`` : db`and transaction.status = ${status}`}
    ${kind === undefined ? db`` : db`and transaction.transaction_status = ${kind}`}
    ${type === undefined ? db`` : db`and transaction.transaction_type = ${type}`}
    ${pairs.length === 0 ? db`` : db`and transaction.metadata @> ${json(pairs)}::jsonb`}`;
}

/** A page of a wallet's transactions, newest first. */
export const listTransactions = (
  scope: Scope,
  walletId: WalletId,
  { filters, page }: { filters: TransactionFilters; page: Page },
) => scope.db<TransactionRow[]>`
  select ${columns(scope.db)} from ${tables(scope.db)} where ${matching(scope, walletId, filters)}
  order by transaction.created_at desc, transaction.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export const countTransactions = (scope: Scope, walletId: WalletId, filters: TransactionFilters): Promise<Total> =>
  countRecords(scope.db, scope.db`wallet_transactions transaction where ${matching(scope, walletId, filters)}`);

export interface ConsumptionRow {
  id: string;
  amount_cents: Cents;
  created_at: Temporal.Instant;
  /** The transaction at the other end. */
  other_id: string;
}

/** A page of the destinations of an inbound transaction, or of the sources of an outbound one; newest first. */
export async function listConsumptions(
  { db, organizationId }: Scope,
  { id, transaction_type }: Pick<TransactionRow, 'id' | 'transaction_type'>,
  page: Page,
): Promise<{ rows: ConsumptionRow[]; totalCount: number }> {
  const [own, other] =
    transaction_type === 'inbound'
      ? [db`inbound_wallet_transaction_id`, db`outbound_wallet_transaction_id`]
      : [db`outbound_wallet_transaction_id`, db`inbound_wallet_transaction_id`];
  const passing = db`organization_id = ${organizationId} and ${own} = ${id}`;
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<ConsumptionRow[]>`
      select id, consumed_amount_cents as amount_cents, created_at, ${other} as other_id
      from wallet_transaction_consumptions where ${passing}
      order by created_at desc, id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from wallet_transaction_consumptions where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
