import { netDeltas } from '../../../engine/corrections/net-deltas.ts';
import { partOfUnits } from '../../../engine/corrections/part-of-units.ts';
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
  listGoingOn,
  listSettled,
  lockInvoice,
  type NewAdjustment,
  type SettledItem,
} from './sql.ts';

type Terms = Pick<CorrectionRow, 'id' | 'policy' | 'credit_note_part' | 'reason'>;

interface Difference {
  billedItem: RepricedItem;
  settled: SettledItem | undefined;
  oldCents: Cents;
  deltaCents: Cents;
  /** What is left of the difference after netting. */
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
  const differences = differencesOf(billedItems, settled);
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

function differencesOf(billedItems: readonly RepricedItem[], settled: ReadonlyMap<string, SettledItem>): Difference[] {
  const differences = billedItems.map((billedItem) => {
    const before = settled.get(keyOfBilledItem(billedItem));
    const oldCents = cents((billedItem.fee?.amount_cents ?? 0) + (before?.settled_cents ?? 0));
    return { billedItem, settled: before, oldCents, deltaCents: cents(billedItem.newCents - oldCents) };
  });
  const rests = netDeltas(differences.map(({ deltaCents }) => deltaCents));
  return differences.map((each, index) => ({ ...each, restCents: rests[index]! }));
}

type Recorded = Pick<Difference, 'billedItem' | 'settled' | 'oldCents' | 'deltaCents' | 'restCents'>;

/** A difference for which nothing is booked: it was netted, or the policy leaves it. */
export const recorded = (
  billed: Pick<Billed, 'invoiceId'>,
  { billedItem, settled, oldCents, deltaCents, restCents }: Recorded,
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
  settled_amount_cents: deltaCents - restCents,
  billed_amount_cents: 0,
  booked_as: 'recorded',
  total_units: billedItem.newTotal ?? null,
  new_fee_id: null,
  credit_note_id: null,
  uncreditable_amount_cents: 0,
  late_events_left_out: billedItem.leftOut ?? 0,
});

function rise(billed: Billed, difference: Difference, { policy }: Terms, goingOn: ReadonlySet<string>): NewAdjustment {
  const row = recorded(billed, difference);
  const isBilled = policy === 'next_invoice' || policy === 'debit_invoice';
  if (difference.restCents === 0 || !isBilled) return row;
  const waits = policy === 'next_invoice' && goingOn.has(row.subscription_id);
  return {
    ...row,
    settled_amount_cents: difference.deltaCents,
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
  if (falls.length === 0 || correction.policy === 'ignore') return falls.map((each) => recorded(billed, each));
  const rows = falls.map((each) => {
    const waiting = Math.min(-each.restCents, Math.max(each.settled?.waiting_cents ?? 0, 0));
    return { each, waiting, row: recorded(billed, each), left: -each.restCents - waiting };
  });
  if (rows.some(({ waiting }) => waiting > 0)) await flagDraftsOf(ctx, billed);
  const asked = rows.flatMap(({ each, left }, index) =>
    left > 0
      ? [
          {
            index,
            cents: left,
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
  return rows.flatMap(({ each, waiting, row, left }, index) => {
    const own = credited.filter((credit) => credit.index === index);
    const [first, ...others] = own;
    const given = own.reduce((total, credit) => total + credit.cents, 0);
    const later = others.reduce((total, credit) => total + credit.cents, 0);
    const uncreditable = left - given;
    const laterUnits = others.map((credit) => partOfUnits(row.units, -credit.cents, each.deltaCents));
    const main: NewAdjustment = {
      ...row,
      units: row.units.minus(sum(laterUnits)),
      delta_amount_cents: each.deltaCents + later,
      new_amount_cents: row.new_amount_cents + later,
      settled_amount_cents: each.deltaCents + uncreditable + later,
      billed_amount_cents: -waiting,
      booked_as: first !== undefined ? 'credit_note' : waiting > 0 ? 'fee' : 'recorded',
      credit_note_id: first?.noteId ?? null,
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
        booked_as: 'credit_note',
        credit_note_id: credit.noteId,
      };
    });
    return [main, ...more];
  });
}
