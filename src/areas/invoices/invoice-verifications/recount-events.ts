import { type Instant, isBefore } from '../../../engine/calendar/instants.ts';
import { instantOf, periodOf } from '../../../engine/explain/read-stored-inputs.ts';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import { dayNumbers } from '../../../engine/metrics/day-numbers.ts';
import { combineProratedSums } from '../../../engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../../engine/metrics/prorated-unique-count.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { uniqueCount } from '../../../engine/metrics/unique-count.ts';
import { type MemberEvent, type Operation, operationOf } from '../../../engine/metrics/usage-event.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../../../engine/money/decimal.ts';
import type { RawEvent } from './queries.ts';

/** The aggregate of single events. */
export interface Recounted {
  units: Decimal;
  fullUnits?: Decimal;
}

/** Aggregates events that arrive in parts in any order; keeps partial results, not the events. */
export interface Recount {
  add(events: readonly RawEvent[]): void;
  end(): Recounted;
}

/**
 * A recount of the events behind a fee. Undefined for weighted sums, which start from the end of former fees; their
 * events are compared by digest.
 *
 * Rules: aggregation.md#metered, aggregation.md#recurring, aggregation.md#unique-count,
 * groups-and-filters.md#matching-filters, groups-and-filters.md#groups, aggregation.md#weighted-sum,
 * aggregation.md#prorated-sum, aggregation.md#prorated-unique-count.
 */
export function startRecount(inputs: StoredFeeInputs): Recount | undefined {
  const type = inputs.metric!.aggregation_type;
  const proration = inputs.price.prorated && !inputs.window.renewed ? prorationOf(inputs) : undefined;
  if (type === 'weighted_sum_agg') return undefined;
  if (type === 'count_agg') return recountNumber();
  if (type === 'unique_count_agg') return proration === undefined ? recountMembers() : recountDaysOfMembers(proration);
  if (proration !== undefined) return recountDays(proration);
  if (type === 'max_agg') return recountGreatest();
  return type === 'latest_agg' ? recountLatest() : recountSum();
}

function recountNumber(): Recount {
  let count = 0;
  return {
    add(events) {
      count += events.length;
    },
    end: () => ({ units: decimal(count) }),
  };
}

function recountSum(): Recount {
  let total = ZERO;
  return {
    add(events) {
      total = total.plus(sum(events.map(({ text }) => decimal(text!))));
    },
    end: () => ({ units: total }),
  };
}

function recountGreatest(): Recount {
  let greatest: Decimal | undefined;
  return {
    add(events) {
      for (const { text } of events) greatest = greatest === undefined ? decimal(text!) : max(greatest, decimal(text!));
    },
    end: () => ({ units: greatest ?? ZERO }),
  };
}

function recountLatest(): Recount {
  let latest: RawEvent | undefined;
  return {
    add(events) {
      const last = events.at(-1);
      if (last !== undefined && (latest === undefined || last.key > latest.key)) latest = last;
    },
    end: () => ({ units: max(decimal(latest?.text ?? 0), ZERO) }),
  };
}

/** The last operation on each value decides. */
function recountMembers(): Recount {
  const last = new Map<string, { key: string; operation: Operation }>();
  return {
    add(events) {
      for (const { text, operation, key } of events)
        if (!(key < (last.get(text!)?.key ?? ''))) last.set(text!, { key, operation: operationOf(operation) });
    },
    end: () => uniqueCount([...last].map(([value, { operation }]) => ({ value, operation }))),
  };
}

/** A sum by local days; what lies before the period is carried into it. */
function recountDays(proration: Proration): Recount {
  const dayOf = dayNumbers(proration.zone);
  const { from } = proration.period;
  let carried = { units: ZERO, eventsCount: 0 };
  const days = new Map<number, { hour: Instant; sum: Decimal; valid_count: number }>();
  return {
    add(events) {
      for (const { timestamp, text } of events) {
        const value = decimal(text!);
        if (isBefore(timestamp, from)) {
          carried = { units: carried.units.plus(value), eventsCount: carried.eventsCount + 1 };
          continue;
        }
        const day = dayOf(timestamp);
        const known = days.get(day) ?? { hour: timestamp, sum: ZERO, valid_count: 0 };
        days.set(day, { ...known, sum: known.sum.plus(value), valid_count: known.valid_count + 1 });
      }
    },
    end: () => combineProratedSums(carried, [...days.values()], proration),
  };
}

/**
 * Values by local days: of each day whether the value was added, and its last operation. A removal before an add on one
 * day does not interrupt the value; before the period only the last operation counts.
 */
function recountDaysOfMembers(proration: Proration): Recount {
  const dayOf = dayNumbers(proration.zone);
  const { from } = proration.period;
  const days = new Map<string, { last: MemberEvent; key: string; hasAdd: boolean }>();
  return {
    add(events) {
      for (const { timestamp, text, operation, key } of events) {
        const isEarlier = isBefore(timestamp, from);
        const place = `${isEarlier ? 'before' : dayOf(timestamp)} ${text}`;
        const known = days.get(place);
        const event: MemberEvent = { timestamp, value: text!, operation: operationOf(operation) };
        const isLast = known === undefined || key > known.key;
        days.set(place, {
          last: isLast ? event : known.last,
          key: isLast ? key : known.key,
          hasAdd: !isEarlier && (event.operation === 'add' || known?.hasAdd === true),
        });
      }
    },
    end() {
      const inOrder = [...days.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
      const events = inOrder.flatMap(({ last, hasAdd }) =>
        hasAdd ? [{ ...last, operation: 'add' as const }, last] : [last],
      );
      return proratedUniqueCount(events, proration);
    },
  };
}

const prorationOf = ({ window }: StoredFeeInputs): Proration => ({
  period: { ...periodOf(window.fee), from: instantOf(window.fee.from) },
  periodDays: window.charges_duration_days!,
  zone: window.timezone!,
  isUpgraded: window.succession === 'upgrade',
});
