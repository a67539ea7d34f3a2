import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { type Draft, newDraft } from '../../../engine/invoices/draft.ts';
import { addCents, cents, sumCents } from '../../../engine/money/cents.ts';
import { decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { assignNumber } from '../../invoices/invoices/numbering.ts';
import { recordPaidBefore } from '../../payments/payments/paid-before.ts';
import { invoiceInputs } from '../build-invoice/fee-inputs.ts';
import { insertInvoiceInputs } from '../build-invoice/input-writes.ts';
import { claimLines } from '../build-invoice/line-writes.ts';
import { billedLine } from '../build-invoice/lines.ts';
import { openInvoice } from '../build-invoice/open-invoice.ts';
import { type PayerFacts, readBilledSubscriptions, readIssuer } from '../build-invoice/payer-and-issuer.ts';
import { insertInvoiceTaxes, storeAmounts } from '../build-invoice/writes.ts';
import { attachFees, type GatheredTax, gatherTaxes, listPaidFees, markPaid, type PaidFee } from './paid-fees.ts';

/**
 * Gathers standalone fees that were paid by `at`, of charges that regroup theirs, on invoices of type
 * `advance_charges`: one for each currency, billing entity and purchase order. Amounts are those of the fees; there are
 * no credits, and nothing is due, which a manual payment shows. Without such fees nothing happens.
 *
 * subscriptionIds  those of the run; fees of all records of their external ids belong to it
 *
 * Rules: in-advance.md#gathering-paid-fees, taxes.md#gathered-paid-fees.
 */
export async function gatherPaidFees(
  ctx: Context,
  payer: PayerFacts,
  subscriptionIds: readonly SubscriptionId[],
  at: Temporal.Instant,
): Promise<void> {
  if (subscriptionIds.length === 0) return;
  const fees = await listPaidFees(ctx, { customerId: payer.id, subscriptionIds, at });
  const groups = new Map<string, PaidFee[]>();
  for (const fee of fees) {
    const key = JSON.stringify([fee.amount_currency, fee.billing_entity_id, fee.purchase_order_number]);
    groups.set(key, [...(groups.get(key) ?? []), fee]);
  }
  for (const group of groups.values()) await invoicePaidFees(ctx, payer, group, at);
}

async function invoicePaidFees(
  ctx: Context,
  payer: PayerFacts,
  fees: readonly PaidFee[],
  at: Temporal.Instant,
): Promise<void> {
  const { db, organizationId } = ctx;
  const first = fees[0]!;
  const invoiceId = newId();
  const billedOn = localDate(at, payer.zone);
  const issuer = await readIssuer(ctx, first.billing_entity_id);
  const { dates } = await openInvoice(ctx, {
    id: invoiceId,
    payer,
    issuer,
    invoiceType: 'advance_charges',
    currency: first.amount_currency,
    purchaseOrderNumber: first.purchase_order_number,
    billedOn,
    skipsUsage: true,
  });
  await addLines(ctx, payer, { invoiceId, fees, at });
  const feeIds = fees.map(({ id }) => id);
  await attachFees(ctx, invoiceId, { feeIds, now: ctx.now() });

  const draft = draftOf(fees, await gatherTaxes(ctx, feeIds));
  const owner = {
    organizationId,
    invoiceId,
    billingEntityId: issuer.id,
    customerId: payer.id,
    currency: first.amount_currency,
    createdAt: ctx.now(),
  };
  await insertInvoiceTaxes(db, owner, draft);
  const snapshot = customerBaseView(await readCustomer(ctx, payer.id));
  await storeAmounts(db, owner, { draft, state: { status: 'finalized', dates, now: ctx.now(), snapshot } });
  await insertInvoiceInputs(db, owner, { invoice: invoiceInputs(draft, at), now: ctx.now() });
  await markPaid(ctx, invoiceId);
  const selfBilled = payer.account_type === 'partner';
  await assignNumber(ctx, invoiceId, { customer: payer, issuer, selfBilled, now: ctx.now() });
  await recordInvoice(ctx, 'invoice.created', invoiceId);
  await recordPaidBefore(ctx, invoiceId);
}

/** A line for each subscription, with the charges window of the one that started last. */
async function addLines(
  ctx: Context,
  payer: PayerFacts,
  { invoiceId, fees, at }: { invoiceId: InvoiceId; fees: readonly PaidFee[]; at: Temporal.Instant },
): Promise<void> {
  const billedOn = localDate(at, payer.zone);
  const ids = [...new Set(fees.map(({ subscription_id }) => subscription_id))];
  const subscriptions = await readBilledSubscriptions(ctx, ids, {
    invoiceId,
    at,
    billedOn,
    zone: payer.zone,
  });
  const lines = subscriptions
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map((subscription) => billedLine(subscription, 'in_advance_charge_periodic', at, payer.zone));
  const windows = lines[0]!.windows;
  await claimLines(ctx, invoiceId, {
    lines: lines.map((line) => ({ ...line, windows })),
    claim: { billedOn, now: ctx.now() },
  });
}

/** Amounts that equal those of the fees: their taxes are added as they were rounded. */
function draftOf(fees: readonly PaidFee[], taxes: readonly GatheredTax[]): Draft {
  const feesAmountCents = sumCents(fees.map(({ amount_cents }) => cents(amount_cents)));
  const taxesAmountCents = sumCents(fees.map(({ taxes_amount_cents }) => cents(taxes_amount_cents)));
  const total = addCents(feesAmountCents, taxesAmountCents);
  return {
    ...newDraft({ invoiceType: 'advance_charges', isFinalizing: true, keepsZeroAmount: true, fees: [] }),
    feesAmountCents,
    subTotalExcludingTaxesAmountCents: feesAmountCents,
    appliedTaxes: taxes.map(({ tax_id, tax_code, tax_name, tax_rate, tax_description, ...amounts }) => ({
      tax: { id: tax_id as string, code: tax_code, name: tax_name, rate: tax_rate, description: tax_description },
      feesAmountCents: cents(amounts.fees_amount_cents),
      ...(amounts.taxable_base_amount_cents === null
        ? {}
        : { taxableBaseAmountCents: cents(amounts.taxable_base_amount_cents) }),
      amountCents: cents(amounts.amount_cents),
    })),
    taxesAmountCents,
    taxesRate:
      feesAmountCents === 0 ? ZERO : decimal(taxesAmountCents).times(100).div(feesAmountCents).toDecimalPlaces(2),
    subTotalIncludingTaxesAmountCents: total,
    totalAmountCents: total,
    paymentStatus: 'succeeded',
    status: 'finalized',
  };
}
