import { cents } from '../../../engine/money/cents.ts';
import { ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { CorrectionId } from '../../../platform/ids.ts';
import { dryRun } from '../../../platform/records/nested.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { type CorrectionRow, lockCorrection } from '../../usage/event-corrections/queries.ts';
import { updateProgress } from '../../usage/event-corrections/writes.ts';
import { attempt } from './attempt-or-undo.ts';
import { keyOfBilledItem } from './billed-items.ts';
import { settleOpen } from './in-advance/settle-open.ts';
import { inRange } from './in-range.ts';
import { itemOfFee } from './issued-fees.ts';
import type { KeptPrices, PricedItem } from './kept-prices.ts';
import { keepPrices, keepTotals, listCarriedCodes, listUnsettledOf, type Waiting } from './periods-to-settle.ts';
import { carriesTotal, priceCharges } from './reprice.ts';
import { insertAdjustments, type NewAdjustment } from './stored-adjustments.ts';

/**
 * Before a correction changes usage: what the charges concerned cost now is kept for earlier corrections that have
 * still to settle them, so that each settles only what it changed; fees of single events are settled by these. A
 * correction whose amounts no cents can hold has failed.
 *
 * correction its own turns stay open; null: it is not made yet
 * codes      metrics whose usage it changes
 *
 * Rule: event-corrections.md#corrections-that-wait.
 */
export async function keepPricesBefore(
  ctx: Context,
  correction: Pick<CorrectionRow, 'external_subscription_id'> & { id: CorrectionId | null },
  { codes }: { codes: readonly string[] },
): Promise<void> {
  await settleOpen(ctx, correction);
  const unsettled = await listUnsettledOf(ctx, correction.external_subscription_id, [...new Set(codes)]);
  const waiting = unsettled.filter(({ correction_id, prices }) => correction_id !== correction.id || prices);
  if (waiting.every(({ prices }) => prices)) return;
  const { kept, failed } = await dryRun(ctx, (on) => priceAll(on, waiting));
  const prices = kept.map(({ correction_id, turn, prices: of }) => ({ correction_id, turn, prices: of }));
  if (prices.length > 0) await keepPrices(ctx, prices);
  for (const [correctionId, failure] of failed)
    await updateProgress(ctx, correctionId, { ...(await lockCorrection(ctx, correctionId)), ...failure });
}

/**
 * While a correction waits: the running totals that its charges end with now are kept, so that periods which are billed
 * or priced meanwhile go on from them, as they would if the invoice had been issued at once.
 *
 * Rule: event-corrections.md#corrections-that-wait.
 */
export async function keepTotalsWhileWaiting(
  ctx: Context,
  { id, external_subscription_id }: Pick<CorrectionRow, 'id' | 'external_subscription_id'>,
): Promise<void> {
  const codes = await listCarriedCodes(ctx, id);
  if (codes.length === 0) return;
  const waiting = await listUnsettledOf(ctx, external_subscription_id, codes);
  const { kept } = await dryRun(ctx, (on) => priceAll(on, waiting));
  const totals = kept.map(({ correction_id, turn, totals: of }) => ({
    correction_id,
    turn,
    totals: of.map(({ charge_filter_id, grouped_by, total_units }) => ({ charge_filter_id, grouped_by, total_units })),
  }));
  if (totals.length > 0) await keepTotals(ctx, totals);
}

/** What a charge costs, and the totals from which its later periods go on. */
interface Priced {
  prices: KeptPrices;
  totals: PricedItem[];
}

type Failure = Pick<CorrectionRow, 'status' | 'error' | 'finished_at'>;

/**
 * Prices charges in the order of their turns. Later periods of a weighted sum go on from the totals of earlier ones,
 * which are stored meanwhile as they will be when these are settled.
 */
async function priceAll(
  ctx: Context,
  waiting: readonly Waiting[],
): Promise<{ kept: (Waiting & Priced)[]; failed: Map<CorrectionId, Failure> }> {
  const kept: (Waiting & Priced)[] = [];
  const failed = new Map<CorrectionId, Failure>();
  for (const each of waiting) {
    if (failed.has(each.correction_id)) continue;
    const outcome = await attempt(ctx, each.correction_id, (on) => inRange(() => priceOne(on, each)));
    if ('failure' in outcome) failed.set(each.correction_id, outcome.failure);
    else if (!each.prices) kept.push({ ...each, ...outcome.done });
  }
  return { kept: kept.filter(({ correction_id }) => !failed.has(correction_id)), failed };
}

async function priceOne(ctx: Context, waiting: Waiting): Promise<Priced> {
  const invoice = await readInvoice(ctx, waiting.invoice_id);
  const { priced } = await priceCharges(ctx, invoice, [waiting]);
  const [found] = priced;
  if (found === undefined) return { prices: { items: [], late_events_left_out: 0 }, totals: [] };
  const { asked, items, late_events_left_out } = found;
  const prices = { items, late_events_left_out };
  if (!carriesTotal(asked.charge)) return { prices, totals: [] };
  const names = new Set(items.map((item) => keyOfBilledItem({ ...waiting, ...item })));
  const gone = asked.issued.flatMap((issued): PricedItem[] => {
    const item = { ...itemOfFee(issued), display_name: '', amount_cents: cents(0), units: ZERO, total_units: ZERO };
    return names.has(keyOfBilledItem({ ...waiting, ...item })) ? [] : [item];
  });
  const totals = [...items, ...gone].filter(({ kind }) => kind === 'usage');
  const adjustments = totals.map((item) => totalOf(waiting, item));
  await insertAdjustments(ctx, waiting.correction_id, { adjustments, now: ctx.now(), turn: waiting.turn });
  return { prices, totals };
}

/** A row that says nothing but the total at the end of the window. */
const totalOf = (
  { subscription_id, charge_id, invoice_id, charges_from_datetime: from, charges_to_datetime: to }: Waiting,
  { kind, charge_filter_id, grouped_by, display_name: displayName, total_units }: PricedItem,
): NewAdjustment => ({
  subscription_id,
  charge_id,
  kind,
  charge_filter_id,
  grouped_by,
  invoice_id,
  fee_id: null,
  window: { from, to },
  displayName,
  units: ZERO,
  old_amount_cents: 0,
  new_amount_cents: 0,
  delta_amount_cents: 0,
  settled_amount_cents: 0,
  left_amount_cents: 0,
  billed_amount_cents: 0,
  booked_as: 'recorded',
  total_units,
  new_fee_id: null,
  credit_note_id: null,
  given_back_amount_cents: 0,
  credited_item: null,
  uncreditable_amount_cents: 0,
  late_events_left_out: 0,
});
