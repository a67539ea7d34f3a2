import { assert } from '../assert.ts';
import { type Cents, cents } from './cents.ts';
import { Decimal, decimal, sum } from './decimal.ts';

/**
 * Splits a total into whole cents that are as near as may be to parts which are known exactly; they always sum to the
 * total.
 *
 * totalCents  any sign; usually the rounded sum of the parts
 * exact       parts of any sign; one that is whole already stays as it is
 * → one part each; it differs from its exact one by less than a cent, if total and parts differ by rounding alone
 *
 * Every part is cut downwards; the remaining cents go to the largest remainders, the earlier one on a tie. Where more
 * than rounding is to be split, it is split in proportion, or falls on the largest part where some are below zero.
 *
 *   1946 near 1899.81, 46.62 → 1900, 46;  60 near 63.27, −3.5 → 63, −3
 */
export function allocateNear(totalCents: Cents, exact: readonly Decimal[]): Cents[] {
  const cut = exact.map((part) => part.toDecimalPlaces(0, Decimal.ROUND_FLOOR));
  const open = exact
    .map((part, index) => ({ index, remainder: part.minus(cut[index]!) }))
    .filter(({ remainder }) => remainder.gt(0))
    .sort((a, b) => b.remainder.comparedTo(a.remainder) || a.index - b.index);
  const left = decimal(totalCents).minus(sum(cut)).toNumber();
  const isRounding = left >= 0 && left <= open.length;
  if (!isRounding && !exact.some((part) => part.lt(0))) return allocate(totalCents, exact);
  const largest = exact.reduce((at, part, index) => (part.abs().gt(exact[at]!.abs()) ? index : at), 0);
  const bonus = new Set(open.slice(0, isRounding ? left : 0).map(({ index }) => index));
  return cut.map((part, index) => {
    const more = isRounding ? (bonus.has(index) ? 1 : 0) : index === largest ? left : 0;
    return cents(part.toNumber() + more);
  });
}

/**
 * Splits a total in proportion to weights; the parts always sum to the total.
 *
 * totalCents  any sign
 * weights     ≥ 0; all zero means equal shares; none is allowed only for a total of 0
 * → one part a weight, in the order given; each differs from its exact share by less than one cent
 *
 * Every part is first truncated towards zero; the remaining cents go to the largest remainders, the earlier one on a
 * tie.
 *
 *   100 over 1, 1, 1 → 34, 33, 33
 */
export function allocate(totalCents: Cents, weights: readonly (Decimal | number)[]): Cents[] {
  const shares = weights.map((weight) => decimal(weight));
  assert(
    shares.every((share) => !share.isNegative() || share.isZero()),
    'weights are not negative',
  );
  assert(shares.length > 0 || totalCents === 0, 'an amount is split over at least one part');

  const sign = Math.sign(totalCents);
  const total = decimal(Math.abs(totalCents));
  const whole = sum(shares);
  const exact = shares.map((share) => (whole.isZero() ? total.div(shares.length) : total.times(share).div(whole)));
  const cut = exact.map((part) => part.toDecimalPlaces(0, Decimal.ROUND_DOWN));

  const left = total.minus(sum(cut)).toNumber();
  const luckiest = exact
    .map((part, index) => ({ index, remainder: part.minus(cut[index]!) }))
    .sort((a, b) => b.remainder.comparedTo(a.remainder) || a.index - b.index)
    .slice(0, left);
  const bonus = new Set(luckiest.map(({ index }) => index));
  return cut.map((part, index) => cents(sign * (part.toNumber() + (bonus.has(index) ? 1 : 0))));
}
