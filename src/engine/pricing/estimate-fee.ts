import { type Currency, exponentOf } from '../money/currency.ts';
import type { Decimal } from '../money/decimal.ts';
import { toMainUnit } from '../money/units.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { eventAmountExponent } from './dynamic.ts';
import { type UsageFee, usageFee } from './usage-fee.ts';

/** A charge that is stored nowhere; its properties have passed validation. */
export interface EstimatedCharge {
  model: ChargeModelName;
  properties: Properties;
  currency: Currency;
}

/** Usage as somebody imagines it. */
export interface ImaginedUsage {
  units: Decimal;
  eventsCount: number;
  /** What the events name together, in the smallest unit of their currency, which a dynamic charge needs. */
  eventAmountCents?: Decimal | undefined;
}

/**
 * What usage would cost under a charge: its fee in arrears, of a metric that does not round.
 *
 *   dynamic, 0.92 and 20 %, events of 2.9648 cents → 3.2731392 cents, 3
 *
 * Rules: console-reads.md#charge-estimates, console.md#calculator.
 */
export function estimateFee({ model, properties, currency }: EstimatedCharge, usage: ImaginedUsage): UsageFee {
  const exponent = exponentOf(currency);
  const { units, eventsCount, eventAmountCents: amount } = usage;
  const eventExponent = eventAmountExponent(properties, { exponent });
  return usageFee({
    charge_model: model,
    properties,
    usage: { units, eventsCount, ...(amount ? { preciseTotalAmount: toMainUnit(amount, eventExponent) } : {}) },
    metric: { rounding_function: null, rounding_precision: null },
    exponent,
  });
}
