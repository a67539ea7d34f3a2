import { expect, test } from 'vitest';
import { fixedUnits } from '../../../src/engine/metrics/fixed-units.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';
import { between } from './build.ts';

/** Records written as "units @ effective", in the order of their creation. */
const records = (...lines: string[]) =>
  lines.map((line) => {
    const [units, , day] = line.split(' ');
    return { units: decimal(units!), timestamp: instant(day!) };
  });
const FIRST = { period: between('2024-06-01', '2024-06-11'), periodDays: 10, zone: 'UTC' };
const SECOND = { ...FIRST, period: between('2024-06-11', '2024-06-21') };
const JANUARY = { period: between('2025-01-01', '2025-02-01'), periodDays: 31, zone: 'UTC' };
const FEBRUARY = { period: between('2025-02-01', '2025-03-01'), periodDays: 28, zone: 'UTC' };

test.each([
  // period, records → weighed, full (fixed-charges.md#aggregation)
  [FIRST, ['2 @ 2024-06-06T14:00'], '1', '2'],
  [FIRST, ['100 @ 2024-05-20'], '100', '100'],
  [FIRST, ['100 @ 2024-05-20', '10 @ 2024-06-10'], '91', '10'],
  [FIRST, ['20 @ 2024-05-20', '10 @ 2024-06-11'], '20', '20'],
  [SECOND, ['20 @ 2024-05-20', '10 @ 2024-06-11'], '10', '10'],
  [FIRST, ['20 @ 2024-05-20', '10 @ 2024-06-11', '100 @ 2024-06-10'], '28', '100'],
  [SECOND, ['20 @ 2024-05-20', '10 @ 2024-06-11', '100 @ 2024-06-10'], '100', '100'],
  [JANUARY, ['77 @ 2025-01-22', '10 @ 2025-01-01', '7 @ 2025-01-20', '5 @ 2025-02-03'], '8.838709', '7'],
  [FEBRUARY, ['7 @ 2025-01-20', '70 @ 2025-02-10'], '49.75', '70'],
  [FIRST, [], '0', '0'],
  [FIRST, ['8 @ 2024-06-03T01:00', '9 @ 2024-06-03T02:00'], '7.2', '9'],
  // cases 109 and 110
  [JANUARY, ['62 @ 2025-01-22', '3.1 @ 2025-01-27'], '10.5', '3.1'],
  [JANUARY, ['31 @ 2025-01-22', '3.1 @ 2025-01-27'], '5.5', '3.1'],
])('units of a fixed charge are weighted by days: example %#', (period, lines, weighed, full) => {
  const { units, fullUnits } = fixedUnits(records(...lines), period, { prorated: true });
  expect([units.toFixed(), fullUnits.toFixed()]).toEqual([weighed, full]);
  expect(fixedUnits(records(...lines), period, { prorated: false }).units.toFixed()).toBe(full);
});
