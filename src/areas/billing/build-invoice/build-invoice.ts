import { assert } from '../../../engine/assert.ts';
import type { Instant } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { chargesOfLines, compute } from './compute-invoice.ts';
import { noteGenerationError } from './generation-error.ts';
import { oweLastSnapshots } from './last-snapshots.ts';
import { claimLines } from './line-writes.ts';
import { type BilledLine, billedLine } from './lines.ts';
import { openInvoice, removeInvoice } from './open-invoice.ts';
import { type BilledSubscription, type PayerFacts, readBilledSubscriptions, readIssuerOf } from './payer-and-issuer.ts';
import { storeRenewals } from './standalone-fees.ts';
import { store } from './store-invoice.ts';

export interface InvoiceToBuild {
  /** Locked: billing a customer holds its row, see lockPayer. */
  payer: PayerFacts;
  /** Lines of one currency, billing entity and purchase order. */
  lines: readonly {
    subscription_id: SubscriptionId;
    reason: InvoicingReason;
    /** For a starting line: whether it exists because the trial is over. */
    endsTrial?: boolean;
    /** For a line in advance: the fixed charges of a start, or those whose units changed. */
    fixedCharges?: BilledLine['fixedCharges'];
  }[];
  /** Billing instant. */
  at: Instant;
  /** Usage is left to the next invoice; set for an invoice that starts a subscription. */
  skipUsage: boolean;
  /** For a preview: it is computed completely, whatever the grace period, and takes no number. */
  isFinal?: boolean;
  /** For a subscription that waits for this invoice's payment: no grace period, open until it is paid. */
  isGated?: boolean;
}

/**
 * Makes one invoice of subscriptions in the caller's transaction: claims its periods, computes and stores it, and
 * numbers and books it unless it stays a draft. Lines that were billed before are left out; without any line there is
 * no invoice, so a repeated run does nothing. An invoice whose amounts overflow stays in generation with its error
 * noted and its periods claimed (invoices.md#error-details).
 *
 * @returns id of the invoice, or undefined when everything was billed already
 * @throws Refusal 422 billing_entity, purchase_order_number, of a mixture
 * Rules: subscriptions.md#consolidation, invoices.md#statuses, invoices.md#dates, invoices.md#numbers,
 * invoice-amounts.md#order-of-computation, invoices.md#guarantees-of-the-storage.
 */
export async function buildInvoice(
  ctx: Context,
  { payer, lines, at, skipUsage, isFinal = false, isGated = false }: InvoiceToBuild,
): Promise<string | undefined> {
  const invoiceId = newId();
  const billedOn = localDate(at, payer.zone);
  const ids = lines.map((line) => line.subscription_id);
  const [subscriptions, issuer] = await Promise.all([
    readBilledSubscriptions(ctx, ids, { invoiceId, at, billedOn, zone: payer.zone }),
    readIssuerOf(ctx, ids[0]!, payer.billing_entity_id),
  ]);
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const billed = lines.map(({ subscription_id, reason, fixedCharges, endsTrial }) => ({
    ...billedLine(byId.get(subscription_id)!, reason, at, payer.zone),
    fixedCharges,
    endsTrial,
  }));
  refuseMixture(subscriptions, payer);

  const first = subscriptions[0]!;
  // Sent together, carried out in this order: the lines refer to the invoice.
  const [opened, claimed, charges] = await Promise.all([
    openInvoice(ctx, {
      id: invoiceId,
      payer,
      issuer,
      currency: first.amount_currency,
      purchaseOrderNumber: first.purchase_order_number,
      billedOn,
      isRecurring: lines.some(({ reason }) => reason === 'subscription_periodic'),
      isInAdvanceCharge: isGated || lines.every(({ reason }) => reason === 'in_advance_charge'),
      skipsUsage: skipUsage,
    }),
    claimLines(ctx, invoiceId, { lines: billed, claim: { billedOn, now: ctx.now() } }),
    chargesOfLines(ctx, billed),
  ]);
  if (claimed.size === 0) {
    await removeInvoice(ctx, invoiceId);
    return undefined;
  }

  const own = billed.filter((line) => claimed.has(line.subscription.id));
  const isFinalizing = isFinal || opened.graceDays === 0;
  const computation = await compute(ctx, { payer, issuer, lines: own, charges, skipUsage, isFinalizing }).catch(
    (error: unknown) => {
      if (isFinal || !(error instanceof AmountOutOfRange)) throw error;
      return error;
    },
  );
  if (computation instanceof AmountOutOfRange) {
    await noteGenerationError(ctx, invoiceId, computation);
    return invoiceId;
  }
  await store(ctx, {
    invoiceId,
    payer,
    issuer,
    currency: first.amount_currency,
    dates: opened.dates,
    at,
    createdAt: ctx.now(),
    computation,
    isGated,
    staysUnnumbered: isFinal,
  });
  oweLastSnapshots(ctx, invoiceId, own);
  if (!skipUsage) await storeRenewals(ctx, payer, own, charges);
  return invoiceId;
}

function refuseMixture(subscriptions: readonly BilledSubscription[], payer: PayerFacts): void {
  const count = (pick: (subscription: BilledSubscription) => string | null) => new Set(subscriptions.map(pick)).size;
  assert(count((subscription) => subscription.amount_currency) === 1, 'an invoice has one currency');
  if (count((subscription) => subscription.billing_entity_id ?? payer.billing_entity_id) > 1)
    throw refuse.invalid({ billing_entity: ['mixed_billing_entities'] });
  if (count((subscription) => subscription.purchase_order_number) > 1)
    throw refuse.invalid({ purchase_order_number: ['mixed_purchase_order_numbers'] });
}
