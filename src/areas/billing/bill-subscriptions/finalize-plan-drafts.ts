import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, PlanId } from '../../../platform/ids.ts';

/**
 * Step `finalize-plan-drafts`: finalizes the drafts of a deleted plan without waiting for their grace period. Rule:
 * plans.md#deletion.
 */
export async function finalizePlanDrafts(ctx: Context, { plan_id }: { plan_id: PlanId }): Promise<void> {
  const drafts = await ctx.db<{ id: InvoiceId }[]>`
    select distinct invoice.id from invoices invoice
    join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
    join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
    where invoice.organization_id = ${ctx.organizationId} and invoice.status = 'draft' and s.plan_id = ${plan_id}
    order by invoice.id`;
  for (const { id } of drafts) ctx.after({ step: 'finalize-draft', payload: { invoice_id: id } });
}
