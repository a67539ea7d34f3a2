import { Temporal } from 'temporal-polyfill';
import type { Texts } from '../../engine/metrics/choose-filter.ts';
import { splitUsage } from '../../engine/metrics/split-usage.ts';
import { ZERO } from '../../engine/money/decimal.ts';
import type { Db } from '../../platform/db/connect.ts';
import { assert } from '../../platform/refusal.ts';
import { addBilledGroups, type BilledTotals, billedTotals } from './billed-totals.ts';
import { figuresOf, NO_LATEST, type Portion, type ShareRead } from './figures.ts';
import { planOfReading, planOfScanning, type ReadPlan } from './hours.ts';
import {
  countRawEvents,
  type EventRow,
  listBilledTotals,
  listEvents,
  type RawRequest,
  type RawRow,
  type RollupRequest,
  sumBuckets,
  type TotalRequest,
} from './queries.ts';
import { readingOf, type SummedWindow } from './reading.ts';
import type { ChargeToCount, CountedCharge, CountRequest, UsageWindow } from './request.ts';

/** A charge on its way to be counted. */
interface Counting {
  charge: ChargeToCount;
  /** Sorted names of all properties that tell its events apart. */
  names: string[];
  /** Window of the events to read one by one. */
  events: UsageWindow | null;
  rows: Row[];
  totals: BilledTotals;
}

/** One window to sum up. */
interface Summing extends SummedWindow {
  counting: Counting;
  plan: ReadPlan;
}

/** What one row of a statement tells of events with the same property texts. */
interface Row {
  texts: Texts;
  portion?: Portion;
  isBefore?: boolean;
  event?: EventRow;
}

const EVER = '-infinity';

/**
 * Counts the usage of charges: units before rounding and number of events, per filter and group, in the order asked.
 * A charge without events has one empty share per filter and for the default bucket.
 *
 * Sums of full hours come from rollups, the at most two partial hours at the edges from raw events; everything from raw
 * events where no rollup answers. Latest values, the amounts of dynamic charges, unique counts, days of prorated charges
 * and the values of percentage charges are read from raw events: no rollup holds them. At most two round trips, with at
 * most four statements, whatever the number of charges and groups.
 *
 * Rules: usage-and-charges C.1 to C.9, performance-design 5.3.
 */
export async function countUsage(db: Db, request: CountRequest): Promise<CountedCharge[]> {
  const summings: Summing[] = [];
  const countings = request.charges.map((charge) => {
    const { sums, events } = readingOf(charge);
    const counting: Counting = { charge, names: neededNames(charge), events, rows: [], totals: new Map() };
    summings.push(...sums.map((each) => ({ ...each, counting, plan: planOfReading(each.window) })));
    return counting;
  });
  await addBuckets(db, request, summings);
  await Promise.all([
    addRawSums(db, request.organizationId, summings),
    addEvents(db, request.organizationId, countings),
    addBilledTotals(db, request.organizationId, countings),
  ]);
  return countings.map(shared);
}

/** Adds full hours from rollups; windows that none answers for are to be scanned. */
async function addBuckets(db: Db, { organizationId, mode }: CountRequest, summings: readonly Summing[]): Promise<void> {
  const requests = mode === 'scan' ? [] : summings.flatMap(rollupRequest);
  const rows = requests.length === 0 ? [] : await sumBuckets(db, organizationId, requests);
  const answered = new Set<number>();
  for (const row of rows) {
    answered.add(row.n);
    if (row.events_count === null) continue;
    const { texts, n, ...counted } = row;
    assert(texts !== null, 'a group is stored before its first bucket');
    const { counting, isBefore } = summings[n]!;
    counting.rows.push({ texts, isBefore, portion: { ...counted, ...NO_LATEST, preciseTotalAmountCents: ZERO } });
  }
  for (const [n, summing] of summings.entries()) {
    if (!answered.has(n)) summing.plan = planOfScanning(summing.window);
  }
}

async function addRawSums(db: Db, organizationId: string, summings: readonly Summing[]): Promise<void> {
  const requests = summings.flatMap(({ counting, window, plan }, n) =>
    plan.raw.map((range) => rawRequest(counting, window, range, n)),
  );
  const rows = requests.length === 0 ? [] : await countRawEvents(db, organizationId, requests);
  for (const row of rows) {
    const { counting, isBefore } = summings[row.n]!;
    counting.rows.push({ texts: textsOf(counting, row.texts), isBefore, portion: rawPortion(row) });
  }
}

async function addEvents(db: Db, organizationId: string, countings: readonly Counting[]): Promise<void> {
  const requests = countings.flatMap((counting, n) => {
    const { events } = counting;
    return events === null ? [] : planOfScanning(events).raw.map((range) => rawRequest(counting, events, range, n));
  });
  const rows = requests.length === 0 ? [] : await listEvents(db, organizationId, requests);
  for (const row of rows) {
    const counting = countings[row.n]!;
    counting.rows.push({ texts: textsOf(counting, row.texts), event: row });
  }
}

async function addBilledTotals(db: Db, organizationId: string, countings: readonly Counting[]): Promise<void> {
  const requests = countings.flatMap(({ charge: { carriedOver, proration } }, n): TotalRequest[] => {
    if (carriedOver === undefined) return [];
    assert(proration, 'a running total is of a period');
    const { subscriptionId, chargeId } = carriedOver;
    return [{ n, subscription_id: subscriptionId, charge_id: chargeId, before: proration.period.from.toString() }];
  });
  const rows = requests.length === 0 ? [] : await listBilledTotals(db, organizationId, requests);
  for (const [n, counting] of countings.entries()) {
    counting.totals = billedTotals(
      rows.filter((row) => row.n === n),
      counting.charge.only,
    );
  }
}

function rollupRequest({ counting, isRolledUp, plan }: Summing, n: number): RollupRequest[] {
  if (!isRolledUp || plan.hours === null) return [];
  const { charge, names } = counting;
  const { metric } = charge;
  return [
    {
      n,
      names,
      subscription: charge.externalSubscriptionId,
      metric_id: metric.id,
      code: metric.code,
      aggregation: metric.aggregation_type,
      field: metric.field_name,
      from: plan.hours.from?.toString() ?? EVER,
      to: plan.hours.to.toString(),
    },
  ];
}

function rawRequest(
  { charge, names }: Counting,
  window: UsageWindow,
  { from, to }: ReadPlan['raw'][number],
  n: number,
): RawRequest {
  return {
    n,
    names,
    subscription: charge.externalSubscriptionId,
    code: charge.metric.code,
    aggregation: charge.metric.aggregation_type,
    field: charge.metric.field_name,
    from: from?.toString() ?? EVER,
    to: to.toString(),
    start_at: window.from?.toString() ?? null,
    start_id: (window.from && window.startedAs) ?? null,
    end_at: window.to
      .subtract({ microseconds: 1 })
      .round({ smallestUnit: 'millisecond', roundingMode: 'floor' })
      .toString(),
    end_id: window.replacedBy ?? null,
  };
}

function neededNames({ filters, groupKeys, only }: ChargeToCount): string[] {
  const names = filters.flatMap((filter) => [...Object.keys(filter.values), ...filter.groupKeys]);
  return [...new Set([...names, ...groupKeys, ...Object.keys(only ?? {})])].sort();
}

const textsOf = ({ names }: Counting, texts: readonly (string | null)[]): Texts =>
  Object.fromEntries(names.map((name, index) => [name, texts[index]]));

const rawPortion = ({ events_count, valid_count, sum, moment, max, last, precise_total_amount_cents }: RawRow) => ({
  events_count,
  valid_count,
  sum,
  moment,
  max,
  last_ts: last && Temporal.Instant.from(last[0]),
  last_created_at: last && Temporal.Instant.from(last[1]),
  last_id: last?.[2] ?? null,
  last_value: last?.[3] ?? null,
  preciseTotalAmountCents: precise_total_amount_cents,
});

/** Splits what was read of a charge into its shares and works each out. */
function shared({ charge, rows, totals }: Counting): CountedCharge {
  const { metric, only } = charge;
  // A total that was billed holds what came before.
  const own = totals.size === 0 ? rows : rows.filter(({ isBefore }) => isBefore !== true);
  const shares = splitUsage({
    filters: charge.filters,
    declaredValues: Object.fromEntries(metric.filters.map(({ key, values }) => [key, values])),
    groupKeysOf: (filter) => filter?.groupKeys ?? charge.groupKeys,
    rows: only ? own.filter(({ texts }) => hasTexts(texts, only)) : own,
    textsOf: ({ texts }) => texts,
  });
  const all = addBilledGroups(charge, shares, totals);
  return {
    key: charge.key,
    shares: all.map(({ filter, groupedBy, rows: of, billedTotal }) => ({
      filterId: filter?.id ?? null,
      groupedBy,
      ...figuresOf(charge, { ...readOf(of), billedTotal }),
    })),
  };
}

function readOf(rows: readonly Row[]): Omit<ShareRead, 'billedTotal'> {
  const portionsOf = (before: boolean) =>
    rows.flatMap(({ portion, isBefore }) => (portion && isBefore === before ? [portion] : []));
  return {
    portions: portionsOf(false),
    before: portionsOf(true),
    events: rows.flatMap(({ event }) => (event ? [event] : [])),
  };
}

const hasTexts = (texts: Texts, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, text]) => texts[name] === text);
