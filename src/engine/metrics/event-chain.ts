import { assert } from '../assert.ts';
import type { Instant } from '../calendar/instants.ts';
import { type Decimal, decimal, ONE, ZERO } from '../money/decimal.ts';
import type { Proration } from './proration.ts';
import { type EventUnits, eventUnits, NO_RECORD, type RunningRecord, uniqueChange } from './running-record.ts';
import type { Operation } from './usage-event.ts';

/** An event that was billed in advance. Ids are texts that grow with time. */
export interface ChainLink {
  /** Grows with the order of arrival. */
  eventId: string;
  /** Grows with the order of billing. */
  recordId: string;
  /** Belongs to an earlier period whose units a recurring metric carries over: it counts but is not billed here. */
  isCarried?: boolean;
  timestamp: Instant;
  /** The running record stored when it was billed. */
  record: RunningRecord;
  /** What it counts now; null if it no longer counts. */
  counted: Counted | null;
}

interface Counted {
  /** Number for a sum, text for a unique count. */
  value: string;
  operation: Operation;
  /** Its own amount in the main unit, of a dynamic charge. */
  amount: Decimal;
}

export type ChainAggregation = 'count_agg' | 'sum_agg' | 'unique_count_agg';

export interface ChainTerms<Link> {
  aggregation: ChainAggregation;
  /** For a prorated charge: how the increase of an event is weighted by days. */
  weighing: (link: Link) => Proration | undefined;
  /** Record from which the chain is computed again; earlier billing stays unchanged. */
  since: string;
}

/** One event after repricing. */
export interface ChainStep<Link> {
  link: Link;
  /** The running record after it. */
  record: RunningRecord;
  /** Undefined if it no longer counts. */
  billed?: BilledLink;
}

export interface BilledLink {
  /** Change of the units in use. */
  change: Decimal;
  event: EventUnits;
  /** Whether anything was billed before it in the period or carried into it. */
  billedBefore: boolean;
  /** Net units, and of the period the number of events and their own amounts, up to and including it. */
  units: Decimal;
  eventsCount: number;
  amount: Decimal;
  /** Changes by the events of the period up to and including it, in the order of their times. */
  values: () => Decimal[];
}

/**
 * Prices the events of one charge, filter, group and period again in the order of billing. Each event builds on those
 * that had arrived before it and are not later than it, as it did the first time.
 *
 *   sum of 10, −4, 8 → billed 10, 0, 4; the first amended to 12 → 12, 0, 4
 *
 * links  in the order of their records
 *
 * Rules: in-advance.md#units-of-one-event, event-corrections.md#effect "the chain of running records".
 */
export function walkChain<Link extends ChainLink>(
  links: readonly Link[],
  { since, aggregation, weighing }: ChainTerms<Link>,
): ChainStep<Link>[] {
  const arrived = arrivals(links, aggregation);
  const isCarriedInto = links.some((link) => link.isCarried);
  let former: RunningRecord | undefined;
  return links.flatMap((link): ChainStep<Link>[] => {
    if (link.isCarried) return [];
    if (link.recordId < since) {
      former = link.record;
      return [];
    }
    if (link.counted === null) {
      former ??= NO_RECORD;
      return [{ link, record: former }];
    }
    const before = arrived(link);
    const change = changeOf(link.counted, aggregation, before.isActive);
    const proration = weighing(link);
    const event = eventUnits(change, former, proration && { at: link.timestamp, proration });
    const billedBefore = isCarriedInto || !(former?.max ?? ZERO).isZero();
    former = event.record;
    const units = before.units.plus(change);
    const billed: BilledLink = {
      change,
      event,
      billedBefore,
      units,
      eventsCount: aggregation === 'unique_count_agg' ? units.toNumber() : before.eventsCount + 1,
      amount: before.amount.plus(link.counted.amount),
      values: () => [...before.values(), change],
    };
    return [{ link, record: event.record, billed }];
  });
}

function changeOf({ value, operation }: Counted, aggregation: ChainAggregation, isActive: boolean): Decimal {
  if (aggregation === 'sum_agg') return decimal(value);
  return aggregation === 'count_agg' ? ONE : uniqueChange(operation, isActive);
}

interface Before {
  units: Decimal;
  eventsCount: number;
  amount: Decimal;
  /** Whether the value of the event is in use. */
  isActive: boolean;
  values: () => Decimal[];
}

/** An event among those that have arrived, with the totals up to and including it. */
interface Arrived {
  link: ChainLink & { counted: Counted };
  /** Whether its value was in use before it. */
  wasActive: boolean;
  change: Decimal;
  units: Decimal;
  /** How many events the period itself has. */
  eventsCount: number;
  amount: Decimal;
}

const NOTHING = { units: ZERO, eventsCount: 0, amount: ZERO };

/** Returns the totals before an event; events must be requested in the order of billing. */
function arrivals(links: readonly ChainLink[], aggregation: ChainAggregation) {
  const waiting = links
    .filter((link): link is Arrived['link'] => link.counted !== null)
    .sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
  // In the order of their times, with the values in use after the last one.
  const arrived: Arrived[] = [];
  let active = new Set<string>();
  let taken = 0;

  const append = (link: Arrived['link']): void => {
    const { counted } = link;
    const last = arrived.at(-1) ?? NOTHING;
    const own = link.isCarried ? { eventsCount: 0, amount: ZERO } : { eventsCount: 1, amount: counted.amount };
    const wasActive = aggregation === 'unique_count_agg' && active.has(counted.value);
    const change = changeOf(counted, aggregation, wasActive);
    if (counted.operation === 'add') active.add(counted.value);
    else active.delete(counted.value);
    arrived.push({
      link,
      wasActive,
      change,
      units: last.units.plus(change),
      eventsCount: last.eventsCount + own.eventsCount,
      amount: last.amount.plus(own.amount),
    });
  };
  const activeBefore = (place: number): Set<string> => {
    const found = new Set<string>();
    for (const { link } of arrived.slice(0, place))
      if (link.counted.operation === 'add') found.add(link.counted.value);
      else found.delete(link.counted.value);
    return found;
  };
  const add = (link: Arrived['link']): void => {
    const place = placeOf(arrived, link);
    const later = arrived.splice(place);
    if (later.length > 0) active = activeBefore(place);
    append(link);
    for (const each of later) append(each.link);
  };
  return (link: ChainLink & { counted: Counted | null }): Before => {
    for (; taken < waiting.length && waiting[taken]!.eventId < link.recordId; taken += 1) add(waiting[taken]!);
    const place = placeOf(arrived, link);
    const last = place === 0 ? NOTHING : arrived[place - 1]!;
    const own = arrived[place];
    assert(own?.link.eventId === link.eventId, 'an event has arrived before it is billed');
    return {
      units: last.units,
      eventsCount: last.eventsCount,
      amount: last.amount,
      isActive: own.wasActive,
      values: () => arrived.slice(0, place).flatMap(({ link: each, change }) => (each.isCarried ? [] : [change])),
    };
  };
}

/** Number of arrived events before an event. */
function placeOf(arrived: readonly Arrived[], link: ChainLink): number {
  let low = 0;
  let high = arrived.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEarlier(arrived[middle]!.link, link)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isEarlier(a: ChainLink, b: ChainLink): boolean {
  const [left, right] = [a.timestamp.epochNanoseconds, b.timestamp.epochNanoseconds];
  return left === right ? a.eventId < b.eventId : left < right;
}
