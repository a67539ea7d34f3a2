import { describe, expect, test } from 'vitest';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { feeAmounts } from '../../../src/engine/pricing/fee-amounts.ts';
import { toCurrency } from '../../../src/engine/pricing/pricing-unit.ts';
import { spendingTrueUp } from '../../../src/engine/pricing/spending-minimum.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';

describe('pricing units (pricing-units.md)', () => {
  test('an amount in a pricing unit is shown with its text', () => {
    const price = { amount: decimal('10655.243249'), unitAmount: decimal('1.23789') };
    const fee = feeAmounts(price, { exponent: 2, conversionRate: decimal('3.0150695') });
    expect([fee.amountCents, fee.preciseAmountCents.toFixed()]).toEqual([3212629, '3212628.913918']);
    expect([fee.unitAmountCents, fee.preciseUnitAmount.toFixed()]).toEqual([370, '3.708535485']); // of 123 cents
    expect(fee.pricingUnit).toEqual({
      amountCents: 1065524,
      preciseAmountCents: decimal('1065524.3249'),
      unitAmountCents: 123,
      preciseUnitAmount: decimal('1.23789'),
    });
  });

  test.each([
    // case, units, price, rate, exponent → cents, cents of the pricing unit
    ['golden case 104', '300', '1', '0.5', 2, 15000, 30000],
    ['a currency without cents', '300', '1.005', '2', 0, 603, 30150],
    ['no units', '0', '1', '2', 2, 0, 0],
    ['negative units', '-1', '1', '2', 2, 0, 0],
  ])(
    'an amount is converted from a pricing unit (%s): %s units at %s with the rate %s',
    (_case, units, amount, rate, exponent, expected, pricingUnitCents) => {
      const fee = usageFee({
        charge_model: 'standard',
        properties: { amount },
        usage: { units: decimal(units), eventsCount: 1 },
        metric: { rounding_function: null, rounding_precision: null },
        exponent,
        conversionRate: decimal(rate),
      });
      expect([fee.amountCents, fee.pricingUnit?.amountCents]).toEqual([expected, pricingUnitCents]);
    },
  );

  test('a charge without a pricing unit has no conversion details', () => {
    const price = { amount: decimal(1), unitAmount: decimal(1) };
    expect(feeAmounts(price, { exponent: 2 }).pricingUnit).toBeNull();
    expect(feeAmounts(price, { exponent: 2, conversionRate: null }).pricingUnit).toBeNull();
  });

  test('a minimum is computed in the pricing unit (golden case 107)', () => {
    const trueUp = spendingTrueUp({
      min_amount_cents: 1000,
      periodDays: 31,
      billedDays: 31,
      usedCents: cents(700),
      usedPreciseCents: decimal(700),
    });
    expect(toCurrency(trueUp!.amountCents, decimal('0.25'), 2).amountCents).toBe(75);
  });
});
