import { assert } from '../assert.ts';
import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { ChargeModel, Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { dynamic } from './dynamic.ts';
import { graduated } from './graduated.ts';
import { graduatedPercentage } from './graduated-percentage.ts';
import { packages } from './package.ts';
import { percentage } from './percentage.ts';
import type { EventPrice, EventsNeeded, EventUsage, Priced, Usage } from './priced.ts';
import { standard } from './standard.ts';
import { volume } from './volume.ts';

/** The charge models that have rules. */
const MODELS: Partial<Record<ChargeModelName, ChargeModel>> = {
  standard,
  graduated,
  graduated_percentage: graduatedPercentage,
  package: packages,
  percentage,
  volume,
  dynamic,
};

/** Whether charges of a model can be priced from counted usage. */
export const isPriced = (name: ChargeModelName): boolean => MODELS[name] !== undefined;

/** A charge model by its name, of those that have rules. */
export function chargeModel(name: ChargeModelName): ChargeModel {
  const model = MODELS[name];
  assert(model, `charges of the model ${name} are priced`);
  return model;
}

/** Which values of single events the price of a charge or filter depends on. */
export const eventsNeeded = (
  name: ChargeModelName,
  properties: Properties,
  aggregation: AggregationType,
): EventsNeeded => chargeModel(name).eventsNeeded?.(properties, aggregation) ?? 'none';

/**
 * Price of usage under a charge's or a filter's properties, in the currency's main unit, not rounded. Units are not
 * negative, which usage-fee.ts ensures.
 *
 * Rule: charge-models.md.
 */
export function price(name: ChargeModelName, properties: Properties, usage: Usage): Priced {
  assertNotNegative(usage);
  return chargeModel(name).price(properties, usage);
}

/**
 * Price of one event: the price of the usage with it less the price without it.
 * Rules: in-advance.md#units-of-one-event "amount", charge-models.md#in-advance-details.
 */
export function priceEvent(name: ChargeModelName, properties: Properties, usage: EventUsage): EventPrice {
  assertNotNegative(usage.including);
  assertNotNegative(usage.before);
  const model = chargeModel(name);
  if (model.priceEvent !== undefined) return model.priceEvent(properties, usage);

  const amount = model.price(properties, usage.including).amount.minus(model.price(properties, usage.before).amount);
  return { amount, details: {} };
}

const assertNotNegative = ({ units }: Usage): void =>
  assert(!units.isNegative() || units.isZero(), 'priced units are not negative');
