import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { creditProgressiveExcess } from '../../credits/credit-notes/commands/on-progressive-excess.ts';
import { chargesOfLines, computeFees } from '../build-invoice/compute-invoice.ts';
import { billedLine } from '../build-invoice/lines.ts';
import { lockPayer, readBilledSubscriptions } from '../build-invoice/payer-and-issuer.ts';
import { progressiveCredits } from '../build-invoice/progressive-credits.ts';

/**
 * Gives back what progressive invoices billed beyond the usage of a last period that gets no invoice: there is none
 * that would. Usage that they did not bill stays unbilled. Once given back there is no excess, so it may run twice.
 *
 * Rules: progressive-billing.md#credit-in-steps, termination.md#ending-a-subscription.
 */
export async function creditSkippedPeriod(
  ctx: Context,
  { subscription_id, customer_id }: { subscription_id: SubscriptionId; customer_id: CustomerId },
): Promise<void> {
  const payer = await lockPayer(ctx, customer_id);
  const [{ at }] = await ctx.db<[{ at: Temporal.Instant | null }]>`
    select terminated_at as at from subscriptions
    where organization_id = ${ctx.organizationId} and id = ${subscription_id}`;
  if (at === null) return;
  const [subscription] = await readBilledSubscriptions(ctx, [subscription_id], {
    invoiceId: newId(),
    at,
    billedOn: localDate(at, payer.zone),
    zone: payer.zone,
  });
  const line = billedLine(subscription!, 'subscription_terminating', at, payer.zone);
  if ((await progressiveCredits(ctx, payer.id, [], { lines: [line] })).length === 0) return;
  const charges = await chargesOfLines(ctx, [line]);
  const fees = await computeFees(ctx, { lines: [line], charges, skipUsage: false });
  for (const { progressiveInvoiceId, excessCents, fallen } of await progressiveCredits(ctx, payer.id, fees, {
    lines: [line],
  }))
    if (excessCents > 0) await creditProgressiveExcess(ctx, progressiveInvoiceId, excessCents, fallen);
}
