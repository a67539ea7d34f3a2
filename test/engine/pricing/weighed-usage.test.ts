import { expect, test } from 'vitest';
import { proratedSum } from '../../../src/engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../../src/engine/metrics/prorated-unique-count.ts';
import { combineSums } from '../../../src/engine/metrics/sum.ts';
import { weightedSum } from '../../../src/engine/metrics/weighted-sum.ts';
import { decimal, decimalText, ZERO } from '../../../src/engine/money/decimal.ts';
import type { Usage } from '../../../src/engine/pricing/priced.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { between, members, proration, values } from '../metrics/build.ts';

/** Units shown and cents of a standard charge. */
function shown(amount: string, usage: Usage) {
  const fee = usageFee({
    charge_model: 'standard',
    properties: { amount },
    usage,
    metric: { rounding_function: null, rounding_precision: null },
    exponent: 2,
  });
  return [decimalText(fee.units), fee.amountCents];
}
const MAY = proration('2024-05-01', '2024-05-31');

test('a weighted sum of a few hours of August costs two cents (golden case 79)', () => {
  const events = values(
    '2023-08-01T00:00 +2',
    '2023-08-01T01:00 +3',
    '2023-08-01T01:30 +1',
    '2023-08-01T02:00 -4',
    '2023-08-01T04:00 -2',
    '2023-08-01T05:00 +10',
    '2023-08-01T05:30 -10',
  );
  const terms = { period: between('2023-08-01', '2023-09-01'), periodDays: 31, initial: ZERO };
  expect(shown('1', weightedSum(events, terms))).toEqual(['0.02217741935483870968', 2]);
});

test('a recurring weighted sum of April begins with the units of March (golden cases 80, 81)', () => {
  const march = weightedSum(values('2023-03-05 +2500'), {
    period: between('2023-03-05', '2023-04-01'),
    periodDays: 31,
    initial: ZERO,
  });
  const april = weightedSum(values('2023-04-04 -2000', '2023-04-06 -200'), {
    period: between('2023-04-01', '2023-05-01'),
    periodDays: 30,
    initial: march.totalUnits,
  });
  expect([shown('1', march), shown('1', april)]).toEqual([
    ['2177.41935483870967741936', 217742],
    ['533.33333333333333333334', 53333],
  ]);
});

test('a prorated sum costs its units for the days that are left (golden case 82)', () => {
  const usage = proratedSum({ units: decimal(5), eventsCount: 1 }, values('2024-05-26 +12', '2024-05-26 +12'), MAY);
  expect(shown('10', usage)).toEqual(['29.0', 9645]);
});

test('a prorated unique count costs its members for the days that they stay (golden case 83)', () => {
  const usage = proratedUniqueCount(members('2024-04-10 add A', '2024-05-11 add B'), MAY);
  expect(shown('10', usage)).toEqual(['2.0', 1677]);
});

test('a recurring sum bills the units carried over (golden case 86)', () => {
  const january = { sum: '10', valid_count: 1 };
  const february = { sum: '-4', valid_count: 1 };
  expect(
    [[january], [january, february], [january, february]].map((months) => shown('1', combineSums(months))),
  ).toEqual([
    ['10.0', 1000],
    ['6.0', 600],
    ['6.0', 600],
  ]);
});

test('negative full units are not shown, and the weighted units are priced', () => {
  const usage = proratedSum({ units: decimal(5), eventsCount: 1 }, values('2024-05-31 -6'), MAY);
  expect(shown('10', usage)).toEqual(['0.0', 4806]); // 5 − 6 ÷ 31 → 4.80646
});
