import { expect, test } from 'vitest';
import { fixedChargeFaults } from '../../../src/engine/pricing/fixed-charge-rules.ts';

const UNFIT = ['invalid_charge_model'];

// Rule: fixed-charges.md#fields.
test.each([
  ['standard', 'in arrears', 'whole', {}],
  ['standard', 'in arrears', 'prorated', {}],
  ['standard', 'in advance', 'whole', {}],
  ['standard', 'in advance', 'prorated', {}],
  ['graduated', 'in arrears', 'prorated', {}],
  ['graduated', 'in advance', 'whole', {}],
  ['graduated', 'in advance', 'prorated', { prorated: UNFIT }],
  ['volume', 'in arrears', 'prorated', {}],
  ['volume', 'in advance', 'whole', { pay_in_advance: UNFIT }],
  ['volume', 'in advance', 'prorated', { pay_in_advance: UNFIT }],
] as const)('a %s fixed charge, billed %s and %s, has the faults %j', (charge_model, billed, proration, faults) => {
  const terms = { charge_model, pay_in_advance: billed === 'in advance', prorated: proration === 'prorated' };
  expect(fixedChargeFaults(terms)).toEqual(faults);
});
