import { cents } from '../../../../engine/money/cents.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { markFeeDeleted } from '../../../invoices/fees/queries.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import { eventFee } from '../../bill-in-advance/event-fee.ts';
import type { LineFee } from '../../build-invoice/fees.ts';
import type { PayerFacts } from '../../build-invoice/payer-and-issuer.ts';
import { storeStandaloneFees } from '../../build-invoice/standalone-fees.ts';
import type { RepricedItem } from '../reprice.ts';
import { recorded, settleItems } from '../settle-invoice.ts';
import { listSettled, type NewAdjustment } from '../settled-items.ts';
import type { Terms } from './chain-terms.ts';
import { lockFees } from './fees-of-events.ts';
import type { RepricedEvent } from './reprice-chain.ts';

/** A fee on no invoice, and what it would be now. */
export interface StandaloneChange {
  /** Its `fee` is undefined when there is none yet. */
  billedItem: RepricedItem;
  /** The fee as it is now; undefined if there would be none. */
  again: () => LineFee | undefined;
}

/**
 * Settles fees that stand on no invoice of their own. An unpaid one is deleted and made again; a paid one stays: an
 * increase is billed like that of an invoice, a decrease cannot be given back. A refunded one is left unchanged.
 *
 * Rule: event-corrections.md#effect "in-advance, standalone fee".
 */
export async function settleStandalone(
  ctx: Context,
  correction: CorrectionRow,
  terms: Terms,
  changes: readonly StandaloneChange[],
): Promise<NewAdjustment[]> {
  const standing = await lockFees(
    ctx,
    changes.flatMap(({ billedItem }) => billedItem.fee?.id ?? []),
  );
  const adjustments: NewAdjustment[] = [];
  const made = new Map<string, { payer: PayerFacts; fees: LineFee[] }>();
  for (const { billedItem, again: makeAgain } of changes) {
    const oldCents = cents(billedItem.fee?.amount_cents ?? 0);
    const deltaCents = cents(billedItem.newCents - oldCents);
    const row = recorded(
      { invoiceId: null },
      { billedItem, settled: undefined, oldCents, deltaCents, undoneCents: cents(0), restCents: deltaCents },
    );
    if (billedItem.fee !== undefined) {
      const fee = standing.get(billedItem.fee.id);
      if (fee === undefined || fee.payment_status === 'refunded') continue;
      const billed = { invoiceId: null, feeId: billedItem.fee.id };
      const settled = await listSettled(ctx, billed);
      const items = [...settled.values()];
      const isBooked = items.some(({ settled_cents, left_cents }) => settled_cents !== left_cents);
      // Made again it has its whole price: not where that would bill what a policy left.
      const billsLeft = deltaCents >= 0 && items.some(({ left_cents }) => left_cents !== 0);
      const isPaid = fee.payment_status === 'succeeded' || fee.invoice_id !== null || isBooked || billsLeft;
      if (isPaid || correction.policy === 'ignore') {
        const rows = await settleItems(ctx, correction, { billed, billedItems: [billedItem], settled });
        adjustments.push(...rows.filter((each) => each.delta_amount_cents !== 0));
        continue;
      }
      await markFeeDeleted(ctx, billedItem.fee.id, ctx.now());
    } else if (correction.policy === 'ignore') {
      adjustments.push({ ...row, left_amount_cents: deltaCents });
      continue;
    }
    const again = makeAgain();
    if (again !== undefined) {
      const subscriptionId = again.line.subscription.id;
      const own = made.get(subscriptionId) ?? { payer: terms.payerOf(subscriptionId), fees: [] };
      made.set(subscriptionId, { ...own, fees: [...own.fees, again] });
    }
    adjustments.push({ ...row, ...(again === undefined ? {} : { booked_as: 'fee', new_fee_id: again.id }) });
  }
  for (const { payer, fees } of made.values()) await storeStandaloneFees(ctx, payer, fees);
  return adjustments;
}

/** The standalone fee of a repriced event, with what it should be now and how to make it again. */
export const changeOfEvent = (terms: Terms, event: RepricedEvent): StandaloneChange => ({
  billedItem: billedItemOf(event),
  again: () => madeAgain(terms, event),
});

function billedItemOf({ issued: { fee }, isTakenOff, priced, chain }: RepricedEvent): RepricedItem {
  return {
    subscription_id: fee.subscription_id ?? chain.subscription_id,
    kind: 'usage',
    charge_id: fee.charge_id,
    charge_filter_id: fee.charge_filter_id,
    grouped_by: fee.grouped_by,
    window: { from: fee.from_datetime ?? chain.window.from, to: fee.to_datetime ?? chain.window.to },
    displayName: fee.invoice_display_name ?? fee.item_name,
    fee: isTakenOff ? undefined : fee,
    newCents: priced?.fee.amountCents ?? cents(0),
    newUnits: priced?.fee.units ?? ZERO,
  };
}

function madeAgain(terms: Terms, { priced, event, chain }: RepricedEvent): LineFee | undefined {
  if (priced === undefined) return undefined;
  const line = terms.lineOf(chain.subscription_id, event.timestamp);
  return eventFee(
    line,
    {
      id: event.event_id,
      transaction_id: event.transaction_id,
      code: event.code,
      timestamp: event.timestamp,
      precise_total_amount_cents: event.precise_total_amount_cents,
      texts: event.texts,
    },
    priced,
  );
}
