import { eventUnits, type RunningRecord, uniqueChange } from '../../../src/engine/metrics/running-record.ts';
import { activeValues } from '../../../src/engine/metrics/unique-count.ts';
import type { Operation } from '../../../src/engine/metrics/usage-event.ts';
import { type Decimal, decimal, ONE, ZERO } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { inAdvanceFee } from '../../../src/engine/pricing/in-advance-fee.ts';
import type { UsageFee } from '../../../src/engine/pricing/usage-fee.ts';

/** A charge billed in advance. */
export interface Charge {
  charge_model: ChargeModelName;
  properties: Properties;
  conversionRate?: Decimal;
}

const isBilled = (record: RunningRecord | undefined) => record !== undefined && !record.max.isZero();

/** Fees of successive events of a summed metric. */
export function feesOfSum(
  { charge_model, properties, conversionRate }: Charge,
  given: readonly (number | Decimal)[],
): UsageFee[] {
  const values = given.map((value) => decimal(value));
  let record: RunningRecord | undefined;
  let units = ZERO;
  return values.map((value, index) => {
    units = units.plus(value);
    const event = { ...eventUnits(value, record), billedBefore: isBilled(record) };
    record = event.record;
    const usage = {
      units,
      eventsCount: index + 1,
      aggregation: 'sum_agg' as const,
      values: values.slice(0, index + 1),
    };
    return inAdvanceFee({ charge_model, properties, usage, event, exponent: 2, conversionRate });
  });
}

/** Fees of successive events of a counted metric. */
export function feesOfCount({ charge_model, properties }: Charge, count: number): UsageFee[] {
  let record: RunningRecord | undefined;
  return Array.from({ length: count }, (_, index) => {
    const event = { ...eventUnits(ONE, record), billedBefore: isBilled(record) };
    record = event.record;
    const usage = { units: decimal(index + 1), eventsCount: index + 1, aggregation: 'count_agg' as const };
    return inAdvanceFee({ charge_model, properties, usage, event, exponent: 2 });
  });
}

/** Fees of successive events of a unique count, written as "add 1". */
export function feesOfUniqueCount({ charge_model, properties }: Charge, lines: readonly string[]): UsageFee[] {
  const events = lines.map((line) => {
    const [operation, value] = line.split(' ');
    return { operation: operation as Operation, value: value! };
  });
  let record: RunningRecord | undefined;
  return events.map(({ operation, value }, index) => {
    const change = uniqueChange(operation, activeValues(events.slice(0, index)).has(value));
    const event = { ...eventUnits(change, record), billedBefore: isBilled(record) };
    record = event.record;
    const units = decimal(activeValues(events.slice(0, index + 1)).size);
    const usage = { units, eventsCount: units.toNumber(), aggregation: 'unique_count_agg' as const };
    return inAdvanceFee({ charge_model, properties, usage, event, exponent: 2 });
  });
}
