import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { EventPrice, EventsNeeded, EventUsage, Priced, Usage } from './priced.ts';

/** Properties of a charge or of a charge filter, as stored: JSON. */
export type Properties = Readonly<Record<string, unknown>>;

/** The definition of one charge model: a file in this folder and a row in price.ts. */
export interface ChargeModel {
  /** Properties of a charge without any. */
  defaults: Properties;
  /** Keys that belong to the model; others are dropped. */
  keys: readonly string[];
  /** Codes of faults in the model's own properties, in order, repeated for repeated faults. */
  faults(properties: Properties): string[];
  /** The stored form of faultless own properties; absent if it is the given one. */
  stored?(properties: Properties): Properties;
  /** Price of usage ≥ 0 under faultless properties. */
  price(properties: Properties, usage: Usage): Priced;
  /** Price of one event in advance; absent if it is the difference of both prices, without details. */
  priceEvent?(properties: Properties, usage: EventUsage): EventPrice;
  /** Values of single events that the price depends on; absent = none. */
  eventsNeeded?(properties: Properties, aggregation: AggregationType): EventsNeeded;
}
