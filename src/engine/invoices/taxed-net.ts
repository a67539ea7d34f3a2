import { type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';

/**
 * Cents by which the tax of a row may be off, beside the rounding of its lines: receivers tolerate 5
 * (invoice-amounts.md#amounts).
 */
const MOST_TAX_OFF_CENTS = 5;

/** A fee's amount, and what coupons and progressive invoices took off it. */
interface TaxedFee {
  amountCents: Cents;
  preciseAllowanceCents: Decimal;
}

/**
 * The amount that an invoice's taxes were computed on: its fees less their discounts. Apart from rounding, at most a
 * cent a fee, it is the net total, unless progressive billing was combined with a coupon: the invoice is credited with
 * what the progressive one billed after its coupons, each fee with what that one billed before them.
 *
 *   740.50 of fees, 631.50 of them billed before at 568.35, coupon 10 %  →  net 154.93, taxed 98.10
 *
 * @returns undefined if it is the net total
 * Rules: taxes.md#computation, progressive-billing.md#credit-in-steps, invoice-amounts.md#amounts,
 * progressive-billing.md#credit-on-later-invoices.
 */
export function taxedApartFromNet(netCents: number, fees: readonly TaxedFee[]): Cents | undefined {
  const taxed = sum(fees.map((fee) => decimal(fee.amountCents).minus(fee.preciseAllowanceCents)));
  return taxed.minus(netCents).abs().gt(fees.length) ? roundToCents(taxed) : undefined;
}

/**
 * Whether the tax of a row of a breakdown matches its net amount apart from rounding: a cent a line, and what receivers
 * tolerate. Rules: EN 16931 BR-CO-17, invoice-amounts.md#amounts.
 */
export function isTaxOfNet(row: { netCents: number; taxCents: number; rate: Decimal }, lines: number): boolean {
  const rate = row.rate.div(100);
  return rate.times(row.netCents).minus(row.taxCents).abs().lte(rate.times(lines).plus(MOST_TAX_OFF_CENTS));
}
