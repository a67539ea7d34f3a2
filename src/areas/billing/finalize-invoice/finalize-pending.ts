import { localDate } from '../../../engine/calendar/local-day.ts';
import { type Draft, newDraft } from '../../../engine/invoices/draft.ts';
import { computeInvoice } from '../../../engine/invoices/invoice-steps.ts';
import { dateSettings, datesAtFinalization } from '../../../engine/invoices/issuing-and-due-dates.ts';
import { keepsZeroAmount } from '../../../engine/invoices/zero-amount.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';
import { followInvoice } from '../../credits/credit-notes/follow-invoice.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { isAwaitingRegister } from '../../customers/eu-taxes/queries.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { GATE_STEP } from '../../subscriptions/subscriptions/settle-gate.ts';
import { gatedSubscriptionOf } from '../activate-subscriptions/gated-subscriptions.ts';
import { spendableNotes } from '../build-invoice/credit-notes.ts';
import { lockPayer, type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { finish, hold, statusOf } from '../build-invoice/store-invoice.ts';
import { payingWallets } from '../build-invoice/wallets.ts';
import { insertInvoiceTaxes, storeAmounts } from '../build-invoice/writes.ts';
import { taxesOfStoredFees } from './fee-taxes.ts';
import {
  listStoredFees,
  lockPendingInvoice,
  type PendingInvoice,
  readBilledAt,
  storeFeeTaxes,
} from './pending-invoices.ts';

/**
 * Step `finalize-pending-invoice`: continues an invoice that waited for its taxes with the fees, coupons and
 * progressive credits that it has: taxes, credit notes and wallets follow, and it is final. It keeps waiting while the
 * VAT register has not answered.
 *
 * Rule: eu-taxes.md.
 */
export async function finalizePendingInvoice(
  ctx: Context,
  { invoice_id: id }: { invoice_id: InvoiceId },
): Promise<void> {
  const { db, organizationId } = ctx;
  const [owner] = await db<{ customer_id: CustomerId }[]>`
    select customer_id from invoices where organization_id = ${organizationId} and id = ${id}`;
  if (!owner) return;
  const payer = await lockPayer(ctx, owner.customer_id);
  const invoice = await lockPendingInvoice(ctx, id);
  if (!invoice || (await isAwaitingRegister(ctx, payer.id))) return;
  const issuer = await readIssuer(ctx, invoice.billing_entity_id);
  const fees = await listStoredFees(ctx, id);
  const taxes = await taxesOfStoredFees(ctx, payer, fees);
  const isSettled = invoice.invoice_type !== 'one_off';
  const blank = newDraft({
    invoiceType: invoice.invoice_type,
    isFinalizing: true,
    keepsZeroAmount: keepsZeroAmount(payer.finalize_zero_amount_invoice, issuer.finalize_zero_amount_invoice),
    fees: fees.map((fee) => ({
      key: fee.id,
      amountCents: cents(fee.amount_cents),
      preciseAmountCents: fee.precise_amount_cents,
      taxes: taxes.get(fee.id)!,
      walletKey: {
        feeType: fee.fee_type,
        billableMetricId: fee.billable_metric_id,
        targetWalletCode: fee.target_wallet_code,
      },
    })),
    ...(isSettled
      ? {
          creditNotes: await spendableNotes(ctx, payer.id, invoice.currency, []),
          wallets: await payingWallets(ctx, payer, invoice.currency),
        }
      : {}),
  });
  const takenOff = new Map(fees.map((fee) => [fee.id, fee.precise_coupons_amount_cents]));
  const draft = computeInvoice({
    ...blank,
    fees: blank.fees.map((fee) => ({ ...fee, preciseCouponsAmountCents: takenOff.get(fee.key)! })),
    couponsAmountCents: cents(invoice.coupons_amount_cents),
    progressiveBillingCreditAmountCents: cents(invoice.progressive_billing_credit_amount_cents),
  });
  const computation = {
    fees: fees.map(({ fee_type, amount_cents }) => ({ fee_type, amountCents: cents(amount_cents) })),
    draft,
  };
  await storeFinal(ctx, { invoice, payer, issuer, computation });
}

interface Resumed {
  invoice: PendingInvoice;
  payer: PayerFacts;
  issuer: Awaited<ReturnType<typeof readIssuer>>;
  computation: { fees: Parameters<typeof finish>[2]['computation']['fees']; draft: Draft };
}

async function storeFinal(ctx: Context, { invoice, payer, issuer, computation }: Resumed): Promise<void> {
  const { db, organizationId } = ctx;
  const { draft } = computation;
  const dates = datesOf(ctx, invoice, payer, issuer);
  const owner = {
    organizationId,
    invoiceId: invoice.id,
    billingEntityId: issuer.id,
    customerId: payer.id,
    currency: invoice.currency,
    createdAt: invoice.created_at,
  };
  const gatedId = await gatedSubscriptionOf(ctx, invoice.id);
  const status = statusOf(draft, gatedId !== undefined);
  const isFinal = status === 'finalized';
  const snapshot = isFinal ? customerBaseView(await readCustomer(ctx, payer.id)) : null;
  await storeFeeTaxes(db, owner, draft);
  await insertInvoiceTaxes(db, owner, draft);
  await storeAmounts(db, owner, { draft, state: { status, dates, now: ctx.now(), snapshot } });
  if (gatedId !== undefined) ctx.after({ step: GATE_STEP, payload: { subscription_id: gatedId } });
  if (status === 'closed') return;
  const at = (await readBilledAt(ctx, invoice.id)) ?? invoice.created_at;
  const final = { invoiceId: invoice.id, payer, issuer, currency: invoice.currency, dates, at, computation };
  if (!isFinal) return hold(ctx, owner, { ...final, createdAt: invoice.created_at });
  await finish(ctx, owner, { ...final, createdAt: invoice.created_at }, snapshot);
  await recordInvoice(
    ctx,
    invoice.invoice_type === 'one_off' ? 'invoice.one_off_created' : 'invoice.created',
    invoice.id,
  );
  await followInvoice(ctx, invoice.id);
}

/** It is issued today, unless it is a periodic one that keeps its anchor. Rule: invoices.md#dates. */
function datesOf(ctx: Context, invoice: PendingInvoice, payer: PayerFacts, issuer: Resumed['issuer']) {
  const stored = {
    issuingDate: invoice.issuing_date,
    expectedFinalizationDate: invoice.expected_finalization_date,
    paymentDueDate: invoice.payment_due_date,
    netPaymentTerm: invoice.net_payment_term,
  };
  return datesAtFinalization(
    {
      // Whatever its type, it has waited.
      invoiceType: 'subscription',
      isRecurring: invoice.is_recurring,
      isInAdvanceCharge: false,
      settings: dateSettings(payer, issuer),
    },
    stored,
    localDate(ctx.now(), payer.zone),
  );
}
