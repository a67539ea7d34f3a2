import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { dueCents } from '../../invoices/invoices/amount-due.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { type DueRow, dueInvoice, InvoiceItem } from './due-subscriptions.ts';

/** Flags unpaid invoices the day after they were due. Rules: periodic-jobs.md#overdue, invoices.md#dates. */
export const overdue = periodicJob({
  name: 'overdue',
  item: InvoiceItem,
  select: async (sql, at, reach, page) => selected(await listOverdue(sql, at, reach, page), page, dueInvoice),
  async work(ctx, { invoice_id: id }, at) {
    if (await flagOverdue(ctx, id, { at, now: ctx.now() })) await recordInvoice(ctx, 'invoice.payment_overdue', id);
  },
  nextDueAt: async (scope) => (await earliestOverdue(scope))[0]!.at,
});

// Rule: invoices.md#dates "overdue".
const payable = (db: Db) => db`
  invoice.status = 'finalized' and invoice.payment_status <> 'succeeded' and invoice.payment_dispute_lost_at is null
  and not invoice.payment_overdue and ${dueCents(db, 'invoice')} > 0`;

/** Unpaid invoices whose due day is over on the UTC day of `at`. */
const listOverdue = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`invoice.organization_id`, db`invoice.payment_due_date, invoice.id`);
  return db<(DueRow & Placed)[]>`
    select invoice.organization_id, organization.sandbox, invoice.id, invoice.payment_due_date::text as since,
      ${rows.place}
    from invoices invoice
    join organizations organization on organization.id = invoice.organization_id
    where ${payable(db)} and invoice.payment_due_date < (${at}::timestamptz at time zone 'UTC')::date
      and ${inReach(db, reach, db`invoice.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

const earliestOverdue = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select (min(invoice.payment_due_date) + 1)::timestamp at time zone 'UTC' as at from invoices invoice
  where invoice.organization_id = ${organizationId} and ${payable(db)}`;

/** Flags an invoice as overdue; false when it is not, or was already. */
async function flagOverdue(
  { db, organizationId }: Scope,
  id: InvoiceId,
  { at, now }: { at: Temporal.Instant; now: Temporal.Instant },
): Promise<boolean> {
  const rows = await db`
    update invoices invoice set payment_overdue = true, updated_at = ${now}
    where invoice.organization_id = ${organizationId} and invoice.id = ${id} and ${payable(db)}
      and invoice.payment_due_date < (${at}::timestamptz at time zone 'UTC')::date
    returning invoice.id`;
  return rows.length > 0;
}
