import { decimal } from '../../../engine/money/decimal.ts';
import type { CollectedTaxes } from '../../../engine/taxes/provider/collect-taxes.ts';
import { nameTaxes } from '../../../engine/taxes/provider/name-taxes.ts';
import type { TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';

/**
 * What an engine collects for each fee, by its id. A fee with nothing to tax was not sent and has no taxes.
 * Rule: tax-engines.md#what-the-answer-becomes.
 */
export function collectedByFee(document: TaxDocument, answer: TaxAnswer): Map<string, CollectedTaxes> {
  const netOf = new Map(document.lines.map(({ id, netCents }) => [id, netCents]));
  const named = nameTaxes(
    answer.lines.map(({ id, collectedCents, taxes, notTaxed }) => ({
      key: id,
      collectedCents,
      taxes: taxes.map(({ rate, amountCents, ...tax }) => ({
        ...tax,
        rate: decimal(rate),
        amountCents: decimal(amountCents),
      })),
      notTaxed,
    })),
  );
  return new Map(
    named.map(({ key, collectedCents, taxes }) => [key, { netCents: netOf.get(key) ?? 0, collectedCents, taxes }]),
  );
}

/** What is collected for a fee that was not sent. */
export const NOTHING: CollectedTaxes = { netCents: 0, collectedCents: 0, taxes: [] };
