import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { Texts } from '../../../engine/metrics/choose-filter.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { mapInSlices } from '../../../platform/turns/turns.ts';
import { billedTotals } from './billed-totals.ts';
import type { Counting, Listing, Scanning, Summing } from './counted-charge.ts';
import { planOfScanning, plansOfReading, type ReadPlan } from './full-hours-and-days.ts';
import { listMembersInSteps } from './member-steps.ts';
import { eventsOfMember, valueHash } from './members-of-unique-counts.ts';
import { readingOf } from './plan-readings.ts';
import { countRawEvents, listBilledTotals, listEvents, type TotalRequest } from './queries.ts';
import type { ChargeToCount, CountRequest, UsageWindow } from './request.ts';
import { type Counted, listMembers, sumBuckets } from './rollup-queries.ts';
import { allNames } from './share-requests.ts';
import { sharedRaw, sharedRollups } from './shared-statements.ts';
import { readingInSteps, type Steps, stepFinder } from './step-readings.ts';
import type { Portion } from './units-of-shares.ts';

interface HowToRead extends Pick<CountRequest, 'mode' | 'pause'> {
  /** The ends at which the charges are counted, the last of which is that of their windows. */
  steps?: Steps | undefined;
}

/**
 * Everything that is needed to count charges, each row once: at most two round trips with at most five statements,
 * whatever the number of charges, groups and steps. With steps each row knows its own.
 */
export async function readRows(scope: Scope, charges: readonly ChargeToCount[], how: HowToRead): Promise<Counting[]> {
  const { pause, steps } = how;
  const summings: Summing[] = [];
  const listings: Listing[] = [];
  const scannings: Scanning[] = [];
  const planOf = plansOfReading();
  const countingOf = (charge: ChargeToCount) => {
    const { sums, members, events } = steps ? readingInSteps(charge, steps) : readingOf(charge);
    const counting: Counting = { charge, names: neededNames(charge), rows: [], totals: new Map(), isCut: false };
    summings.push(...sums.map((each) => ({ ...each, counting, plan: planOf(each.window) })));
    listings.push(...members.map((each) => ({ ...each, counting, plan: planOf(each.window) })));
    if (events) scannings.push({ counting, window: events, plan: planOfScanning(events) });
    return counting;
  };
  const countings = await mapInSlices(charges, countingOf, pause);
  await Promise.all([addBuckets(scope, how, summings), addMembers(scope, how, listings)]);
  for (const { counting, window, plan } of [...summings.filter(({ days }) => days !== null), ...listings])
    scannings.push({ counting, window, plan });
  await Promise.all([
    addRawSums(scope, how, summings),
    addEvents(scope, how, scannings),
    addBilledTotals(scope, countings),
  ]);
  return countings;
}

/** Adds full hours from rollups; windows without a usable rollup are scanned. */
async function addBuckets(
  scope: Scope,
  { mode, pause, steps }: HowToRead,
  summings: readonly Summing[],
): Promise<void> {
  const stepOf = stepFinder(steps);
  const requests = mode === 'scan' ? [] : await sharedRollups(summings, pause);
  const rows = requests.length === 0 ? [] : await sumBuckets(scope, requests);
  const add = (row: (typeof rows)[number]) => {
    if (row.events_count === null) return;
    const { texts } = row;
    assert(texts !== null, 'a group is stored before its first bucket');
    const portion = portionOf(row, row.hour);
    for (const n of row.ns) {
      const { counting, isBefore, days, step = 0 } = summings[n]!;
      counting.rows.push({ texts, isBefore, portion, step: days && portion.hour ? stepOf(portion.hour) : step });
    }
  };
  await mapInSlices(rows, add, pause);
  scanUnanswered(summings, rows);
}

/** Adds members of unique counts from rollups; windows without a usable rollup are scanned. */
async function addMembers(
  scope: Scope,
  { mode, pause, steps }: HowToRead,
  listings: readonly Listing[],
): Promise<void> {
  const requests = mode === 'scan' ? [] : await sharedRollups(listings, pause);
  const rows =
    requests.length === 0
      ? []
      : steps
        ? await listMembersInSteps(scope, requests, steps)
        : await listMembers(scope, requests);
  const stepOf = stepFinder(steps);
  const add = (row: (typeof rows)[number]) => {
    const { ns, texts, settled, members } = row;
    if (settled === null || members === null) return;
    assert(texts !== null, 'a group is stored before its first member');
    const { step, is_cut } = 'step' in row ? row : { step: 0, is_cut: false };
    for (const n of ns) {
      const { counting, days } = listings[n]!;
      counting.isCut ||= is_cut;
      counting.rows.push({ texts, settled, step }); // shown even if none of the group's values is in use any more
      for (const entry of members)
        for (const event of eventsOfMember(entry, days !== null))
          counting.rows.push({ texts, event, step: stepOf(event.timestamp) });
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

async function addRawSums(scope: Scope, { pause }: HowToRead, summings: readonly Summing[]): Promise<void> {
  const readings = summings.map((each) => (each.days === null ? each : { ...each, plan: READ_OTHERWISE }));
  const requests = await sharedRaw(readings, pause);
  const rows = requests.length === 0 ? [] : await countRawEvents(scope, requests);
  const namesOf = requests.map(allNames);
  const add = (row: (typeof rows)[number]) => {
    const texts = textsOf(namesOf[row.n]!, row.texts);
    const portion = portionOf(row, null);
    for (const { n } of requests[row.n]!.askers) {
      const { counting, isBefore, step = 0 } = summings[n]!;
      counting.rows.push({ texts, isBefore, portion, step });
    }
  };
  await mapInSlices(rows, add, pause);
}

async function addEvents(scope: Scope, { pause, steps }: HowToRead, scannings: readonly Scanning[]): Promise<void> {
  const requests = await sharedRaw(scannings, pause, steps?.mostEvents);
  const rows = requests.length === 0 ? [] : await listEvents(scope, requests);
  const namesOf = requests.map(allNames);
  const stepOf = stepFinder(steps);
  const read = requests.map(() => 0);
  const add = (row: (typeof rows)[number]) => {
    const { askers } = requests[row.n]!;
    read[row.n]! += 1;
    if (steps && read[row.n]! > steps.mostEvents) {
      for (const { n } of askers) scannings[n]!.counting.isCut = true;
      return;
    }
    const texts = textsOf(namesOf[row.n]!, row.texts);
    const event = row.key === null ? row : { ...row, text: valueHash(row.text) };
    const step = stepOf(row.timestamp);
    for (const { n } of askers) scannings[n]!.counting.rows.push({ texts, event, step });
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
