import type { Draft } from '../../../engine/invoices/draft.ts';
import type { InvoiceDates } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import type { SectionChoice } from '../../customers/invoice-custom-sections/schema.ts';
import { applySections } from '../../customers/invoice-custom-sections/sections-of-invoice.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { assignNumber } from '../../invoices/invoices/numbering.ts';
import { oweCollection } from '../../payments/payments/owe-collection.ts';
import { invoiceInputs, takenOff } from '../build-invoice/fee-inputs.ts';
import { insertFeeInputs, insertInvoiceInputs } from '../build-invoice/input-writes.ts';
import type { IssuerFacts, PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import { postFinalInvoice } from '../build-invoice/post-final-invoice.ts';
import { oweTaxes } from '../build-invoice/store-invoice.ts';
import { type InvoiceOwner, insertInvoiceTaxes, storeAmounts } from '../build-invoice/writes.ts';
import type { AddOnFee } from './add-on-fees.ts';
import { insertAddOnFees, type PaymentWish, storePaymentWish } from './one-off-records.ts';

interface ComputedOneOff {
  invoiceId: InvoiceId;
  payer: PayerFacts;
  issuer: IssuerFacts;
  currency: string;
  /** Decimals of the currency. */
  exponent: number;
  dates: InvoiceDates;
  fees: readonly AddOnFee[];
  draft: Draft;
  /** What the request says about custom sections. */
  sections: SectionChoice;
  wish: PaymentWish;
}

/**
 * Stores a computed one-off invoice; a final one is numbered, booked and announced. Rules: invoices.md#numbers,
 * invoices.md#zero-amounts, one-off-invoices.md.
 */
export async function storeOneOff(ctx: Context, invoice: ComputedOneOff): Promise<void> {
  const { db, organizationId } = ctx;
  const { invoiceId, payer, issuer, dates, fees, draft } = invoice;
  const owner: InvoiceOwner = {
    organizationId,
    invoiceId,
    billingEntityId: issuer.id,
    customerId: payer.id,
    currency: invoice.currency,
    createdAt: ctx.now(),
  };
  const isFinal = draft.status === 'finalized';
  const snapshot = isFinal ? customerBaseView(await readCustomer(ctx, payer.id)) : null;
  await insertAddOnFees(db, owner, { fees, draft });
  await insertInvoiceTaxes(db, owner, draft);
  await storeAmounts(db, owner, { draft, state: { status: draft.status, dates, now: ctx.now(), snapshot } });
  await storePaymentWish(ctx, invoiceId, invoice.wish);
  oweTaxes(ctx, invoice, { status: draft.status });
  if (draft.status === 'closed') return;
  await applySections(ctx, invoiceId, { request: invoice.sections }, ctx.now());
  const stored = fees.map((fee) => ({ feeId: fee.id, inputs: feeInputs(fee, invoice), watermark: null }));
  await insertFeeInputs(db, owner, { fees: stored, now: ctx.now() });
  if (!isFinal) return;
  await insertInvoiceInputs(db, owner, { invoice: invoiceInputs(draft, ctx.now()), now: ctx.now() });
  const selfBilled = payer.account_type === 'partner';
  await assignNumber(ctx, invoiceId, { customer: payer, issuer, selfBilled, now: ctx.now() });
  await postFinalInvoice(ctx, {
    ...invoice,
    fees: fees.map(({ amountCents }) => ({ feeType: 'add_on', amountCents })),
  });
  oweCollection(ctx, invoiceId, snapshot);
  await recordInvoice(ctx, 'invoice.one_off_created', invoiceId);
}

/** What a fee was computed from. Rule: invoice-verification.md#stored-inputs. */
const feeInputs = (
  { id, addOn, taxCodes, units, unitAmountCents, window }: AddOnFee,
  { draft, exponent }: ComputedOneOff,
): object =>
  JSON.parse(
    JSON.stringify({
      fee_type: 'add_on',
      window: { fee: window },
      price: { add_on_code: addOn.code, unit_amount_cents: unitAmountCents, tax_codes: taxCodes },
      metric: null,
      usage: { units },
      before: null,
      tail: {
        ...takenOff(id, draft),
        taxes: draft.fees.find(({ key }) => key === id)!.taxes.map(({ code, rate }) => ({ code, rate })),
        exponent,
      },
    }),
  ) as object;
