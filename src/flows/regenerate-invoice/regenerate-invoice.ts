import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../engine/calendar/local-day.ts';
import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import { assert, refuse } from '../../platform/refusal.ts';
import type { InvoiceRow } from '../../resources/invoices/queries.ts';
import { recordInvoice } from '../../resources/invoices/record.ts';
import type { InvoiceRegeneration } from '../../resources/invoices/regenerate-schema.ts';
import { showInvoice } from '../../resources/invoices/show.ts';
import { lockVisibleInvoice } from '../../resources/invoices/writes.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { lockPayer, readIssuer } from '../build-invoice/sql.ts';
import { store } from '../build-invoice/store.ts';
import { totalFees } from '../build-invoice/total-fees.ts';
import { regeneratedFees } from './fees.ts';
import { linesOfSource } from './lines.ts';
import { hasReplacement, replaceSource } from './sql.ts';

/**
 * Makes a voided invoice anew: the fees listed, changed as the input says, on the same lines; final at once. The voided
 * one and its lines stay as they are, and no longer hold their periods.
 *
 * @throws Refusal 404 invoice, fee, subscription, charge, charge_filter; 405 not_regenerable, unless it is a voided invoice
 *   of subscriptions that was not made anew yet; 422 charge invalid_charge_model
 * Rule: subscriptions-and-invoices F.13.
 */
export async function regenerateInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body: InvoiceRegeneration }) {
  const { db, organizationId } = ctx;
  const source = await lockVisibleInvoice(ctx, svc_id);
  if (source.status !== 'voided' || source.invoice_type !== 'subscription') throw refuse.notAllowed('not_regenerable');
  if (await hasReplacement(db, organizationId, source.id)) throw refuse.notAllowed('not_regenerable');

  const payer = await lockPayer(db, organizationId, source.customer_id);
  const issuer = await readIssuer(db, organizationId, source.billing_entity_id);
  const lines = await linesOfSource(ctx, source, payer.zone);
  const [first] = lines;
  assert(first, 'an invoice of subscriptions has lines');
  const fees = await regeneratedFees(ctx, source.id, lines, body.fees);

  const invoiceId = newId();
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    currency: source.currency,
    purchaseOrderNumber: purchaseOrderOf(source, body),
    billedOn: localDate(source.created_at, payer.zone),
    isRecurring: lines.some(({ reason }) => reason === 'subscription_periodic'),
    knowsNoGrace: true,
    selfBilled: source.self_billed,
  });
  await replaceSource(db, organizationId, { sourceId: source.id, invoiceId });
  await claimLines(db, organizationId, invoiceId, lines, { billedOn: billedOn(first.at, payer.zone), now: ctx.now() });
  const computation = await totalFees(ctx, { payer, issuer, fees, isFinalizing: true });
  const made = { invoiceId, payer, issuer, currency: source.currency, dates, at: first.at, createdAt: ctx.now() };
  await store(ctx, { ...made, computation });
  await recordInvoice(ctx, 'invoice.regenerated', invoiceId);
  return showInvoice(ctx, invoiceId);
}

const purchaseOrderOf = (source: InvoiceRow, { purchase_order_number: given }: InvoiceRegeneration): string | null =>
  given === undefined ? source.purchase_order_number : given?.trim() || null;

const billedOn = (at: Temporal.Instant, zone: string): Temporal.PlainDate => localDate(at, zone);
