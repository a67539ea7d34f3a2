import { addCents, type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../money/decimal.ts';
import { roundToDigits, TAX_RATE_DIGITS } from '../money/precision.ts';
import type { Tax } from '../taxes/tax.ts';

/** Fractional digits of the precise amounts of a note. Rule: money-and-days.md#stored-precision. */
const NOTE_DIGITS = 5;

/** A tax as a fee carries it. */
export interface CarriedTax extends Tax {
  /** The share of the amount that is taxed, where a tax engine said so; absent: all of it. */
  baseRate?: Decimal;
}

/** A fee as a note sees it. */
export interface CreditedFee {
  amountCents: Cents;
  /** The amount subtracted by coupons and progressive credits. */
  preciseCouponsAmountCents: Decimal;
  /** What its invoice billed of it beyond the taxed amount; 0 when absent. */
  untaxedAmountCents?: Decimal;
  taxes: readonly CarriedTax[];
}

/** How much of a fee is given back, before taxes and before its coupons. */
export interface CreditedItem {
  fee: CreditedFee;
  preciseAmountCents: Decimal;
}

export interface NoteTax {
  tax: CarriedTax;
  baseAmountCents: Cents;
  amountCents: Cents;
}

export interface NoteAmounts {
  preciseItemsAmountCents: Decimal;
  preciseCouponsAdjustmentAmountCents: Decimal;
  couponsAdjustmentAmountCents: Cents;
  subTotalExcludingTaxesAmountCents: Cents;
  appliedTaxes: NoteTax[];
  preciseTaxesAmountCents: Decimal;
  taxesAmountCents: Cents;
  /** Percent, weighted by the taxed amounts, 5 decimals. */
  taxesRate: Decimal;
  /** Items less coupons plus taxes, before any rounding to cents. */
  preciseTotalAmountCents: Decimal;
}

/** What an invoice billed and its notes have not given back yet. */
export interface LeftOfInvoice {
  net: LeftAmount;
  taxes: LeftAmount;
}

interface LeftAmount {
  cents: Cents;
  /** Whether the note takes all that is left of the fees behind it. */
  isTaken: boolean;
}

/** Taxes that an earlier note of the same invoice gave back. */
export interface EarlierTaxes {
  taxesAmountCents: number;
  preciseTaxesAmountCents: Decimal;
}

/**
 * The amounts of a note: its items less their share of the coupons, plus taxes.
 *
 * closing for a note that takes everything left on the invoice: the earlier notes, whose rounding it corrects
 * left    of the invoice: roundings of several notes do not add up to more, and the one that takes all of it takes it
 *         to the cent
 *
 *   6833 at 20 % → 6833 + 1367; the same again as the last note → 6833 + 1366, since 0.4 was given too much
 *
 * Rules: credit-note-amounts.md#rounding, credit-note-amounts.md#no-more-than-was-billed,
 * credit-note-amounts.md#billed-beyond-what-is-taxed.
 */
export function noteAmounts(
  items: readonly CreditedItem[],
  closing: readonly EarlierTaxes[] = [],
  left?: LeftOfInvoice,
): NoteAmounts {
  const preciseItems = sum(items.map(({ preciseAmountCents }) => preciseAmountCents));
  const preciseCoupons = stored(sum(items.map(discountOf)));
  const bases = taxBases(items);
  const overpaid = sum(closing.map((note) => decimal(note.taxesAmountCents).minus(note.preciseTaxesAmountCents)));
  const ownTaxes = sum(bases.map(({ tax, base }) => taxed(base, tax)));
  // Items without tax take no rounding difference, and no tax becomes negative.
  const exactTaxes = bases.length === 0 ? ZERO : stored(max(ownTaxes.minus(overpaid), ZERO));
  const exactNet = preciseItems.minus(preciseCoupons);
  const net = limited(exactNet, left?.net);
  const preciseTaxes = bases.length === 0 ? ZERO : limited(exactTaxes, left?.taxes);
  return {
    preciseItemsAmountCents: preciseItems,
    preciseCouponsAdjustmentAmountCents: preciseCoupons,
    couponsAdjustmentAmountCents: roundToCents(preciseCoupons),
    subTotalExcludingTaxesAmountCents: roundToCents(net),
    appliedTaxes: bases.map(({ tax, base }) => ({
      tax,
      baseAmountCents: roundToCents(base),
      amountCents: roundToCents(taxed(base, tax)),
    })),
    preciseTaxesAmountCents: preciseTaxes,
    taxesAmountCents: roundToCents(preciseTaxes),
    taxesRate: roundToDigits(weightedRate(bases, exactNet, items.length), TAX_RATE_DIGITS),
    preciseTotalAmountCents: net.plus(preciseTaxes),
  };
}

/**
 * The total that a note has: its rounded sub total and its rounded taxes. Rules: credit-note-amounts.md#rounding "final
 * alignment", oddities.md#invoices.
 */
export const alignedTotal = (amounts: NoteAmounts): Cents =>
  addCents(amounts.subTotalExcludingTaxesAmountCents, amounts.taxesAmountCents);

/** Share of the fee's coupons for an item; zero for a fee of 0. */
export const couponsOf = ({ fee, preciseAmountCents }: CreditedItem): Decimal =>
  fee.amountCents === 0 ? ZERO : fee.preciseCouponsAmountCents.times(preciseAmountCents).div(fee.amountCents);

/** What of that lowers what is given back: its invoice billed the rest nevertheless, beyond the taxed amount. */
const discountOf = (item: CreditedItem): Decimal => {
  const { amountCents, untaxedAmountCents: untaxed = ZERO } = item.fee;
  return amountCents === 0 ? ZERO : couponsOf(item).minus(untaxed.times(item.preciseAmountCents).div(amountCents));
};

/** An amount as it is, where its cents keep to what is left of the invoice. */
function limited(amount: Decimal, left: LeftAmount | undefined): Decimal {
  if (left === undefined) return amount;
  const most = Math.max(left.cents, 0);
  const own = roundToCents(amount);
  return own === most || (own < most && !left.isTaken) ? amount : decimal(most);
}

const stored = (value: Decimal): Decimal => roundToDigits(value, NOTE_DIGITS);

const taxed = (base: Decimal, { rate }: CarriedTax): Decimal => base.times(decimal(rate)).div(100);

interface TaxBase {
  tax: CarriedTax;
  base: Decimal;
  carriers: number;
}

/** Every tax with the amount it applies to, in order of first appearance. */
function taxBases(items: readonly CreditedItem[]): TaxBase[] {
  const bases = new Map<string, TaxBase>();
  for (const item of items) {
    const own = item.preciseAmountCents.minus(couponsOf(item));
    for (const tax of item.fee.taxes) {
      const known = bases.get(tax.code) ?? { tax, base: ZERO, carriers: 0 };
      const base = tax.baseRate === undefined ? own : own.times(tax.baseRate);
      bases.set(tax.code, { tax, base: known.base.plus(base), carriers: known.carriers + 1 });
    }
  }
  return [...bases.values()];
}

/** Weighted by amount; by number of items if all amounts are zero. */
const weightedRate = (bases: readonly TaxBase[], net: Decimal, items: number): Decimal =>
  sum(
    bases.map(({ tax, base, carriers }) =>
      decimal(tax.rate).times(net.gt(0) ? base.div(net) : decimal(carriers).div(items)),
    ),
  );
