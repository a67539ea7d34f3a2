import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { type Decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { ChargeId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { listAdjustedFees } from '../../invoices/adjusted-fees/queries.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';
import { toCount } from '../../usage/usage/price-usage.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import { countUsage } from '../../usage/usage-counts/count-usage.ts';
import type { CountedShare } from '../../usage/usage-counts/request.ts';
import { adjusterOf } from '../build-invoice/adjustments.ts';
import { chargesOfLine, usageLineFees } from '../build-invoice/fees.ts';
import { type BilledLine, prorationOf, sharedInstants } from '../build-invoice/lines.ts';
import { linesOfSource } from '../build-invoice/lines-of-source.ts';
import { isRenewed, renewalFees, renewedPeriod } from '../build-invoice/renewals.ts';
import {
  type BilledItemKey,
  chargeAsBilled,
  isSetByHand,
  keyOfBilledItem,
  lineAsBilled,
  sharedAsBilled,
} from './billed-items.ts';
import { countLeftOut, lateFor, readCountedAt } from './count-late-events.ts';
import { type FormerItem, type IssuedFee, issuedFees, itemOfFee, listFormerItems } from './issued-fees.ts';
import { type KeptPrices, type PricedItem, pricedItem } from './kept-prices.ts';
import { repriceCommitment } from './reprice-commitment.ts';
import type { SettledItem } from './settled-items.ts';

/** An item of an issued invoice with its price by current usage. */
export interface RepricedItem extends BilledItemKey {
  window: Period;
  displayName: string;
  /** Its fee on the invoice. */
  fee: FeeRow | undefined;
  newCents: Cents;
  newUnits: Decimal;
  /** For a running total that later periods build on: its value at the window's end. */
  newTotal?: Decimal;
  /** Late events of its charge that neither the old nor the new usage contains. */
  leftOut?: number;
}

/** Whether later periods continue from the total of a charge. Rule: aggregation.md#weighted-sum. */
export const carriesTotal = ({ metric }: PricedCharge): boolean =>
  metric.recurring && metric.aggregation_type === 'weighted_sum_agg';

interface Asked {
  line: BilledLine;
  charge: PricedCharge;
  window: Period;
  issued: readonly IssuedFee[];
}

/** A charge on an invoice, with what it cost before a later correction changed its usage. */
export interface ChargeToPrice extends ConcernedCharge {
  prices?: KeptPrices | null;
}

/**
 * Prices charges of an issued invoice again by the terms of its fees and by current usage, or what was kept of it, with
 * the true-ups and minimum commitments of its lines. Reads only.
 *
 * settled what was billed beyond the fees of the invoice, by item; commitments need it for other charges
 *
 * Rules: event-corrections.md#difference "new", event-corrections.md#corrections-that-wait.
 */
export async function repriceInvoice(
  ctx: Context,
  invoice: InvoiceRow,
  {
    billed,
    concerned,
    settled,
  }: {
    billed: { invoiceId: InvoiceId; invoiceIds: readonly InvoiceId[] };
    concerned: readonly ChargeToPrice[];
    settled: ReadonlyMap<string, SettledItem>;
  },
): Promise<RepricedItem[]> {
  const [{ fees, lines, charges, priced }, former] = await Promise.all([
    priceCharges(ctx, invoice, concerned),
    listFormerItems(ctx, billed),
  ]);
  const before: Before = { settled, isLeftOut: leftOutItems(former, fees) };
  const billedItems = priced.flatMap(({ asked, items, late_events_left_out: leftOut }) =>
    billedItemsOf(asked, items, before).map((billedItem) => ({ ...billedItem, leftOut })),
  );
  const commitments = await Promise.all(
    lines.map((line) => repriceCommitment(ctx, line, { fees, billedItems, settled })),
  );
  const found = [...billedItems, ...commitments.flat()];
  const names = new Set(found.map(keyOfBilledItem));
  // Billed by one correction and removed by another.
  const gone = [...settled.values()].filter(
    (billedItem) =>
      !names.has(keyOfBilledItem(billedItem)) &&
      !before.isLeftOut(billedItem) &&
      lines.some(({ subscription }) => subscription.id === billedItem.subscription_id) &&
      (billedItem.charge_id === null || concerned.some(({ charge_id }) => charge_id === billedItem.charge_id)),
  );
  const totals = new Set(charges.filter(carriesTotal).map(({ id }) => id));
  const nothing = { fee: undefined, newCents: cents(0), newUnits: ZERO };
  return [
    ...found,
    ...gone.map((billedItem) => ({
      ...billedItem,
      ...nothing,
      ...(totals.has(billedItem.charge_id ?? '') ? { newTotal: ZERO } : {}),
    })),
  ];
}

interface PricedCharges {
  fees: IssuedFee[];
  /** The lines concerned. */
  lines: BilledLine[];
  charges: PricedCharge[];
  priced: (KeptPrices & { asked: Asked })[];
}

/** What charges of an issued invoice cost by current usage, as far as it was not kept. */
export async function priceCharges(
  ctx: Context,
  invoice: InvoiceRow,
  concerned: readonly ChargeToPrice[],
): Promise<PricedCharges> {
  const [all, fees, adjustments, countedAt] = await Promise.all([
    linesOfSource(ctx, invoice),
    issuedFees(ctx, invoice.id),
    listAdjustedFees(ctx, invoice.id),
    readCountedAt(ctx, invoice.id),
  ]);
  const lines = all.filter(({ subscription }) =>
    concerned.some(({ subscription_id }) => subscription_id === subscription.id),
  );
  const successors = lines.flatMap(({ subscription }) => subscription.successor_plan_id ?? []);
  const charges = await listPricedCharges(ctx, successors, {
    alsoIds: concerned.map(({ charge_id }) => charge_id),
  });
  const keptOf = ({ line, charge }: Asked) =>
    concerned.find((each) => each.subscription_id === line.subscription.id && each.charge_id === charge.id)?.prices;
  const asked = lines.flatMap((line) => askedOf(line, charges, concerned, fees));
  const live = asked.filter((each) => !keptOf(each));
  const { counted, leftOut } = await countAsked(ctx, live, countedAt);
  const adjuster = adjusterOf(adjustments);
  const priced = asked.map((each) => {
    const kept = keptOf(each);
    if (kept) return { ...kept, asked: each };
    const index = live.indexOf(each);
    const made = usageLineFees(each.line, each.charge, { counted: counted[index]!, window: each.window, adjuster });
    return { asked: each, items: made.map(pricedItem), late_events_left_out: leftOut[index]! };
  });
  for (const each of lines.flatMap((line) => renewalsOf(line, charges, concerned, fees))) {
    const kept = keptOf(each);
    const made = kept ? [] : await renewalFees(ctx, [each.line], [each.charge], 'invoiceable');
    priced.push({ asked: each, ...(kept ?? { items: made.map(pricedItem), late_events_left_out: 0 }) });
  }
  return { fees, lines, charges, priced };
}

/** What was billed and settled before the items of an invoice are priced again. */
interface Before {
  settled: ReadonlyMap<string, SettledItem>;
  /** Whether a regeneration left out what a voided invoice had billed; of a charge without fees any item. */
  isLeftOut(item: BilledItemKey): boolean;
}

function leftOutItems(former: readonly FormerItem[], fees: readonly IssuedFee[]): Before['isLeftOut'] {
  const billed = new Set(fees.map((issued) => keyOfBilledItem(itemOfFee(issued))));
  const gone = former.filter((item) => !billed.has(keyOfBilledItem(item)));
  const names = new Set(gone.map(keyOfBilledItem));
  const chargeOf = (item: { subscription_id: SubscriptionId | null; charge_id: ChargeId | null }) =>
    `${item.subscription_id} ${item.charge_id}`;
  const charges = new Set(gone.map(chargeOf));
  for (const { fee } of fees) charges.delete(chargeOf(fee));
  return (item) => names.has(keyOfBilledItem(item)) || charges.has(chargeOf(item));
}

/** The parts of a line that are priced again: charges that it bills by its usage window. */
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
    // An override created since has its own charges; these are still billed by their own plan.
    const charge = { ...chargeAsBilled(found, issued), plan_id: subscription.plan_id };
    const asBilled = lineAsBilled(line, issued);
    const others = charges.filter(({ id }) => id !== charge_id);
    if (chargesOfLine(asBilled, [charge, ...others]).every(({ id }) => id !== charge_id)) return [];
    return [{ line: asBilled, charge, window: windows.charges, issued }];
  });
}

/** Charges in advance whose units a line carries into its new period. Rule: in-advance.md#units-of-one-event. */
function renewalsOf(
  line: BilledLine,
  charges: readonly PricedCharge[],
  concerned: readonly ConcernedCharge[],
  fees: readonly IssuedFee[],
): Asked[] {
  const window = renewedPeriod(line);
  if (window === undefined) return [];
  const { id: subscriptionId, plan_id } = line.subscription;
  return concerned.flatMap(({ subscription_id, charge_id }) => {
    const found = charges.find(({ id }) => id === charge_id);
    if (subscription_id !== subscriptionId || found === undefined || !isRenewed(found)) return [];
    const issued = fees.filter(
      ({ fee, inputs }) =>
        fee.subscription_id === subscriptionId && fee.charge_id === charge_id && inputs?.window.renewed === true,
    );
    return [{ line, charge: { ...chargeAsBilled(found, issued), plan_id }, window, issued }];
  });
}

/**
 * Usage without the late events that have not been taken in, and how many these are. Rule: everywhere.md#corrections.
 */
async function countAsked(
  ctx: Context,
  asked: readonly Asked[],
  countedAt: Temporal.Instant,
): Promise<{ counted: CountedShare[][]; leftOut: number[] }> {
  if (asked.length === 0) return { counted: [], leftOut: [] };
  const late = asked.map(({ issued }) => lateFor(issued, countedAt));
  const leftOut = await countLeftOut(
    ctx,
    asked.map(({ line, charge, window }, index) => ({
      externalSubscriptionId: line.subscription.external_id,
      code: charge.metric.code,
      window: { from: charge.metric.recurring ? null : window.from, to: window.to },
      late: late[index]!,
    })),
  );
  const charges = asked.map(({ line, charge, window, issued }, index) => ({
    ...toCount(
      charge,
      {
        subscription: line.subscription,
        proration: prorationOf(line, window),
        ...(sharedAsBilled(issued) ?? sharedInstants(line, window)),
      },
      String(index),
    ),
    ...(leftOut[index] === 0 ? {} : { leftOut: late[index]! }),
  }));
  const whole = charges.filter((charge) => charge.leftOut === undefined);
  const partly = charges.filter((charge) => charge.leftOut !== undefined);
  const { db, organizationId } = ctx;
  const [byRollup, byScan] = await Promise.all([
    countUsage(db, { organizationId, charges: whole }),
    countUsage(db, { organizationId, charges: partly, mode: 'scan' }),
  ]);
  const sharesOf = new Map([...byRollup, ...byScan].map(({ key, shares }) => [key, shares]));
  return { counted: asked.map((_, index) => sharesOf.get(String(index)) ?? []), leftOut };
}

/**
 * Pairs the existing fees with those that would be made now. Fees set by hand stay unchanged, and so do on a
 * regenerated invoice those that were changed, added or left out. Rule: event-corrections.md#regenerated-invoices.
 */
function billedItemsOf(
  { line, charge, window, issued }: Asked,
  items: readonly PricedItem[],
  { settled, isLeftOut }: Before,
): RepricedItem[] {
  const totalOf = (newTotal: Decimal) => (carriesTotal(charge) ? { newTotal } : {});
  const billedItems = new Map<string, RepricedItem>();
  const kept = new Set<string>();
  for (const each of issued) {
    const { fee } = each;
    const key = { ...itemOfFee(each), subscription_id: line.subscription.id, charge_id: charge.id };
    const name = keyOfBilledItem(key);
    const displayName = fee.invoice_display_name ?? fee.item_name;
    const item = { ...key, window, displayName, fee };
    if (isSetByHand(each)) {
      kept.add(name);
      const before = settled.get(name);
      billedItems.set(name, {
        ...item,
        newCents: cents(fee.amount_cents + (before?.settled_cents ?? 0)),
        newUnits: fee.units.plus(before?.settled_units ?? ZERO),
        ...totalOf(fee.total_aggregated_units),
      });
    } else billedItems.set(name, { ...item, newCents: cents(0), newUnits: ZERO, ...totalOf(ZERO) });
  }
  for (const item of items) {
    const { kind, charge_filter_id, grouped_by, amount_cents: newCents, units: newUnits } = item;
    const key = { subscription_id: line.subscription.id, kind, charge_id: charge.id, charge_filter_id, grouped_by };
    const name = keyOfBilledItem(key);
    const known = billedItems.get(name);
    if (kept.has(name) || (known === undefined && isLeftOut(key))) continue;
    const displayName = known?.displayName ?? item.display_name;
    billedItems.set(name, {
      ...key,
      window,
      displayName,
      fee: known?.fee,
      newCents,
      newUnits,
      ...totalOf(item.total_units),
    });
  }
  return [...billedItems.values()];
}
