import type { Context } from '../../platform/context.ts';
import { finalizePending } from '../build-invoice/finalize-draft.ts';

/** Step `finalize-pending-invoice`: taxes of our own are there at once, so what waited for taxes becomes final. */
export async function finalizePendingInvoice(ctx: Context, { invoice_id }: { invoice_id: string }): Promise<void> {
  await finalizePending(ctx, invoice_id);
}
