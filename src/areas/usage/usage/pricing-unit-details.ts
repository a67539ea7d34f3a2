import { assert } from '../../../engine/assert.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { Amounts } from '../../../engine/pricing/fee-amounts.ts';
import type { PricedCharge } from './priced-charges.ts';

/**
 * Amounts of a usage fee in the pricing unit of its charge, as the fee stores and shows them; null without a unit.
 * Rule: pricing-units.md.
 */
export function pricingUnitDetails(
  { pricing_unit, conversion_rate }: Pick<PricedCharge, 'pricing_unit' | 'conversion_rate'>,
  amounts: Amounts | null,
): Record<string, unknown> | null {
  if (amounts === null) return null;
  assert(pricing_unit !== null && conversion_rate !== null, 'amounts in a pricing unit have one');
  return {
    svc_pricing_unit_id: pricing_unit.id,
    pricing_unit_code: pricing_unit.code,
    short_name: pricing_unit.short_name,
    amount_cents: amounts.amountCents,
    precise_amount_cents: decimalText(amounts.preciseAmountCents),
    unit_amount_cents: amounts.unitAmountCents,
    precise_unit_amount: decimalText(amounts.preciseUnitAmount),
    conversion_rate: decimalText(conversion_rate),
  };
}
