import { Temporal } from 'temporal-polyfill';
import type { PlainDate } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { type Draft, newDraft } from '../../../engine/invoices/draft.ts';
import type { InvoiceStatus } from '../../../engine/invoices/invoice-states.ts';
import {
  dateSettings,
  datesAtFinalization,
  type InvoiceDates,
} from '../../../engine/invoices/issuing-and-due-dates.ts';
import { keepsZeroAmount } from '../../../engine/invoices/zero-amount.ts';
import { cents } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, IntegrationId, InvoiceId } from '../../../platform/ids.ts';
import type { TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';
import { followInvoice } from '../../credits/credit-notes/follow-invoice.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { isAwaitingRegister } from '../../customers/eu-taxes/queries.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { clearErrors } from '../../invoices/invoices/writes.ts';
import { GATE_STEP } from '../../subscriptions/subscriptions/settle-gate.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';
import { gatedSubscriptionOf } from '../activate-subscriptions/gated-subscriptions.ts';
import { spendableNotes } from '../build-invoice/credit-notes.ts';
import { type IssuerFacts, lockPayer, type PayerFacts, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { finish, hold, statusOf } from '../build-invoice/store-invoice.ts';
import { payingWallets } from '../build-invoice/wallets.ts';
import { insertInvoiceTaxes, storeAmounts } from '../build-invoice/writes.ts';
import { collectedByFee, NOTHING } from '../request-taxes/answered-taxes.ts';
import { requestRecord } from '../request-taxes/request-taxes.ts';
import { computeStored } from './compute-stored.ts';
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
 * VAT register has not answered, and until the customer's tax engine has.
 *
 * Rules: eu-taxes.md, tax-engines.md#when-an-engine-is-asked.
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
  const dates = datesOf(invoice, payer, issuer, localDate(ctx.now(), payer.zone));
  if (await requestRecord(ctx, invoice, dates.issuingDate)) return;
  await finalizeStored(ctx, { payer, invoice, issuer, dates });
}

/** The record of an invoice at an engine: what was sent, and its taxes. */
interface Recorded {
  document: TaxDocument;
  answer: TaxAnswer;
  integrationId: IntegrationId;
  /** For a preview: it takes no number. */
  staysUnnumbered?: boolean;
}

/**
 * Finalizes an invoice with the taxes that an engine has recorded, also one that has failed meanwhile because the
 * engine was out of reach. It is issued on the day that was recorded. The caller holds the customer's lock.
 *
 * @returns whether the invoice is billed: false if it no longer waits, or is closed with nothing to pay
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function resumeInvoice(ctx: Context, id: InvoiceId, recorded: Recorded): Promise<boolean> {
  const { db, organizationId } = ctx;
  const invoice = await lockPendingInvoice(ctx, id, ['pending', 'failed']);
  if (!invoice) return false;
  const payer = await lockPayer(ctx, invoice.customer_id);
  const issuer = await readIssuer(ctx, invoice.billing_entity_id);
  const dates = datesOf(invoice, payer, issuer, Temporal.PlainDate.from(recorded.document.date));
  await db`
    update invoices set tax_integration_id = ${recorded.integrationId}, tax_status = 'pending'
    where organization_id = ${organizationId} and id = ${id}`;
  await clearErrors(ctx, id, ['tax_error']);
  if (invoice.has_failed) await markWallets(ctx, invoice.customer_id);
  return (await finalizeStored(ctx, { payer, invoice, issuer, dates }, recorded)) !== 'closed';
}

/** Taxes, credit notes and wallets of an invoice whose fees and discounts stand. */
async function finalizeStored(
  ctx: Context,
  { payer, invoice, issuer, dates }: Omit<Resumed, 'computation' | 'staysUnnumbered'>,
  recorded?: Recorded,
): Promise<InvoiceStatus> {
  const fees = await listStoredFees(ctx, invoice.id);
  const ownTaxes = payer.tax_engine_id === null ? await taxesOfStoredFees(ctx, payer, fees) : undefined;
  const collected = recorded && collectedByFee(recorded.document, recorded.answer);
  const isSettled = invoice.invoice_type !== 'one_off';
  const blank = newDraft({
    invoiceType: invoice.invoice_type,
    isFinalizing: true,
    keepsZeroAmount: keepsZeroAmount(payer.finalize_zero_amount_invoice, issuer.finalize_zero_amount_invoice),
    fees: fees.map((fee) => ({
      key: fee.id,
      amountCents: cents(fee.amount_cents),
      preciseAmountCents: fee.precise_amount_cents,
      taxes: collected === undefined ? (ownTaxes?.get(fee.id) ?? []) : [],
      ...(collected === undefined ? {} : { collected: collected.get(fee.id) ?? NOTHING }),
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
  const draft = computeStored(blank, invoice, fees);
  const computation = {
    fees: fees.map(({ fee_type, amount_cents }) => ({ fee_type, amountCents: cents(amount_cents) })),
    draft,
  };
  const staysUnnumbered = recorded?.staysUnnumbered ?? false;
  return storeFinal(ctx, { invoice, payer, issuer, dates, computation, staysUnnumbered });
}

interface Resumed {
  invoice: PendingInvoice;
  payer: PayerFacts;
  issuer: IssuerFacts;
  dates: InvoiceDates;
  staysUnnumbered: boolean;
  computation: { fees: Parameters<typeof finish>[2]['computation']['fees']; draft: Draft };
}

async function storeFinal(
  ctx: Context,
  { invoice, payer, issuer, dates, computation, staysUnnumbered }: Resumed,
): Promise<InvoiceStatus> {
  const { db, organizationId } = ctx;
  const { draft } = computation;
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
  // What came while it waited was late for nothing (event-corrections.md#late-events).
  if (invoice.invoice_type === 'subscription')
    ctx.after({ step: 'look-at-late-events', payload: { invoice_id: invoice.id } });
  if (status === 'closed') return status;
  const at = (await readBilledAt(ctx, invoice.id)) ?? invoice.created_at;
  const final = {
    invoiceId: invoice.id,
    payer,
    issuer,
    currency: invoice.currency,
    dates,
    at,
    computation,
    staysUnnumbered,
  };
  if (!isFinal) {
    await hold(ctx, owner, { ...final, createdAt: invoice.created_at });
    return status;
  }
  await finish(ctx, owner, { ...final, createdAt: invoice.created_at }, snapshot);
  await recordInvoice(
    ctx,
    invoice.invoice_type === 'one_off' ? 'invoice.one_off_created' : 'invoice.created',
    invoice.id,
  );
  await followInvoice(ctx, invoice.id);
  return status;
}

/** It is issued on the day given, unless it is a periodic one that keeps its anchor. Rule: invoices.md#dates. */
function datesOf(invoice: PendingInvoice, payer: PayerFacts, issuer: IssuerFacts, day: PlainDate): InvoiceDates {
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
    day,
  );
}
