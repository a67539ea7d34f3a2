import type { FieldCodes } from './combination-rules.ts';

export const FIXED_CHARGE_MODELS = ['standard', 'graduated', 'volume'] as const;
export type FixedChargeModel = (typeof FIXED_CHARGE_MODELS)[number];

/** The fields of a fixed charge that must fit together. */
export interface FixedChargeCombination {
  charge_model: FixedChargeModel;
  pay_in_advance: boolean;
  prorated: boolean;
}

const UNFIT = ['invalid_charge_model'];

/** Codes of what does not fit together in a fixed charge, by field. Rule: fixed-charges.md#fields. */
export function fixedChargeFaults({ charge_model, pay_in_advance, prorated }: FixedChargeCombination): FieldCodes {
  if (!pay_in_advance) return {};
  if (charge_model === 'volume') return { pay_in_advance: UNFIT };
  return charge_model === 'graduated' && prorated ? { prorated: UNFIT } : {};
}
