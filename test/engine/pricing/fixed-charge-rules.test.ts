import { expect, test } from 'vitest';
import { fixedChargeFaults } from '../../../src/engine/pricing/fixed-charge-rules.ts';

const UNFIT = ['invalid_charge_model'];

// Rule: fixed-charges.md#fields.
test.each([
  ['standard', false, false, {}],
  ['standard', false, true, {}],
  ['standard', true, false, {}],
  ['standard', true, true, {}],
  ['graduated', false, true, {}],
  ['graduated', true, false, {}],
  ['graduated', true, true, { prorated: UNFIT }],
  ['volume', false, true, {}],
  ['volume', true, false, { pay_in_advance: UNFIT }],
  ['volume', true, true, { pay_in_advance: UNFIT }],
] as const)(
  'a fixed charge may combine %s, in advance %s, prorated %s',
  (charge_model, pay_in_advance, prorated, faults) => {
    expect(fixedChargeFaults({ charge_model, pay_in_advance, prorated })).toEqual(faults);
  },
);
