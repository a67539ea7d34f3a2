import { type Cents, cents } from '../money/cents.ts';
import { Decimal, decimal, max, min, ONE, sum, ZERO } from '../money/decimal.ts';
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

/** A note of the progressive invoice; its credit lowers what later invoices are credited with. */
export interface CreditingNote {
  creditCents: number;
  taxesCents: number;
  totalCents: number;
  items: readonly {
    feeId: string;
    preciseAmountCents: Decimal;
    /**
     * The fees by which it had been taken over and for which it was given back, and how much of it; none of them where
     * it was asked for itself. Undefined where that is not known, as of notes by hand.
     */
    givenFor?: { feeIds: readonly string[]; partCents: number } | undefined;
    /** It was given for a fee that is copied as it was, which takes it over once more: it lowers nothing. */
    isLeftOut?: boolean;
  }[];
}

/** What is left of a progressive fee. */
export interface RestOfFee {
  /** Left to credit, to 5 decimals; a credit note gives back taxes too, so it can be negative. */
  leftCents: Decimal;
  /** The part of the usage that it still bears, after coupons. */
  borneCents: Cents;
  /**
   * What notes gave back: the part of the usage, its share of all that the fee bore, and the taxes with it. What a
   * coupon withheld of a part that was asked for is not asked for again.
   */
  noted: { partCents: Decimal; share: Decimal; taxesCents: Decimal; withheldCents: Decimal };
}

/** What notes of earlier progressive invoices gave back of what a fee took over. */
export interface GivenThrough {
  creditCents: Decimal;
  partCents: Decimal;
  taxesCents: Decimal;
}

/** The usage fees of an invoice, and its notes. */
export interface NotedInvoice {
  fees: readonly BilledFee[];
  notes: readonly CreditingNote[];
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
 * drawn    what other invoices that stand took over, by fee
 * through  what was given back of earlier progressive invoices, by the fee that had taken it over
 *
 * Rules: progressive-billing.md#taken-over, progressive-billing.md#credit-in-steps.
 */
export function restsOfFees(
  { fees, notes }: NotedInvoice,
  drawn: readonly ProgressivePart[] = [],
  through: ReadonlyMap<string, GivenThrough> = new Map(),
): Map<string, RestOfFee> {
  const credits = notes.flatMap((note) => creditsOf(note, fees));
  return new Map(
    fees.map((fee) => {
      const own = credits.filter(({ feeId }) => feeId === fee.id);
      const others = drawn.filter(({ feeId }) => feeId === fee.id);
      const behind = through.get(fee.id) ?? NOTHING;
      const taken = sum(fee.parts.map(({ creditCents }) => creditCents));
      const before = sum(fee.parts.map(({ partCents }) => decimal(partCents)));
      const withheld = sum(
        own.map(({ askedCents, creditCents, taxesCents }) =>
          askedCents === undefined ? ZERO : decimal(askedCents).minus(creditCents).plus(taxesCents),
        ),
      );
      const left = billedOf(fee)
        .plus(taken)
        .minus(withheld)
        .minus(sum(own.map(({ creditCents }) => creditCents)))
        .minus(behind.creditCents)
        .minus(behind.taxesCents)
        .minus(sum(others.map(({ creditCents }) => creditCents)));
      const itself = billedOf(fee).plus(taken).minus(before);
      const noted = own.map(({ askedCents, itemCents }) =>
        askedCents === undefined && fee.amountCents !== 0
          ? itself.times(itemCents).div(fee.amountCents)
          : decimal(askedCents ?? 0),
      );
      const whole = itself.plus(before);
      const given = sum(noted).plus(behind.partCents);
      const gone = others.reduce((total, { partCents }) => total + partCents, 0);
      return [
        fee.id,
        {
          leftCents: roundToDigits(left, LEFT_DIGITS),
          borneCents: cents(Math.max(wholeCents(whole.minus(given)) - gone, 0)),
          noted: {
            partCents: given,
            withheldCents: withheld,
            share: whole.gt(0) ? min(max(given.div(whole), ZERO), ONE) : ZERO,
            taxesCents: sum(own.map(({ taxesCents }) => taxesCents)).plus(behind.taxesCents),
          },
        },
      ];
    }),
  );
}

const NOTHING: GivenThrough = { creditCents: ZERO, partCents: ZERO, taxesCents: ZERO };

/**
 * What notes gave back of progressive fees beyond what nobody had taken over of them, by the fee that took it over: the
 * one for which it was given back, and where that is not known each of them in proportion to its part.
 *
 *   1200 billed, all taken over by a fee of 2400; then a note of 700 + 70 → 700 of that fee's part, with a tax of 70
 *
 * earlier  the progressive invoices before `newest`, oldest first
 *
 * Rule: progressive-billing.md#taken-over.
 */
export function givenThrough(
  newest: readonly BilledFee[],
  earlier: readonly NotedInvoice[],
): ReadonlyMap<string, GivenThrough> {
  const through = new Map<string, GivenThrough>();
  const takers = [...earlier.flatMap(({ fees }) => fees), ...newest];
  const known = knownParts(earlier);
  for (const invoice of earlier) {
    const rests = restsOfFees(invoice, [], through);
    const beyond = invoice.fees.map((fee) => {
      const parts = takers.flatMap(({ id, parts }) =>
        parts.filter(({ feeId }) => feeId === fee.id).map((part) => ({ taker: id, part })),
      );
      const gone = parts.reduce((total, { part }) => total + part.partCents, 0);
      return { fee, parts, openCents: gone - rests.get(fee.id)!.borneCents };
    });
    // A note may have taken of one fee what was left of another one.
    const open = beyond.reduce((total, { openCents }) => total + openCents, 0);
    const found = beyond.filter(({ openCents }) => openCents > 0);
    const whole = found.reduce((total, { openCents }) => total + openCents, 0);
    if (open <= 0) continue;
    for (const { fee, parts, openCents } of found) {
      const { noted } = rests.get(fee.id)!;
      const shares = sharesOf(decimal(openCents).times(open).div(whole), parts, known);
      for (const { taker, part, partCents } of shares) {
        const before = through.get(taker) ?? NOTHING;
        through.set(taker, {
          partCents: before.partCents.plus(partCents),
          creditCents: before.creditCents.plus(
            part.partCents === 0 ? ZERO : part.creditCents.times(partCents).div(part.partCents),
          ),
          taxesCents: before.taxesCents.plus(
            noted.partCents.gt(0) ? noted.taxesCents.times(partCents).div(noted.partCents) : ZERO,
          ),
        });
      }
    }
  }
  return through;
}

interface TakenPart {
  taker: string;
  part: ProgressivePart;
}

/** What notes say to have been given back of fees for those that had taken them over, by both. */
function knownParts(invoices: readonly NotedInvoice[]): Map<string, number> {
  const known = new Map<string, number>();
  for (const { feeId, givenFor } of invoices.flatMap(({ notes }) => notes.flatMap(crediting)))
    for (const [index, taker] of (givenFor?.feeIds ?? []).entries()) {
      const key = `${taker} ${givenFor!.feeIds[index + 1] ?? feeId}`;
      known.set(key, (known.get(key) ?? 0) + givenFor!.partCents);
    }
  return known;
}

/** How much of what was given back of a fee each of its takers loses. */
function sharesOf(
  given: Decimal,
  parts: readonly TakenPart[],
  known: ReadonlyMap<string, number>,
): (TakenPart & { partCents: Decimal })[] {
  let rest = given;
  const named = parts.map(({ taker, part }) => {
    const own = Math.min(known.get(`${taker} ${part.feeId}`) ?? 0, part.partCents);
    const partCents = min(decimal(own), rest);
    rest = rest.minus(partCents);
    return { taker, part, partCents };
  });
  const open = sum(named.map(({ part, partCents }) => decimal(part.partCents).minus(partCents)));
  return named.map(({ taker, part, partCents }) => ({
    taker,
    part,
    partCents: open.isZero()
      ? partCents
      : partCents.plus(rest.times(decimal(part.partCents).minus(partCents)).div(open)),
  }));
}

/** A cent that is begun counts, so that what a fee bears is given back to the last of it. */
export const wholeCents = (amount: Decimal): Cents =>
  cents(roundToDigits(amount, BORNE_DIGITS).toDecimalPlaces(0, Decimal.ROUND_CEIL).toNumber());

const crediting = ({ items }: CreditingNote) => items.filter(({ isLeftOut }) => isLeftOut !== true);

/** What a note lowers the credit of its invoice by, taxes included. */
export const creditOfNote = (note: CreditingNote, fees: readonly BilledFee[]): Decimal =>
  crediting(note).length === note.items.length
    ? decimal(note.creditCents)
    : sum(creditsOf(note, fees).map(({ creditCents }) => creditCents));

/** The credit part of a note by fee, taxes included, those taxes, and the part of its items behind it. */
function creditsOf({ creditCents, taxesCents, totalCents, items }: CreditingNote, fees: readonly BilledFee[]) {
  const given = items.flatMap(({ feeId, preciseAmountCents, givenFor, isLeftOut = false }) => {
    const fee = fees.find(({ id }) => id === feeId);
    if (fee === undefined || fee.amountCents === 0) return [];
    const share = preciseAmountCents.div(fee.amountCents);
    const taxes = decimal(fee.amountCents).minus(fee.preciseCouponsAmountCents).times(fee.taxesRate).div(100);
    const askedCents = givenFor?.feeIds.length === 0 ? givenFor.partCents : undefined;
    return [
      {
        feeId,
        preciseAmountCents,
        askedCents,
        isLeftOut,
        worth: billedOf(fee).plus(taxes).times(share),
        taxes: taxes.times(share),
      },
    ];
  });
  const whole = sum(given.map(({ worth }) => worth));
  const wholeTaxes = sum(given.map(({ taxes }) => taxes));
  const credited = totalCents === 0 ? ZERO : decimal(creditCents).div(totalCents);
  const counted = given.filter(({ isLeftOut }) => !isLeftOut);
  return counted.map(({ feeId, preciseAmountCents, askedCents, worth, taxes }) => ({
    feeId,
    /** The part of the usage that was asked for, where the service gave it back by itself. */
    askedCents,
    creditCents: whole.isZero() ? ZERO : worth.times(creditCents).div(whole),
    taxesCents: wholeTaxes.isZero() ? ZERO : taxes.times(taxesCents).times(credited).div(wholeTaxes),
    itemCents: preciseAmountCents.times(credited),
  }));
}
