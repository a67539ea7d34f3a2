import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { recordFeeCreated } from '../../invoices/fees/announce.ts';
import type { LineFee } from '../build-invoice/fees.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import type { BilledLine } from '../build-invoice/lines.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { store } from '../build-invoice/store-invoice.ts';
import { totalFees } from '../build-invoice/total-fees.ts';

/**
 * Makes the invoice of one event's fee: issued on the local day, without a grace period, final at once.
 * Rules: invoices.md#types, invoices.md#dates, in-advance.md#fees-in-advance.
 */
export async function invoiceEvent(ctx: Context, payer: PayerFacts, line: BilledLine, fee: LineFee): Promise<void> {
  const { subscription } = line;
  const invoiceId = newId();
  const billedOn = localDate(line.at, line.zone);
  const issuer = await readIssuer(ctx, subscription.billing_entity_id ?? payer.billing_entity_id);
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    currency: subscription.amount_currency,
    purchaseOrderNumber: subscription.purchase_order_number,
    billedOn,
    isInAdvanceCharge: true,
  });
  await claimLines(ctx, invoiceId, { lines: [line], claim: { billedOn, now: ctx.now() } });
  const computation = await totalFees(ctx, { payer, issuer, fees: [fee], isFinalizing: true });
  await store(ctx, {
    invoiceId,
    payer,
    issuer,
    currency: subscription.amount_currency,
    dates,
    at: line.at,
    createdAt: ctx.now(),
    computation,
  });
  if (computation.draft.status !== 'closed') await recordFeeCreated(ctx, [fee.id]);
}
