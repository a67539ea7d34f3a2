import { netDeltas } from '../../../engine/corrections/net-deltas.ts';
import { partOfUnits } from '../../../engine/corrections/part-of-units.ts';
import { type Done, undoneLeft } from '../../../engine/corrections/undone-left.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { sum, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { creditFees } from '../../credits/credit-notes/commands/credit-fees.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import type { CorrectionRow } from '../../usage/event-corrections/queries.ts';
import { type BilledItemKey, keyOfBilledItem } from './billed-items.ts';
import { issuedFees, itemOfFee, listInPlace } from './issued-fees.ts';
import { lockInvoice } from './periods-to-settle.ts';
import { type ChargeToPrice, type RepricedItem, repriceInvoice } from './reprice.ts';
import { type Billed, flagDraftsOf, listDone, listSettled, type SettledItem } from './settled-items.ts';
import { listGoingOn, type NewAdjustment } from './stored-adjustments.ts';

type Terms = Pick<CorrectionRow, 'id' | 'policy' | 'credit_note_part' | 'reason'>;

/** What an item has to be settled by. */
export interface Difference {
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
 * Settles one issued invoice: the price of its usage, current or kept, is compared with what was billed, and by the
 * policy differences become fees, invoices or credit notes. The caller holds the customer's lock. A second run finds no
 * difference.
 *
 * @returns the outcome, to be stored as the correction's adjustments
 * Rules: event-corrections.md#policy, event-corrections.md#effect, event-corrections.md#difference.
 */
export async function settleInvoice(
  ctx: Context,
  correction: Terms,
  concerned: readonly ChargeToPrice[],
): Promise<NewAdjustment[]> {
  const invoiceId = concerned[0]!.invoice_id;
  await lockInvoice(ctx, invoiceId);
  const invoice = await readInvoice(ctx, invoiceId);
  if (invoice.status === 'voided' || invoice.status === 'deleted') return [];
  const billed = { invoiceId, invoiceIds: await listInPlace(ctx, invoiceId) };
  const settled = await listSettled(ctx, billed);
  const billedItems = await repriceInvoice(ctx, invoice, { billed, concerned, settled });
  return settleItems(ctx, correction, { billed, billedItems, settled });
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
  return [...kept, ...rises, ...(await settleFalls(ctx, correction, { billed, falls, settled }))];
}

/** What items have to be settled by, less what corrections of the same events left of them, and netted. */
export function differencesOf(
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
  given_back_amount_cents: 0,
  credited_item: null,
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
 * its increases, and the fees of progressive invoices credited to it; then fees that billed it in place of its own,
 * because it was netted against theirs. The rest cannot be given back and is reported.
 */
async function settleFalls(
  ctx: Context,
  correction: Terms,
  {
    billed,
    falls,
    settled,
  }: { billed: Billed; falls: readonly Difference[]; settled: ReadonlyMap<string, SettledItem> },
): Promise<NewAdjustment[]> {
  if (correction.policy === 'ignore') return falls.map((each) => left(billed, each));
  if (falls.length === 0) return [];
  const rows = falls.map((each) => {
    const waiting = Math.min(-each.restCents, Math.max(each.settled?.waiting_cents ?? 0, 0));
    return { each, waiting, row: recorded(billed, each), owed: -each.restCents - waiting };
  });
  const inPlace = await feesInPlaceOfOthers(ctx, billed, settled);
  const lowered = rows.flatMap((each) => lowerWaitingOfOthers(each, inPlace, settled));
  if (lowered.length > 0 || rows.some(({ waiting }) => waiting > 0)) await flagDraftsOf(ctx, billed);
  const asked = rows.flatMap(({ each, owed }, index) => {
    if (owed === 0) return [];
    const { fee } = each.billedItem;
    const own = [...(fee && billed.invoiceId !== null ? [fee.id] : []), ...(each.settled?.feeIds ?? [])];
    const name = keyOfBilledItem(each.billedItem);
    return [{ index, cents: owed, feeIds: [own], inPlace: inPlace.filter((group) => group.name !== name) }];
  });
  const credited = await creditFees(ctx, asked, {
    description: correction.reason,
    part: correction.credit_note_part,
  });
  const fallen = rows.flatMap(({ each, waiting, row, owed }, index) => {
    const own = credited.filter((credit) => credit.index === index);
    const ofFee = own.find(({ feeId, inPlaceOf }) => feeId === row.fee_id && inPlaceOf === null) ?? own[0];
    const others = own.filter((credit) => credit !== ofFee);
    const given = own.reduce((total, credit) => total + credit.cents, 0);
    const later = others.reduce((total, credit) => total + credit.cents, 0);
    const uncreditable = owed - given;
    const laterUnits = others.map((credit) => partOfUnits(row.units, -credit.cents, each.deltaCents));
    const itemOf = ({ inPlaceOf }: (typeof own)[number]) => keyOnly(settled.get(inPlaceOf ?? ''));
    const main: NewAdjustment = {
      ...row,
      fee_id: row.fee_id ?? (ofFee?.inPlaceOf ? ofFee.feeId : null),
      units: row.units.minus(sum(laterUnits)),
      delta_amount_cents: each.deltaCents + later,
      new_amount_cents: row.new_amount_cents + later,
      settled_amount_cents: each.deltaCents - each.undoneCents + uncreditable + later,
      billed_amount_cents: -waiting,
      booked_as: ofFee !== undefined ? 'credit_note' : waiting > 0 ? 'fee' : 'recorded',
      credit_note_id: ofFee?.noteId ?? null,
      given_back_amount_cents: ofFee?.cents ?? 0,
      credited_item: ofFee ? itemOf(ofFee) : null,
      uncreditable_amount_cents: uncreditable,
    };
    // A note of another invoice has a row of its own, and so has a fee that billed it in place of its own.
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
        given_back_amount_cents: credit.cents,
        credited_item: itemOf(credit),
      };
    });
    return [main, ...more];
  });
  return [...fallen, ...lowered];
}

const keyOnly = (item: BilledItemKey | undefined): BilledItemKey | null =>
  item === undefined
    ? null
    : {
        subscription_id: item.subscription_id,
        kind: item.kind,
        charge_id: item.charge_id,
        charge_filter_id: item.charge_filter_id,
        grouped_by: item.grouped_by,
      };

/** An item whose fees bill something in place of others. */
interface InPlace {
  name: string;
  /** How much. */
  cents: number;
  /** What of its increases waits for the next invoice. */
  waitingCents: number;
  feeIds: FeeId[];
}

/**
 * Takes what an item owes off increases that wait in place of its own. Adds to what is taken; changes what is owed.
 *
 * @returns rows of the items whose increases wait
 */
function lowerWaitingOfOthers(
  fall: { each: Difference; row: NewAdjustment; owed: number },
  inPlace: readonly InPlace[],
  settled: ReadonlyMap<string, SettledItem>,
): NewAdjustment[] {
  const { each, row } = fall;
  return inPlace.flatMap((group): NewAdjustment[] => {
    const taken = Math.min(fall.owed, group.cents, group.waitingCents);
    if (taken <= 0 || group.name === keyOfBilledItem(each.billedItem)) return [];
    fall.owed -= taken;
    group.cents -= taken;
    group.waitingCents -= taken;
    const item = settled.get(group.name)!;
    return [
      {
        ...row,
        ...keyOnly(item)!,
        fee_id: null,
        window: item.window,
        displayName: item.displayName,
        units: partOfUnits(row.units, -taken, each.deltaCents),
        old_amount_cents: 0,
        new_amount_cents: 0,
        delta_amount_cents: 0,
        settled_amount_cents: 0,
        left_amount_cents: 0,
        billed_amount_cents: -taken,
        booked_as: 'fee',
        total_units: null,
        late_events_left_out: 0,
      },
    ];
  });
}

/** Fees of the items that billed something in place of others, and how much. */
async function feesInPlaceOfOthers(
  ctx: Context,
  billed: Billed,
  settled: ReadonlyMap<string, SettledItem>,
): Promise<InPlace[]> {
  const items = [...settled].filter(([, { netted_cents }]) => netted_cents < 0);
  if (items.length === 0 || billed.invoiceId === null) return [];
  const fees = await issuedFees(ctx, billed.invoiceId);
  const ids = new Map(fees.map((issued) => [keyOfBilledItem(itemOfFee(issued)), issued.fee.id]));
  return items.map(([name, { netted_cents, waiting_cents, feeIds }]) => {
    const own = ids.get(name);
    const waitingCents = Math.max(waiting_cents, 0);
    return { name, cents: -netted_cents, waitingCents, feeIds: [...(own === undefined ? [] : [own]), ...feeIds] };
  });
}
