import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import type { BillFixedChargesStep } from '../../catalog/fixed-charges/units-of-subscriptions.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';

/**
 * After-step `bill-fixed-charges`: makes the invoice of units that changed inside a period paid in advance, with one
 * fee for each fixed charge. It bills the units of this change only; a later change has its own invoice. A subscription
 * that has ended owes nothing.
 *
 * Rule: fixed-charges.md#change-inside-a-period.
 */
export async function billFixedChargesStep(ctx: Context, step: BillFixedChargesStep): Promise<void> {
  const [subscription] = await ctx.db<{ customer_id: CustomerId; status: string }[]>`
    select customer_id, status from subscriptions
    where organization_id = ${ctx.organizationId} and id = ${step.subscription_id}`;
  if (subscription?.status !== 'active') return;
  const payer = await lockPayer(ctx, subscription.customer_id);
  const fixedCharges = { ids: step.fixed_charge_ids, recordIds: step.record_ids ?? [] };
  await buildInvoice(ctx, {
    payer,
    lines: [{ subscription_id: step.subscription_id, reason: 'in_advance_charge', fixedCharges }],
    at: Temporal.Instant.from(step.at),
    skipUsage: true,
  });
}
