import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { InvoiceRow } from './queries.ts';

/** Statuses in which an invoice is no longer to be paid; a late payment is unapplied. */
export const isOver = ({ status }: Pick<InvoiceRow, 'status'>): boolean => status === 'voided' || status === 'closed';

/** What an invoice still owes, in cents. Rules: invoice-amounts.md#settlement, ledger.md#write-off. */
export const dueOf = (
  invoice: Pick<
    InvoiceRow,
    | 'status'
    | 'total_amount_cents'
    | 'total_paid_amount_cents'
    | 'total_offsetted_credit_note_amount_cents'
    | 'total_written_off_amount_cents'
  >,
): number =>
  isOver(invoice)
    ? 0
    : invoice.total_amount_cents -
      invoice.total_paid_amount_cents -
      invoice.total_offsetted_credit_note_amount_cents -
      invoice.total_written_off_amount_cents;

/** The same in SQL, of the row of `invoices` that has this name in the statement. */
export const dueCents = (db: Db, row: 'invoice' | 'invoices'): Fragment => db`
  (case when ${db(row)}.status in ('voided', 'closed') then 0
    else ${db(row)}.total_amount_cents - ${db(row)}.total_paid_amount_cents
      - ${db(row)}.total_offsetted_credit_note_amount_cents - ${db(row)}.total_written_off_amount_cents end)`;
