import { allocateNear } from '../../../engine/money/allocate.ts';
import { cents } from '../../../engine/money/cents.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';

/** A tax as it was applied to a document. */
interface AppliedTax {
  tax_rate: Decimal | number | string;
  baseCents: number;
  /** Rounded by itself. */
  amount_cents: number;
}

/**
 * The amount that a page states of each tax, in their order. Stored amounts are rounded one by one, so their sum may be
 * cents off the tax of the document; on the page they sum to it, as the rows of its electronic document do.
 *
 *   19 % on 99.99 and 7 % on 6.66: 19.00 and 0.47 are stored, the tax is 19.46 → 19.00 and 0.46
 *
 * Rule: invoice-amounts.md#amounts.
 */
export function printedTaxes(taxes: readonly AppliedTax[], taxCents: number): number[] {
  const stored = taxes.map(({ amount_cents }) => amount_cents);
  const isWhole = stored.reduce((total, amount) => total + amount, 0) === taxCents;
  return isWhole || taxes.length === 0 ? stored : allocateNear(cents(taxCents), taxes.map(exactOf));
}

/** Base × rate where the stored amount is that, rounded; a tax engine may have computed another. */
function exactOf({ tax_rate, baseCents, amount_cents }: AppliedTax): Decimal {
  const exact = decimal(tax_rate).times(baseCents).div(100);
  return exact.minus(amount_cents).abs().lt(1) ? exact : decimal(amount_cents);
}
