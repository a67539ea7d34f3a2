import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import {
  dateSettings,
  datesAtFinalization,
  graceDays,
  type InvoiceDates,
} from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { followInvoice } from '../../credits/credit-notes/follow-invoice.ts';
import { listAdjustedFees } from '../../invoices/adjusted-fees/queries.ts';
import type { PricedCharge } from '../../usage/usage/priced-charges.ts';
import { chargesOfLines, compute } from './compute-invoice.ts';
import { oweLastSnapshots } from './last-snapshots.ts';
import { rewriteLines } from './line-writes.ts';
import { type BilledLine, billedLine } from './lines.ts';
import { lockPayer, readBilledSubscriptions, readIssuer } from './payer-and-issuer.ts';
import { storeRenewals } from './standalone-fees.ts';
import { type ComputedInvoice, store } from './store-invoice.ts';
import { clearComputation } from './writes.ts';

interface DraftRow {
  id: InvoiceId;
  billing_entity_id: BillingEntityId;
  currency: string;
  skip_usage: boolean;
  /** Time zone in which its lines were billed; a customer that has moved since uses another one for later lines. */
  timezone: string;
  issuing_date: Temporal.PlainDate;
  expected_finalization_date: Temporal.PlainDate;
  payment_due_date: Temporal.PlainDate;
  net_payment_term: number;
  created_at: Temporal.Instant;
}

interface DraftLine {
  subscription_id: SubscriptionId;
  invoicing_reason: InvoicingReason;
  recurring: boolean;
  billed_at: Temporal.Instant;
}

/**
 * Finalizes a draft: its lines are computed again at their own timestamps, so late usage is included, its dates are
 * set, and it is numbered, booked and announced. Anything but a draft is left unchanged.
 *
 * @returns whether there was such a draft
 * Rules: invoices.md#dates, invoice-operations.md#refresh-and-finalize.
 */
export const finalizeDraft = (ctx: Context, invoiceId: InvoiceId): Promise<boolean> =>
  computeAnew(ctx, invoiceId, 'finalize');

/**
 * Computes a draft again and leaves it a draft, with its id and dates. Rule:
 * invoice-operations.md#refresh-and-finalize.
 */
export const refreshDraft = (ctx: Context, invoiceId: InvoiceId): Promise<boolean> =>
  computeAnew(ctx, invoiceId, 'refresh');

/**
 * Finishes an invoice whose generation never ended, with its id, dates, lines and timestamps, as it would have been
 * finished then. Rule: periodic-jobs.md#stuck-invoices.
 */
export const generateAgain = (ctx: Context, invoiceId: InvoiceId): Promise<boolean> =>
  computeAnew(ctx, invoiceId, 'generate');

type Aim = 'refresh' | 'finalize' | 'generate';

async function computeAnew(ctx: Context, invoiceId: InvoiceId, aim: Aim): Promise<boolean> {
  const anew = await dropAndCompute(ctx, invoiceId, aim);
  if (!anew) return false;
  const { computed, lines, charges, skipsUsage } = anew;
  await store(ctx, computed);
  oweLastSnapshots(ctx, invoiceId, lines);
  if (aim === 'generate' && !skipsUsage) await storeRenewals(ctx, computed.payer, lines, charges);
  await followInvoice(ctx, invoiceId);
  return true;
}

/**
 * Computes a draft as a refresh would and deletes its stored fees; the caller stores the result.
 *
 * @returns undefined, when it is no draft
 */
export const computeDraft = async (ctx: Context, invoiceId: InvoiceId): Promise<ComputedInvoice | undefined> =>
  (await dropAndCompute(ctx, invoiceId, 'refresh'))?.computed;

interface ComputedAnew {
  computed: ComputedInvoice;
  lines: readonly BilledLine[];
  charges: readonly PricedCharge[];
  skipsUsage: boolean;
}

async function dropAndCompute(ctx: Context, invoiceId: InvoiceId, aim: Aim): Promise<ComputedAnew | undefined> {
  const { db, organizationId } = ctx;
  const [owner] = await db<{ customer_id: CustomerId }[]>`
    select customer_id from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  if (!owner) return undefined;
  const payer = await lockPayer(ctx, owner.customer_id);
  const invoice = await lockInvoice(ctx, invoiceId, aim === 'generate' ? 'generating' : 'draft');
  if (!invoice) return undefined;

  const stored = await listDraftLines(ctx, invoiceId);
  const first = stored[0];
  assert(first, 'an invoice of subscriptions has lines');
  const subscriptions = await readBilledSubscriptions(
    ctx,
    stored.map((line) => line.subscription_id),
    {
      invoiceId,
      at: first.billed_at,
      billedOn: localDate(first.billed_at, invoice.timezone),
      zone: invoice.timezone,
    },
  );
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const lines = stored.map((line) =>
    billedLine(byId.get(line.subscription_id)!, line.invoicing_reason, line.billed_at, invoice.timezone),
  );
  const issuer = await readIssuer(ctx, invoice.billing_entity_id);
  const isGated = subscriptions.some(({ status }) => status === 'incomplete');
  const dated = {
    invoiceType: 'subscription' as const,
    isRecurring: stored.some(({ recurring }) => recurring),
    isInAdvanceCharge: isGated,
    settings: dateSettings(payer, issuer),
  };
  const dates =
    aim === 'finalize'
      ? datesAtFinalization(dated, datesOf(invoice), localDate(ctx.now(), payer.zone))
      : datesOf(invoice);

  await clearComputation(ctx, invoiceId);
  const [charges] = await Promise.all([chargesOfLines(ctx, lines), rewriteLines(ctx, invoiceId, lines)]);
  const computation = await compute(ctx, {
    payer,
    issuer,
    lines,
    charges,
    skipUsage: invoice.skip_usage,
    isFinalizing: aim === 'finalize' || (aim === 'generate' && graceDays(dated) === 0),
    adjustments: await listAdjustedFees(ctx, invoiceId),
  });
  const computed = {
    invoiceId,
    payer,
    issuer,
    currency: invoice.currency,
    dates,
    at: first.billed_at,
    createdAt: invoice.created_at,
    computation,
    isKnown: aim === 'refresh',
    isGated,
  };
  return { computed, lines, charges, skipsUsage: invoice.skip_usage };
}

async function lockInvoice(ctx: Context, id: InvoiceId, status: 'draft' | 'generating'): Promise<DraftRow | undefined> {
  const [row] = await ctx.db<DraftRow[]>`
    select id, billing_entity_id, currency, skip_usage, timezone, issuing_date, expected_finalization_date,
      payment_due_date,
      net_payment_term, created_at
    from invoices where organization_id = ${ctx.organizationId} and id = ${id} and status = ${status}
    for update`;
  return row;
}

const listDraftLines = (ctx: Context, invoiceId: InvoiceId) => ctx.db<DraftLine[]>`
  select subscription_id, invoicing_reason, recurring, billed_at from invoice_subscriptions
  where organization_id = ${ctx.organizationId} and invoice_id = ${invoiceId}
  order by id`;

const datesOf = (invoice: DraftRow): InvoiceDates => ({
  issuingDate: invoice.issuing_date,
  expectedFinalizationDate: invoice.expected_finalization_date,
  paymentDueDate: invoice.payment_due_date,
  netPaymentTerm: invoice.net_payment_term,
});
