import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { CorrectionId, CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { customerOf } from '../bill-in-advance/billable-events.ts';
import { ownFees } from '../build-invoice/correction-fees.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import { currentLine } from '../build-invoice/lines.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { lockPayer, readBilledSubscriptions, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { store } from '../build-invoice/store-invoice.ts';
import { totalFees } from '../build-invoice/total-fees.ts';
import { creditSkippedPeriod } from './skipped-period.ts';

/**
 * Makes an invoice of the differences that corrections left for a subscription and of nothing else, final at once.
 * Without differences it does nothing.
 *
 * correctionId the correction with this policy; null: all differences that wait for an invoice that will not come
 *
 * Rules: event-corrections.md#difference "own invoice", "waiting increase", invoices.md#dates.
 */
export async function invoiceDifferences(
  ctx: Context,
  owner: { subscription_id: SubscriptionId; customer_id: CustomerId },
  correctionId: CorrectionId | null,
): Promise<void> {
  const payer = await lockPayer(ctx, owner.customer_id);
  const invoiceId = newId();
  const at = ctx.now();
  const billedOn = localDate(at, payer.zone);
  const [subscription] = await readBilledSubscriptions(ctx, [owner.subscription_id], {
    invoiceId,
    at,
    billedOn,
    zone: payer.zone,
  });
  const until = subscription!.terminated_at?.subtract({ microseconds: 1 });
  const line = currentLine(subscription!, 'in_advance_charge', { at, zone: payer.zone, inside: until ?? at });
  const fees = await ownFees(ctx, line, correctionId);
  if (fees.length === 0) return;
  const issuer = await readIssuer(ctx, subscription!.billing_entity_id ?? payer.billing_entity_id);
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    currency: subscription!.amount_currency,
    purchaseOrderNumber: subscription!.purchase_order_number,
    billedOn,
    isInAdvanceCharge: true,
  });
  await claimLines(ctx, invoiceId, { lines: [line], claim: { billedOn, now: at } });
  const computation = await totalFees(ctx, { payer, issuer, fees, isFinalizing: true });
  const currency = subscription!.amount_currency;
  await store(ctx, { invoiceId, payer, issuer, currency, dates, at, createdAt: at, computation });
}

/**
 * Step `invoice-differences`: closes a subscription that has ended without an invoice. What was billed progressively
 * beyond its usage is given back; then differences that wait for a next invoice get one, which may use that.
 *
 * Rules: event-corrections.md#difference "waiting increase", progressive-billing.md#credit-in-steps.
 */
export async function invoiceWaiting(
  ctx: Context,
  { subscription_id }: { subscription_id: SubscriptionId },
): Promise<void> {
  const customer_id = await customerOf(ctx, subscription_id);
  await creditSkippedPeriod(ctx, { subscription_id, customer_id });
  await invoiceDifferences(ctx, { subscription_id, customer_id }, null);
}
