import type { Period } from '../../engine/calendar/period.ts';
import { type Cents, cents, sumCents } from '../../engine/money/cents.ts';
import { type Decimal, ZERO } from '../../engine/money/decimal.ts';
import { commitmentTrueUp } from '../../engine/subscriptions/minimum-commitment.ts';
import type { Context } from '../../platform/context.ts';
import { listAdjustedFees } from '../../resources/adjusted-fees/queries.ts';
import type { ConcernedCharge } from '../../resources/event-corrections/periods.ts';
import { listFeeInputs } from '../../resources/fee-explanations/queries.ts';
import { type FeeRow, listFeesOfInvoice } from '../../resources/fees/queries.ts';
import type { InvoiceRow } from '../../resources/invoices/queries.ts';
import { toCount } from '../../resources/usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../../resources/usage/priced-charges.ts';
import { countUsage } from '../../resources/usage-counts/count-usage.ts';
import type { CountedShare } from '../../resources/usage-counts/request.ts';
import { adjusterOf } from '../build-invoice/adjustments.ts';
import { commitmentFees } from '../build-invoice/commitment-fees.ts';
import { chargesOfLine, type LineFee, usageLineFees } from '../build-invoice/fees.ts';
import { type BilledLine, prorationOf, sharedInstants } from '../build-invoice/lines.ts';
import { linesOfSource } from '../regenerate-invoice/lines.ts';
import { isMadeAnew, type SettledThing } from './sql.ts';
import {
  chargeAsBilled,
  type IssuedFee,
  isSetByHand,
  keyOfThing,
  lineAsBilled,
  sharedAsBilled,
  type ThingKey,
} from './things.ts';

/** Something that an issued invoice bills, and what it costs by the usage of now. */
export interface RepricedThing extends ThingKey {
  window: Period;
  displayName: string;
  /** Its fee on the invoice. */
  fee: FeeRow | undefined;
  newCents: Cents;
  newUnits: Decimal;
}

interface Asked {
  line: BilledLine;
  charge: PricedCharge;
  window: Period;
  issued: readonly IssuedFee[];
}

/**
 * Prices charges of an issued invoice once more: by what its fees were priced by, on the usage of now, with the true-ups
 * and the minimum commitments of its lines. Reads only.
 *
 * settled  what was billed beyond the fees of the invoice, by thing: for commitments, on which other charges count too
 *
 * Rule: beyond 4.4 "new".
 */
export async function repriceInvoice(
  ctx: Context,
  invoice: InvoiceRow,
  concerned: readonly ConcernedCharge[],
  settled: ReadonlyMap<string, SettledThing>,
): Promise<RepricedThing[]> {
  const { db, organizationId } = ctx;
  const [all, fees, adjustments, isAnew] = await Promise.all([
    linesOfSource(ctx, invoice, invoice.timezone),
    issuedFees(ctx, invoice.id),
    listAdjustedFees(db, organizationId, invoice.id),
    isMadeAnew(db, organizationId, invoice.id),
  ]);
  const lines = all.filter(({ subscription }) =>
    concerned.some(({ subscription_id }) => subscription_id === subscription.id),
  );
  const successors = lines.flatMap(({ subscription }) => subscription.successor_plan_id ?? []);
  const charges = await listPricedCharges(
    db,
    organizationId,
    successors,
    concerned.map(({ charge_id }) => charge_id),
  );
  const asked = lines.flatMap((line) => askedOf(line, charges, concerned, fees));
  const counted = await countAsked(ctx, asked);
  const adjuster = adjusterOf(adjustments);
  const things = asked.flatMap((each, index) => {
    const { line, charge, window } = each;
    const made = usageLineFees(line, charge, counted[index]!, window, adjuster);
    return thingsOf(each, made, isAnew);
  });
  const commitments = await Promise.all(lines.map((line) => commitmentOf(ctx, line, fees, things, settled)));
  const found = [...things, ...commitments.flat()];
  const names = new Set(found.map(keyOfThing));
  // Billed by a correction, and gone by another one.
  const gone = [...settled.values()].filter(
    (thing) =>
      !names.has(keyOfThing(thing)) &&
      lines.some(({ subscription }) => subscription.id === thing.subscription_id) &&
      (thing.charge_id === null || asked.some(({ charge }) => charge.id === thing.charge_id)),
  );
  return [...found, ...gone.map((thing) => ({ ...thing, fee: undefined, newCents: cents(0), newUnits: ZERO }))];
}

/** Fees of an invoice that corrections of others have nothing to do with. */
async function issuedFees(ctx: Context, invoiceId: string): Promise<IssuedFee[]> {
  const rows = await listFeesOfInvoice(ctx.db, ctx.organizationId, invoiceId);
  const own = rows.filter(({ correction_id }) => correction_id === null);
  const inputs = await listFeeInputs(
    ctx.db,
    ctx.organizationId,
    own.map(({ id }) => id),
  );
  const byFee = new Map(inputs.map((row) => [row.fee_id, row.inputs]));
  return own.map((fee) => ({ fee, inputs: byFee.get(fee.id) ?? null }));
}

/** What of a line is priced again: charges that it bills by its usage window. */
function askedOf(
  line: BilledLine,
  charges: readonly PricedCharge[],
  concerned: readonly ConcernedCharge[],
  fees: readonly IssuedFee[],
): Asked[] {
  const { subscription, windows } = line;
  return concerned.flatMap(({ subscription_id, charge_id }): Asked[] => {
    const found = charges.find(({ id }) => id === charge_id);
    if (subscription_id !== subscription.id || found === undefined || windows.charges === null) return [];
    const issued = fees.filter(
      ({ fee, inputs }) =>
        fee.subscription_id === subscription.id &&
        fee.charge_id === charge_id &&
        !fee.pay_in_advance &&
        inputs?.window.renewed !== true,
    );
    // An override of the plan since then has charges of its own: these are billed by their own plan still.
    const charge = { ...chargeAsBilled(found, issued), plan_id: subscription.plan_id };
    const asBilled = lineAsBilled(line, issued);
    const others = charges.filter(({ id }) => id !== charge_id);
    if (chargesOfLine(asBilled, [charge, ...others]).every(({ id }) => id !== charge_id)) return [];
    return [{ line: asBilled, charge, window: windows.charges, issued }];
  });
}

async function countAsked(ctx: Context, asked: readonly Asked[]): Promise<CountedShare[][]> {
  if (asked.length === 0) return [];
  const counted = await countUsage(ctx.db, {
    organizationId: ctx.organizationId,
    charges: asked.map(({ line, charge, window, issued }, index) =>
      toCount(
        charge,
        {
          subscription: line.subscription,
          proration: prorationOf(line, window),
          ...(sharedAsBilled(issued) ?? sharedInstants(line, window)),
        },
        String(index),
      ),
    ),
  });
  const sharesOf = new Map(counted.map(({ key, shares }) => [key, shares]));
  return asked.map((_, index) => sharesOf.get(String(index)) ?? []);
}

/**
 * The fees that were made together with those that there would be now. What was set by hand stays, and on an invoice that
 * was made anew so does all that was not taken over as it was.
 */
function thingsOf({ line, charge, window, issued }: Asked, made: readonly LineFee[], isAnew: boolean): RepricedThing[] {
  const keyOf = (of: Pick<ThingKey, 'kind' | 'charge_filter_id' | 'grouped_by'>): ThingKey => ({
    subscription_id: line.subscription.id,
    charge_id: charge.id,
    ...of,
  });
  const kindOf = (parent: string | null) => (parent === null ? ('usage' as const) : ('true_up' as const));
  const things = new Map<string, RepricedThing>();
  const kept = new Set<string>();
  for (const each of issued) {
    const { fee } = each;
    const { charge_filter_id, grouped_by } = fee;
    const key = keyOf({ kind: kindOf(fee.true_up_parent_fee_id), charge_filter_id, grouped_by });
    const displayName = fee.invoice_display_name ?? fee.item_name;
    things.set(keyOfThing(key), { ...key, window, displayName, fee, newCents: cents(0), newUnits: ZERO });
    if (isSetByHand(each) || (isAnew && each.inputs?.facts?.kind !== 'copied')) {
      kept.add(keyOfThing(key));
      things.set(keyOfThing(key), {
        ...key,
        window,
        displayName,
        fee,
        newCents: cents(fee.amount_cents),
        newUnits: fee.units,
      });
    }
  }
  for (const fee of made) {
    const { charge_filter_id, groupedBy: grouped_by, amountCents: newCents, units: newUnits } = fee;
    const key = keyOf({ kind: kindOf(fee.true_up_parent_fee_id), charge_filter_id, grouped_by });
    const name = keyOfThing(key);
    const known = things.get(name);
    if (kept.has(name) || (isAnew && known === undefined)) continue;
    const displayName = known?.displayName ?? fee.item.displayName;
    things.set(name, { ...key, window, displayName, fee: known?.fee, newCents, newUnits });
  }
  return [...things.values()];
}

/**
 * The minimum commitment of a line by the usage of now: of an invoice that has one by what was stored with it, else by the
 * plan. Other fees count as they are billed by now.
 */
async function commitmentOf(
  ctx: Context,
  line: BilledLine,
  fees: readonly IssuedFee[],
  things: readonly RepricedThing[],
  settled: ReadonlyMap<string, SettledThing>,
): Promise<RepricedThing[]> {
  const own = things.filter(({ subscription_id }) => subscription_id === line.subscription.id);
  const names = new Set(own.map(keyOfThing));
  const others = [...settled].filter(
    ([name, thing]) =>
      thing.kind !== 'commitment' && thing.subscription_id === line.subscription.id && !names.has(name),
  );
  const changeCents = sumCents([
    ...own.map(({ newCents, fee }) => cents(newCents - (fee?.amount_cents ?? 0))),
    ...others.map(([, { settled_cents }]) => cents(settled_cents)),
  ]);
  const issued = fees.find(({ fee }) => fee.fee_type === 'commitment' && fee.subscription_id === line.subscription.id);
  const stored = issued?.inputs?.commitment;
  const key = {
    subscription_id: line.subscription.id,
    kind: 'commitment' as const,
    charge_id: null,
    charge_filter_id: null,
    grouped_by: {},
  };
  if (issued !== undefined) {
    const { fee } = issued;
    const window = { from: fee.from_datetime!, to: fee.to_datetime! };
    const countedIds = new Set((stored?.counted_fees ?? []).map(({ id }) => id));
    const counts = own.length > 0 && own.every((thing) => thing.fee === undefined || countedIds.has(thing.fee.id));
    const newCents =
      stored === undefined || !counts || isSetByHand(issued)
        ? cents(fee.amount_cents)
        : commitmentTrueUp(
            stored.amount_cents,
            { billedDays: stored.billed_days, periodDays: stored.period_days },
            cents(stored.used_cents + changeCents),
          );
    const displayName = fee.invoice_display_name ?? fee.item_name;
    return [{ ...key, window, displayName, fee, newCents, newUnits: fee.units }];
  }
  if (line.subscription.commitment === null || own.length === 0) return [];
  // A commitment that the plan got since then would be missing whatever the usage.
  if ((await commitmentFees(ctx, [line], [])).length > 0) return [];
  // The fees of this invoice are among those that were made before: what they rise or fall by is added.
  const [missing] = await commitmentFees(ctx, [line], [changeOf(line, own[0]!.window, changeCents)]);
  if (missing === undefined) return [];
  const { window, amountCents: newCents, units: newUnits, item } = missing;
  return [{ ...key, window, displayName: item.displayName, fee: undefined, newCents, newUnits }];
}

/** What usage rises or falls by, as something that a commitment counts. */
const changeOf = (line: BilledLine, window: Period, amountCents: Cents): LineFee =>
  ({ id: '', line, fee_type: 'charge', window, amountCents }) as LineFee;
