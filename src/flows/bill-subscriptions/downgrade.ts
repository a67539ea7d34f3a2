import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../engine/assert.ts';
import type { InvoicingReason } from '../../engine/invoices/invoice-types.ts';
import type { Context } from '../../platform/context.ts';
import { nextBillingFrom } from '../../resources/subscriptions/commands/next-billing.ts';
import { bearsStartInvoice } from '../../resources/subscriptions/commands/start.ts';
import { endSubscription } from '../../resources/subscriptions/commands/terminate.ts';
import { recordSubscription } from '../../resources/subscriptions/record.ts';
import { changeSubscription, getPlanFacts, lockSubscriptions } from '../../resources/subscriptions/writes.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import type { PayerFacts } from '../build-invoice/sql.ts';
import { invoiceGroups } from './groups.ts';
import type { DueSubscription } from './sql.ts';

/**
 * Carries out a scheduled plan change at `at`, the run of the first local day of the next period: the old record ends,
 * the new one starts, and one invoice closes the old period and opens the new one where that is paid in advance.
 *
 * Rule: subscriptions-and-invoices B.6.
 */
export async function applyDowngrade(
  ctx: Context,
  payer: PayerFacts,
  subscription: DueSubscription,
  at: Temporal.Instant,
): Promise<void> {
  const [successor] = await lockSubscriptions(ctx.db, ctx.organizationId, [subscription.pending_successor_id!]);
  assert(successor, 'a scheduled successor exists');
  const plan = await getPlanFacts(ctx.db, ctx.organizationId, successor.plan_id);
  await endSubscription(ctx, subscription, { terminated_at: at });
  await changeSubscription(
    ctx.db,
    ctx.organizationId,
    successor.id,
    {
      status: 'active',
      started_at: at,
      activated_at: ctx.now(),
      next_billing_at: nextBillingFrom(plan, { ...successor, started_at: at }, payer.zone, at),
    },
    ctx.now(),
  );
  await recordSubscription(ctx, 'subscription.terminated', subscription.id);
  await recordSubscription(ctx, 'subscription.started', successor.id);

  const isOpened = await bearsStartInvoice(ctx, plan, successor, at);
  const closing = { ...subscription, consolidate_invoice: true, reason: 'subscription_terminating' as InvoicingReason };
  const opening = {
    ...successor,
    amount_currency: plan.amount_currency,
    consolidate_invoice: true,
    reason: 'subscription_starting' as InvoicingReason,
  };
  for (const group of invoiceGroups(isOpened ? [closing, opening] : [closing], payer.billing_entity_id)) {
    await buildInvoice(ctx, {
      payer,
      lines: group.map(({ id, reason }) => ({ subscription_id: id, reason })),
      at,
      skipUsage: false,
    });
  }
}
