import { type Instant, isBefore, later } from '../calendar/instants.ts';
import { decimal, ONE, sum, ZERO } from '../money/decimal.ts';
import { ceilProrated } from './ceil-units.ts';
import { dayNumbers } from './day-numbers.ts';
import { billedDays, type Move, type Moves, type ProratedUnits, type Proration } from './proration.ts';
import type { MemberEvent } from './usage-event.ts';

/**
 * Unique count of a recurring metric weighted by days: every value counts the local days on which it was in use, the
 * day of its removal included. Removing and adding it again on one day is no interruption.
 *
 *   one value all May, another added on the 11th → 1 + 21 ÷ 31 = 1.67742, full 2
 *
 * events  all up to the period's end, in processing order
 *
 * Rule: aggregation.md#prorated-unique-count.
 */
export function proratedUniqueCount(
  events: readonly MemberEvent[],
  proration: Proration,
): ProratedUnits & { moves: Moves } {
  const daysFrom = billedDays(proration);
  const { from } = proration.period;
  const daysOf = ({ timestamp, end }: Change): number =>
    end && isBefore(end.timestamp, from) ? 0 : daysFrom(later(timestamp, from), end?.timestamp);

  const list: Move[] = [];
  let active = 0;
  for (const change of changesOf(events, proration)) {
    active += change.operation === 'add' ? 1 : -1;
    if (change.operation === 'remove') {
      if (change.endsWeight) list.push({ full: ONE.negated(), weighed: ZERO });
      continue;
    }
    const days = daysOf(change);
    if (days === 0) continue;
    if (change.end) change.end.endsWeight = true;
    list.push({ full: ONE, weighed: decimal(days) });
  }
  return {
    units: ceilProrated(sum(list.map(({ weighed }) => weighed)).div(proration.periodDays)),
    fullUnits: decimal(active),
    eventsCount: active,
    moves: { list, divisor: proration.periodDays },
  };
}

/** An event that changes whether its value is in use. */
interface Change {
  timestamp: Instant;
  operation: MemberEvent['operation'];
  /** The remove that ends an add. */
  end?: Change;
  /** Whether the add that a remove ends has weight. */
  endsWeight?: boolean;
}

/**
 * The events that change whether a value is in use, in order, without interruptions within a local day.
 * Rules: aggregation.md#prorated-unique-count (1), aggregation.md#prorated-unique-count (2).
 */
function changesOf(events: readonly MemberEvent[], { period, zone }: Proration): Change[] {
  const open = new Map<string, Change>();
  const changes: Change[] = [];
  for (const { value, operation, timestamp } of withoutInterruptions(events, period.from, zone)) {
    const added = open.get(value);
    if ((operation === 'add') === (added !== undefined)) continue;
    const change: Change = { timestamp, operation };
    changes.push(change);
    if (added === undefined) open.set(value, change);
    else {
      added.end = change;
      open.delete(value);
    }
  }
  return changes;
}

/**
 * Leaves out every remove that an add of the same value follows on the same local day. Events before `from` are
 * skipped, because nothing depends on them and their local days take the most time to compute.
 */
function withoutInterruptions(events: readonly MemberEvent[], from: Instant, zone: string): MemberEvent[] {
  const dayOf = dayNumbers(zone);
  const addedLater = new Set<string>();
  return events
    .toReversed()
    .filter(({ value, operation, timestamp }) => {
      if (isBefore(timestamp, from)) return true;
      const day = `${dayOf(timestamp)} ${value}`;
      if (operation === 'add') addedLater.add(day);
      return operation === 'add' || !addedLater.has(day);
    })
    .reverse();
}
