import { type Cents, cents } from '../money/cents.ts';
import { Decimal, decimal, sum, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

/** What a fee takes over of a fee of a progressive invoice. */
export interface ProgressivePart {
  feeId: string;
  /** What the progressive fee's invoice credits to it. */
  creditCents: Decimal;
  /** The part of the fee that the progressive one bears and gives back. */
  partCents: number;
}

/** A usage fee of a progressive invoice as it was issued. */
export interface BilledFee {
  id: string;
  amountCents: number;
  /** What coupons and progressive credits took off it before taxes. */
  preciseCouponsAmountCents: Decimal;
  /** What was billed of it beyond the taxed amount. */
  untaxedAmountCents: Decimal;
  /** Percent. */
  taxesRate: Decimal;
  /** What it took over itself of an earlier progressive invoice. */
  parts: readonly ProgressivePart[];
}

/** A note of the progressive invoice whose credit lowers what later invoices are credited with. */
export interface CreditingNote {
  creditCents: number;
  totalCents: number;
  items: readonly { feeId: string; preciseAmountCents: Decimal }[];
}

/** What is left of a progressive fee. */
export interface RestOfFee {
  /** Left to credit, to 5 decimals; a credit note gives back taxes too, so it can be negative. */
  leftCents: Decimal;
  /** The part of the usage that it still bears, after coupons. */
  borneCents: Cents;
}

const LEFT_DIGITS = 5;
/** What rounding to 5 decimals may have added is no cent. */
const BORNE_DIGITS = 3;

/** What an invoice billed of a fee, after coupons and credits and before taxes. */
export const billedOf = (
  fee: Pick<BilledFee, 'amountCents' | 'preciseCouponsAmountCents' | 'untaxedAmountCents'>,
): Decimal => decimal(fee.amountCents).minus(fee.preciseCouponsAmountCents).plus(fee.untaxedAmountCents);

/**
 * What later invoices can take over of the fees of a progressive invoice.
 *
 *   1200 with a coupon of 500: 700 left, 700 borne
 *   1200, of which a note gave back 800 + 80: 320 left, 400 borne
 *
 * drawn  what other invoices that stand took over, by fee
 *
 * Rules: progressive-billing.md#taken-over, progressive-billing.md#credit-in-steps.
 */
export function restsOfFees(
  fees: readonly BilledFee[],
  notes: readonly CreditingNote[],
  drawn: readonly ProgressivePart[] = [],
): Map<string, RestOfFee> {
  const noted = notes.flatMap((note) => creditsOf(note, fees));
  return new Map(
    fees.map((fee) => {
      const own = noted.filter(({ feeId }) => feeId === fee.id);
      const others = drawn.filter(({ feeId }) => feeId === fee.id);
      const taken = sum(fee.parts.map(({ creditCents }) => creditCents));
      const before = fee.parts.reduce((total, { partCents }) => total + partCents, 0);
      const left = billedOf(fee)
        .plus(taken)
        .minus(sum(own.map(({ creditCents }) => creditCents)))
        .minus(sum(others.map(({ creditCents }) => creditCents)));
      const itself = billedOf(fee).plus(taken).minus(before);
      const share = fee.amountCents === 0 ? ZERO : sum(own.map((each) => each.itemCents)).div(fee.amountCents);
      const borne = itself.minus(itself.times(share)).plus(before);
      const gone = others.reduce((total, { partCents }) => total + partCents, 0);
      return [
        fee.id,
        {
          leftCents: roundToDigits(left, LEFT_DIGITS),
          borneCents: cents(Math.max(wholeCents(borne) - gone, 0)),
        },
      ];
    }),
  );
}

/** A cent that is begun counts, so that what a fee bears is given back to the last of it. */
export const wholeCents = (amount: Decimal): Cents =>
  cents(roundToDigits(amount, BORNE_DIGITS).toDecimalPlaces(0, Decimal.ROUND_CEIL).toNumber());

/** The credit part of a note by fee, taxes included, and the part of its items behind it. */
function creditsOf({ creditCents, totalCents, items }: CreditingNote, fees: readonly BilledFee[]) {
  const given = items.flatMap(({ feeId, preciseAmountCents }) => {
    const fee = fees.find(({ id }) => id === feeId);
    if (fee === undefined || fee.amountCents === 0) return [];
    const taxes = decimal(fee.amountCents).minus(fee.preciseCouponsAmountCents).times(fee.taxesRate).div(100);
    const worth = billedOf(fee).plus(taxes).times(preciseAmountCents).div(fee.amountCents);
    return [{ feeId, preciseAmountCents, worth }];
  });
  const whole = sum(given.map(({ worth }) => worth));
  return given.map(({ feeId, preciseAmountCents, worth }) => ({
    feeId,
    creditCents: whole.isZero() ? ZERO : worth.times(creditCents).div(whole),
    itemCents: totalCents === 0 ? ZERO : preciseAmountCents.times(creditCents).div(totalCents),
  }));
}
