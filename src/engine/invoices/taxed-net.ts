import { type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';

/**
 * Tax in cents that a row of a breakdown may be off beside the rounding of its lines: receivers let 5 pass
 * (invoice-amounts.md#amounts).
 */
const MOST_TAX_OFF_CENTS = 5;

/** A fee's amount, and what coupons and progressive invoices took off it. */
interface TaxedFee {
  amountCents: Cents;
  preciseAllowanceCents: Decimal;
}

/**
 * What the taxes of an invoice were computed on: its fees less their discounts. It is the net total but for rounding,
 * at most a cent a fee, unless progressive billing met a coupon: the invoice is credited with what the progressive one
 * billed after its coupons, each fee with what that one billed before them.
 *
 *   740.50 of fees, 631.50 of them billed before at 568.35, coupon 10 %  →  net 154.93, taxed 98.10
 *
 * @returns undefined, where it is the net total
 * Rules: taxes.md#computation, progressive-billing.md#credit-in-steps, invoice-amounts.md#amounts,
 * progressive-billing.md#credit-on-later-invoices.
 */
export function taxedApartFromNet(netCents: number, fees: readonly TaxedFee[]): Cents | undefined {
  const taxed = sum(fees.map((fee) => decimal(fee.amountCents).minus(fee.preciseAllowanceCents)));
  return taxed.minus(netCents).abs().gt(fees.length) ? roundToCents(taxed) : undefined;
}

/**
 * Whether the tax of a row of a breakdown is that of its net amount but for rounding: a cent a line, and what receivers
 * let pass. Rules: EN 16931 BR-CO-17, invoice-amounts.md#amounts.
 */
export function isTaxOfNet(row: { netCents: number; taxCents: number; rate: Decimal }, lines: number): boolean {
  const rate = row.rate.div(100);
  return rate.times(row.netCents).minus(row.taxCents).abs().lte(rate.times(lines).plus(MOST_TAX_OFF_CENTS));
}
