import { expect, test } from 'vitest';
import { axisOf } from '../../../../src/areas/reporting/customer-portal/chart.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';

test.each([
  ['0', ['0', '1']],
  ['1', ['0', '0.5', '1']],
  ['3', ['0', '1', '2', '3']],
  ['5460', ['0', '2000', '4000', '6000']],
  ['999', ['0', '500', '1000']],
  ['1001', ['0', '500', '1000', '1500']],
  ['0.07', ['0', '0.02', '0.04', '0.06', '0.08']],
  ['4000', ['0', '1000', '2000', '3000', '4000']],
])('the axis of a chart whose greatest value is %s has the marks %j (CO30)', (greatest, marks) => {
  expect(axisOf(decimal(greatest)).map((mark) => mark.toFixed())).toEqual(marks);
});
