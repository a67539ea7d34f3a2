import { assert } from '../assert.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { graduated } from './graduated.ts';
import { graduatedPercentage } from './graduated-percentage.ts';
import { packages } from './package.ts';
import type { Priced, Usage } from './priced.ts';
import { standard } from './standard.ts';
import { volume } from './volume.ts';

/** The charge models that can be priced. */
const MODELS: Partial<Record<ChargeModelName, ChargeModel>> = {
  standard,
  graduated,
  graduated_percentage: graduatedPercentage,
  package: packages,
  volume,
};

/** Whether charges of a model can be priced. */
export const isPriced = (name: ChargeModelName): boolean => MODELS[name] !== undefined;

/** A charge model by its name, of those that can be priced. */
export function chargeModel(name: ChargeModelName): ChargeModel {
  const model = MODELS[name];
  assert(model, `charges of the model ${name} are priced`);
  return model;
}

/**
 * Price of usage under a charge's or a filter's properties, in the currency's main unit, not rounded.
 * Units are not negative: usage-fee.ts sees to that first.
 *
 * Rule: usage-and-charges D.5.
 */
export function price(name: ChargeModelName, properties: Properties, usage: Usage): Priced {
  assert(!usage.units.isNegative() || usage.units.isZero(), 'priced units are not negative');
  return chargeModel(name).price(properties, usage);
}
