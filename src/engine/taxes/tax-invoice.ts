import { type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { roundToDigits, TAX_RATE_DIGITS } from '../money/precision.ts';
import type { Tax } from './tax.ts';
import { type TaxedAmount, taxOn } from './tax-fee.ts';

export interface TaxedFee extends TaxedAmount {
  taxes: readonly Tax[];
}

export interface AppliedInvoiceTax {
  tax: Tax;
  /** The taxed amount over all fees with this tax. */
  feesAmountCents: Cents;
  /** The part of it that is taxed, where a tax engine said so; absent: all of it. */
  taxableBaseAmountCents?: Cents;
  amountCents: Cents;
}

export interface InvoiceTaxes {
  appliedTaxes: AppliedInvoiceTax[];
  taxesAmountCents: Cents;
  /** Weighted rate in percent, 5 decimals. */
  taxesRate: Decimal;
}

/**
 * Taxes of a whole invoice, each rounded once over its fees, and their total rounded once over everything: it may
 * differ by some cents from the sum of the fees' taxes, and neither is corrected.
 *
 * subTotalCents  the invoice's total before taxes; rates are weighted with it when it is positive, else by number of
 *                fees
 *
 *   three fees of 33 at 20 % → 20 (the fees say 7 + 7 + 7)
 *
 * Rule: taxes.md#computation "per invoice".
 */
export function taxInvoice(fees: readonly TaxedFee[], subTotalCents: Cents): InvoiceTaxes {
  const shares = gatherByTax(fees).map(({ tax, carriers }) => {
    const bases = sumOfBases(carriers);
    const feesAmountCents = roundToCents(bases);
    const part =
      subTotalCents > 0 ? decimal(feesAmountCents).div(subTotalCents) : decimal(carriers.length).div(fees.length);
    return { tax, feesAmountCents, exact: taxOn(bases, tax), weightedRate: part.times(decimal(tax.rate)) };
  });
  return {
    appliedTaxes: shares.map(({ tax, feesAmountCents, exact }) => ({
      tax,
      feesAmountCents,
      amountCents: roundToCents(exact),
    })),
    taxesAmountCents: roundToCents(sum(shares.map(({ exact }) => exact))),
    taxesRate: roundToDigits(sum(shares.map(({ weightedRate }) => weightedRate)), TAX_RATE_DIGITS),
  };
}

/**
 * The sum of the taxed amounts of fees. Few have a share of a coupon, and whole cents are added a hundred times faster.
 */
const sumOfBases = (fees: readonly TaxedFee[]): Decimal =>
  decimal(String(fees.reduce((total, { amountCents }) => total + BigInt(amountCents), 0n))).minus(
    sum(fees.map((fee) => fee.preciseCouponsAmountCents).filter((share) => !share.isZero())),
  );

/** Every tax with the fees that carry it, in order of first appearance. */
function gatherByTax(fees: readonly TaxedFee[]): { tax: Tax; carriers: TaxedFee[] }[] {
  const gathered = new Map<string, { tax: Tax; carriers: TaxedFee[] }>();
  for (const fee of fees) {
    for (const tax of fee.taxes) {
      const key = tax.id ?? tax.code;
      const known = gathered.get(key);
      if (known === undefined) gathered.set(key, { tax, carriers: [fee] });
      else known.carriers.push(fee);
    }
  }
  return [...gathered.values()];
}
