import { type TaxedLine, type VatShare, vatBreakdown } from '../invoices/vat-breakdown.ts';
import { allocate } from '../money/allocate.ts';
import { type Cents, cents } from '../money/cents.ts';
import { type Decimal, max, sum, ZERO } from '../money/decimal.ts';
import type { AllowanceFacts, DocumentTotals, VatRow } from './facts.ts';
import type { VatTreatment } from './vat-category.ts';

/** A line with its part of the allowances and taxes. */
export interface AmountLine extends TaxedLine {
  treatment: VatTreatment;
  /** How much of its allowance progressive invoices billed before; none where absent. */
  preciseAlreadyInvoicedCents?: Decimal;
}

/** What is stored about a document; its amounts are shown as they are, never computed again. */
export interface StoredAmounts {
  couponsCents: number;
  /** What progressive invoices billed before, which is taken off. */
  alreadyInvoicedCents: number;
  netCents: number;
  taxCents: number;
  grossCents: number;
  /** Credit notes and wallets used, and payments received before the document was issued. */
  paidCents: number;
  payableCents: number;
}

export interface DocumentAmounts {
  allowances: AllowanceFacts[];
  vat: VatRow[];
  totals: DocumentTotals;
  /** False if the amounts differ by more than cents of rounding, so that no receiver could check them. */
  meet: boolean;
}

/** UNTDID 5189: discount. */
const DISCOUNT = '95';
/** How far the amount to pay may be from total less paid: one smallest unit. */
const MOST_PAYABLE_ROUNDING = 1;

/**
 * Allowances, VAT rows and totals of a document from its lines and its stored amounts.
 *
 *   lines 10000 and 5000 at 19 %, coupon 2400, 3000 invoiced before, 5520 used before issue
 *   → lines 150.00, allowances 54.00, net 96.00, tax 18.24, gross 114.24, paid 55.20, payable 59.04
 *
 * Cents that do not meet the stored net total are one allowance or charge named "Rounding" in the greatest row.
 *
 * Rule: e-documents.md#amounts.
 */
export function documentAmounts(lines: readonly AmountLine[], stored: StoredAmounts): DocumentAmounts {
  // Nothing can be split over no line; a document without lines is refused anyway (BR-16).
  if (lines.length === 0) return withoutLines(stored);
  const allowanceCents = cents(stored.couponsCents + stored.alreadyInvoicedCents);
  const shares = vatBreakdown(lines, { allowanceCents, taxCents: cents(stored.taxCents) });
  const coupons = couponsOfRows(shares, lines, cents(stored.couponsCents));
  const rows = shares.map((share, index) => ({ share, couponCents: coupons[index]! }));
  const linesCents = total(shares, (share) => share.lineCents);
  const offCents = linesCents - allowanceCents - stored.netCents;
  const rounding = offCents === 0 ? [] : [roundingOf(shares, offCents)];
  const allowances = [...rows.flatMap(({ share, couponCents }) => allowancesOf(share, couponCents)), ...rounding];
  const paidTo = stored.grossCents - stored.paidCents;
  const roundingCents = stored.payableCents - paidTo;
  const sumOf = (isCharge: boolean) =>
    total(
      allowances.filter((each) => each.isCharge === isCharge),
      (each) => each.amountCents,
    );
  return {
    allowances,
    vat: shares.map((share) => rowOf(share, lines, rounding)),
    totals: {
      linesCents,
      allowancesCents: sumOf(false),
      chargesCents: sumOf(true),
      netCents: stored.netCents,
      taxCents: stored.taxCents,
      grossCents: stored.grossCents,
      paidCents: stored.paidCents,
      roundingCents,
      payableCents: stored.payableCents,
    },
    meet:
      isRounding(offCents, lines.length) &&
      Math.abs(roundingCents) <= MOST_PAYABLE_ROUNDING &&
      stored.netCents + stored.taxCents === stored.grossCents,
  };
}

const withoutLines = ({ netCents, taxCents, grossCents, paidCents, payableCents }: StoredAmounts): DocumentAmounts => ({
  allowances: [],
  vat: [],
  totals: {
    linesCents: 0,
    allowancesCents: 0,
    chargesCents: 0,
    netCents,
    taxCents,
    grossCents,
    paidCents,
    roundingCents: payableCents - (grossCents - paidCents),
    payableCents,
  },
  meet: netCents === 0 && taxCents === 0,
});

/**
 * How much of each row's allowance coupons took off: by what they took off its lines, and never more than its
 * allowance, so that what is left was invoiced before.
 */
function couponsOfRows(shares: readonly VatShare[], lines: readonly AmountLine[], couponsCents: Cents): Cents[] {
  const weights = shares.map((share) => {
    const ofRow = lines.filter((line) => line.category === share.category && line.rate.eq(share.rate));
    const couponOf = (line: AmountLine) => line.preciseAllowanceCents.minus(line.preciseAlreadyInvoicedCents ?? ZERO);
    return max(sum(ofRow.map(couponOf)), ZERO);
  });
  const isKnown = weights.some((weight) => weight.gt(0));
  const wished = allocate(couponsCents, isKnown ? weights : shares.map((share) => Math.abs(share.allowanceCents)));
  const taken = shares.map(({ allowanceCents }, index) => Math.min(wished[index]!, Math.max(allowanceCents, 0)));
  let restCents = couponsCents - total(taken, (each) => each);
  return shares.map(({ allowanceCents }, index) => {
    const more = Math.min(restCents, Math.max(allowanceCents - taken[index]!, 0));
    restCents -= more;
    const isLast = index === shares.length - 1;
    return cents(taken[index]! + more + (isLast ? restCents : 0));
  });
}

function allowancesOf({ category, rate, allowanceCents }: VatShare, couponCents: Cents): AllowanceFacts[] {
  const allowance = (amountCents: number, reason: string): AllowanceFacts[] =>
    amountCents === 0
      ? []
      : [
          {
            // A negative allowance is a charge: no receiver takes one below 0.
            isCharge: amountCents < 0,
            amountCents: Math.abs(amountCents),
            category,
            rate,
            reasonCode: amountCents < 0 ? null : DISCOUNT,
            reason,
          },
        ];
  return [...allowance(couponCents, 'Discount'), ...allowance(allowanceCents - couponCents, 'Already invoiced')];
}

/** The row that takes the cents that do not meet; the first of equal ones. */
export const greatestOf = (shares: readonly VatShare[]): VatShare =>
  shares.reduce((a, b) => (Math.abs(b.netCents) > Math.abs(a.netCents) ? b : a));

/** Whether lines and net total may differ by so many cents: each line was rounded once. */
export const isRounding = (offCents: number, lines: number): boolean => Math.abs(offCents) <= lines;

function roundingOf(shares: readonly VatShare[], offCents: number): AllowanceFacts {
  const { category, rate } = greatestOf(shares);
  return {
    isCharge: offCents < 0,
    amountCents: Math.abs(offCents),
    category,
    rate,
    reasonCode: null,
    reason: 'Rounding',
  };
}

function rowOf(share: VatShare, lines: readonly AmountLine[], rounding: readonly AllowanceFacts[]): VatRow {
  const { category, rate } = share;
  const isHere = (each: { category: string; rate: VatShare['rate'] }) =>
    each.category === category && each.rate.eq(rate);
  const roundedCents = total(rounding.filter(isHere), (each) => (each.isCharge ? each.amountCents : -each.amountCents));
  const treatments = lines.filter(isHere).map(({ treatment }) => treatment);
  const texts = [...new Set(treatments.map(({ exemptionText }) => exemptionText).filter((text) => text !== null))];
  return {
    category,
    rate,
    netCents: share.netCents + roundedCents,
    taxCents: share.taxCents,
    exemptionCode: treatments.find(({ exemptionCode }) => exemptionCode !== null)?.exemptionCode ?? null,
    exemptionText: texts.length === 0 ? null : texts.join('; '),
  };
}

const total = <Item>(items: readonly Item[], read: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0);
