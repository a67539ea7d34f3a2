import { assert } from '../../../engine/assert.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { lifetimeCents } from '../../../engine/invoices/passed-thresholds.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { listApplicableThresholds } from '../../catalog/usage-thresholds/queries.ts';
import { getShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { usageToInvoice } from '../../usage/lifetime-usage/lifetime-usage.ts';
import { type ChargeUsage, wholeUsageOf } from '../../usage/usage/subscription-usage.ts';
import { usageLineFees } from '../build-invoice/fees.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import { type BilledLine, billedLine } from '../build-invoice/lines.ts';
import { openInvoice, removeInvoice } from '../build-invoice/open-invoice.ts';
import { lockPayer, type PayerFacts, readBilledSubscriptions, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { store } from '../build-invoice/store-invoice.ts';
import { totalFees } from '../build-invoice/total-fees.ts';
import { announceThresholds } from './announce.ts';
import { type PassedByUsage, passedByUsage } from './passed-by-usage.ts';
import { claimRun, insertAppliedThresholds } from './progressive-runs.ts';

/** Name of the owed work. */
export const BILL_PROGRESSIVELY = 'bill-progressively';

/**
 * After-step: makes one invoice of the usage so far for all thresholds that it has passed. Usage is counted again under
 * the customer's lock, which everything that bills takes, so each crossing is billed once however often it is found.
 *
 * Rules: progressive-billing.md#trigger, progressive-billing.md#invoice.
 */
export async function billProgressively(
  ctx: Context,
  { subscription_id }: { subscription_id: SubscriptionId },
): Promise<void> {
  const { customer_id } = await getShown(ctx, subscription_id);
  const payer = await lockPayer(ctx, customer_id);
  const subscription = await getShown(ctx, subscription_id);
  const thresholds = await listApplicableThresholds(ctx, subscription_id);
  if (subscription.status !== 'active' || thresholds.length === 0) return;
  const usage = await wholeUsageOf(ctx, subscription, ctx.now());
  const found = await passedByUsage(ctx, subscription, thresholds, usage);
  if (found.passed.length === 0) return;
  const invoiceId = await buildProgressiveInvoice(ctx, payer, subscription, usageToInvoice(usage), found);
  if (invoiceId === undefined) return;
  await announceThresholds(ctx, subscription, { passed: found.passed, applicable: thresholds });
  ctx.log.info(
    { invoiceId, subscriptionId: subscription.id, thresholds: found.passed.length },
    'usage billed progressively',
  );
}

/** @returns id of the invoice, or undefined when the crossing was billed already */
async function buildProgressiveInvoice(
  ctx: Context,
  payer: PayerFacts,
  subscription: SubscriptionShown,
  usage: readonly ChargeUsage[],
  { passed, usage: soFar, previousInvoiceId }: PassedByUsage,
): Promise<string | undefined> {
  const invoiceId = newId();
  const at = ctx.now();
  const billedOn = localDate(at, payer.zone);
  const [billed] = await readBilledSubscriptions(ctx, [subscription.id], {
    invoiceId,
    at,
    billedOn,
    zone: payer.zone,
  });
  assert(billed, 'a subscription that is billed exists');
  const line = billedLine(billed, 'progressive_billing', at, payer.zone);
  const issuer = await readIssuer(ctx, billed.billing_entity_id ?? payer.billing_entity_id);
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    invoiceType: 'progressive_billing',
    currency: billed.amount_currency,
    purchaseOrderNumber: billed.purchase_order_number,
    billedOn,
  });
  const run = {
    invoice_id: invoiceId,
    external_subscription_id: subscription.external_id,
    invoiced_amount_cents: soFar.invoicedCents,
    highest_threshold_id: passed.at(-1)!.id,
    previous_invoice_id: previousInvoiceId,
  };
  if (!(await claimRun(ctx, run, at))) {
    await removeInvoice(ctx, invoiceId);
    return undefined;
  }
  await claimLines(ctx, invoiceId, { lines: [line], claim: { billedOn, now: at } });
  await insertAppliedThresholds(
    ctx,
    {
      invoice_id: invoiceId,
      threshold_ids: passed.map(({ id }) => id),
      lifetime_usage_amount_cents: lifetimeCents(soFar),
    },
    at,
  );
  const computation = await totalFees(ctx, {
    payer,
    issuer,
    fees: progressiveFees(line, usage),
    isFinalizing: true,
    invoiceType: 'progressive_billing',
  });
  await store(ctx, {
    invoiceId,
    payer,
    issuer,
    currency: billed.amount_currency,
    dates,
    at,
    createdAt: at,
    computation,
  });
  return invoiceId;
}

/** The fees of all usage of the window so far; spending minimums wait for the end of the period. */
function progressiveFees(line: BilledLine, usage: readonly ChargeUsage[]) {
  const window = line.usageWindow;
  assert(window, 'the window in progress is never empty');
  return usage.flatMap(({ charge, shares }) =>
    usageLineFees(line, { ...charge, min_amount_cents: 0 }, { counted: shares.map(({ counted }) => counted), window }),
  );
}
