import type { Context } from '../../../platform/context.ts';
import type { CorrectionId } from '../../../platform/ids.ts';
import { announceSettled } from '../../usage/event-corrections/announce.ts';
import { type CorrectionRow, lockCorrection } from '../../usage/event-corrections/queries.ts';
import { countInvoices, updateProgress } from '../../usage/event-corrections/writes.ts';
import { attempt } from './attempt-or-undo.ts';
import { settleChains } from './in-advance/settle-chains.ts';
import { settleRenewals } from './in-advance/settle-renewals.ts';
import { inRange } from './in-range.ts';
import { invoiceDifferences } from './invoice-differences.ts';
import { listInPlace } from './issued-fees.ts';
import { keepTotalsWhileWaiting } from './keep-prices-before-change.ts';
import { findNextTurn, markSettled, movePeriods, readState, type Turn } from './periods-to-settle.ts';
import { settleInvoice } from './settle-invoice.ts';
import { insertAdjustments, listToInvoice, type NewAdjustment } from './stored-adjustments.ts';

/** Delay before an invoice that is not issued yet is looked at again. */
const AGAIN_AFTER_MINUTES = 60;
/** Turns of earlier corrections that one transaction takes: some tenths of a second each, for which a caller waits. */
const OTHERS_A_STEP = 5;

interface Outcome {
  isSettled: boolean;
  /** Whether it waits for an invoice that is not issued yet. */
  isWaiting: boolean;
  adjustments: NewAdjustment[];
}

/**
 * Settles everything that an applied correction concerns: fees of events billed in advance, then invoices, earliest
 * first; then bills what is due at once. What earlier corrections have still to settle of an invoice is settled before.
 * An invoice that waits for its taxes or its first payment is settled later, by step `settle-correction`.
 *
 * most     invoices settled in this transaction; the step settles the rest
 * owesNext whether it owes that step; another correction, before which this one has its turn, does not: this one has a
 *          step of its own already
 *
 * @throws Refusal 422 base: value_is_out_of_range, when no cents can hold an amount
 * Rules: event-corrections.md#order-of-work "transaction 2", event-corrections.md#corrections-that-wait.
 */
export async function settlePeriods(
  ctx: Context,
  correction: CorrectionRow,
  { most = Number.POSITIVE_INFINITY, owesNext = true }: { most?: number; owesNext?: boolean } = {},
): Promise<Outcome> {
  const chains = await inRange(() => settleChains(ctx, correction));
  const renewals = await inRange(() => settleRenewals(ctx, correction));
  const adjustments = [...chains.adjustments, ...renewals];
  const goOn = async (isWaiting: boolean): Promise<Outcome> => {
    if (isWaiting) await keepTotalsWhileWaiting(ctx, correction);
    const dueAt = isWaiting ? { dueAt: ctx.now().add({ minutes: AGAIN_AFTER_MINUTES }) } : {};
    if (owesNext) ctx.after({ step: 'settle-correction', payload: { correction_id: correction.id }, ...dueAt });
    return { isSettled: false, isWaiting, adjustments };
  };
  let waitsFor: CorrectionId | null = null;
  for (let own = 0, others = 0; ; ) {
    const turn = await findIssuedTurn(ctx, correction);
    if (turn === undefined) break;
    if (turn === 'waiting') return goOn(true);
    if (own >= most || others >= OTHERS_A_STEP) return goOn(false);
    const { earlierId } = turn;
    if (earlierId === null) {
      adjustments.push(...(await settleTurn(ctx, correction, turn)));
      own += 1;
    } else {
      // It has gone as far as it can, and its turn is still the first.
      if (earlierId === waitsFor) return goOn(true);
      const { isWaiting } = await settleNext(ctx, await lockCorrection(ctx, earlierId), { most: 1, owesNext: false });
      if (isWaiting) waitsFor = earlierId;
      others += 1;
    }
  }
  if (!chains.isSettled) return goOn(true);
  for (const owner of await listToInvoice(ctx, correction.id))
    await inRange(() => invoiceDifferences(ctx, owner, correction.id));
  return { isSettled: true, isWaiting: false, adjustments };
}

/**
 * Settles the next invoices of a correction that has changed usage. One that cannot be settled has failed, and what it
 * has not settled falls to the next correction of the invoice.
 *
 * @returns whether it waits for an invoice that is not issued yet
 */
export async function settleNext(
  ctx: Context,
  correction: CorrectionRow,
  limits: { most: number; owesNext: boolean },
): Promise<Pick<Outcome, 'isWaiting'>> {
  const { id, status } = correction;
  const outcome = await attempt(ctx, id, (on) => settlePeriods(on, correction, limits));
  const invoices_count = await countInvoices(ctx, id);
  if ('failure' in outcome) {
    await updateProgress(ctx, id, { ...correction, ...outcome.failure });
    return { isWaiting: false };
  }
  const { isSettled, isWaiting } = outcome.done;
  if (isSettled && status === 'applied') {
    const settled: CorrectionRow = { ...correction, invoices_count, status: 'settled', finished_at: ctx.now() };
    await updateProgress(ctx, id, settled);
    announceSettled(ctx, settled);
  }
  return { isWaiting };
}

/**
 * The next turn of a correction on an invoice that is issued. What corrections had to settle of voided invoices in
 * whose place it stands has its turns on this one.
 */
async function findIssuedTurn(ctx: Context, correction: CorrectionRow): Promise<Turn | 'waiting' | undefined> {
  while (true) {
    const turn = await findNextTurn(ctx, correction);
    if (turn === undefined) return undefined;
    const invoiceId = turn.charges[0]!.invoice_id;
    const invoiceIds = await listInPlace(ctx, invoiceId);
    if (invoiceIds.length > 1 && (await movePeriods(ctx, invoiceIds))) continue;
    return (await readState(ctx, invoiceId)).is_issued ? turn : 'waiting';
  }
}

async function settleTurn(ctx: Context, correction: CorrectionRow, { charges }: Turn): Promise<NewAdjustment[]> {
  const now = ctx.now();
  const adjustments = await inRange(() => settleInvoice(ctx, correction, charges));
  const turns = charges.map(({ turn }) => turn);
  await insertAdjustments(ctx, correction.id, { adjustments, now, turn: turns[0]! });
  await markSettled(ctx, correction.id, { turns, now });
  return adjustments;
}
