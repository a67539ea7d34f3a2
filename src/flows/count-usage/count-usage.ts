import { aggregate } from '../../engine/metrics/aggregate.ts';
import type { Texts } from '../../engine/metrics/choose-filter.ts';
import { splitUsage } from '../../engine/metrics/split-usage.ts';
import type { UsageBucket } from '../../engine/metrics/usage-bucket.ts';
import type { Db } from '../../platform/db/connect.ts';
import { assert } from '../../platform/refusal.ts';
import { planOfReading, planOfScanning, type ReadPlan } from './hours.ts';
import type { ChargeToCount, CountedCharge, CountRequest } from './request.ts';
import { countRawEvents, type RawRequest, type RollupRequest, sumBuckets } from './sql.ts';

/** Events of one combination of property texts, over some stretch of time. */
interface Portion extends UsageBucket {
  texts: Texts;
}

/** A charge on its way to be counted. */
interface Counting {
  charge: ChargeToCount;
  /** Sorted names of all properties that tell its events apart. */
  names: string[];
  plan: ReadPlan;
  portions: Portion[];
}

const EVER = '-infinity';

/**
 * Counts the usage of charges: units before rounding and number of events, per filter and group, in the order asked.
 * A charge without events has one empty share per filter and for the default bucket.
 *
 * Full hours come from rollups, the at most two partial hours at the edges from raw events; everything from raw events
 * where no rollup answers. At most two round trips, whatever the number of charges and groups.
 *
 * Rules: usage-and-charges C.1 to C.6, performance-design 5.3.
 */
export async function countUsage(db: Db, request: CountRequest): Promise<CountedCharge[]> {
  const countings = request.charges.map(
    (charge): Counting => ({ charge, names: neededNames(charge), plan: planOfReading(charge.window), portions: [] }),
  );
  await addBuckets(db, request, countings);
  await addRawEvents(db, request.organizationId, countings);
  return countings.map(shared);
}

/** Adds full hours from rollups; charges that none answers for are to be scanned. */
async function addBuckets(
  db: Db,
  { organizationId, mode }: CountRequest,
  countings: readonly Counting[],
): Promise<void> {
  const requests = mode === 'scan' ? [] : countings.flatMap(rollupRequest);
  const rows = requests.length === 0 ? [] : await sumBuckets(db, organizationId, requests);
  const answered = new Set<number>();
  for (const row of rows) {
    answered.add(row.n);
    if (row.events_count === null) continue;
    assert(row.texts !== null, 'a group is stored before its first bucket');
    countings[row.n]!.portions.push({ ...row, texts: row.texts });
  }
  for (const [n, counting] of countings.entries()) {
    if (!answered.has(n)) counting.plan = planOfScanning(counting.charge.window);
  }
}

async function addRawEvents(db: Db, organizationId: string, countings: readonly Counting[]): Promise<void> {
  const requests = countings.flatMap(rawRequests);
  const rows = requests.length === 0 ? [] : await countRawEvents(db, organizationId, requests);
  for (const { n, texts, ...counted } of rows) {
    const { names, portions } = countings[n]!;
    portions.push({ ...counted, texts: Object.fromEntries(names.map((name, index) => [name, texts[index]])) });
  }
}

function rollupRequest({ charge, names, plan }: Counting, n: number): RollupRequest[] {
  if (plan.hours === null) return [];
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

function rawRequests({ charge, names, plan }: Counting, n: number): RawRequest[] {
  const { window } = charge;
  const changes = {
    start_at: window.from?.toString() ?? null,
    start_id: window.startedAs ?? null,
    end_at: window.to
      .subtract({ microseconds: 1 })
      .round({ smallestUnit: 'millisecond', roundingMode: 'floor' })
      .toString(),
    end_id: window.replacedBy ?? null,
  };
  return plan.raw.map(({ from, to }) => ({
    n,
    names,
    subscription: charge.externalSubscriptionId,
    code: charge.metric.code,
    field: charge.metric.field_name,
    from: from?.toString() ?? EVER,
    to: to.toString(),
    ...changes,
  }));
}

function neededNames({ filters, groupKeys, only }: ChargeToCount): string[] {
  const names = filters.flatMap((filter) => [...Object.keys(filter.values), ...filter.groupKeys]);
  return [...new Set([...names, ...groupKeys, ...Object.keys(only ?? {})])].sort();
}

/** Splits the portions of a charge into its shares and adds each up. */
function shared({ charge, portions }: Counting): CountedCharge {
  const { metric, only } = charge;
  const wanted = only ? portions.filter(({ texts }) => hasTexts(texts, only)) : portions;
  const shares = splitUsage({
    filters: charge.filters,
    declaredValues: Object.fromEntries(metric.filters.map(({ key, values }) => [key, values])),
    groupKeysOf: (filter) => filter?.groupKeys ?? charge.groupKeys,
    rows: wanted,
    textsOf: ({ texts }) => texts,
  });
  return {
    key: charge.key,
    shares: shares.map(({ filter, groupedBy, rows }) => ({
      filterId: filter?.id ?? null,
      groupedBy,
      ...aggregate(metric.aggregation_type, rows),
    })),
  };
}

const hasTexts = (texts: Texts, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, text]) => texts[name] === text);
