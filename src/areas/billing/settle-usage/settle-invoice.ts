import { netDeltas } from '../../../engine/corrections/net-deltas.ts';
import { partOfUnits } from '../../../engine/corrections/part-of-units.ts';
import { type Done, undoneLeft } from '../../../engine/corrections/undone-left.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { sum, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { creditFees } from '../../credits/credit-notes/commands/credit-fees.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { keyOfBilledItem } from './billed-items.ts';
import { type RepricedItem, repriceInvoice } from './reprice.ts';
import {
  type Billed,
  flagDraftsOf,
  listDone,
  listGoingOn,
  listSettled,
  lockInvoice,
  type NewAdjustment,
  type SettledItem,
} from './settled-items.ts';

type Terms = Pick<CorrectionRow, 'id' | 'policy' | 'credit_note_part' | 'reason'>;

interface Difference {
  billedItem: RepricedItem;
  settled: SettledItem | undefined;
  oldCents: Cents;
  deltaCents: Cents;
  /** The part that undoes what corrections of the same events left. */
  undoneCents: Cents;
  /** What remains of the rest after netting. */
  restCents: Cents;
}

/**
 * Settles one issued invoice: the current price of its usage is compared with what was billed, and by the policy
 * differences become fees, invoices or credit notes. The caller holds the customer's lock. A second run finds no
 * difference.
 *
 * @returns the outcome, to be stored as the correction's adjustments
 * Rules: event-corrections.md#policy, event-corrections.md#effect, event-corrections.md#difference.
 */
export async function settleInvoice(
  ctx: Context,
  correction: Terms,
  concerned: readonly ConcernedCharge[],
): Promise<NewAdjustment[]> {
  const invoiceId = concerned[0]!.invoice_id;
  await lockInvoice(ctx, invoiceId);
  const invoice = await readInvoice(ctx, invoiceId);
  if (invoice.status === 'voided' || invoice.status === 'deleted') return [];
  const settled = await listSettled(ctx, { invoiceId });
  const billedItems = await repriceInvoice(ctx, invoice, concerned, settled);
  return settleItems(ctx, correction, { billed: { invoiceId }, billedItems, settled });
}

/** The same for items that have been priced already. */
export async function settleItems(
  ctx: Context,
  correction: Terms,
  {
    billed,
    billedItems,
    settled,
  }: { billed: Billed; billedItems: readonly RepricedItem[]; settled: ReadonlyMap<string, SettledItem> },
): Promise<NewAdjustment[]> {
  const hasLeft = [...settled.values()].some((item) => item.hasLeft);
  const done = hasLeft ? await listDone(ctx, billed, correction.id) : new Map<string, readonly Done[]>();
  const differences = differencesOf(billedItems, settled, done);
  const shown = differences.filter(({ deltaCents }) => deltaCents !== 0);
  const totals = differences.filter(
    ({ deltaCents, billedItem }) => deltaCents === 0 && billedItem.newTotal !== undefined,
  );
  const kept = totals.map((each) => recorded(billed, each));
  if (shown.length === 0) return kept.length > 0 ? kept : differences.slice(0, 1).map((each) => recorded(billed, each));
  const goingOn = await listGoingOn(ctx, [...new Set(billedItems.map((billedItem) => billedItem.subscription_id))]);
  const rises = shown.filter(({ restCents }) => restCents >= 0).map((each) => rise(billed, each, correction, goingOn));
  const falls = shown.filter(({ restCents }) => restCents < 0);
  return [...kept, ...rises, ...(await settleFalls(ctx, billed, falls, correction))];
}

function differencesOf(
  billedItems: readonly RepricedItem[],
  settled: ReadonlyMap<string, SettledItem>,
  done: ReadonlyMap<string, readonly Done[]>,
): Difference[] {
  const differences = billedItems.map((billedItem) => {
    const name = keyOfBilledItem(billedItem);
    const before = settled.get(name);
    const oldCents = cents((billedItem.fee?.amount_cents ?? 0) + (before?.settled_cents ?? 0));
    const deltaCents = cents(billedItem.newCents - oldCents);
    const undoneCents = undoneLeft(done.get(name) ?? [], deltaCents);
    return { billedItem, settled: before, oldCents, deltaCents, undoneCents };
  });
  const rests = netDeltas(differences.map(({ deltaCents, undoneCents }) => cents(deltaCents - undoneCents)));
  return differences.map((each, index) => ({ ...each, restCents: rests[index]! }));
}

/** A difference for which nothing is booked: it was netted, or undoes what was left. */
export const recorded = (
  billed: Pick<Billed, 'invoiceId'>,
  { billedItem, settled, oldCents, deltaCents, undoneCents, restCents }: Difference,
): NewAdjustment => ({
  subscription_id: billedItem.subscription_id,
  kind: billedItem.kind,
  charge_id: billedItem.charge_id,
  charge_filter_id: billedItem.charge_filter_id,
  grouped_by: billedItem.grouped_by,
  invoice_id: billed.invoiceId,
  fee_id: billedItem.fee?.id ?? null,
  window: billedItem.window,
  displayName: billedItem.displayName,
  units: billedItem.newUnits.minus(billedItem.fee?.units ?? ZERO).minus(settled?.settled_units ?? ZERO),
  old_amount_cents: oldCents,
  new_amount_cents: billedItem.newCents,
  delta_amount_cents: deltaCents,
  settled_amount_cents: deltaCents - undoneCents - restCents,
  left_amount_cents: undoneCents,
  billed_amount_cents: 0,
  booked_as: 'recorded',
  total_units: billedItem.newTotal ?? null,
  new_fee_id: null,
  credit_note_id: null,
  uncreditable_amount_cents: 0,
  late_events_left_out: billedItem.leftOut ?? 0,
});

/** A difference that the policy leaves: it counts as settled, so that no other correction takes it up. */
const left = (billed: Billed, difference: Difference): NewAdjustment => ({
  ...recorded(billed, difference),
  left_amount_cents: difference.undoneCents + difference.restCents,
});

function rise(billed: Billed, difference: Difference, { policy }: Terms, goingOn: ReadonlySet<string>): NewAdjustment {
  if (policy === 'ignore' || policy === 'credit_note') return left(billed, difference);
  const row = recorded(billed, difference);
  if (difference.restCents === 0) return row;
  const waits = policy === 'next_invoice' && goingOn.has(row.subscription_id);
  return {
    ...row,
    settled_amount_cents: difference.deltaCents - difference.undoneCents,
    billed_amount_cents: difference.restCents,
    booked_as: waits ? 'fee' : 'invoice',
  };
}

/**
 * A decrease reduces increases that wait to be billed; then credit notes reduce the fee itself, the fees that billed
 * its increases, and the fees of progressive invoices credited to it. The rest cannot be given back and is reported.
 */
async function settleFalls(
  ctx: Context,
  billed: Billed,
  falls: readonly Difference[],
  correction: Terms,
): Promise<NewAdjustment[]> {
  if (correction.policy === 'ignore') return falls.map((each) => left(billed, each));
  if (falls.length === 0) return [];
  const rows = falls.map((each) => {
    const waiting = Math.min(-each.restCents, Math.max(each.settled?.waiting_cents ?? 0, 0));
    return { each, waiting, row: recorded(billed, each), owed: -each.restCents - waiting };
  });
  if (rows.some(({ waiting }) => waiting > 0)) await flagDraftsOf(ctx, billed);
  const asked = rows.flatMap(({ each, owed }, index) =>
    owed > 0
      ? [
          {
            index,
            cents: owed,
            feeIds: [
              [
                ...(each.billedItem.fee && billed.invoiceId !== null ? [each.billedItem.fee.id] : []),
                ...(each.settled?.feeIds ?? []),
              ],
            ],
          },
        ]
      : [],
  );
  const credited = await creditFees(ctx, asked, {
    description: correction.reason,
    part: correction.credit_note_part,
  });
  return rows.flatMap(({ each, waiting, row, owed }, index) => {
    const own = credited.filter((credit) => credit.index === index);
    const ofFee = own.find(({ feeId }) => feeId === row.fee_id) ?? own[0];
    const others = own.filter((credit) => credit !== ofFee);
    const given = own.reduce((total, credit) => total + credit.cents, 0);
    const later = others.reduce((total, credit) => total + credit.cents, 0);
    const uncreditable = owed - given;
    const laterUnits = others.map((credit) => partOfUnits(row.units, -credit.cents, each.deltaCents));
    const main: NewAdjustment = {
      ...row,
      units: row.units.minus(sum(laterUnits)),
      delta_amount_cents: each.deltaCents + later,
      new_amount_cents: row.new_amount_cents + later,
      settled_amount_cents: each.deltaCents - each.undoneCents + uncreditable + later,
      billed_amount_cents: -waiting,
      booked_as: ofFee !== undefined ? 'credit_note' : waiting > 0 ? 'fee' : 'recorded',
      credit_note_id: ofFee?.noteId ?? null,
      uncreditable_amount_cents: uncreditable,
    };
    // A note of another invoice has a row of its own.
    let before = main.new_amount_cents;
    const more = others.map((credit, nth): NewAdjustment => {
      const old = before;
      before -= credit.cents;
      return {
        ...row,
        fee_id: credit.feeId,
        units: laterUnits[nth]!,
        old_amount_cents: old,
        new_amount_cents: before,
        delta_amount_cents: -credit.cents,
        settled_amount_cents: -credit.cents,
        left_amount_cents: 0,
        booked_as: 'credit_note',
        credit_note_id: credit.noteId,
      };
    });
    return [main, ...more];
  });
}
