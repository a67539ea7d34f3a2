import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { Texts } from '../../../engine/metrics/choose-filter.ts';
import { presentUnits } from '../../../engine/metrics/presentation.ts';
import { splitUsage } from '../../../engine/metrics/split-usage.ts';
import { holdsTaken } from '../../../engine/metrics/usage-bucket.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { mapInSlices, type Pause } from '../../../platform/turns/turns.ts';
import { addBilledGroups, billedTotals } from './billed-totals.ts';
import type { Counting, Listing, Row, Scanning, Summing } from './counted-charge.ts';
import { planOfScanning, plansOfReading, type ReadPlan } from './full-hours-and-days.ts';
import { eventsOfMember, valueHash } from './members-of-unique-counts.ts';
import { readingOf } from './plan-readings.ts';
import { countRawEvents, listBilledTotals, listEvents, type TotalRequest } from './queries.ts';
import type { ChargeToCount, CountedCharge, CountedShare, CountRequest, UsageWindow, WantedTexts } from './request.ts';
import { type Counted, listMembers, sumBuckets } from './rollup-queries.ts';
import { allNames } from './share-requests.ts';
import { sharedRaw, sharedRollups } from './shared-statements.ts';
import { figuresOf, type Portion, type ReadEvent, type ShareRead } from './units-of-shares.ts';

/**
 * Counts the usage of charges: units before rounding and number of events, per filter and group, in the requested
 * order. A charge without events has one empty share per filter and for the default bucket.
 *
 * Full hours come from rollups, the at most two partial hours at the edges of a window from raw events; everything from
 * raw events if no rollup can answer. Single events are read only where each is priced: values of percentage charges,
 * of those with free events only the first; moves of prorated graduated ones; and days of prorated charges in zones
 * whose days begin within an hour. At most two round trips, with at most five statements, whatever the number of
 * charges and groups.
 *
 * Rules: aggregation.md#selecting-events, aggregation.md#metered, aggregation.md#recurring,
 * aggregation.md#unique-count, groups-and-filters.md#matching-filters, groups-and-filters.md#groups,
 * aggregation.md#weighted-sum, aggregation.md#prorated-sum, aggregation.md#prorated-unique-count, rollups.md#buckets,
 * rollups.md#exactness.
 */
export async function countUsage(db: Db, request: CountRequest): Promise<CountedCharge[]> {
  const { organizationId, mode, pause } = request;
  const summings: Summing[] = [];
  const listings: Listing[] = [];
  const scannings: Scanning[] = [];
  const planOf = plansOfReading();
  const countingOf = (charge: ChargeToCount) => {
    const { sums, members, events } = readingOf(charge);
    const counting: Counting = { charge, names: neededNames(charge), rows: [], totals: new Map() };
    summings.push(...sums.map((each) => ({ ...each, counting, plan: planOf(each.window) })));
    listings.push(...members.map((each) => ({ ...each, counting, plan: planOf(each.window) })));
    if (events) scannings.push({ counting, window: events, plan: planOfScanning(events) });
    return counting;
  };
  const countings = await mapInSlices(request.charges, countingOf, pause);
  const scope = { db, organizationId };
  await Promise.all([addBuckets(scope, { mode, pause }, summings), addMembers(scope, { mode, pause }, listings)]);
  for (const { counting, window, plan } of [...summings.filter(({ days }) => days !== null), ...listings])
    scannings.push({ counting, window, plan });
  await Promise.all([
    addRawSums(scope, summings, pause),
    addEvents(scope, scannings, pause),
    addBilledTotals(scope, countings),
  ]);
  return mapInSlices(countings, (counting) => shared(counting, pause), pause);
}

/** Adds full hours from rollups; windows without a usable rollup are scanned. */
async function addBuckets(
  scope: Scope,
  { mode, pause }: Pick<CountRequest, 'mode' | 'pause'>,
  summings: readonly Summing[],
): Promise<void> {
  const requests = mode === 'scan' ? [] : await sharedRollups(summings, pause);
  const rows = requests.length === 0 ? [] : await sumBuckets(scope, requests);
  const add = (row: (typeof rows)[number]) => {
    if (row.events_count === null) return;
    const { texts } = row;
    assert(texts !== null, 'a group is stored before its first bucket');
    const portion = portionOf(row, row.hour);
    for (const n of row.ns) {
      const { counting, isBefore } = summings[n]!;
      counting.rows.push({ texts, isBefore, portion });
    }
  };
  await mapInSlices(rows, add, pause);
  scanUnanswered(summings, rows);
}

/** Adds members of unique counts from rollups; windows without a usable rollup are scanned. */
async function addMembers(
  scope: Scope,
  { mode, pause }: Pick<CountRequest, 'mode' | 'pause'>,
  listings: readonly Listing[],
): Promise<void> {
  const requests = mode === 'scan' ? [] : await sharedRollups(listings, pause);
  const rows = requests.length === 0 ? [] : await listMembers(scope, requests);
  const add = ({ ns, texts, settled, members }: (typeof rows)[number]) => {
    if (settled === null || members === null) return;
    assert(texts !== null, 'a group is stored before its first member');
    for (const n of ns) {
      const { counting, days } = listings[n]!;
      counting.rows.push({ texts, settled }); // a group is shown even if none of its values is in use any more
      for (const entry of members)
        counting.rows.push(...eventsOfMember(entry, days !== null).map((event) => ({ texts, event })));
    }
  };
  await mapInSlices(rows, add, pause);
  scanUnanswered(listings, rows);
}

function scanUnanswered(
  readings: readonly { window: UsageWindow; plan: ReadPlan }[],
  rows: readonly { ns: number[] }[],
) {
  const answered = new Set(rows.flatMap(({ ns }) => ns));
  for (const [n, reading] of readings.entries()) {
    if (!answered.has(n)) reading.plan = planOfScanning(reading.window);
  }
}

/** Edges of windows whose days matter are read event by event. */
const READ_OTHERWISE = { raw: [] };

async function addRawSums(scope: Scope, summings: readonly Summing[], pause: Pause | undefined): Promise<void> {
  const readings = summings.map((each) => (each.days === null ? each : { ...each, plan: READ_OTHERWISE }));
  const requests = await sharedRaw(readings, pause);
  const rows = requests.length === 0 ? [] : await countRawEvents(scope, requests);
  const namesOf = requests.map(allNames);
  const add = (row: (typeof rows)[number]) => {
    const texts = textsOf(namesOf[row.n]!, row.texts);
    const portion = portionOf(row, null);
    for (const { n } of requests[row.n]!.askers) {
      const { counting, isBefore } = summings[n]!;
      counting.rows.push({ texts, isBefore, portion });
    }
  };
  await mapInSlices(rows, add, pause);
}

async function addEvents(scope: Scope, scannings: readonly Scanning[], pause: Pause | undefined): Promise<void> {
  const requests = await sharedRaw(scannings, pause);
  const rows = requests.length === 0 ? [] : await listEvents(scope, requests);
  const namesOf = requests.map(allNames);
  const add = (row: (typeof rows)[number]) => {
    const shared = requests[row.n]!;
    const texts = textsOf(namesOf[row.n]!, row.texts);
    const event = row.key === null ? row : { ...row, text: valueHash(row.text) };
    for (const { n } of shared.askers) scannings[n]!.counting.rows.push({ texts, event });
  };
  await mapInSlices(rows, add, pause);
}

async function addBilledTotals(scope: Scope, countings: readonly Counting[]): Promise<void> {
  const requests = countings.flatMap(({ charge: { carriedOver, proration } }, n): TotalRequest[] => {
    if (carriedOver === undefined) return [];
    assert(proration, 'a running total is of a period');
    const { subscriptionId, chargeId } = carriedOver;
    return [{ n, subscription_id: subscriptionId, charge_id: chargeId, before: proration.period.from.toString() }];
  });
  const rows = requests.length === 0 ? [] : await listBilledTotals(scope, requests);
  const rowsOf = groupRows(rows, ({ n }) => n);
  for (const [n, counting] of countings.entries())
    counting.totals = billedTotals(rowsOf.get(n) ?? [], counting.charge.only);
}

function neededNames({ filters, groupKeys, only, presentationKeys = [] }: ChargeToCount): string[] {
  const names = filters.flatMap((filter) => [...Object.keys(filter.values), ...filter.groupKeys]);
  return [...new Set([...names, ...groupKeys, ...presentationKeys, ...Object.keys(only ?? {})])].sort();
}

const textsOf = (names: readonly string[], texts: readonly (string | null)[]): Texts =>
  Object.fromEntries(names.map((name, index) => [name, texts[index]]));

const portionOf = (
  { events_count, valid_count, sum, moment, max, amount, last }: Counted,
  hour: Portion['hour'],
): Portion => ({
  events_count,
  valid_count,
  sum,
  moment,
  max,
  last_ts: last && Temporal.Instant.from(last[0]),
  last_created_at: last && Temporal.Instant.from(last[1]),
  last_id: last?.[2] ?? null,
  last_value: last?.[3] ?? null,
  preciseTotalAmountCents: amount,
  hour,
});

/** Splits the rows of a charge into its shares and computes each. */
async function shared({ charge, rows, totals }: Counting, pause: Pause | undefined): Promise<CountedCharge> {
  const { metric, only } = charge;
  const taken = rows.filter(({ portion }) => portion === undefined || isTaken(metric.aggregation_type, portion));
  // A billed total contains everything before.
  const own = totals.size === 0 ? taken : taken.filter(({ isBefore }) => isBefore !== true);
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
    shares: await mapInSlices(
      all,
      ({ filter, groupedBy, rows: of, billedTotal }) => ({
        filterId: filter?.id ?? null,
        groupedBy,
        ...figuresOf(charge, { ...readOf(of), billedTotal }),
        ...presented(charge, of),
      }),
      pause,
    ),
  };
}

/** Whether a portion has an event that counts; the number of a latest value may be in another row. */
const isTaken = (type: AggregationType, portion: Portion): boolean =>
  holdsTaken(type, portion) || portion.last_ts !== null;

function readOf(rows: readonly Row[]): Omit<ShareRead, 'billedTotal'> {
  const portionsOf = (before: boolean) =>
    rows.flatMap(({ portion, isBefore }) => (portion && isBefore === before ? [portion] : []));
  return {
    portions: portionsOf(false),
    before: portionsOf(true),
    events: inOrder(rows.flatMap(({ event }) => (event ? [event] : []))),
    settled: rows.reduce((total, { settled = 0 }) => total + settled, 0),
  };
}

/** Events of unique counts come from several statements; all others from one, in order. */
function inOrder(events: ReadEvent[]): ReadEvent[] {
  const keyOf = ({ key }: ReadEvent) => key ?? '';
  return events.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** Units of a share by the presentation keys. Rule: groups-and-filters.md#presentation. */
function presented(charge: ChargeToCount, rows: readonly Row[]): Pick<CountedShare, 'presented'> {
  const { presentationKeys = [], metric } = charge;
  if (presentationKeys.length === 0) return {};
  const shown = metric.aggregation_type === 'latest_agg' ? newestRow(rows) : rows;
  const unitsOf = (own: readonly Row[]) => {
    const { units, fullUnits } = figuresOf(charge, { ...readOf(own), billedTotal: undefined });
    return fullUnits ?? units;
  };
  return { presented: presentUnits(presentationKeys, shown, ({ texts }) => texts, unitsOf) };
}

/** The row with the last value. */
function newestRow(rows: readonly Row[]): Row[] {
  const keyOf = ({ portion }: Row) =>
    portion?.last_ts ? `${portion.last_ts.toString({ fractionalSecondDigits: 6 })} ${portion.last_id}` : '';
  const last = rows.reduce<Row | undefined>(
    (newest, row) => (newest && keyOf(newest) >= keyOf(row) ? newest : row),
    undefined,
  );
  return last && keyOf(last) !== '' ? [last] : [];
}

const hasTexts = (texts: Texts, wanted: WantedTexts): boolean =>
  Object.entries(wanted).every(([name, any]) => any.some((text) => texts[name] === text));
