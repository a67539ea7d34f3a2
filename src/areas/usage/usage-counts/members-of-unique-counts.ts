import { hash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import type { MemberEntry } from './rollup-queries.ts';
import type { ReadEvent } from './units-of-shares.ts';

/** Hash of a value of a unique count, as rollups keep it. */
export const valueHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);

/**
 * Events equivalent to those of a value in one hour: its last operation, and where days matter an add at the start of
 * the hour if there was one. (On one local day a removal before an add does not interrupt, so other events have no
 * effect.)
 *
 * Rules: aggregation.md#unique-count, aggregation.md#prorated-unique-count.
 */
export function eventsOfMember([value, hasAdd, isMember, key, hour, at]: MemberEntry, withDays: boolean): ReadEvent[] {
  const last = event(value, isMember ? 'add' : 'remove', at, key);
  return withDays && hasAdd ? [event(value, 'add', hour, hour), last] : [last];
}

const event = (text: string, operation: string, at: string, key: string): ReadEvent => ({
  text,
  operation,
  timestamp: Temporal.Instant.from(at),
  key,
});
