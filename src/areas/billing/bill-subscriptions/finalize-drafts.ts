import { periodicJob } from '../../../platform/periodic-job.ts';
import { finalizeDraft } from '../build-invoice/finalize-draft.ts';
import { computedOrNoted } from '../build-invoice/generation-error.ts';
import { dueInvoice, earliestFinalization, InvoiceItem, listDraftsOver } from './due-subscriptions.ts';

/**
 * Finalizes drafts whose grace period is over. Rules: periodic-jobs.md#finalize,
 * invoice-operations.md#refresh-and-finalize.
 */
export const finalize = periodicJob({
  name: 'finalize',
  item: InvoiceItem,
  select: async (sql, at, reach, limit) => (await listDraftsOver(sql, at, reach, limit)).map(dueInvoice),
  async work(ctx, { invoice_id }) {
    await computedOrNoted(ctx, invoice_id, (own) => finalizeDraft(own, invoice_id));
  },
  nextDueAt: async (scope) => (await earliestFinalization(scope))[0]!.at,
});
