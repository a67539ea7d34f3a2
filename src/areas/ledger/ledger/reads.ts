import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { kindOf, normalSideOf } from './accounts.ts';
import { csvOf } from './csv.ts';
import type { BalancesAt } from './daily-sums.ts';
import {
  areMoreThan,
  type BalanceRow,
  countEntries,
  type EntryRow,
  exportedEntries,
  findTransaction,
  listEntries,
  listLines,
  sumAccounts,
} from './queries.ts';
import type { BalancesQuery, EntriesQuery, EntryView } from './schema.ts';

/** How many rows one export may have, and how many one page of it. */
const MOST_EXPORTED = 1_000_000;
const EXPORT_PAGE = 1000;

/**
 * Entries of the journal in its order; as CSV all of them, streamed.
 *
 * @throws Refusal 422 base, of an export of too many rows
 * Rule: ledger.md#routes.
 */
export async function showEntries(ctx: Context, { query, asCsv }: { query: EntriesQuery; asCsv?: boolean }) {
  if (asCsv) {
    if (await areMoreThan(ctx, query, MOST_EXPORTED)) throw refuse.invalid({ base: ['value_is_out_of_range'] });
    return new Answer(null, {
      stream: csvOf(exportedEntries(ctx, query).cursor(EXPORT_PAGE)),
      contentType: 'text/csv; charset=utf-8',
    });
  }
  const [rows, total] = await Promise.all([listEntries(ctx, query), countEntries(ctx, query)]);
  return { ledger_entries: rows.map(entryView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 ledger_transaction */
export async function showTransaction(ctx: Context, { svc_id }: { svc_id: string }) {
  const row = isUuid(svc_id) ? await findTransaction(ctx, svc_id) : undefined;
  if (row === undefined) throw refuse.notFound('ledger_transaction');
  const lines = await listLines(ctx, row.id);
  return {
    ledger_transaction: {
      svc_id: row.id,
      rule: row.rule,
      source_type: row.source_type,
      svc_source_id: row.source_id,
      ordinal: row.ordinal,
      currency: row.currency,
      booked_at: seconds(row.booked_at),
      booked_on: row.booked_on.toString(),
      document_date: row.document_date.toString(),
      svc_reverses_id: row.reverses_id,
      lines: lines.map(entryView),
    },
  };
}

/** Balances of every account on its normal side. */
export async function showAccounts(ctx: Context, { query }: { query: BalancesQuery }) {
  const rows = await sumAccounts(ctx, query, momentOf(ctx, query));
  return {
    ledger_accounts: rows.map(({ account_code: code, last_position: _, ...row }) => ({
      code,
      kind: kindOf(code),
      normal_side: normalSideOf(code),
      ...row,
      balance_cents:
        normalSideOf(code) === 'debit' ? row.debit_cents - row.credit_cents : row.credit_cents - row.debit_cents,
    })),
  };
}

/** Every account's balance on one side, by currency, at the end of a day or at an instant. */
export async function showTrialBalance(ctx: Context, { query }: { query: BalancesQuery }) {
  const at = momentOf(ctx, query);
  const rows = await sumAccounts(ctx, query, at);
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return {
    trial_balance: {
      at: shownMoment(ctx, query, at),
      basis: query.basis ?? 'booked',
      currencies: currencies.map((currency) => balanceOf(currency, rows)),
      as_of_sequence: rows.reduce((last, { last_position }) => Math.max(last, last_position), 0),
    },
  };
}

function balanceOf(currency: string, all: readonly BalanceRow[]) {
  const sums = new Map<string, number>();
  for (const row of all.filter((each) => each.currency === currency))
    sums.set(row.account_code, (sums.get(row.account_code) ?? 0) + row.debit_cents - row.credit_cents);
  const rows = [...sums].map(([account_code, balance]) => ({
    account_code,
    debit_cents: Math.max(balance, 0),
    credit_cents: Math.max(-balance, 0),
  }));
  const total_debit_cents = rows.reduce((total, { debit_cents }) => total + debit_cents, 0);
  const total_credit_cents = rows.reduce((total, { credit_cents }) => total + credit_cents, 0);
  return { currency, rows, total_debit_cents, total_credit_cents, balanced: total_debit_cents === total_credit_cents };
}

function shownMoment(ctx: Context, query: BalancesQuery, at: BalancesAt): string {
  if ('day' in at) return at.day.toString();
  return query.at === undefined ? ctx.now().toString().slice(0, 10) : seconds(at.before.subtract({ seconds: 1 }));
}

/** A bound at midnight is the end of the day before; without one, the present. */
function momentOf(ctx: Context, { at, basis = 'booked' }: BalancesQuery): BalancesAt {
  if (at === undefined) return { before: ctx.now().add({ microseconds: 1 }) };
  const local = at.toZonedDateTimeISO('UTC');
  const isDay = local.toPlainTime().equals(Temporal.PlainTime.from('00:00'));
  return isDay ? { day: local.toPlainDate().subtract({ days: 1 }), basis } : { before: at };
}

const entryView = (row: EntryRow): EntryView => ({
  svc_id: row.id,
  sequence: row.position,
  svc_transaction_id: row.transaction_id,
  rule: row.rule,
  booked_at: seconds(row.booked_at),
  booked_on: row.booked_on.toString(),
  document_date: row.document_date.toString(),
  billing_entity_code: row.billing_entity_code,
  account_code: row.account_code,
  side: row.side,
  amount_cents: row.amount_cents,
  currency: row.currency,
  external_customer_id: row.external_customer_id,
  svc_invoice_id: row.invoice_id,
  svc_credit_note_id: row.credit_note_id,
  svc_wallet_id: row.wallet_id,
  svc_payment_id: row.payment_id,
  svc_fee_id: row.fee_id,
  tax_code: row.tax_code,
});
