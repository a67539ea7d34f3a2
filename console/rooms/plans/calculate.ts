import { isCurrency } from '../../../src/engine/money/currency.ts';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { conversionFaults } from '../../../src/engine/pricing/dynamic.ts';
import { estimateFee } from '../../../src/engine/pricing/estimate-fee.ts';
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
 * eventCents  sum of what the events of a dynamic charge bring, in the smallest unit of their currency
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
  if (!validated.ok || !isConvertible(model, validated.properties, currency)) return undefined;
  const fee = estimateFee(
    { model, properties: validated.properties, currency },
    { units: decimal(units), eventsCount, eventAmountCents: decimal(eventCents) },
  );
  return {
    amountCents: fee.amountCents,
    preciseAmountCents: decimalText(fee.preciseAmountCents),
    details: fee.amountDetails,
  };
}

/** A dynamic charge of another currency than the plan's needs a rate. */
const isConvertible = (model: ChargeModelName, properties: Properties, currency: string): boolean =>
  model !== 'dynamic' || Object.keys(conversionFaults(properties, { currency, hasPricingUnit: false })).length === 0;

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
