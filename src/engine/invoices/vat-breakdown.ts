import { allocate, allocateNear } from '../money/allocate.ts';
import { type Cents, cents, sumCents } from '../money/cents.ts';
import { type Decimal, sum } from '../money/decimal.ts';

/**
 * Codes of EN 16931 for how value added tax applies: standard rate, zero rate, exempt, reverse charge, supply within
 * the Union, export, outside the tax.
 */
export const VAT_CATEGORIES = ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'] as const;
export type VatCategory = (typeof VAT_CATEGORIES)[number];

/** The part of one line in the breakdown: its amount, its share of the document's allowances, and its tax. */
export interface TaxedLine {
  category: VatCategory;
  /** Plain percent. */
  rate: Decimal;
  amountCents: Cents;
  preciseAllowanceCents: Decimal;
  preciseTaxCents: Decimal;
}

/** One row of the breakdown: `netCents` = lines − allowance. */
export interface VatShare {
  category: VatCategory;
  rate: Decimal;
  lineCents: Cents;
  allowanceCents: Cents;
  netCents: Cents;
  taxCents: Cents;
}

/**
 * Breakdown of a document by category and rate, in the order of first appearance. The document's own allowance and tax
 * are split over its rows, so that they sum to the document's totals; each tax is as near to base × rate as may be.
 *
 *   5000 and 2000 at 20 %, 3000 at 10 %, allowance 1000, tax 1530  →  20 %: 6300 net, 1260 tax; 10 %: 2700 net, 270 tax
 *
 * Rule: EN 16931 BG-23.
 */
export function vatBreakdown(
  lines: readonly TaxedLine[],
  document: { allowanceCents: Cents; taxCents: Cents },
): VatShare[] {
  const rows = [...groupByRate(lines).values()];
  if (rows.length === 0) return [];
  const sumsOf = (read: (line: TaxedLine) => Decimal) => rows.map((row) => sum(row.map(read)));
  const allowances = allocate(
    document.allowanceCents,
    sumsOf((line) => line.preciseAllowanceCents),
  );
  const taxes = allocateNear(
    document.taxCents,
    sumsOf((line) => line.preciseTaxCents),
  );
  return rows.map((row, index) => {
    const lineCents = sumCents(row.map(({ amountCents }) => amountCents));
    const allowanceCents = allowances[index]!;
    const { category, rate } = row[0]!;
    return {
      category,
      rate,
      lineCents,
      allowanceCents,
      netCents: cents(lineCents - allowanceCents),
      taxCents: taxes[index]!,
    };
  });
}

function groupByRate(lines: readonly TaxedLine[]): Map<string, TaxedLine[]> {
  const groups = new Map<string, TaxedLine[]>();
  for (const line of lines) {
    const key = `${line.category} ${line.rate.toFixed()}`;
    const group = groups.get(key) ?? [];
    group.push(line); // copying it would cost the square of the lines
    groups.set(key, group);
  }
  return groups;
}
