import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { BilledLine } from './lines.ts';

/**
 * Owes a last snapshot of daily usage for subscriptions that end, by what their last invoice bills. Rule:
 * usage-reads.md#daily-usage.
 */
export function oweLastSnapshots(ctx: Context, invoiceId: InvoiceId, lines: readonly BilledLine[]): void {
  for (const { reason, subscription } of lines) {
    if (reason !== 'subscription_terminating') continue;
    ctx.after({ step: 'snapshot-last-usage', payload: { subscription_id: subscription.id, invoice_id: invoiceId } });
  }
}
