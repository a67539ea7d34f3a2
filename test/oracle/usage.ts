import { add, exact, type Fraction, greatest, isNegative, over, rounded, times, total, ZERO } from './fraction.ts';
import { type Model, type Properties, priceOf } from './prices.ts';

export interface WorldEvent {
  /** Milliseconds since 1970; no two events of a world share one. */
  at: number;
  properties: Readonly<Record<string, string>>;
  /** Its own amount in the smallest unit. */
  cents: string | null;
}

export interface WorldFilter {
  values: Readonly<Record<string, readonly string[]>>;
  properties: Properties;
}

export interface WorldCharge {
  aggregation: 'count_agg' | 'sum_agg' | 'max_agg' | 'latest_agg' | 'unique_count_agg' | 'weighted_sum_agg';
  recurring: boolean;
  rounding: { how: 'round' | 'ceil' | 'floor'; digits: number } | null;
  model: Model;
  prorated: boolean;
  properties: Properties;
  filters: readonly WorldFilter[];
  /** Declared values of the metric's filters. */
  declared: Readonly<Record<string, readonly string[]>>;
}

export interface WorldPeriod {
  /** Milliseconds, `[from, to)`. */
  from: number;
  to: number;
  /** Days of the full period. */
  days: number;
  zone: string;
  /** Ended by an upgrade: its last day is not its own. */
  isUpgraded: boolean;
}

export interface OracleFee {
  /** Place of the filter; null is the default bucket. */
  filter: number | null;
  group: Record<string, string | null>;
  units: Fraction;
  count: number;
  cents: bigint;
}

const DAY_MS = 86_400_000;
const WILDCARD = '__ALL_FILTER_VALUES__';
const formats = new Map<string, Intl.DateTimeFormat>();

/** Number of the local date of an instant. */
export function dayOf(at: number, zone: string): number {
  const known = formats.get(zone);
  const format =
    known ?? new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  if (known === undefined) formats.set(zone, format);
  return Date.parse(`${format.format(at)}T00:00:00Z`) / DAY_MS;
}

/**
 * Fees of one charge for one period, zero ones included. Rules: aggregation.md, charge-models.md,
 * money-and-days.md#numbers.
 */
export function feesOf(charge: WorldCharge, events: readonly WorldEvent[], period: WorldPeriod, exponent: number) {
  const taken = events
    .filter(({ at }) => at < period.to && (charge.recurring || at >= period.from))
    .filter((event) => isTaken(charge, event))
    .sort((a, b) => a.at - b.at);
  const fees: OracleFee[] = [];
  for (const filter of [...charge.filters.keys(), null]) {
    const properties = filter === null ? charge.properties : charge.filters[filter]!.properties;
    const own = taken.filter((event) => filterOf(charge, event) === filter);
    for (const { group, events: of } of groupsOf(properties.pricing_group_keys ?? [], own))
      fees.push({ filter, group, ...feeOf(charge, properties, of, period, exponent) });
  }
  return fees;
}

const isPlain = (text: string | undefined) => text !== undefined && /^-?\d+(\.\d+)?$/.test(text);

/** Events that an aggregation ignores are not there at all. Rule: aggregation.md#selecting-events (3). */
function isTaken({ aggregation }: WorldCharge, { properties }: WorldEvent): boolean {
  if (aggregation === 'count_agg') return true;
  return aggregation === 'unique_count_agg' ? properties.value !== undefined : isPlain(properties.value);
}

/** Rule: groups-and-filters.md#matching-filters, in the order of its numbers. */
function filterOf({ filters, declared }: WorldCharge, { properties }: WorldEvent): number | null {
  const allowed = filters.map(({ values }) =>
    Object.entries(values).map(([key, list]) => [key, list[0] === WILDCARD ? (declared[key] ?? []) : list] as const),
  );
  const matching = [...filters.keys()].filter((n) =>
    allowed[n]!.every(([key, list]) => properties[key] !== undefined && list.includes(properties[key])),
  );
  const most = Math.max(...matching.map((n) => allowed[n]!.length));
  const best = matching.filter((n) => allowed[n]!.length === most);
  const isPart = (a: number, b: number) =>
    allowed[a]!.every(([key, list]) => {
      const other = allowed[b]!.find(([name]) => name === key)?.[1];
      return other !== undefined && list.every((value) => other.includes(value));
    });
  return best.find((n) => !best.some((other) => isPart(other, n) && !isPart(n, other))) ?? null;
}

/** Rule: groups-and-filters.md#groups. */
function groupsOf(keys: readonly string[], events: readonly WorldEvent[]) {
  const groups = new Map<string, { group: Record<string, string | null>; events: WorldEvent[] }>();
  for (const event of events) {
    const group = Object.fromEntries(keys.map((key) => [key, event.properties[key] || null]));
    const name = JSON.stringify(group);
    const known = groups.get(name) ?? { group, events: [] };
    known.events.push(event);
    groups.set(name, known);
  }
  if (groups.size === 0) return [{ group: Object.fromEntries(keys.map((key) => [key, null])), events: [] }];
  return [...groups.values()];
}

interface Aggregated {
  units: Fraction;
  full: Fraction;
  count: number;
  moves: { full: Fraction; weighed: Fraction }[];
}

function feeOf(
  charge: WorldCharge,
  properties: Properties,
  events: readonly WorldEvent[],
  period: WorldPeriod,
  exponent: number,
): Pick<OracleFee, 'units' | 'count' | 'cents'> {
  const { units: exactUnits, full: exactFull, count, moves } = aggregated(charge, events, period);
  const units = roundedBy(charge, exactUnits);
  const full = greatest(roundedBy(charge, exactFull), ZERO);
  if (isNegative(units)) return { units: ZERO, count, cents: 0n };
  const used = {
    units,
    full,
    isProrated: charge.prorated,
    aggregation: charge.aggregation,
    count,
    values: valuesOf(charge, events),
    moves,
    cents: total(events.map(({ cents }) => exact(cents ?? '0'))),
  };
  const price = priceOf(charge.model, properties, used, exponent);
  if (isNegative(price)) return { units: ZERO, count, cents: 0n };
  const cents = rounded(times(price, exact(`${10 ** exponent}`)), 0);
  return { units: charge.prorated ? full : units, count, cents: cents.n };
}

const roundedBy = ({ rounding }: WorldCharge, units: Fraction) =>
  rounding === null ? units : rounded(units, rounding.digits, rounding.how);

/** Values that models price one by one. Rule: charge-models.md#percentage. */
function valuesOf({ aggregation }: WorldCharge, events: readonly WorldEvent[]): Fraction[] {
  if (aggregation === 'sum_agg') return events.map(({ properties }) => exact(properties.value!));
  return events.map(() => exact(1));
}

function aggregated(charge: WorldCharge, events: readonly WorldEvent[], period: WorldPeriod): Aggregated {
  const plain = (units: Fraction, count: number) => ({ units, full: units, count, moves: [] });
  const numbers = () => events.map(({ properties }) => exact(properties.value!));
  switch (charge.aggregation) {
    case 'count_agg':
      return plain(exact(events.length), events.length);
    case 'max_agg':
      return plain(events.length === 0 ? ZERO : numbers().reduce(greatest), events.length);
    case 'latest_agg':
      return plain(greatest(numbers().at(-1) ?? ZERO, ZERO), events.length);
    case 'sum_agg':
      return charge.prorated ? proratedSum(events, period) : plain(total(numbers()), events.length);
    case 'unique_count_agg': {
      if (charge.prorated) return proratedMembers(events, period);
      const members = new Set<string>();
      for (const { properties } of events)
        if (properties.operation_type === 'remove') members.delete(properties.value!);
        else members.add(properties.value!);
      return plain(exact(members.size), members.size);
    }
    case 'weighted_sum_agg': {
      const end = Math.ceil((period.to - 1) / 1000) * 1000;
      const seconds = events.map(({ at, properties }) =>
        times(exact(properties.value!), over(exact(end - at), exact(1000))),
      );
      return plain(rounded(over(total(seconds), exact(period.days * 86_400)), 20, 'ceil'), events.length);
    }
  }
}

const lastDay = ({ to, zone, isUpgraded }: WorldPeriod) => dayOf(to - 1, zone) - (isUpgraded ? 1 : 0);

/** Rule: aggregation.md#prorated-sum. */
function proratedSum(events: readonly WorldEvent[], period: WorldPeriod): Aggregated {
  const weight = (at: number) =>
    over(exact(Math.max(lastDay(period) - dayOf(Math.max(at, period.from), period.zone) + 1, 0)), exact(period.days));
  const carried = total(events.filter(({ at }) => at < period.from).map(({ properties }) => exact(properties.value!)));
  const moves = [
    ...(carried.n === 0n ? [] : [{ full: carried, weighed: times(carried, weight(period.from)) }]),
    ...events
      .filter(({ at }) => at >= period.from)
      .map(({ at, properties }) => {
        const full = exact(properties.value!);
        return { full, weighed: times(full, weight(at)) };
      }),
  ];
  const units = rounded(total(moves.map(({ weighed }) => weighed)), 5, 'ceil');
  return { units, full: total(moves.map(({ full }) => full)), count: events.length, moves };
}

/**
 * The local days on which each value is in use, the day of its removal included.
 * Rule: aggregation.md#prorated-unique-count.
 */
function proratedMembers(events: readonly WorldEvent[], period: WorldPeriod): Aggregated {
  const first = dayOf(period.from, period.zone);
  let days = 0;
  let active = 0;
  for (const value of new Set(events.map(({ properties }) => properties.value!))) {
    const own = events.filter(({ properties }) => properties.value === value);
    const isAdd = ({ properties }: WorldEvent) => properties.operation_type !== 'remove';
    const before = own.filter(({ at }) => at < period.from).at(-1);
    let isIn = before !== undefined && isAdd(before);
    for (let day = first; day <= lastDay(period); day += 1) {
      const today = own.filter(({ at }) => at >= period.from && dayOf(at, period.zone) === day);
      if (isIn || today.some(isAdd)) days += 1;
      const last = today.at(-1);
      if (last !== undefined) isIn = isAdd(last);
    }
    const last = own.at(-1)!;
    if (isAdd(last)) active += 1;
  }
  const units = rounded(over(exact(days), exact(period.days)), 5, 'ceil');
  return { units, full: exact(active), count: active, moves: movesOfMembers(events, period) };
}

/**
 * Every stretch in use is an add with its days and, once it is over, a remove without.
 * Rule: charge-models.md#graduated-prorated.
 */
function movesOfMembers(events: readonly WorldEvent[], period: WorldPeriod): Aggregated['moves'] {
  const isAdd = ({ properties }: WorldEvent) => properties.operation_type !== 'remove';
  const moves: { at: number; full: Fraction; weighed: Fraction }[] = [];
  for (const value of new Set(events.map(({ properties }) => properties.value!))) {
    const own = events.filter(({ properties }) => properties.value === value);
    const kept = own.filter(
      (event, n) =>
        isAdd(event) ||
        !own.slice(n + 1).some((next) => isAdd(next) && dayOf(next.at, period.zone) === dayOf(event.at, period.zone)),
    );
    const changes = kept.filter((event, n) => isAdd(event) !== (n > 0 && isAdd(kept[n - 1]!)));
    for (let n = 0; n < changes.length; n += 2) {
      const [added, removed] = [changes[n]!, changes[n + 1]];
      if (removed !== undefined && removed.at < period.from) continue;
      const last = Math.min(removed === undefined ? lastDay(period) : dayOf(removed.at, period.zone), lastDay(period));
      const days = last - dayOf(Math.max(added.at, period.from), period.zone) + 1;
      if (days <= 0) continue;
      moves.push({ at: added.at, full: exact(1), weighed: over(exact(days), exact(period.days)) });
      if (removed !== undefined) moves.push({ at: removed.at, full: exact(-1), weighed: ZERO });
    }
  }
  return moves.sort((a, b) => a.at - b.at);
}

/**
 * What is missing to a spending minimum in the smallest unit. Rules: minimums.md#true-up, minimums.md#spending-minimum.
 */
export const trueUpOf = (minimum: number, billedDays: number, days: number, used: bigint): bigint => {
  const due = over(exact(minimum * billedDays), exact(days));
  const gap = add(due, exact(`${-used}`));
  return gap.n > 0n ? rounded(gap, 0).n : 0n;
};
