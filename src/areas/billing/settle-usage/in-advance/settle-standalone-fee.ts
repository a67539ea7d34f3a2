import type { Done } from '../../../../engine/corrections/undone-left.ts';
import { cents } from '../../../../engine/money/cents.ts';
import { ZERO } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import type { FeeId } from '../../../../platform/ids.ts';
import { markFeeDeleted } from '../../../invoices/fees/mark-deleted.ts';
import type { CorrectionRow } from '../../../usage/event-corrections/queries.ts';
import { eventFee } from '../../bill-in-advance/event-fee.ts';
import type { LineFee } from '../../build-invoice/fees.ts';
import type { PayerFacts } from '../../build-invoice/payer-and-issuer.ts';
import { storeStandaloneFees } from '../../build-invoice/standalone-fees.ts';
import type { RepricedItem } from '../reprice.ts';
import { type Difference, differencesOf, recorded, settleItems } from '../settle-invoice.ts';
import { type Billed, listDone, listSettled, type SettledItem } from '../settled-items.ts';
import type { NewAdjustment } from '../stored-adjustments.ts';
import type { Terms } from './chain-terms.ts';
import { lockFees } from './fees-of-events.ts';
import type { RepricedEvent } from './reprice-chain.ts';

/** A fee on no invoice, and what it would be now. */
export interface StandaloneChange {
  /** Its `fee` is undefined when there is none yet, or none any more. */
  billedItem: RepricedItem;
  /** The fee that a correction deleted without another in its place: what is settled since is about that one. */
  takenOffId: FeeId | null;
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
  for (const { billedItem, takenOffId, again: makeAgain } of changes) {
    const feeId = billedItem.fee?.id ?? takenOffId;
    const fee = billedItem.fee && standing.get(billedItem.fee.id);
    if (billedItem.fee !== undefined && (fee === undefined || fee.payment_status === 'refunded')) continue;
    const billed = feeId === null ? null : { invoiceId: null, feeId };
    const settled = billed === null ? new Map<string, SettledItem>() : await listSettled(ctx, billed);
    const difference = await differenceOf(ctx, correction, { billed, billedItem, settled });
    const row = recorded({ invoiceId: null }, difference);
    const isPaid = fee !== undefined && (fee.payment_status === 'succeeded' || fee.invoice_id !== null);
    if (billed !== null && (isPaid || isPartly(settled, difference) || correction.policy === 'ignore')) {
      const rows = await settleItems(ctx, correction, { billed, billedItems: [billedItem], settled });
      const differing = rows.filter((each) => each.delta_amount_cents !== 0);
      adjustments.push(...differing.map((each) => ({ ...each, fee_id: feeId })));
      continue;
    }
    if (correction.policy === 'ignore') {
      adjustments.push({ ...row, left_amount_cents: difference.deltaCents });
      continue;
    }
    if (billedItem.fee !== undefined) await markFeeDeleted(ctx, billedItem.fee.id);
    const again = makeAgain();
    if (again !== undefined) {
      const subscriptionId = again.line.subscription.id;
      const own = made.get(subscriptionId) ?? { payer: terms.payerOf(subscriptionId), fees: [] };
      made.set(subscriptionId, { ...own, fees: [...own.fees, again] });
    }
    const replacement = again === undefined ? {} : { booked_as: 'fee' as const, new_fee_id: again.id };
    adjustments.push({ ...row, fee_id: feeId, ...replacement });
  }
  for (const { payer, fees } of made.values()) await storeStandaloneFees(ctx, payer, fees);
  return adjustments;
}

async function differenceOf(
  ctx: Context,
  correction: CorrectionRow,
  {
    billed,
    billedItem,
    settled,
  }: { billed: Billed | null; billedItem: RepricedItem; settled: ReadonlyMap<string, SettledItem> },
): Promise<Difference> {
  const hasLeft = billed !== null && [...settled.values()].some((item) => item.hasLeft);
  const done = hasLeft ? await listDone(ctx, billed, correction.id) : new Map<string, readonly Done[]>();
  return differencesOf([billedItem], settled, done)[0]!;
}

/**
 * Whether a fee with its whole price would bill or give back what was booked elsewhere or left by a policy, after the
 * correction has undone what others of the same events left.
 */
function isPartly(settled: ReadonlyMap<string, SettledItem>, { undoneCents }: Difference): boolean {
  const items = [...settled.values()];
  const left = items.reduce((total, { left_cents }) => total + left_cents, 0);
  return left + undoneCents !== 0 || items.some(({ settled_cents, left_cents }) => settled_cents !== left_cents);
}

/** The standalone fee of a repriced event, with what it should be now and how to make it again. */
export const changeOfEvent = (terms: Terms, event: RepricedEvent): StandaloneChange => ({
  billedItem: billedItemOf(event),
  takenOffId: event.isTakenOff ? event.issued.fee.id : null,
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
