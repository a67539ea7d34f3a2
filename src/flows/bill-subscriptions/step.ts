import { Temporal } from 'temporal-polyfill';
import { assert } from '../../engine/assert.ts';
import type { Context } from '../../platform/context.ts';
import type { BillStep } from '../../resources/subscriptions/commands/start.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer } from '../build-invoice/sql.ts';

/**
 * After-step `bill-subscriptions`: the invoice that a start, an end or a plan change owes. What was billed before is not
 * billed again, so it may run twice.
 */
export async function billStep(ctx: Context, { lines, at }: BillStep): Promise<void> {
  const [owner] = await ctx.db<{ customer_id: string }[]>`
    select customer_id from subscriptions
    where organization_id = ${ctx.organizationId} and id = ${lines[0]!.subscription_id}`;
  assert(owner, 'a subscription that is to be billed exists');
  const payer = await lockPayer(ctx.db, ctx.organizationId, owner.customer_id);
  const skipUsage = lines.every(({ reason }) => reason === 'subscription_starting');
  await buildInvoice(ctx, { payer, lines, at: Temporal.Instant.from(at), skipUsage });
}
