import { periodicJob } from '../../../platform/periodic-job.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { dueInvoice, earliestOverdue, flagOverdue, InvoiceItem, listOverdue } from './due-subscriptions.ts';

/** Flags unpaid invoices the day after they were due. Rules: periodic-jobs.md#overdue, invoices.md#dates. */
export const overdue = periodicJob({
  name: 'overdue',
  item: InvoiceItem,
  select: async (sql, at, reach, limit) => (await listOverdue(sql, at, reach, limit)).map(dueInvoice),
  async work(ctx, { invoice_id: id }, at) {
    if (await flagOverdue(ctx, id, { at, now: ctx.now() })) await recordInvoice(ctx, 'invoice.payment_overdue', id);
  },
  nextDueAt: async (scope) => (await earliestOverdue(scope))[0]!.at,
});
