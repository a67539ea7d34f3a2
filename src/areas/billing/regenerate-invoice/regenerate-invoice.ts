import type { InvoiceType } from '../../../engine/invoices/invoice-types.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { InvoiceRegeneration } from '../../invoices/invoices/regenerate-schema.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { lockVisibleInvoice } from '../../invoices/invoices/writes.ts';
import { type IssuerFacts, lockPayer, type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { isBilledSince } from './billed-since.ts';
import { regenerateCredit } from './credit-invoice.ts';
import { regenerateOneOff } from './one-off-invoice.ts';
import { hasReplacement } from './replaced-invoice.ts';
import { regenerateOfSubscriptions } from './subscription-invoice.ts';

/** A locked voided invoice with the input for the new one. */
export interface Replaced {
  source: InvoiceRow;
  payer: PayerFacts;
  issuer: IssuerFacts;
  body: InvoiceRegeneration;
  /** For the new invoice: the given value, else that of the voided one. */
  purchaseOrderNumber: string | null;
}

/** Fees of `advance_charges` were paid one by one before their invoice, so there is nothing to bill again. */
const BY_TYPE: Partial<Record<InvoiceType, (ctx: Context, replaced: Replaced) => Promise<string>>> = {
  subscription: regenerateOfSubscriptions,
  progressive_billing: regenerateOfSubscriptions,
  one_off: regenerateOneOff,
  credit: regenerateCredit,
};

/**
 * Regenerates a voided invoice: the fees listed, changed as the input says; final at once, with the former dates. The
 * voided invoice and its lines stay unchanged and no longer claim their periods.
 *
 * @throws Refusal 404 invoice, fee, subscription, charge, charge_filter; 405 not_regenerable, unless it is a voided
 *   invoice that was not regenerated yet, no `advance_charges`, and no progressive one whose usage was billed since;
 *   422 charge invalid_charge_model
 * Rule: invoice-operations.md#regenerate.
 */
export async function regenerateInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body: InvoiceRegeneration }) {
  const source = await lockVisibleInvoice(ctx, svc_id);
  const regenerate = BY_TYPE[source.invoice_type];
  if (source.status !== 'voided' || !regenerate || (await hasReplacement(ctx, source.id)))
    throw refuse.notAllowed('not_regenerable');
  const payer = await lockPayer(ctx, source.customer_id);
  if (source.invoice_type === 'progressive_billing' && (await isBilledSince(ctx, source)))
    throw refuse.notAllowed('not_regenerable');
  const issuer = await readIssuer(ctx, source.billing_entity_id);
  const purchaseOrderNumber = purchaseOrderOf(source, body);
  const invoiceId = await regenerate(ctx, { source, payer, issuer, body, purchaseOrderNumber });
  await recordInvoice(ctx, 'invoice.regenerated', invoiceId);
  return showInvoice(ctx, invoiceId);
}

const purchaseOrderOf = (source: InvoiceRow, { purchase_order_number: given }: InvoiceRegeneration): string | null =>
  given === undefined ? source.purchase_order_number : given?.trim() || null;
