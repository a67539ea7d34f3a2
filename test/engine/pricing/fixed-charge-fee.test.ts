import { describe, expect, test } from 'vitest';
import { fixedUnits } from '../../../src/engine/metrics/fixed-units.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import {
  alreadyPaidCents,
  type FixedCharge,
  fixedChargeFee,
  unitsChangeFee,
} from '../../../src/engine/pricing/fixed-charge-fee.ts';
import { instant } from '../calendar/build.ts';
import { between } from '../metrics/build.ts';

const two = (to: number) => [
  { from_value: 0, to_value: to, per_unit_amount: '0.1', flat_amount: '10' },
  { from_value: to + 1, to_value: null, per_unit_amount: '2', flat_amount: '20' },
];
const graduated = (prorated: boolean): FixedCharge => ({
  charge_model: 'graduated',
  properties: { graduated_ranges: two(5) },
  prorated,
});
const standard = (amount: string, prorated = false): FixedCharge => ({
  charge_model: 'standard',
  properties: { amount },
  prorated,
});
const JANUARY = { period: between('2025-01-01', '2025-02-01'), periodDays: 31, zone: 'UTC' };
const units = (first: number, { prorated }: FixedCharge) =>
  fixedUnits(
    [
      { units: decimal(first), timestamp: instant('2025-01-22') },
      { units: decimal('3.1'), timestamp: instant('2025-01-27') },
    ],
    JANUARY,
    { prorated },
  );
const shown = (fee: ReturnType<typeof fixedChargeFee>) => [fee.units.toFixed(), fee.amountCents];

describe('fees of fixed charges (fixed-charges.md#fee-of-a-period)', () => {
  test.each<[string, FixedCharge, number, number]>([
    ['graduated, golden case 108', graduated(false), 62, 1031],
    ['graduated and prorated, golden case 109', graduated(true), 62, 1105],
    [
      'volume and prorated, golden case 110',
      { charge_model: 'volume', properties: { volume_ranges: two(10) }, prorated: true },
      31,
      1055,
    ],
  ])('a fixed charge bills its period: %s', (_case, fixedCharge, first, expected) => {
    expect(shown(fixedChargeFee(fixedCharge, units(first, fixedCharge), { exponent: 2 }))).toEqual(['3.1', expected]);
  });

  test('the unit price of a fixed charge is per full unit, truncated to cents', () => {
    const fee = fixedChargeFee(graduated(false), units(62, graduated(false)), { exponent: 2 });
    expect(fee.unitAmountCents).toBe(332);
  });

  test('a fixed charge is prorated over 14 of 30 days (golden case 111)', () => {
    const september = { period: between('2025-09-17', '2025-10-01'), periodDays: 30, zone: 'UTC' };
    const counted = fixedUnits([{ units: decimal(10), timestamp: instant('2025-09-17T00:00:01') }], september, {
      prorated: true,
    });
    expect(shown(fixedChargeFee(standard('30', true), counted, { exponent: 2 }))).toEqual(['10', 14000]);
  });

  test('units that are gone at the end cost the first price by days', () => {
    const counted = { units: decimal('9'), fullUnits: decimal(0) };
    const fee = fixedChargeFee(graduated(true), counted, { exponent: 2 });
    expect([...shown(fee), fee.unitAmountCents]).toEqual(['0', 1090, 0]);
  });

  test('the part that the replaced plan covers is subtracted (golden case 114)', () => {
    const alreadyPaid = alreadyPaidCents(cents(2000), { newDays: 14, paidDays: 20 });
    expect(alreadyPaid).toBe(1400);
    const counted = { units: decimal('4.666667'), fullUnits: decimal(10) };
    expect(shown(fixedChargeFee(standard('60', true), counted, { exponent: 2, alreadyPaid }))).toEqual(['10', 26600]);
  });

  test('a part greater than the fee is not paid back', () => {
    const counted = { units: decimal(1), fullUnits: decimal(1) };
    expect(shown(fixedChargeFee(standard('1', true), counted, { exponent: 2, alreadyPaid: cents(500) }))).toEqual([
      '1',
      0,
    ]);
  });

  test('an upgrade on 21 August bills its fixed charges by days', () => {
    const alreadyPaid = alreadyPaidCents(cents(1500), { newDays: 11, paidDays: 31 });
    const counted = { units: decimal('3.548387'), fullUnits: decimal(10) };
    expect(shown(fixedChargeFee(standard('10', true), counted, { exponent: 2, alreadyPaid }))).toEqual(['10', 3016]);
  });
});

describe('changes of units inside a period (fixed-charges.md#change-inside-a-period)', () => {
  const wholePeriod = { days: 31, periodDays: 31 };

  test.each([
    ['112', [10, 15, 20], [10000, 5000, 5000], ['10', '5', '5']],
    ['113', [10, 5, 15], [10000, 0, 5000], ['10', '0', '5']],
  ])('units change inside a period: case %s', (_case, steps, expected, expectedUnits) => {
    let billedUnits = decimal(0);
    const fees = steps.map((each) => {
      const fee = unitsChangeFee(
        standard('10'),
        { units: decimal(each), billedUnits },
        { exponent: 2, share: wholePeriod },
      );
      billedUnits = billedUnits.plus(fee.units);
      return fee;
    });
    expect(fees.map(({ amountCents }) => amountCents)).toEqual(expected);
    expect(fees.map((fee) => fee.units.toFixed())).toEqual(expectedUnits);
  });

  test('a prorated change of units pays for the days that are left', () => {
    const fee = unitsChangeFee(
      standard('31', true),
      { units: decimal(3), billedUnits: decimal(1) },
      { exponent: 2, share: { days: 7, periodDays: 31 } },
    );
    expect([...shown(fee), fee.preciseUnitAmount.toFixed()]).toEqual(['2', 1400, '7']);
  });
});
