import { periodicJob } from '../../../platform/periodic-job.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { dueInvoice, earliestOverdue, flagOverdue, InvoiceItem, listOverdue } from './sql.ts';

/** Flags unpaid invoices the day after they were due. Rules: periodic-jobs.md#overdue, invoices.md#dates. */
export const overdue = periodicJob({
  name: 'overdue',
  item: InvoiceItem,
  select: async (sql, at, scope, limit) => (await listOverdue(sql, at, scope, limit)).map(dueInvoice),
  async work(ctx, { invoice_id: id }, at) {
    if (await flagOverdue(ctx.db, ctx.organizationId, id, at, ctx.now()))
      await recordInvoice(ctx, 'invoice.payment_overdue', id);
  },
  nextDueAt: async (sql, organizationId) => (await earliestOverdue(sql, organizationId))[0]!.at,
});
