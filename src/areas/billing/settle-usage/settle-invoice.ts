import { netDeltas } from '../../../engine/corrections/net-deltas.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { creditFees } from './credit-fees.ts';
import { type RepricedThing, repriceInvoice } from './reprice.ts';
import {
  type Billed,
  flagDraftsOf,
  listGoingOn,
  listSettled,
  lockInvoice,
  type NewAdjustment,
  type SettledThing,
} from './sql.ts';
import { keyOfThing } from './things.ts';

type Terms = Pick<CorrectionRow, 'id' | 'policy' | 'credit_note_part' | 'reason'>;

interface Difference {
  thing: RepricedThing;
  settled: SettledThing | undefined;
  oldCents: Cents;
  deltaCents: Cents;
  /** What is left of the difference after netting. */
  restCents: Cents;
}

/**
 * Makes the books right about one issued invoice: what usage costs by now is compared with what was billed for it, and by
 * the policy the differences become fees, invoices or credit notes. The caller holds the customer's lock. Doing it again
 * finds no difference.
 *
 * @returns what it came to, to be stored as the correction's adjustments
 * Rules: event-corrections.md#policy, event-corrections.md#effect, event-corrections.md#difference.
 */
export async function settleInvoice(
  ctx: Context,
  correction: Terms,
  concerned: readonly ConcernedCharge[],
): Promise<NewAdjustment[]> {
  const { db, organizationId } = ctx;
  const invoiceId = concerned[0]!.invoice_id;
  await lockInvoice(db, organizationId, invoiceId);
  const invoice = await readInvoice(db, organizationId, invoiceId);
  if (invoice.status === 'voided' || invoice.status === 'deleted') return [];
  const settled = await listSettled(db, organizationId, { invoiceId });
  const things = await repriceInvoice(ctx, invoice, concerned, settled);
  return settleThings(ctx, correction, { invoiceId }, things, settled);
}

/** The same of things that are priced already. */
export async function settleThings(
  ctx: Context,
  correction: Terms,
  billed: Billed,
  things: readonly RepricedThing[],
  settled: ReadonlyMap<string, SettledThing>,
): Promise<NewAdjustment[]> {
  const { db, organizationId } = ctx;
  const differences = differencesOf(things, settled);
  const shown = differences.filter(({ deltaCents }) => deltaCents !== 0);
  const totals = differences.filter(({ deltaCents, thing }) => deltaCents === 0 && thing.newTotal !== undefined);
  const kept = totals.map((each) => recorded(billed, each));
  if (shown.length === 0) return kept.length > 0 ? kept : differences.slice(0, 1).map((each) => recorded(billed, each));
  const goingOn = await listGoingOn(db, organizationId, [...new Set(things.map((thing) => thing.subscription_id))]);
  const rises = shown.filter(({ restCents }) => restCents >= 0).map((each) => rise(billed, each, correction, goingOn));
  const falls = shown.filter(({ restCents }) => restCents < 0);
  return [...kept, ...rises, ...(await settleFalls(ctx, billed, falls, correction))];
}

function differencesOf(things: readonly RepricedThing[], settled: ReadonlyMap<string, SettledThing>): Difference[] {
  const differences = things.map((thing) => {
    const before = settled.get(keyOfThing(thing));
    const oldCents = cents((thing.fee?.amount_cents ?? 0) + (before?.settled_cents ?? 0));
    return { thing, settled: before, oldCents, deltaCents: cents(thing.newCents - oldCents) };
  });
  const rests = netDeltas(differences.map(({ deltaCents }) => deltaCents));
  return differences.map((each, index) => ({ ...each, restCents: rests[index]! }));
}

type Recorded = Pick<Difference, 'thing' | 'oldCents' | 'deltaCents' | 'restCents'>;

/** A difference that nothing is booked for: it was netted, or the policy leaves it as it is. */
export const recorded = (
  billed: Pick<Billed, 'invoiceId'>,
  { thing, oldCents, deltaCents, restCents }: Recorded,
): NewAdjustment => ({
  subscription_id: thing.subscription_id,
  kind: thing.kind,
  charge_id: thing.charge_id,
  charge_filter_id: thing.charge_filter_id,
  grouped_by: thing.grouped_by,
  invoice_id: billed.invoiceId,
  fee_id: thing.fee?.id ?? null,
  window: thing.window,
  displayName: thing.displayName,
  units: thing.newUnits.minus(thing.fee?.units ?? ZERO),
  old_amount_cents: oldCents,
  new_amount_cents: thing.newCents,
  delta_amount_cents: deltaCents,
  settled_amount_cents: deltaCents - restCents,
  billed_amount_cents: 0,
  booked_as: 'recorded',
  total_units: thing.newTotal ?? null,
  new_fee_id: null,
  credit_note_id: null,
  uncreditable_amount_cents: 0,
  late_events_left_out: thing.leftOut ?? 0,
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
 * What falls comes off increases that wait to be billed, then by credit notes off the fee itself, then off the fees that
 * billed increases of it. The rest cannot be given back, and is told.
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
  if (rows.some(({ waiting }) => waiting > 0)) await flagDraftsOf(ctx.db, ctx.organizationId, billed);
  const asked = rows.flatMap(({ each, left }, index) =>
    left > 0
      ? [
          {
            index,
            cents: left,
            feeIds: [
              ...(each.thing.fee && billed.invoiceId !== null ? [each.thing.fee.id] : []),
              ...(each.settled?.feeIds ?? []),
            ],
          },
        ]
      : [],
  );
  const credited = await creditFees(ctx, asked, correction);
  return rows.flatMap(({ each, waiting, row, left }, index) => {
    const own = credited.filter((credit) => credit.index === index);
    const [first, ...others] = own;
    const given = own.reduce((sum, credit) => sum + credit.cents, 0);
    const later = others.reduce((sum, credit) => sum + credit.cents, 0);
    const uncreditable = left - given;
    const main: NewAdjustment = {
      ...row,
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
    const more = others.map((credit): NewAdjustment => {
      const old = before;
      before -= credit.cents;
      return {
        ...row,
        fee_id: credit.feeId,
        units: ZERO,
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
