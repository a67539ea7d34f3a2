import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { retryInvoice } from '../../invoices/invoices/commands/retry.ts';
import type { ErrorReason } from '../../invoices/invoices/writes.ts';
import { type DueRow, dueInvoice, InvoiceItem } from '../bill-subscriptions/due-subscriptions.ts';

/**
 * Retries failed invoices that a passing error stopped: a tax provider with too many requests, or a number that could
 * not be assigned. Rules: periodic-jobs.md#retry-failed-invoices, invoices.md#numbers,
 * invoice-operations.md#operations.
 */
export const retryFailedInvoices = periodicJob({
  name: 'retry-failed-invoices',
  item: InvoiceItem,
  async select(sql, _at, reach, page) {
    const rows = keyset(sql, page, sql`invoice.organization_id`, sql`invoice.id`);
    const due = await sql<(DueRow & Placed)[]>`
      select invoice.organization_id, organization.sandbox, invoice.id,
        to_char(invoice.created_at at time zone 'UTC', 'YYYY-MM-DD') as since, ${rows.place}
      from invoices invoice
      join organizations organization on organization.id = invoice.organization_id
      where ${isPassing(sql)} and ${inReach(sql, reach, sql`invoice.organization_id`)} and ${rows.isBehind}
      ${rows.order}`;
    return selected(due, page, dueInvoice);
  },
  async work(ctx, { invoice_id: id }) {
    const [due] = await ctx.db<{ id: InvoiceId }[]>`
      select invoice.id from invoices invoice
      where invoice.organization_id = ${ctx.organizationId} and invoice.id = ${id} and ${isPassing(ctx.db)}`;
    if (due) await retryInvoice(ctx, { svc_id: id });
  },
  async nextDueAt({ db, organizationId }, after) {
    const [row] = await db<{ found: boolean }[]>`
      select exists (
        select from invoices invoice where invoice.organization_id = ${organizationId} and ${isPassing(db)}) as found`;
    return row!.found ? after : null;
  },
});

/** Passing reasons: an invoice that failed for one is retried. */
const PASSING_REASONS: readonly ErrorReason[] = ['api_limit', 'number_not_assigned'];

/** A failed invoice whose error has a passing reason. */
const isPassing = (db: Db) => db`
  invoice.status = 'failed' and exists (
    select from invoice_error_details error
    where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
      and error.reason = any (${PASSING_REASONS}))`;
