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
import { assignNumber, type NumberedInvoice } from '../../invoices/invoices/numbering.ts';
import { oweCollection } from '../../payments/payments/owe-collection.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import type { Computation } from './compute-invoice.ts';
import { linkCorrections } from './correction-fees.ts';
import { storeCouponUses } from './coupons.ts';
import { storeCreditNoteUses } from './credit-notes.ts';
import { type FactsToStore, readFactsToStore, watermarkOf } from './facts-to-store.ts';
import { feeInputs, invoiceInputs } from './fee-inputs.ts';
import type { LineFee } from './fees.ts';
import { insertFeeInputs, insertInvoiceInputs, type StoredInputs } from './input-writes.ts';
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
  const facts = computation.toStore ?? (isClosed ? undefined : await readFactsToStore(ctx, payer.id, fees));
  const snapshot = isFinal ? customerBaseView(facts!.customer) : null;
  // At most one statement each; they are sent together and run in this order. The number is among the last, because
  // others wait for its counter until the commit.
  await Promise.all([
    insertFees(db, owner, { fees, draft }),
    insertInvoiceTaxes(db, owner, draft),
    insertCredits(db, owner, draft),
    isClosed || means?.has_sections === false ? undefined : applySections(ctx, invoice.invoiceId, {}, ctx.now()),
    storeCouponUses(ctx, owner, draft),
    // Fees of drafts are explained too.
    isClosed ? undefined : storeFeeInputs(ctx, owner, invoice, facts!),
    linkCorrections(ctx, fees),
    isFinal ? storeInvoiceInputs(ctx, owner, invoice) : undefined,
    storeAmounts(db, owner, {
      draft,
      state: { status, dates, now: ctx.now(), snapshot, awaitsEstimate, isCounted: true },
      number: isFinal && !invoice.staysUnnumbered ? numbered(ctx, invoice) : undefined,
    }),
    isFinal ? bookFinal(ctx, invoice) : undefined,
  ]);
  oweTaxes(ctx, invoice, { status, awaitsEstimate });
  if (isFinal) await useCredits(ctx, owner, invoice, snapshot);
  if (status === 'open') await hold(ctx, owner, invoice);
  if (!isClosed && means?.has_wallets !== false) await markWallets(ctx, payer.id);
  const isTold = isFinal || (draft.status === 'draft' && !invoice.isKnown);
  if (isTold)
    await recordInvoice(ctx, isFinal ? 'invoice.created' : 'invoice.drafted', invoice.invoiceId, {
      customer: facts!.customer,
    });
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
  await storeInvoiceInputs(ctx, owner, invoice);
  await storeCreditNoteUses(ctx, owner, invoice.computation.draft, invoice, 'applied_pending');
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
  await Promise.all([
    storeInvoiceInputs(ctx, owner, invoice),
    invoice.staysUnnumbered ? undefined : assignNumber(ctx, invoice.invoiceId, numbered(ctx, invoice)),
    bookFinal(ctx, invoice),
  ]);
  await useCredits(ctx, owner, invoice, snapshot);
}

async function storeInvoiceInputs(ctx: Context, owner: InvoiceOwner, { computation, at }: FinalInvoice): Promise<void> {
  await insertInvoiceInputs(ctx.db, owner, { invoice: invoiceInputs(computation.draft, at), now: ctx.now() });
}

const numbered = (ctx: Context, { payer, issuer }: FinalInvoice): NumberedInvoice => ({
  customer: payer,
  issuer,
  selfBilled: payer.account_type === 'partner',
  now: ctx.now(),
});

const bookFinal = (ctx: Context, invoice: FinalInvoice): Promise<void> =>
  postFinalInvoice(ctx, {
    ...invoice,
    fees: invoice.computation.fees.map(({ fee_type, amountCents }) => ({ feeType: fee_type, amountCents })),
    draft: invoice.computation.draft,
  });

/** What notes and wallets pay of a final invoice; the rest is charged, if its customer can be charged. */
async function useCredits(
  ctx: Context,
  owner: InvoiceOwner,
  invoice: FinalInvoice,
  snapshot: Parameters<typeof oweCollection>[2],
): Promise<void> {
  await storeCreditNoteUses(ctx, owner, invoice.computation.draft, invoice);
  await storeWalletPayments(ctx, invoice);
  oweCollection(ctx, invoice.invoiceId, snapshot);
}

async function storeFeeInputs(
  ctx: Context,
  owner: InvoiceOwner,
  { computation }: ComputedInvoice,
  facts: FactsToStore,
): Promise<void> {
  const { fees, taxes, draft } = computation;
  const alike = alikeOf(fees);
  const stored = fees.map(
    (fee): StoredInputs => ({
      feeId: fee.id,
      inputs: feeInputs(fee, taxes.get(fee.id)!, draft),
      watermark: watermarkOf(fee, facts),
      alike: alike(fee),
    }),
  );
  await insertFeeInputs(ctx.db, owner, { fees: stored, now: ctx.now() });
}

/** From how many fees on a charge keeps what its own fees have in common, which is more than what all charges have. */
const FEES_WITH_OWN_GROUP = 8;

/** Names fees that have much in common: those of a charge with many groups, else those of a type and subscription. */
function alikeOf(fees: readonly LineFee[]): (fee: LineFee) => string {
  const counts = new Map<string, number>();
  for (const { charge } of fees) if (charge !== undefined) counts.set(charge.id, (counts.get(charge.id) ?? 0) + 1);
  return ({ line, fee_type, charge }) => {
    const isOwn = charge !== undefined && counts.get(charge.id)! >= FEES_WITH_OWN_GROUP;
    return `${line.subscription.id} ${fee_type} ${isOwn ? charge.id : ''}`;
  };
}
