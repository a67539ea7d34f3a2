import { expect, test } from 'vitest';
import { passedPercents, stateOf } from '../../../src/engine/budgets/window-state.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const figures = (limit: string, spent: string) => ({ limit: decimal(limit), spent: decimal(spent) });

test.each([
  ['hard', '99.999999999999999', 'open'],
  ['hard', '100', 'blocked'],
  ['soft', '100', 'over'],
  ['hard', '-3', 'open'],
] as const)('a %s window of 100 with %s spent is %s', (mode, spent, state) => {
  expect(stateOf(mode, figures('100', spent))).toBe(state);
});

test.each([
  ['49.9', 0, []],
  ['50', 0, [50]],
  ['130', 0, [50, 80, 100]],
  ['85', 50, [80]],
  ['130', 100, []],
])('spending %s of 100, announced up to %s, passes %j (BU11)', (spent, announced, passed) => {
  expect(passedPercents([100, 50, 80], figures('100', spent), announced)).toEqual(passed);
});
