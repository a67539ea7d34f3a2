import { exponentOf, isCurrency } from '../../../src/engine/money/currency.ts';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { validateProperties } from '../../../src/engine/pricing/validate-properties.ts';

export interface Priced {
  amountCents: number;
  preciseAmountCents: string;
  details: Readonly<Record<string, unknown>>;
}

/** Units as the engine takes them: not negative, in plain digits, of a length that a metric could hold. */
const UNITS = /^\d{1,15}(?:\.\d{1,15})?$/;
export const isUnits = (text: string): boolean => UNITS.test(text);

/** Codes of what is wrong with the properties of a charge, by the rules of the service. */
export function faultsOf(model: ChargeModelName, properties: Record<string, unknown>): string[] {
  const validated = validateProperties(model, properties);
  return validated.ok ? [] : [...new Set(validated.codes)];
}

/**
 * What a usage costs, by the code that prices invoices. Undefined where properties or units are not right.
 *
 * eventCents  sum of what the events of a dynamic charge bring, in the smallest unit
 *
 * Rule: console.md#calculator.
 */
export function calculate(
  { model, properties, currency }: { model: ChargeModelName; properties: Record<string, unknown>; currency: string },
  units: string,
  eventsCount = 1,
  eventCents = '0',
): Priced | undefined {
  if (!isUnits(units) || !isUnits(eventCents) || !isCurrency(currency)) return undefined;
  const validated = validateProperties(model, properties);
  if (!validated.ok) return undefined;
  const fee = usageFee({
    charge_model: model,
    properties: validated.properties,
    usage: {
      units: decimal(units),
      eventsCount,
      preciseTotalAmount: decimal(eventCents).div(10 ** exponentOf(currency)),
    },
    metric: { rounding_function: null, rounding_precision: null },
    exponent: exponentOf(currency),
  });
  return {
    amountCents: fee.amountCents,
    preciseAmountCents: decimalText(fee.preciseAmountCents),
    details: fee.amountDetails,
  };
}

const POINTS = 60;

/** Units from 0 to twice a number in 60 steps, with the amount of each in cents. */
export function curve(
  charge: { model: ChargeModelName; properties: Record<string, unknown>; currency: string },
  units: string,
): { units: number[]; cents: number[] } {
  if (!isUnits(units)) return { units: [], cents: [] };
  const step = decimal(units).times(2).div(POINTS);
  const points = Array.from({ length: POINTS + 1 }, (_, index) => step.times(index));
  const priced = points.map((point) => calculate(charge, point.toFixed(6)));
  if (priced.some((each) => each === undefined)) return { units: [], cents: [] };
  return { units: points.map((point) => point.toNumber()), cents: priced.map((each) => each!.amountCents) };
}
