import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { GATE_STEP } from '../../subscriptions/subscriptions/settle-gate.ts';
import { generateAgain } from '../build-invoice/finalize-draft.ts';
import { computedOrNoted } from '../build-invoice/generation-error.ts';
import { type DueRow, dueInvoice, InvoiceItem } from './due-subscriptions.ts';

const STUCK_AFTER_HOURS = 24;

/**
 * Bills invoices again whose generation never finished, with the same record and timestamp. An invoice with a noted
 * error is skipped, because trying again would fail in the same way.
 *
 * Rules: periodic-jobs.md#stuck-invoices, invoices.md#error-details.
 */
export const stuckInvoices = periodicJob({
  name: 'stuck-invoices',
  item: InvoiceItem,
  async select(sql, at, reach, page) {
    const rows = keyset(sql, page, sql`invoice.organization_id`, sql`invoice.created_at, invoice.id`);
    const due = await sql<(DueRow & Placed)[]>`
      select invoice.organization_id, organization.sandbox, invoice.id,
        to_char(invoice.created_at at time zone 'UTC', 'YYYY-MM-DD') as since, ${rows.place}
      from invoices invoice
      join organizations organization on organization.id = invoice.organization_id
      where ${isStuck(sql)} and invoice.created_at < ${at.subtract({ hours: STUCK_AFTER_HOURS })}
        and ${inReach(sql, reach, sql`invoice.organization_id`)} and ${rows.isBehind}
      ${rows.order}`;
    return selected(due, page, dueInvoice);
  },
  async work(ctx, { invoice_id: id }) {
    const [due] = await ctx.db<{ id: InvoiceId }[]>`
      select invoice.id from invoices invoice
      where invoice.organization_id = ${ctx.organizationId} and invoice.id = ${id} and ${isStuck(ctx.db)}`;
    if (!due || !(await computedOrNoted(ctx, id, (own) => generateAgain(own, id)))) return;
    const gated = await ctx.db<{ subscription_id: SubscriptionId }[]>`
      select line.subscription_id from invoice_subscriptions line
      join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
      where line.organization_id = ${ctx.organizationId} and line.invoice_id = ${id} and s.status = 'incomplete'`;
    for (const payload of gated) ctx.after({ step: GATE_STEP, payload });
  },
  async nextDueAt({ db, organizationId }) {
    const [row] = await db<{ at: Temporal.Instant | null }[]>`
      select min(invoice.created_at) as at from invoices invoice
      where invoice.organization_id = ${organizationId} and ${isStuck(db)}`;
    // One microsecond later: older than a day, not exactly a day old.
    return row!.at?.add({ hours: STUCK_AFTER_HOURS, microseconds: 1 }) ?? null;
  },
});

const isStuck = (db: Db) => db`
  invoice.status = 'generating' and invoice.invoice_type = 'subscription'
  and exists (select from invoice_subscriptions line
    where line.organization_id = invoice.organization_id and line.invoice_id = invoice.id)
  and not exists (select from invoice_subscriptions line
    where line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
      and line.invoicing_reason = 'in_advance_charge')
  and not exists (select from invoice_error_details error
    where error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
      and error.error_code = 'invoice_generation_error')`;
