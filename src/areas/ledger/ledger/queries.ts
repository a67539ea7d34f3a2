import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CreditNoteId,
  ExternalCustomerId,
  FeeId,
  InvoiceId,
  PaymentId,
  WalletId,
  WalletTransactionId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { countRecords, type Total } from '../../../platform/lists/count.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { type BalancesAt, sumsUntil } from './daily-sums.ts';
import type { BalancesQuery, EntriesQuery } from './schema.ts';

export interface EntryRow {
  id: string;
  position: number;
  transaction_id: string;
  rule: string;
  booked_at: Temporal.Instant;
  booked_on: Temporal.PlainDate;
  document_date: Temporal.PlainDate;
  billing_entity_code: string;
  account_code: string;
  side: 'debit' | 'credit';
  amount_cents: number;
  currency: string;
  external_customer_id: ExternalCustomerId | null;
  invoice_id: InvoiceId | null;
  credit_note_id: CreditNoteId | null;
  wallet_id: WalletId | null;
  payment_id: PaymentId | null;
  fee_id: FeeId | null;
  tax_code: string | null;
}

/** What the export shows beside an entry. */
export interface ExportedRow extends EntryRow {
  invoice_number: string | null;
  credit_note_number: string | null;
  wallet_code: string | null;
  payment_reference: string | null;
}

const columns = (db: Db): Fragment => db`
  entry.id, entry.position, entry.transaction_id, booked.rule, booked.booked_at, entry.booked_on, booked.document_date,
  entity.code as billing_entity_code, entry.account_code, entry.side, entry.amount_cents, entry.currency,
  customer.external_id as external_customer_id, entry.invoice_id, entry.credit_note_id, entry.wallet_id,
  entry.payment_id,
  entry.fee_id, entry.tax_code`;

const withTransaction = (db: Db): Fragment => db`
  join ledger_transactions booked
    on booked.organization_id = entry.organization_id and booked.id = entry.transaction_id`;
const withEntity = (db: Db): Fragment => db`
  join billing_entities entity
    on entity.organization_id = entry.organization_id and entity.id = entry.billing_entity_id`;
const withCustomer = (db: Db): Fragment => db`
  left join customers customer on customer.organization_id = entry.organization_id and customer.id = entry.customer_id`;

/** The entries, or those of a selection, with all that is shown beside them. */
const tables = (db: Db, entries = db`ledger_entries`): Fragment => db`
  ${entries} entry ${withTransaction(db)} ${withEntity(db)} ${withCustomer(db)}`;

// No table is joined but for a filter: Postgres would take a page for one row, which it finds by sorting all.
function listedTables(db: Db, { rules, booked_from, booked_to, billing_entity_codes, ...others }: EntriesQuery) {
  const isByTransaction = [rules, booked_from, booked_to].some((filter) => filter !== undefined);
  return db`ledger_entries entry
    ${isByTransaction ? withTransaction(db) : db``}
    ${billing_entity_codes === undefined ? db`` : withEntity(db)}
    ${others.external_customer_id === undefined ? db`` : withCustomer(db)}`;
}

/** Ids are compared as text; an invalid one finds nothing. */
const idIs = (db: Db, column: Fragment, id: string | undefined): Fragment =>
  id === undefined ? db`` : isUuid(id) ? db`and ${column} = ${id}` : db`and false`;

function matching({ db, organizationId }: Scope, filters: EntriesQuery): Fragment {
  return db`entry.organization_id = ${organizationId}
    ${filters.after === undefined ? db`` : db`and entry.position > ${filters.after}`}
    ${filters.account_codes === undefined ? db`` : db`and entry.account_code = any (${filters.account_codes})`}
    ${filters.rules === undefined ? db`` : db`and booked.rule = any (${filters.rules})`}
    ${filters.billing_entity_codes === undefined ? db`` : db`and entity.code = any (${filters.billing_entity_codes})`}
    ${filters.currency === undefined ? db`` : db`and entry.currency = upper(${filters.currency})`}
    ${filters.external_customer_id === undefined ? db`` : db`and customer.external_id = ${filters.external_customer_id}`}
    ${idIs(db, db`entry.invoice_id`, filters.invoice_id)}
    ${idIs(db, db`entry.credit_note_id`, filters.credit_note_id)}
    ${idIs(db, db`entry.wallet_id`, filters.wallet_id)}
    ${idIs(db, db`entry.payment_id`, filters.payment_id)}
    ${idIs(db, db`entry.transaction_id`, filters.transaction_id)}
    ${filters.booked_from === undefined ? db`` : db`and booked.booked_at >= ${filters.booked_from}`}
    ${filters.booked_to === undefined ? db`` : db`and booked.booked_at < ${filters.booked_to}`}`;
}

/** A page of entries in the order of the journal. */
export const listEntries = (scope: Scope, query: EntriesQuery) => {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const page = db`(
    select entry.* from ${listedTables(db, query)} where ${matching(scope, query)}
    order by entry.position
    limit ${limit} offset ${query.after === undefined ? offset : 0})`;
  return db<EntryRow[]>`select ${columns(db)} from ${tables(db, page)} order by entry.position`;
};

/** Exact up to a hundred thousand, which are looked at then. */
export const countEntries = (scope: Scope, query: EntriesQuery): Promise<Total> =>
  countRecords(scope.db, scope.db`${listedTables(scope.db, query)} where ${matching(scope, query)}`);

/** Whether more entries match than so many. */
export async function areMoreThan(scope: Scope, query: EntriesQuery, most: number): Promise<boolean> {
  const rows = await scope.db`
    select from ${listedTables(scope.db, query)} where ${matching(scope, query)} offset ${most} limit 1`;
  return rows.length > 0;
}

/** All entries that match, with the names of the documents, as they come from the database. */
export const exportedEntries = (scope: Scope, query: EntriesQuery) => scope.db<ExportedRow[]>`
  select ${columns(scope.db)}, invoice.number as invoice_number, note.number as credit_note_number,
    wallet.code as wallet_code,
    payment.reference as payment_reference
  from ${tables(scope.db)}
  left join invoices invoice on invoice.organization_id = entry.organization_id and invoice.id = entry.invoice_id
  left join credit_notes note on note.organization_id = entry.organization_id and note.id = entry.credit_note_id
  left join wallets wallet on wallet.organization_id = entry.organization_id and wallet.id = entry.wallet_id
  left join payments payment on payment.organization_id = entry.organization_id and payment.id = entry.payment_id
  where ${matching(scope, query)}
  order by entry.position`;

export interface TransactionRow {
  id: WalletTransactionId;
  rule: string;
  source_type: string;
  source_id: string;
  ordinal: number;
  currency: string;
  booked_at: Temporal.Instant;
  booked_on: Temporal.PlainDate;
  document_date: Temporal.PlainDate;
  reverses_id: string | null;
}

export async function findTransaction(
  { db, organizationId }: Scope,
  id: WalletTransactionId,
): Promise<TransactionRow | undefined> {
  const [row] = await db<TransactionRow[]>`
    select id, rule, source_type, source_id, ordinal, currency, booked_at, booked_on, document_date, reverses_id
    from ledger_transactions where organization_id = ${organizationId} and id = ${id}`;
  return row;
}

export const listLines = ({ db, organizationId }: Scope, transactionId: string) => db<EntryRow[]>`
  select ${columns(db)} from ${tables(db)}
  where entry.organization_id = ${organizationId} and entry.transaction_id = ${transactionId}
  order by entry.position`;

export interface BalanceRow {
  account_code: string;
  currency: string;
  billing_entity_code: string;
  debit_cents: number;
  credit_cents: number;
  last_position: number;
}

/**
 * Sums of every account, billing entity and currency, from the sums of days and what was posted since.
 * Rules: ledger.md#routes, ledger.md#storage.
 */
export const sumAccounts = (
  { db, organizationId }: Scope,
  filters: Pick<BalancesQuery, 'currency' | 'billing_entity_codes'>,
  at: BalancesAt,
) => db<BalanceRow[]>`
  select part.account_code, part.currency, entity.code as billing_entity_code,
    sum(part.debit_cents)::bigint as debit_cents,
    sum(part.credit_cents)::bigint as credit_cents, max(part.last_position) as last_position
  from (${sumsUntil({ db, organizationId }, at)}) part
  join billing_entities entity on entity.organization_id = ${organizationId} and entity.id = part.billing_entity_id
  where true
    ${filters.currency === undefined ? db`` : db`and part.currency = upper(${filters.currency})`}
    ${filters.billing_entity_codes === undefined ? db`` : db`and entity.code = any (${filters.billing_entity_codes})`}
  group by part.account_code, part.currency, entity.code
  order by part.currency, part.account_code, entity.code`;
