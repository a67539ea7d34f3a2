import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { finalizeDraft } from '../build-invoice/finalize-draft.ts';
import { computedOrNoted } from '../build-invoice/generation-error.ts';
import { type DueRow, dueInvoice, InvoiceItem } from './due-subscriptions.ts';

/**
 * Finalizes drafts whose grace period is over. Rules: periodic-jobs.md#finalize,
 * invoice-operations.md#refresh-and-finalize.
 */
export const finalize = periodicJob({
  name: 'finalize',
  item: InvoiceItem,
  select: async (sql, at, reach, page) => selected(await listDraftsOver(sql, at, reach, page), page, dueInvoice),
  async work(ctx, { invoice_id }) {
    await computedOrNoted(ctx, invoice_id, (own) => finalizeDraft(own, invoice_id));
  },
  nextDueAt: async (scope) => (await earliestFinalization(scope))[0]!.at,
});

// A draft that could not be computed waits until something about it changes (invoices.md#error-details).
const finalizable = (db: Db) => db`
  invoice.status = 'draft' and not exists (
    select from invoice_error_details error
    where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
      and error.error_code = 'invoice_generation_error')`;

/** Drafts whose grace period is over on the UTC day of `at`. */
const listDraftsOver = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(
    db,
    page,
    db`invoice.organization_id`,
    db`invoice.expected_finalization_date, invoice.created_at, invoice.id`,
  );
  return db<(DueRow & Placed)[]>`
    select invoice.organization_id, organization.sandbox, invoice.id, invoice.expected_finalization_date::text as since,
      ${rows.place}
    from invoices invoice
    join organizations organization on organization.id = invoice.organization_id
    where ${finalizable(db)} and invoice.expected_finalization_date <= (${at}::timestamptz at time zone 'UTC')::date
      and ${inReach(db, reach, db`invoice.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

const earliestFinalization = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(invoice.expected_finalization_date)::timestamp at time zone 'UTC' as at from invoices invoice
  where invoice.organization_id = ${organizationId} and ${finalizable(db)}`;
