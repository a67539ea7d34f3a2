import { assert } from '../../../engine/assert.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import { linesOfSource } from '../build-invoice/lines-of-source.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { store } from '../build-invoice/store-invoice.ts';
import { totalFees } from '../build-invoice/total-fees.ts';
import { reopenLateCorrections } from '../settle-usage/settle-late-events.ts';
import { regeneratedFees } from './fees.ts';
import type { Replaced } from './regenerate-invoice.ts';
import { copyThresholds, replaceSource } from './replaced-invoice.ts';

/**
 * Regenerates a voided invoice of subscriptions, periodic or progressive: on the same lines, for the same thresholds.
 *
 * @returns id of the new invoice
 * @throws Refusal 404 fee, subscription, charge, charge_filter; 422 charge invalid_charge_model
 */
export async function regenerateOfSubscriptions(ctx: Context, replaced: Replaced): Promise<string> {
  const { source, payer, issuer, body, purchaseOrderNumber } = replaced;
  const { invoice_type: invoiceType } = source;
  const lines = await linesOfSource(ctx, source);
  const [first] = lines;
  assert(first, 'an invoice of subscriptions has lines');
  const fees = await regeneratedFees(ctx, source.id, lines, body.fees);

  const invoiceId = newId();
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    zone: source.timezone,
    invoiceType,
    currency: source.currency,
    purchaseOrderNumber,
    billedOn: localDate(source.created_at, payer.zone),
    isRecurring: lines.some(({ reason }) => reason === 'subscription_periodic'),
    skipsGracePeriod: true,
    selfBilled: source.self_billed,
  });
  const replacement = { sourceId: source.id, invoiceId };
  await replaceSource(ctx, replacement);
  const claim = { billedOn: localDate(first.at, source.timezone), now: ctx.now() };
  await claimLines(ctx, invoiceId, { lines, claim });
  await copyThresholds(ctx, replacement, ctx.now());
  const madeAnewFrom = source.id;
  const computation = await totalFees(ctx, { payer, issuer, fees, isFinalizing: true, invoiceType, madeAnewFrom });
  const made = { invoiceId, payer, issuer, currency: source.currency, dates, at: first.at, createdAt: ctx.now() };
  await store(ctx, { ...made, computation });
  await reopenLateCorrections(ctx, invoiceId);
  // Nothing was late for the voided invoice (event-corrections.md#regenerated-invoices).
  ctx.after({ step: 'look-at-late-events', payload: { invoice_id: invoiceId } });
  return invoiceId;
}
