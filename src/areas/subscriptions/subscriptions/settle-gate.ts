import type { PaymentStatus } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, SubscriptionId } from '../../../platform/ids.ts';

/** Step that activates or cancels a subscription waiting for its first invoice's payment. */
export const GATE_STEP = 'settle-gate';

/** Structural: the row of an invoice can be passed. */
interface GatingInvoice {
  id: InvoiceId;
  status: string;
  invoice_type: string;
}

/**
 * Owes the decision about the subscription of an open invoice whose payment arrived or was refused.
 * Rule: activation-rules.md.
 */
export async function followGatedPayment(
  ctx: Context,
  { invoice, status }: { invoice: GatingInvoice; status: PaymentStatus },
): Promise<void> {
  if (invoice.status !== 'open' || invoice.invoice_type !== 'subscription' || status === 'pending') return;
  const lines = await ctx.db<{ subscription_id: SubscriptionId }[]>`
    select subscription_id from invoice_subscriptions
    where organization_id = ${ctx.organizationId} and invoice_id = ${invoice.id}`;
  for (const { subscription_id } of lines) ctx.after({ step: GATE_STEP, payload: { subscription_id } });
}
