import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { EventPrice, EventsNeeded, EventUsage, Priced, Usage } from './priced.ts';

/** Properties of a charge or of a charge filter, as stored: JSON. */
export type Properties = Readonly<Record<string, unknown>>;

/** Everything that one charge model is: a file in this folder and a row in price.ts. */
export interface ChargeModel {
  /** Properties of a charge that gives none. */
  defaults: Properties;
  /** Keys that belong to the model; others are dropped. */
  keys: readonly string[];
  /** Codes of what is wrong with the model's own properties, in order, repeated when they are wrong twice. */
  faults(properties: Properties): string[];
  /** Faultless own properties in the form they are stored in; absent = as given. */
  stored?(properties: Properties): Properties;
  /** Price of usage ≥ 0 under faultless properties. */
  price(properties: Properties, usage: Usage): Priced;
  /** Price of one event in advance; absent = the difference between both prices, without details. */
  priceEvent?(properties: Properties, usage: EventUsage): EventPrice;
  /** Values of single events that the price depends on; absent = none. */
  eventsNeeded?(properties: Properties, aggregation: AggregationType): EventsNeeded;
}
