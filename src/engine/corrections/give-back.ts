import { type BilledFee, billedOf, wholeCents } from '../invoices/progressive-rest.ts';
import { type Cents, cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, min, sum, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

/** A fee that may be given back. */
export interface GivingFee extends BilledFee {
  /** What notes have not given back of it; 0 where its invoice cannot give back. */
  creditableCents: number;
  /** What earlier notes gave back of its parts, by the fee that it took over. */
  givenParts: ReadonlyMap<string, number>;
}

/** What a fee gives back. */
export interface GivenBack {
  feeId: string;
  /**
   * The fee that was asked for, and those by which it had taken this one over; empty where it is that one itself, and
   * null for what comes alongside.
   */
  forFeeIds: readonly string[] | null;
  /** The part of what was asked for. */
  cents: Cents;
  /** The item of its note. */
  preciseAmountCents: Decimal;
}

/** Fractional digits of a note's item. Rule: money-and-days.md#stored-precision. */
const ITEM_DIGITS = 5;

/** A fee in the order in which fees give back. */
interface Turn {
  fee: GivingFee;
  /** What of it itself may be asked for at most. */
  mostCents: number;
  /** The place of the fee that was asked for, and that took this one over. */
  asked: number;
  /** The fee that was asked for, and those by which it had taken this one over. */
  takers: readonly GivingFee[];
}

/**
 * Gives back an amount of usage: each fee in order as far as its own invoice billed it, then the progressive fees that
 * they took over, the newest first. An item is to the fee as what it gives back is to all that the fee billed itself,
 * so that a fee which gives back all of it has nothing left. Where a fee billed no usage itself but taxed some, or some
 * beyond what is taxed, that comes back in proportion with what it took over. What was taken over is given back once.
 *
 *   fee 2400, of which 1200 taken over: 700 → an item of 1400
 *   fee 1200 with a coupon of 500, 700 of it taken over: 700 → an item of 1200
 *
 * taken  items of earlier calls by fee, and parts by both fees; added to
 *
 * Rules: event-corrections.md#usage-billed-progressively, progressive-billing.md#taken-over.
 */
export function giveBack(
  wantedCents: number,
  asked: readonly GivingFee[],
  { fees, taken }: { fees: ReadonlyMap<string, GivingFee>; taken: Taken },
): GivenBack[] {
  const turns: Turn[] = asked.map((fee, place) => ({ fee, mostCents: wantedCents, asked: place, takers: [] }));
  const given: GivenBack[] = [];
  const givenBehind = asked.map(() => 0);
  let left = wantedCents;
  // Fees that are added while it is walked have their turn after all that were there before.
  for (const turn of turns) {
    if (left === 0) break;
    const { fee, takers } = turn;
    const steps = stepsOf(turn);
    const open = Math.min(...steps.map((step) => openPart(step, taken)), turn.mostCents);
    const own = takeItem(turn, Math.min(left, open), taken);
    if (own) given.push(own);
    const amount = own?.cents ?? 0;
    left -= amount;
    if (takers.length > 0) givenBehind[turn.asked]! += amount;
    for (const { key } of steps) taken.parts.set(key, (taken.parts.get(key) ?? 0) + amount);
    for (const { feeId, partCents } of fee.parts) {
      const before = fees.get(feeId);
      const most = Math.min(partCents, open - amount);
      if (before && most > 0) turns.push({ fee: before, mostCents: most, asked: turn.asked, takers: [...takers, fee] });
    }
  }
  const alongside = asked.flatMap((fee, place) => takeAlongside(fee, givenBehind[place]!, taken) ?? []);
  return [...given, ...alongside];
}

/** What calls have taken of fees: items by fee, and parts that were taken over by both fees. */
export interface Taken {
  items: Map<string, Decimal>;
  parts: Map<string, number>;
}

interface Step {
  taker: GivingFee;
  feeId: string;
  key: string;
}

/** The steps from the fee that was asked for to this one, each from a fee to one that it took over. */
const stepsOf = ({ fee, takers }: Turn): Step[] =>
  takers.map((taker, index) => {
    const { id: feeId } = takers[index + 1] ?? fee;
    return { taker, feeId, key: `${taker.id} ${feeId}` };
  });

/** What is left of what a fee took over of another one. */
function openPart({ taker, feeId, key }: Step, { parts }: Taken): number {
  const part = taker.parts.reduce((total, each) => total + (each.feeId === feeId ? each.partCents : 0), 0);
  return part - (taker.givenParts.get(feeId) ?? 0) - (parts.get(key) ?? 0);
}

/** The usage that a fee's own invoice billed of it; of one that was taken over without its coupons. */
function itselfOf({ fee, takers }: Turn): Decimal {
  const before = partsOf(fee);
  const whole =
    takers.length > 0 ? billedOf(fee).plus(sum(fee.parts.map((part) => part.creditCents))) : decimal(fee.amountCents);
  return whole.minus(before);
}

const partsOf = ({ parts }: GivingFee): number => parts.reduce((total, { partCents }) => total + partCents, 0);

function takeItem(turn: Turn, wanted: number, taken: Taken): GivenBack | undefined {
  const { fee, takers } = turn;
  const itself = itselfOf(turn);
  const creditable = decimal(fee.creditableCents).minus(taken.items.get(fee.id) ?? ZERO);
  if (!itself.gt(0) || !creditable.gt(0) || wanted <= 0) return undefined;
  const most = wholeCents(itself.times(creditable).div(fee.amountCents));
  const amount = cents(Math.min(wanted, most));
  const exact = decimal(amount).times(fee.amountCents).div(itself);
  // What is beyond a whole cent comes with the last of it.
  const preciseAmountCents = wanted > most ? creditable : min(roundToDigits(exact, ITEM_DIGITS), creditable);
  keep(fee, preciseAmountCents, taken);
  return { feeId: fee.id, forFeeIds: takers.map(({ id }) => id), cents: amount, preciseAmountCents };
}

function takeAlongside(fee: GivingFee, behindCents: number, taken: Taken): GivenBack | undefined {
  const before = partsOf(fee);
  const hasOwn = decimal(fee.amountCents).gt(before);
  const taxed = decimal(fee.amountCents).minus(fee.preciseCouponsAmountCents);
  if (hasOwn || behindCents === 0 || (taxed.isZero() && fee.untaxedAmountCents.isZero())) return undefined;
  const creditable = decimal(fee.creditableCents).minus(taken.items.get(fee.id) ?? ZERO);
  const exact = decimal(behindCents).times(fee.amountCents).div(before);
  const preciseAmountCents = min(roundToDigits(exact, ITEM_DIGITS), creditable);
  if (!preciseAmountCents.gt(0)) return undefined;
  keep(fee, preciseAmountCents, taken);
  return { feeId: fee.id, forFeeIds: null, cents: cents(0), preciseAmountCents };
}

/** What an item takes of a fee is stored in whole cents. */
function keep({ id }: GivingFee, item: Decimal, { items }: Taken): void {
  items.set(id, (items.get(id) ?? ZERO).plus(roundToCents(item)));
}
