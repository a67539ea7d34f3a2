import { decimal } from '../money/decimal.ts';
import type { Aggregate } from './usage-bucket.ts';
import type { MemberEvent } from './usage-event.ts';

/**
 * Number of values that are in use after the events. Every value starts as removed; adding a value that is in use, or
 * removing one that is not, changes nothing. A metered metric gives the events of its period, a recurring one all up to
 * the period's end.
 *
 *   add A, remove A, add A, add B, remove C → 2
 *
 * others number of values in use that no event concerns
 *
 * Rules: aggregation.md#metered "unique_count", aggregation.md#recurring, aggregation.md#unique-count.
 */
export function uniqueCount(events: readonly Omit<MemberEvent, 'timestamp'>[], others = 0): Aggregate {
  const count = activeValues(events).size + others;
  return { units: decimal(count), eventsCount: count };
}

/** The values in use after the events. */
export function activeValues(events: readonly Omit<MemberEvent, 'timestamp'>[]): Set<string> {
  const active = new Set<string>();
  for (const { value, operation } of events) {
    if (operation === 'add') active.add(value);
    else active.delete(value);
  }
  return active;
}
