import { allocate } from '../../money/allocate.ts';
import type { Cents } from '../../money/cents.ts';
import { type TaxedAmount, taxBase } from '../tax-fee.ts';

/** A fee of the invoice whose taxes an engine computes. */
export interface FeeToTax extends TaxedAmount {
  key: string;
}

/** The part of the invoice's net total that belongs to one fee. */
export interface LineToSend {
  key: string;
  netCents: Cents;
}

/**
 * The lines of a document for a tax engine: the net total of the invoice in whole cents, spread over the fees by their
 * taxed amounts, so that the lines always sum to it. A fee with nothing to tax has no line.
 *
 *   fees 17900 and 39900, coupon 25000 on the second, net total 32800  →  17900, 14900
 *
 * Rule: tax-engines.md#what-is-sent.
 */
export function linesToSend(fees: readonly FeeToTax[], netTotalCents: Cents): LineToSend[] {
  const parts = allocate(netTotalCents, fees.map(taxBase));
  return fees.flatMap(({ key }, index) => (parts[index] === 0 ? [] : [{ key, netCents: parts[index]! }]));
}
