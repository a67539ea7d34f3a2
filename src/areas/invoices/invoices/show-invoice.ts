import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { listAppliedThresholds } from '../../catalog/usage-thresholds/queries.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { urlsOf } from '../../messaging/documents/document-urls.ts';
import { listShownOfInvoice } from '../../subscriptions/subscriptions/queries.ts';
import { listFeesOfInvoice } from '../fees/queries.ts';
import { listCreditsOfInvoice } from './credits-of-invoice.ts';
import { type InvoiceRow, listLinesOfInvoice, readInvoice } from './queries.ts';
import { type InvoiceParts, invoiceView } from './view.ts';

/** An invoice as commands return it, whatever its status. */
export async function showInvoice(ctx: Pick<Context, 'db' | 'config' | 'organizationId' | 'now'>, id: InvoiceId) {
  const invoice = await readInvoice(ctx, id);
  const [parts, urls] = await Promise.all([partsOf(ctx, invoice), urlsOf(ctx, invoice)]);
  return { invoice: { ...invoiceView(parts, ctx.now()), ...urls } };
}

/**
 * Gathers what an invoice on its own shows: four statements sent together, whatever the number of its fees.
 *
 * @param known the customer, when it was read already
 */
export async function partsOf(
  ctx: Scope,
  invoice: InvoiceRow,
  known?: InvoiceParts['customer'],
): Promise<InvoiceParts> {
  const [customer, fees, lines, shown, credits, appliedThresholds] = await Promise.all([
    known ?? readCustomer(ctx, invoice.customer_id),
    listFeesOfInvoice(ctx, invoice.id),
    listLinesOfInvoice(ctx, invoice.id),
    listShownOfInvoice(ctx, invoice.id),
    hasCredits(invoice) ? listCreditsOfInvoice(ctx, invoice.id) : [],
    invoice.invoice_type === 'progressive_billing' ? listAppliedThresholds(ctx, invoice.id) : [],
  ]);
  const order = new Map(lines.map((line, index) => [line.subscription_id, index]));
  const subscriptions = [...shown].sort((a, b) => order.get(a.id)! - order.get(b.id)!);
  return { invoice, customer, fees, lines, subscriptions, credits, appliedThresholds };
}

const hasCredits = (invoice: InvoiceRow): boolean =>
  invoice.progressive_billing_credit_amount_cents !== 0 ||
  invoice.coupons_amount_cents !== 0 ||
  invoice.credit_notes_amount_cents !== 0;
