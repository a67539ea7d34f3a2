import { newDraft } from '../../../engine/invoices/draft.ts';
import type { InvoiceType } from '../../../engine/invoices/invoice-types.ts';
import { keepsZeroAmount } from '../../../engine/invoices/zero-amount.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import { computeInSlices } from '../../usage/usage/compute-in-slices.ts';
import { type HeldTax, listHeldTaxes, taxesOfFee } from '../../usage/usage/fee-taxes.ts';
import { readBillingFacts } from './billing-facts.ts';
import type { Computation } from './compute-invoice.ts';
import { activeCoupons } from './coupons.ts';
import { spendableNotes } from './credit-notes.ts';
import type { LineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';
import type { IssuerFacts, PayerFacts } from './payer-and-issuer.ts';
import { progressiveCredits } from './progressive-credits.ts';
import { payingWallets, walletKeyOf } from './wallets.ts';

/**
 * Chooses the taxes of fees and runs the steps of their invoice. For a final invoice it locks the coupons and notes
 * that may be used and gives back excess of progressive invoices; otherwise it only reads. While the VAT register has
 * not answered, the invoice stops before taxes.
 */
export async function totalFees(
  ctx: Context,
  input: {
    payer: PayerFacts;
    issuer: IssuerFacts;
    fees: readonly LineFee[];
    isFinalizing: boolean;
    invoiceType?: InvoiceType;
    /** Fees on no invoice have taxes only. */
    standAlone?: boolean;
    /** Lines whose usage is billed, including those whose usage is zero. */
    lines?: readonly BilledLine[];
    /** The voided invoice in whose place this one is made. */
    madeAnewFrom?: InvoiceId | undefined;
  },
): Promise<Computation> {
  const {
    payer,
    issuer,
    fees,
    isFinalizing,
    invoiceType = 'subscription',
    standAlone = false,
    lines = [],
    madeAnewFrom,
  } = input;
  const currency = (lines[0] ?? fees[0]?.line)?.subscription.amount_currency;
  const isSettled = isFinalizing && !standAlone && currency !== undefined;
  const [means, held] = await Promise.all([
    standAlone ? undefined : readBillingFacts(ctx, payer.id),
    listHeldTaxes(ctx, {
      chargeIds: [...new Set(fees.flatMap(({ charge }) => (charge === undefined ? [] : [charge.id])))],
      fixedChargeIds: fees.flatMap(({ fixedCharge }) => (fixedCharge === undefined ? [] : [fixedCharge.id])),
      planIds: [...new Set(fees.map(({ line }) => line.subscription.plan_id))],
      customerId: payer.id,
      billingEntityId: payer.billing_entity_id,
    }),
  ]);
  const isTaxedByEngine = payer.tax_engine_id !== null;
  const awaitsTaxes = isSettled && (means?.awaits_register === true || (isTaxedByEngine && fees.length > 0));
  const progressive = means?.has_progressive_invoices
    ? await progressiveCredits(ctx, payer.id, fees, { lines, madeAnewFrom })
    : [];
  const taxesOf = (fee: LineFee): [string, readonly HeldTax[]] => {
    const owner = {
      chargeId: fee.charge?.id,
      fixedChargeId: fee.fixedCharge?.id,
      planId: fee.line.subscription.plan_id,
    };
    return [fee.id, awaitsTaxes || isTaxedByEngine ? [] : taxesOfFee(held, fee.fee_type, owner)];
  };
  const taxes = new Map(await mapInSlices(fees, taxesOf, ctx.pause));
  const draft = await computeInSlices(
    newDraft({
      invoiceType,
      isFinalizing,
      awaitsTaxes,
      keepsZeroAmount: keepsZeroAmount(payer.finalize_zero_amount_invoice, issuer.finalize_zero_amount_invoice),
      fees: fees.map((fee) => ({
        key: fee.id,
        amountCents: fee.amountCents,
        preciseAmountCents: fee.preciseAmountCents,
        taxes: taxes.get(fee.id)!,
        walletKey: walletKeyOf(fee),
      })),
      progressiveCredits: progressive.filter(({ amountCents }) => amountCents > 0),
      ...(isSettled
        ? {
            coupons: {
              currency,
              active: means?.has_coupons ? await activeCoupons(ctx, payer.id, fees) : [],
            },
            creditNotes:
              means?.has_notes || progressive.length > 0
                ? await spendableNotes(ctx, payer.id, currency, progressive)
                : [],
            wallets: means?.has_wallets ? await payingWallets(ctx, payer, currency) : [],
          }
        : {}),
    }),
    ctx.pause,
  );
  return { fees, taxes, draft, means };
}
