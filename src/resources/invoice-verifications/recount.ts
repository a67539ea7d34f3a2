import { isBefore } from '../../engine/calendar/instants.ts';
import type { StoredFeeInputs } from '../../engine/explain/inputs.ts';
import { instantOf, periodOf } from '../../engine/explain/revive.ts';
import { proratedSum } from '../../engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../engine/metrics/prorated-unique-count.ts';
import type { Proration } from '../../engine/metrics/proration.ts';
import { uniqueCount } from '../../engine/metrics/unique-count.ts';
import { type MemberEvent, operationOf, type ValueEvent } from '../../engine/metrics/usage-event.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../../engine/money/decimal.ts';
import type { RawEvent } from './queries.ts';

/** What single events add up to. */
interface Recounted {
  units: Decimal;
  fullUnits?: Decimal;
}

/**
 * Aggregates the events behind a fee once more. Undefined for weighted sums, whose start is the end of former fees: their
 * events are compared by their digest.
 *
 * Rules: usage-and-charges C.2 to C.9.
 */
export function recount(inputs: StoredFeeInputs, events: readonly RawEvent[]): Recounted | undefined {
  const type = inputs.metric!.aggregation_type;
  const proration = inputs.price.prorated && !inputs.window.renewed ? prorationOf(inputs) : undefined;
  if (type === 'weighted_sum_agg') return undefined;
  if (type === 'count_agg') return { units: decimal(events.length) };
  if (type === 'unique_count_agg') {
    const members = events.map(
      ({ timestamp, text, operation }): MemberEvent => ({ timestamp, value: text!, operation: operationOf(operation) }),
    );
    return proration === undefined ? uniqueCount(members) : proratedUniqueCount(members, proration);
  }
  const values = events.map(({ timestamp, text }): ValueEvent => ({ timestamp, value: decimal(text!) }));
  if (proration !== undefined) return prorated(values, proration);
  if (type === 'max_agg') return { units: values.map(({ value }) => value).reduce(max, values[0]?.value ?? ZERO) };
  if (type === 'latest_agg') return { units: max(values.at(-1)?.value ?? ZERO, ZERO) };
  return { units: sum(values.map(({ value }) => value)) };
}

function prorated(values: readonly ValueEvent[], proration: Proration): Recounted {
  const { from } = proration.period;
  const carried = values.filter(({ timestamp }) => isBefore(timestamp, from));
  const before = { units: sum(carried.map(({ value }) => value)), eventsCount: carried.length };
  return proratedSum(before, values.slice(carried.length), proration);
}

const prorationOf = ({ window }: StoredFeeInputs): Proration => ({
  period: { ...periodOf(window.fee), from: instantOf(window.fee.from) },
  periodDays: window.charges_duration_days!,
  zone: window.timezone!,
  isUpgraded: window.succession === 'upgrade',
});
