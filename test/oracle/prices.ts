import {
  add,
  compare,
  exact,
  type Fraction,
  fraction,
  greatest,
  isNegative,
  isZero,
  least,
  over,
  rounded,
  subtract,
  times,
  total,
  ZERO,
} from './fraction.ts';

/** A charge's or a filter's properties, as the interface takes them. */
export interface Properties {
  amount?: string;
  package_size?: number;
  free_units?: number;
  rate?: string;
  fixed_amount?: string | null;
  free_units_per_events?: number | null;
  free_units_per_total_aggregation?: string | null;
  per_transaction_min_amount?: string | null;
  per_transaction_max_amount?: string | null;
  graduated_ranges?: Range[];
  volume_ranges?: Range[];
  graduated_percentage_ranges?: Range[];
  pricing_group_keys?: string[];
}

export interface Range {
  from_value: number;
  to_value: number | null;
  per_unit_amount?: string;
  rate?: string;
  flat_amount: string;
}

export type Model = 'standard' | 'graduated' | 'volume' | 'package' | 'percentage' | 'graduated_percentage' | 'dynamic';

/** What a model prices. */
export interface Used {
  /** Rounded by the metric; weighed by days of a prorated charge. */
  units: Fraction;
  /** Ignoring time. */
  full: Fraction;
  isProrated: boolean;
  aggregation: string;
  count: number;
  /** Values of single events in order. */
  values: readonly Fraction[];
  /** Full and weighed parts in order, of a prorated charge. */
  moves: readonly { full: Fraction; weighed: Fraction }[];
  /** Own amounts of the events in the smallest unit. */
  cents: Fraction;
}

/** Price in the main unit, not rounded. Rule: charge-models.md. */
export function priceOf(model: Model, properties: Properties, used: Used, exponent: number): Fraction {
  switch (model) {
    case 'standard':
      return times(used.units, exact(properties.amount!));
    case 'graduated':
      return used.isProrated
        ? proratedTiers(properties.graduated_ranges!, used)
        : tiers(properties.graduated_ranges!, used.units, ({ per_unit_amount }) => exact(per_unit_amount!));
    case 'graduated_percentage':
      return tiers(properties.graduated_percentage_ranges!, used.units, ({ rate }) => over(exact(rate!), exact(100)));
    case 'volume':
      return volume(properties.volume_ranges!, used);
    case 'package': {
      const paid = subtract(used.units, exact(properties.free_units!));
      if (isNegative(paid)) return ZERO;
      return times(rounded(over(paid, exact(properties.package_size!)), 0, 'ceil'), exact(properties.amount!));
    }
    case 'percentage':
      return percentage(properties, used);
    case 'dynamic':
      return isZero(used.units) ? ZERO : over(used.cents, fraction(10n ** BigInt(exponent)));
  }
}

function tiers(ranges: readonly Range[], units: Fraction, priceIn: (range: Range) => Fraction): Fraction {
  const isAdjacent =
    ranges.length > 1 && ranges.every((range, n) => n === 0 || range.from_value === ranges[n - 1]!.to_value);
  let price = ZERO;
  for (const range of ranges) {
    const top = range.to_value === null ? units : least(units, exact(range.to_value));
    const step = isAdjacent ? ZERO : exact(1);
    const inside = range.from_value === 0 ? top : add(subtract(top, exact(range.from_value)), step);
    price = add(price, add(times(greatest(inside, ZERO), priceIn(range)), exact(range.flat_amount)));
    if (range.to_value === null || compare(exact(range.to_value), units) >= 0) break;
  }
  return price;
}

/** Every event moves the total through the tiers: unit steps would do the same, pieces do it at once. */
function proratedTiers(ranges: readonly Range[], { units, moves }: Used): Fraction {
  const flatsUpTo = (highest: Fraction) => {
    const last = ranges.findIndex(({ to_value }) => to_value === null || compare(exact(to_value), highest) >= 0);
    return total(ranges.slice(0, last + 1).map(({ flat_amount }) => exact(flat_amount)));
  };
  if (isZero(units)) return flatsUpTo(ZERO);
  let at = ZERO;
  let highest = ZERO;
  let cost = ZERO;
  for (const { full, weighed } of moves) {
    if (isZero(full)) continue;
    const next = add(at, full);
    const [low, high] = isNegative(full) ? [next, at] : [at, next];
    const share = over(weighed, full);
    for (const [n, range] of ranges.entries()) {
      const from = n === 0 ? low : greatest(low, exact(ranges[n - 1]!.to_value!));
      const to = range.to_value === null ? high : least(high, exact(range.to_value));
      const length = greatest(subtract(to, from), ZERO);
      const piece = times(times(length, share), exact(range.per_unit_amount!));
      cost = isNegative(full) ? subtract(cost, piece) : add(cost, piece);
    }
    at = next;
    highest = greatest(highest, at);
  }
  return isNegative(at) ? ZERO : add(greatest(cost, ZERO), flatsUpTo(highest));
}

function volume(ranges: readonly Range[], { units, full, isProrated }: Used): Fraction {
  const chosen = isProrated ? full : units;
  const range = ranges.find(
    ({ from_value, to_value }) =>
      compare(exact(from_value), rounded(chosen, 0, 'ceil')) <= 0 &&
      (to_value === null || compare(chosen, exact(to_value)) <= 0),
  )!;
  return add(times(units, exact(range.per_unit_amount!)), exact(range.flat_amount));
}

function percentage(properties: Properties, used: Used): Fraction {
  const share = over(exact(properties.rate!), exact(100));
  const fixed = exact(properties.fixed_amount ?? '0');
  const freeEvents = properties.free_units_per_events ?? 0;
  const freeTotal = exact(properties.free_units_per_total_aggregation ?? '0');
  const least_ = properties.per_transaction_min_amount ?? null;
  const most = properties.per_transaction_max_amount ?? null;
  if (least_ !== null || most !== null) return limited(used, { share, fixed, freeEvents, freeTotal, least_, most });

  const sums: Fraction[] = [];
  if (freeEvents > 0 || !isZero(freeTotal)) {
    const isCounted = used.aggregation === 'count_agg' || used.aggregation === 'unique_count_agg';
    const values = isCounted ? Array.from({ length: Number(used.units.n) }, () => exact(1)) : used.values;
    for (const value of used.aggregation === 'sum_agg' || isCounted ? values : []) {
      const former = sums.at(-1) ?? ZERO;
      if (!isCounted && (freeEvents > 0 ? sums.length === freeEvents : compare(former, freeTotal) > 0)) break;
      sums.push(add(former, value));
    }
  }
  const last = sums.at(-1) ?? ZERO;
  const freeUnits = isZero(last)
    ? ZERO
    : freeEvents > 0 && freeEvents < sums.length
      ? sums[freeEvents - 1]!
      : isZero(freeTotal) || compare(last, freeTotal) <= 0
        ? greatest(last, ZERO)
        : freeTotal;
  const below = sums.filter((sum) => compare(sum, freeTotal) < 0).length;
  const free = Math.min(...[freeEvents, below].filter((limit) => limit > 0));
  const paidEvents = used.count - (Number.isFinite(free) ? free : 0);
  const fixedPart = isZero(used.units) || paidEvents <= 0 ? ZERO : times(exact(paidEvents), fixed);
  return add(times(greatest(subtract(used.units, freeUnits), ZERO), share), fixedPart);
}

interface Limits {
  share: Fraction;
  fixed: Fraction;
  freeEvents: number;
  freeTotal: Fraction;
  least_: string | null;
  most: string | null;
}

function limited({ values }: Used, { share, fixed, freeEvents, freeTotal, least_, most }: Limits): Fraction {
  let remaining: Fraction | null = isZero(freeTotal) ? null : freeTotal;
  let price = ZERO;
  for (const [n, value] of values.entries()) {
    let charged = value;
    if (remaining !== null) {
      if (compare(value, remaining) < 0) {
        remaining = subtract(remaining, value);
        continue;
      }
      charged = subtract(value, remaining);
      remaining = null;
    } else if (isZero(freeTotal) && n < freeEvents) continue;
    let cost = add(times(charged, share), fixed);
    if (least_ !== null) cost = greatest(cost, exact(least_));
    if (most !== null) cost = least(cost, exact(most));
    price = add(price, cost);
  }
  return price;
}
