import type { Instant } from '../calendar/instants.ts';
import type { Decimal } from '../money/decimal.ts';

/**
 * An event as numeric aggregations see it. Lists of events are in processing order: timestamp, then `created_at`, then
 * id; events whose property is no plain number are left out. Rule: aggregation.md#selecting-events.
 */
export interface ValueEvent {
  timestamp: Instant;
  value: Decimal;
}

export type Operation = 'add' | 'remove';

/** An event as unique counts see it, in the same order; events without the property are left out. */
export interface MemberEvent {
  timestamp: Instant;
  /** Text of the counted property. */
  value: string;
  operation: Operation;
}

/** The effect of an event on its value, by its property `operation_type`. Rule: aggregation.md#unique-count. */
export const operationOf = (text: string | null): Operation => (text === 'remove' ? 'remove' : 'add');
