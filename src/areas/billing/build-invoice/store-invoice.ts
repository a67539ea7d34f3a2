import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Draft } from '../../../engine/invoices/draft.ts';
import type { InvoiceStatus } from '../../../engine/invoices/invoice-states.ts';
import type { InvoiceDates } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { applySections } from '../../customers/invoice-custom-sections/sections-of-invoice.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { TAX_STEP } from '../../invoices/invoices/commands/retry.ts';
import { assignNumber } from '../../invoices/invoices/numbering.ts';
import { oweCollection } from '../../payments/payments/owe-collection.ts';
import { readWatermarks } from '../../usage/usage-counts/watermarks.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import type { Computation } from './compute-invoice.ts';
import { linkCorrections } from './correction-fees.ts';
import { storeCouponUses } from './coupons.ts';
import { storeCreditNoteUses } from './credit-notes.ts';
import { feeInputs, invoiceInputs } from './fee-inputs.ts';
import type { LineFee } from './fees.ts';
import { insertFeeInputs, insertInvoiceInputs, type StoredInputs } from './input-writes.ts';
import { sharedInstants } from './lines.ts';
import type { IssuerFacts, PayerFacts } from './payer-and-issuer.ts';
import { postFinalInvoice } from './post-final-invoice.ts';
import { storeWalletPayments } from './wallets.ts';
import { type InvoiceOwner, insertCredits, insertFees, insertInvoiceTaxes, storeAmounts } from './writes.ts';

export interface ComputedInvoice {
  invoiceId: InvoiceId;
  payer: PayerFacts;
  issuer: IssuerFacts;
  currency: string;
  dates: InvoiceDates;
  /** Billing instant. */
  at: Instant;
  createdAt: Instant;
  computation: Computation;
  /** A draft that was announced before; computing it again is not announced. */
  isKnown?: boolean;
  /** For a preview: it takes no number, because others would wait for the counter. */
  staysUnnumbered?: boolean;
  /** The subscription waits for its payment; if there is something to pay, the invoice is open. */
  isGated?: boolean;
}

/**
 * Stores a computed invoice and what goes with the status that it ends in: a final one gets its stored inputs, its
 * number and its posting, and is announced; a draft is announced; one that is suppressed or waits for its taxes is not
 * announced.
 *
 * Rules: invoices.md#statuses, invoices.md#numbers, invoices.md#zero-amounts, invoice-verification.md#stored-inputs,
 * ledger.md#journal.
 */
export async function store(ctx: Context, invoice: ComputedInvoice): Promise<void> {
  const { db, organizationId } = ctx;
  const { payer, dates, computation } = invoice;
  const { draft, fees, means } = computation;
  const owner = ownerOf(organizationId, invoice);
  const status = statusOf(draft, invoice.isGated);
  const isFinal = status === 'finalized';
  const isClosed = status === 'closed';
  const asksEngine = payer.tax_engine_id !== null && draft.subTotalExcludingTaxesAmountCents > 0;
  const awaitsEstimate = asksEngine && draft.status === 'draft';
  const [customer, marks] = await Promise.all([
    isFinal ? readCustomer(ctx, payer.id) : undefined,
    isClosed ? undefined : watermarksOf(ctx, fees),
  ]);
  const snapshot = customer === undefined ? null : customerBaseView(customer);
  // At most one statement each; they are sent together and run in this order.
  await Promise.all([
    insertFees(db, owner, { fees, draft }),
    insertInvoiceTaxes(db, owner, draft),
    insertCredits(db, owner, draft),
    isClosed || means?.has_sections === false ? undefined : applySections(ctx, invoice.invoiceId, {}, ctx.now()),
    storeCouponUses(ctx, owner, draft),
    storeAmounts(db, owner, {
      draft,
      state: { status, dates, now: ctx.now(), snapshot, awaitsEstimate, isCounted: true },
    }),
    // Fees of drafts are explained too.
    marks === undefined ? undefined : storeFeeInputs(ctx, owner, invoice, marks),
    linkCorrections(ctx, fees),
  ]);
  oweTaxes(ctx, invoice, { status, awaitsEstimate });
  if (isFinal) await finish(ctx, owner, invoice, snapshot);
  if (status === 'open') await hold(ctx, owner, invoice);
  if (!isClosed && means?.has_wallets !== false) await markWallets(ctx, payer.id);
  const isTold = isFinal || (draft.status === 'draft' && !invoice.isKnown);
  if (isTold)
    await recordInvoice(ctx, isFinal ? 'invoice.created' : 'invoice.drafted', invoice.invoiceId, { customer });
}

/** Owes the question to the tax engine of the customer: about an invoice that waits for it, or a draft. */
export function oweTaxes(
  ctx: Context,
  { invoiceId, payer }: Pick<ComputedInvoice, 'invoiceId' | 'payer'>,
  { status, awaitsEstimate = false }: { status: InvoiceStatus; awaitsEstimate?: boolean },
): void {
  if (status === 'pending' && payer.tax_engine_id !== null)
    ctx.after({ step: TAX_STEP, payload: { invoice_id: invoiceId } });
  if (awaitsEstimate) ctx.after({ step: 'estimate-draft-taxes', payload: { invoice_id: invoiceId } });
}

export const ownerOf = (organizationId: OrganizationId, invoice: ComputedInvoice): InvoiceOwner => ({
  organizationId,
  invoiceId: invoice.invoiceId,
  billingEntityId: invoice.issuer.id,
  customerId: invoice.payer.id,
  currency: invoice.currency,
  createdAt: invoice.createdAt,
});

/**
 * An invoice of a gated subscription is open while there is something to pay. Rule: activation-rules.md,
 * invoices.md#statuses.
 */
export const statusOf = (draft: Draft, isGated = false): Draft['status'] | 'open' =>
  isGated && draft.status === 'finalized' && draft.totalAmountCents > 0 ? 'open' : draft.status;

/**
 * Completes an invoice that waits for its payment: stores its inputs and sets aside what notes and wallets will pay.
 * Number and posting come with the payment.
 *
 * Rules: activation-rules.md, ledger.md#l2, ledger.md#l3.
 */
export async function hold(ctx: Context, owner: InvoiceOwner, invoice: FinalInvoice): Promise<void> {
  const { draft } = invoice.computation;
  await insertInvoiceInputs(ctx.db, owner, { invoice: invoiceInputs(draft, invoice.at), now: ctx.now() });
  await storeCreditNoteUses(ctx, owner, draft, invoice, 'applied_pending');
  await storeWalletPayments(ctx, invoice, 'applied_pending');
  const customer = await readCustomer(ctx, invoice.payer.id);
  oweCollection(ctx, invoice.invoiceId, customerBaseView(customer));
}

/** Completes a final invoice according to its amounts. */
export type FinalInvoice = Omit<ComputedInvoice, 'computation'> & {
  computation: { fees: readonly Pick<LineFee, 'fee_type' | 'amountCents'>[]; draft: Draft };
};

/**
 * Completes a final invoice: stored inputs, number, posting, and what notes and wallets pay.
 *
 * @param snapshot the customer as the invoice shows it
 */
export async function finish(
  ctx: Context,
  owner: InvoiceOwner,
  invoice: FinalInvoice,
  snapshot: Parameters<typeof oweCollection>[2],
): Promise<void> {
  const { payer, issuer } = invoice;
  const { draft } = invoice.computation;
  await Promise.all([
    insertInvoiceInputs(ctx.db, owner, { invoice: invoiceInputs(draft, invoice.at), now: ctx.now() }),
    invoice.staysUnnumbered
      ? undefined
      : assignNumber(
          ctx,
          { id: invoice.invoiceId, customer: payer, issuer, selfBilled: payer.account_type === 'partner' },
          ctx.now(),
        ),
  ]);
  await postFinalInvoice(ctx, {
    ...invoice,
    fees: invoice.computation.fees.map(({ fee_type, amountCents }) => ({ feeType: fee_type, amountCents })),
    draft,
  });
  await storeCreditNoteUses(ctx, owner, draft, invoice);
  await storeWalletPayments(ctx, invoice);
  oweCollection(ctx, invoice.invoiceId, snapshot);
}

async function storeFeeInputs(
  ctx: Context,
  owner: InvoiceOwner,
  { computation }: ComputedInvoice,
  marks: ReadonlyMap<string, object>,
): Promise<void> {
  const { fees, taxes, draft } = computation;
  const stored = fees.map(
    (fee): StoredInputs => ({
      feeId: fee.id,
      inputs: feeInputs(fee, taxes.get(fee.id)!, draft),
      watermark: fee.correction === undefined ? (marks.get(countedAs(fee)) ?? null) : null,
    }),
  );
  await insertFeeInputs(ctx.db, owner, { fees: stored, now: ctx.now() });
}

/** Watermarks of usage, one for all fees of a charge and window, since there may be thousands of groups. */
async function watermarksOf(ctx: Context, fees: readonly LineFee[]): Promise<Map<string, object>> {
  // The fee of one event names the event; storing its count again would repeat the same data.
  const ofPeriods = fees.filter(
    (fee) => fee.charge !== undefined && fee.inAdvance?.event === undefined && fee.correction === undefined,
  );
  const counted = new Map(ofPeriods.map((fee) => [countedAs(fee), fee]));
  const marks = await readWatermarks(
    ctx,
    [...counted.values()].map(({ line, charge, window, countedUntil }) => ({
      externalSubscriptionId: line.subscription.external_id,
      metric: charge!.metric,
      window: {
        from: charge!.metric.recurring ? null : window.from,
        to: countedUntil ?? window.to,
        ...sharedInstants(line, window),
      },
    })),
  );
  return new Map([...counted.keys()].map((key, index) => [key, marks[index]!]));
}

const countedAs = ({ line, charge }: LineFee): string => `${line.subscription.id} ${charge?.id}`;
