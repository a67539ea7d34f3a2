import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { CSV_LINE_END, csvCell as cell } from '../../../platform/csv/csv-cell.ts';
import type { ExportedRow } from './queries.ts';

const COLUMNS = [
  'sequence',
  'transaction_id',
  'rule',
  'booked_at',
  'booked_on',
  'document_date',
  'billing_entity',
  'account',
  'side',
  'amount',
  'amount_cents',
  'currency',
  'external_customer_id',
  'invoice_number',
  'credit_note_number',
  'wallet_code',
  'payment_reference',
  'tax_code',
];

/** Lines of an export, a header first; one text for each page of rows. Rule: ledger.md#routes. */
export async function* csvOf(pages: AsyncIterable<readonly ExportedRow[]>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}${CSV_LINE_END}`;
  for await (const rows of pages) yield rows.map((row) => `${lineOf(row)}${CSV_LINE_END}`).join('');
}

const lineOf = (row: ExportedRow): string =>
  [
    String(row.position),
    row.transaction_id,
    row.rule,
    row.booked_at.toString({ smallestUnit: 'second' }),
    row.booked_on.toString(),
    row.document_date.toString(),
    cell(row.billing_entity_code),
    row.account_code,
    row.side,
    amountOf(row),
    String(row.amount_cents),
    row.currency,
    cell(row.external_customer_id),
    cell(row.invoice_number),
    cell(row.credit_note_number),
    cell(row.wallet_code),
    cell(row.payment_reference),
    cell(row.tax_code),
  ].join(',');

function amountOf({ amount_cents, currency }: ExportedRow): string {
  const exponent = exponentOf(currency as Currency);
  return decimal(amount_cents).div(decimal(10).pow(exponent)).toFixed(exponent);
}
