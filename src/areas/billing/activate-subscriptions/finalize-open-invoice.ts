import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { assignNumber } from '../../invoices/invoices/numbering.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { bookOnInvoice, type Change } from '../../ledger/ledger/book-on-invoice.ts';
import { invoiceFinalizedLines } from '../../ledger/ledger/invoice-finalized.ts';
import { lockPayer, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { listFeeAmounts, markFinalized } from './gated-subscriptions.ts';

/**
 * Finalizes the open invoice of a subscription that was paid: it is numbered, booked and announced. It is issued today,
 * unless a tax engine has recorded it: then on the day that is in the tax return. Notes and wallets now pay what they
 * had set aside for it.
 *
 * Rules: activation-rules.md, invoices.md#statuses, tax-engines.md#when-an-engine-is-asked, ledger.md#l1, ledger.md#l4.
 */
export async function finalizeOpenInvoice(ctx: Context, { id }: { id: string }): Promise<void> {
  const open = await readInvoice(ctx, id);
  const payer = await lockPayer(ctx, open.customer_id);
  const issuer = await readIssuer(ctx, open.billing_entity_id);
  const snapshot = customerBaseView(await readCustomer(ctx, payer.id));
  const issuedOn = open.tax_integration_id === null ? localDate(ctx.now(), payer.zone) : open.issuing_date;
  await markFinalized(ctx, id, {
    snapshot,
    issuedOn,
    dueOn: issuedOn.add({ days: open.net_payment_term }),
    now: ctx.now(),
  });
  await assignNumber(ctx, id, { customer: payer, issuer, selfBilled: open.self_billed, now: ctx.now() });
  await book(ctx, id);
  await recordInvoice(ctx, 'invoice.created', id);
}

async function book(ctx: Context, id: string): Promise<void> {
  const invoice = await readInvoice(ctx, id);
  const lines = invoiceFinalizedLines({
    selfBilled: invoice.self_billed,
    fees: await listFeeAmounts(ctx, id),
    couponsAmountCents: invoice.coupons_amount_cents,
    progressiveBillingCreditAmountCents: invoice.progressive_billing_credit_amount_cents,
    taxesAmountCents: invoice.taxes_amount_cents,
    totalIncludingTaxesCents: invoice.sub_total_including_taxes_amount_cents,
    taxes: invoice.applied_taxes.map((tax) => ({ code: tax.tax_code, amountCents: tax.amount_cents })),
  });
  await bookOnInvoice(
    ctx,
    'invoice_finalized',
    invoice,
    lines.map(
      ({ account, side, amountCents, taxCode }): Change => ({
        account,
        amountCents: side === 'debit' ? amountCents : -amountCents,
        taxCode: taxCode ?? null,
      }),
    ),
  );
  const setAside =
    (invoice.credit_notes_amount_cents + invoice.prepaid_credit_amount_cents) * (invoice.self_billed ? -1 : 1);
  await bookOnInvoice(ctx, 'open_invoice_finalized', invoice, [
    { account: 'applied_pending', amountCents: setAside },
    { account: invoice.self_billed ? 'partner_payable' : 'receivable', amountCents: -setAside },
  ]);
}
