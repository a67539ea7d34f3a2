import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { repairHours } from '../../../../src/areas/usage/build-shapes/repair-hours.ts';
import { findLiveShape } from '../../../../src/areas/usage/build-shapes/rollup-rows.ts';
import { finishBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { countSteps } from '../../../../src/areas/usage/usage-counts/count-steps.ts';
import { countUsage } from '../../../../src/areas/usage/usage-counts/count-usage.ts';
import type {
  ChargeToCount,
  CountedShare,
  FilterToCount,
  MetricToCount,
  UsageWindow,
} from '../../../../src/areas/usage/usage-counts/request.ts';
import type { AggregationType } from '../../../../src/engine/metrics/aggregation-types.ts';
import type { Proration } from '../../../../src/engine/metrics/proration.ts';
import { decimal, sum } from '../../../../src/engine/money/decimal.ts';
import type { Scope } from '../../../../src/platform/db/scope.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, RECEIVED, type Sent, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let statements: string[] = [];
let organizationId: string;
let count: { id: string; shapeId: string };
let total: { id: string; shapeId: string };
let peaks: { id: string; shapeId: string };
let disks: { id: string; shapeId: string };
let latest: { id: string; shapeId: string };
let seats: { id: string; shapeId: string };

beforeAll(async () => {
  database = await createTestDatabase({ onStatement: (text) => statements.push(text.trim()) });
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
  count = await makeMetric(database.sql, organizationId, { code: 'calls', shape: ['cloud', 'region', 'team'] });
  total = await makeMetric(database.sql, organizationId, {
    code: 'sums',
    aggregation_type: 'sum_agg',
    field_name: 'value',
    shape: ['cloud', 'region', 'team'],
  });
  const numeric = { field_name: 'value', shape: ['cloud', 'region', 'team'] };
  peaks = await makeMetric(database.sql, organizationId, { ...numeric, code: 'peaks', aggregation_type: 'max_agg' });
  disks = await makeMetric(database.sql, organizationId, {
    ...numeric,
    code: 'disks',
    aggregation_type: 'weighted_sum_agg',
  });
  latest = await makeMetric(database.sql, organizationId, {
    ...numeric,
    code: 'latest',
    aggregation_type: 'latest_agg',
  });
  seats = await makeMetric(database.sql, organizationId, {
    ...numeric,
    code: 'seats',
    aggregation_type: 'unique_count_agg',
  });
  // Histories lie within two days, so that some windows hold a full one.
  await database.sql`update usage_shapes set keeps_days = true where id = any (${[total.shapeId, disks.shapeId]})`;
});
afterAll(() => database.drop());

const instant = (text: string) => Temporal.Instant.from(text);
const created = instant(RECEIVED);
// Fixed texts, since the order of filters by id decides nothing here.
const FILTERS: FilterToCount[] = [
  { id: '00000000-0000-7000-8000-000000000001', created_at: created, values: { region: ['eu'] }, groupKeys: ['team'] },
  {
    id: '00000000-0000-7000-8000-000000000002',
    created_at: created,
    values: { region: ['eu'], cloud: ['aws'] },
    groupKeys: [],
  },
];

function charge(
  externalSubscriptionId: string,
  window: UsageWindow,
  changes: Partial<ChargeToCount> = {},
): ChargeToCount {
  return {
    key: 'charge',
    externalSubscriptionId,
    metric: { id: count.id, code: 'calls', aggregation_type: 'count_agg', field_name: null, filters: [] },
    filters: FILTERS,
    groupKeys: ['team'],
    window,
    ...changes,
  };
}
const sumMetric = () => ({
  id: total.id,
  code: 'sums',
  aggregation_type: 'sum_agg' as const,
  field_name: 'value',
  filters: [],
});
const between = (from: string | null, to: string): UsageWindow => ({
  from: from ? instant(from) : null,
  to: instant(to),
});

/** The shares that hold events, in a form that compares well. */
const used = (counted: Awaited<ReturnType<typeof countUsage>>) =>
  counted.map(({ key, shares }) => ({
    key,
    shares: shares
      .filter((share) => share.eventsCount > 0)
      .map((share) => [
        share.filterId?.at(-1) ?? null,
        share.groupedBy.team ?? null,
        share.units.toFixed(),
        share.eventsCount,
        ...(share.preciseTotalAmountCents ? [share.preciseTotalAmountCents.toFixed()] : []),
      ]),
  }));

const usage = async (charges: ChargeToCount[], mode: 'rollup' | 'scan' = 'rollup') =>
  used(await countUsage(database.sql, { organizationId, charges, mode }));

const metricOf = (id: string, code: string, aggregation_type: AggregationType): MetricToCount => ({
  id,
  code,
  aggregation_type,
  field_name: 'value',
  filters: [],
});

interface Event {
  code: Code;
  /** Microseconds since 1970. */
  at: number;
  region: string | null;
  cloud: string | null;
  team: string | null;
  value: string | number | null;
  amount: string | null;
  operation: string | null;
  isDeleted: boolean;
}

const CODES = ['calls', 'sums', 'peaks', 'disks', 'latest', 'seats'] as const;
type Code = (typeof CODES)[number];

const HOUR = 3_600_000_000;
const START = Date.UTC(2024, 2, 1) * 1000;
/** Instants that crowd at the edges of hours. */
const time = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom(-1, 0, 1, 999, 1000, HOUR / 2, HOUR - 1))
  .map(([hour, offset]) => START + hour * HOUR + offset);
const event: fc.Arbitrary<Event> = fc.record({
  code: fc.constantFrom(...CODES),
  at: time,
  region: fc.constantFrom('eu', 'us', '', null),
  cloud: fc.constantFrom('aws', 'gcp', null),
  team: fc.constantFrom('a', 'b', '', null),
  value: fc.constantFrom(1, 2.5, '-3', '0.1', '1e3', 'abc', '', null),
  amount: fc.constantFrom('12.5', '-0.000000000000001', '1234.0000000000000004', null),
  operation: fc.constantFrom('add', 'remove', 'Remove', null),
  isDeleted: fc.boolean(),
});
const windows = fc.tuple(time, time).map(([a, b]) => [Math.min(a, b), Math.max(a, b) + 1] as const);

/** Two of an hour's three events are retracted, so its repair is asked for twice. */
const MIDNIGHT = 1_709_251_200_000_000;
const TWO_RETRACTED = [true, true, false].map(
  (isDeleted, index): Event => ({
    code: 'latest',
    at: MIDNIGHT + index,
    region: null,
    cloud: null,
    team: null,
    value: 1,
    amount: null,
    operation: null,
    isDeleted,
  }),
);

/** An event each microsecond, of every kind of metric. */
const IN_SEQUENCE = CODES.flatMap((code) =>
  [0, 1, 2].map(
    (offset): Event => ({
      code,
      at: MIDNIGHT + offset,
      region: null,
      cloud: null,
      team: null,
      value: offset + 1,
      amount: null,
      operation: null,
      isDeleted: false,
    }),
  ),
);

const isoOf = (micros: number) =>
  Temporal.Instant.fromEpochNanoseconds(BigInt(micros) * 1000n).toString({ fractionalSecondDigits: 6 });

function sentAs({ code, at, value, amount, operation, ...texts }: Event, subscription: string): Sent {
  const properties = { value, operation_type: operation, region: texts.region, cloud: texts.cloud, team: texts.team };
  const given = Object.entries(properties).filter(([, text]) => text !== null);
  return {
    code,
    external_subscription_id: subscription,
    timestamp: `${Math.floor(at / 1e6)}.${String(at % 1e6).padStart(6, '0')}`,
    properties: Object.fromEntries(given),
    ...(amount === null ? {} : { precise_total_amount_cents: amount }),
  };
}

/** A number of the events of one filter and group, and how many of them count. */
type Rule = (events: Event[], from: number, to: number) => [units: string, eventsCount: number, amount?: string];

const isNumber = ({ value }: Event) => /^-?[0-9]+(\.[0-9]+)?$/.test(String(value));
const numberOf = ({ value }: Event) => decimal(String(value));
const totalOf = (events: Event[]) => sum(events.map(numberOf));
const DAY = 24 * HOUR;
const OFFSETS = { UTC: 0, 'Asia/Kathmandu': 5.75 * HOUR };
let offset = 0;
const dayOf = (at: number) => Math.floor((at + offset) / DAY);

/** Values whose last operation is not their removal. */
function membersOf(events: Event[]): Set<string> {
  const last = new Map(events.map(({ value, operation }) => [String(value), operation]));
  return new Set([...last].filter(([, operation]) => operation !== 'remove').map(([value]) => value));
}

/** Days on which a value is in use at the day's start or is added. */
function daysOfMembers(events: Event[], from: number, to: number): number {
  let days = 0;
  for (let day = dayOf(from); day <= dayOf(to - 1); day += 1) {
    const opening = Math.max(day * DAY - offset, from);
    const used = membersOf(events.filter(({ at }) => at < opening));
    for (const { at, value, operation } of events)
      if (at >= opening && at < (day + 1) * DAY - offset && operation !== 'remove') used.add(String(value));
    days += used.size;
  }
  return days;
}

const unitSeconds = (events: Event[], to: number) =>
  sum(events.map((each) => numberOf(each).times(Math.ceil((to - 1) / 1e6) * 1e6 - each.at))).div(1e6);
const ceilAt = (digits: number, units: ReturnType<typeof decimal>) => units.toDecimalPlaces(digits, 2).toFixed();

const RULES: Record<string, { code: Code; isRecurring?: boolean; rule: Rule }> = {
  calls: { code: 'calls', rule: (events) => [String(events.length), events.length] },
  sums: { code: 'sums', rule: (events) => [totalOf(events).toFixed(), events.length] },
  dynamic: {
    code: 'sums',
    rule: (events) => [
      totalOf(events).toFixed(),
      events.length,
      sum(events.map(({ amount }) => decimal(amount ?? 0).toDecimalPlaces(15))).toFixed(),
    ],
  },
  recurring: { code: 'sums', isRecurring: true, rule: (events) => [totalOf(events).toFixed(), events.length] },
  peaks: {
    code: 'peaks',
    rule: (events) => [
      events
        .map(numberOf)
        .reduce((a, b) => (a.gt(b) ? a : b))
        .toFixed(),
      events.length,
    ],
  },
  latest: {
    code: 'latest',
    rule: (events) => [
      (numberOf(events.at(-1)!).isNegative() ? decimal(0) : numberOf(events.at(-1)!)).toFixed(),
      events.length,
    ],
  },
  disks: {
    code: 'disks',
    rule: (events, _from, to) => [ceilAt(20, unitSeconds(events, to).div(31 * 86_400)), events.length],
  },
  seats: { code: 'seats', rule: (events) => [String(membersOf(events).size), membersOf(events).size] },
  members: {
    code: 'seats',
    isRecurring: true,
    rule: (events) => [String(membersOf(events).size), membersOf(events).size],
  },
  proratedSum: {
    code: 'sums',
    isRecurring: true,
    rule: (events, from, to) => [
      ceilAt(
        5,
        sum(events.map((each) => numberOf(each).times(dayOf(to - 1) - dayOf(Math.max(each.at, from)) + 1))).div(31),
      ),
      events.length,
    ],
  },
  proratedMembers: {
    code: 'seats',
    isRecurring: true,
    rule: (events, from, to) => [ceilAt(5, decimal(daysOfMembers(events, from, to)).div(31)), membersOf(events).size],
  },
};

/** What the rules say, event by event. */
function reference(events: Event[], name: string, from: number, to: number) {
  const { code, isRecurring, rule } = RULES[name]!;
  const floored = Math.floor(from / 1000) * 1000;
  const shares = new Map<string, { events: Event[]; row: (string | null)[] }>();
  for (const each of events.toSorted((a, b) => a.at - b.at)) {
    if (each.isDeleted || each.code !== code || (each.at < floored && !isRecurring) || each.at >= to) continue;
    if (code === 'seats' ? each.value === null : code !== 'calls' && !isNumber(each)) continue;
    const filter = each.region === 'eu' ? (each.cloud === 'aws' ? '2' : '1') : null;
    const row = [filter, filter === '2' ? null : each.team || null];
    const share = shares.get(JSON.stringify(row)) ?? { events: [], row };
    share.events.push(each);
    shares.set(JSON.stringify(row), share);
  }
  const all = [...shares.values()].map(({ events: own, row }) => [...row, ...rule(own, floored, to)]);
  // Without any event that counts a filter, or the default bucket, has one share of nothing.
  const empty = ['1', '2', null].filter((filter) => all.every((share) => share[0] !== filter));
  return {
    shares: all.filter((share) => (share[3] as number) > 0),
    groups: [...all.map((share) => share.slice(0, 2)), ...empty.map((filter) => [filter, null])],
  };
}

/** Shares with all their figures, in a form that compares well. */
const comparable = (shares: readonly CountedShare[]) => sorted(shares.map((share) => Object.entries(share).toSorted()));

const sorted = (shares: unknown[][]) => shares.map((share) => JSON.stringify(share)).sort();

test('rollups, scans and the rules agree on any history and window', { timeout: 120_000 }, async () => {
  const { store, jobs } = storage(database.sql);
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 80 }),
      windows,
      fc.boolean(),
      fc.constantFrom('UTC' as const, 'Asia/Kathmandu' as const),
      fc.boolean(),
      fc.array(fc.constantFrom('finish', 'finish twice', 'rebuild', 'wait'), { maxLength: 4 }),
      fc.array(time, { maxLength: 3 }),
      async (events, [from, to], repairs, zone, isBackwards, steps, cuts) => {
        const subscription = newId();
        const batches = events.map((each) => incoming(organizationId, [sentAs(each, subscription)]));
        const arriving = isBackwards ? batches.toReversed() : batches;
        const share = Math.ceil(arriving.length / (steps.length + 1));
        for (let first = 0; first < arriving.length; first += share) {
          jobs.length = 0;
          await store(...arriving.slice(first, first + share));
          await settle(steps[first / share], subscription, jobs);
        }
        offset = OFFSETS[zone];
        const deleted = batches.filter((_, index) => events[index]!.isDeleted).map((batch) => batch.events[0]!.id);
        await remove(subscription, deleted, repairs);
        const window = { from: instant(isoOf(from)), to: instant(isoOf(to)) };
        const ever = { ...window, from: null };
        const proration: Proration = { period: window, periodDays: 31, zone, isUpgraded: false };
        const seatMetric = metricOf(seats.id, 'seats', 'unique_count_agg');
        const prorated = { proration, isProrated: true };
        const charges = [
          charge(subscription, window, { key: 'calls' }),
          charge(subscription, window, { key: 'sums', metric: sumMetric() }),
          charge(subscription, window, { key: 'dynamic', metric: sumMetric(), needs: 'amounts' }),
          charge(subscription, ever, { key: 'recurring', metric: sumMetric() }),
          charge(subscription, window, { key: 'peaks', metric: metricOf(peaks.id, 'peaks', 'max_agg') }),
          charge(subscription, window, { key: 'latest', metric: metricOf(latest.id, 'latest', 'latest_agg') }),
          charge(subscription, window, {
            key: 'disks',
            metric: metricOf(disks.id, 'disks', 'weighted_sum_agg'),
            proration,
          }),
          charge(subscription, window, { key: 'seats', metric: seatMetric }),
          charge(subscription, ever, { key: 'members', metric: seatMetric }),
          charge(subscription, ever, { key: 'proratedSum', metric: sumMetric(), ...prorated }),
          charge(subscription, ever, { key: 'proratedMembers', metric: seatMetric, ...prorated }),
        ];
        for (const mode of ['rollup', 'scan'] as const) {
          const counted = await countUsage(database.sql, { organizationId, charges, mode });
          for (const [n, { key, shares }] of used(counted).entries()) {
            const expected = reference(events, key, from, to);
            expect([mode, key, sorted(shares)]).toEqual([mode, key, sorted(expected.shares)]);
            const groups = counted[n]!.shares.map((share) => [
              share.filterId?.at(-1) ?? null,
              share.groupedBy.team ?? null,
            ]);
            expect([mode, key, sorted(groups)]).toEqual([mode, key, sorted(expected.groups)]);
          }
        }
        // Counted at several ends, each charge is what it is when it is counted up to that end alone.
        const ends = [
          ...new Set([from, ...cuts.filter((cut) => cut > from && cut < to).toSorted((a, b) => a - b), to]),
        ];
        const asSteps = [
          ...charges,
          charge(subscription, window, { key: 'values', metric: sumMetric(), needs: 'values' }),
          charge(subscription, window, { key: 'firsts', metric: sumMetric(), firstValues: 2 }),
          charge(subscription, ever, { key: 'moves', metric: sumMetric(), ...prorated, needs: 'moves' }),
        ];
        const stepped = await countSteps({ db: database.sql, organizationId } as Scope, asSteps, {
          ends: ends.map((end) => instant(isoOf(end))),
          pause: undefined,
        });
        for (const [at, end] of ends.entries()) {
          const until = (each: ChargeToCount) => ({ ...each, window: { ...each.window, to: instant(isoOf(end)) } });
          const alone = await countUsage(database.sql, { organizationId, charges: asSteps.map(until) });
          for (const [n, { key, shares }] of alone.entries())
            expect([key, at, comparable(stepped[n]!.at![at]!)]).toEqual([key, at, comparable(shares)]);
        }
      },
    ),
    {
      numRuns: 60,
      examples: [
        [TWO_RETRACTED, [MIDNIGHT, MIDNIGHT + 3_600_000_000], true, 'UTC', false, [], []],
        // The window begins, and a step ends, within the millisecond of an event.
        [IN_SEQUENCE, [MIDNIGHT + 1, MIDNIGHT + HOUR], false, 'UTC', false, [], []],
        [IN_SEQUENCE, [MIDNIGHT - HOUR, MIDNIGHT + HOUR], false, 'UTC', false, [], [MIDNIGHT + 1, MIDNIGHT + 2]],
      ],
    },
  );
});

test('each event is in one bucket once, in whatever order and however often it is sent (golden-usage.md#invariants)', async () => {
  const { store } = storage(database.sql);
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          region: fc.constantFrom('eu', 'us', null),
          cloud: fc.constantFrom('aws', null),
          value: fc.integer(),
        }),
        {
          minLength: 1,
          maxLength: 25,
        },
      ),
      fc.boolean(),
      async (values, isBackwards) => {
        const [first, second] = [newId(), newId()];
        const sentTo = (external_subscription_id: string) =>
          values.flatMap(({ region, cloud, value }, index) =>
            (['calls', 'sums'] as const).map((code) => ({
              transaction_id: `${code}-${index}`,
              external_subscription_id,
              code,
              timestamp: 1709287200,
              properties: { value, ...(region === null ? {} : { region }), ...(cloud === null ? {} : { cloud }) },
            })),
          );
        await store(incoming(organizationId, sentTo(first)));
        await store(incoming(organizationId, sentTo(first)));
        const other = sentTo(second);
        for (const each of isBackwards ? other.toReversed() : other) await store(incoming(organizationId, [each]));
        const window = between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z');
        const [once, again] = await Promise.all(
          [first, second].map((subscription) =>
            usage([
              charge(subscription, window, { key: 'calls' }),
              charge(subscription, window, { key: 'sums', metric: sumMetric() }),
            ]),
          ),
        );
        expect(once).toEqual(again);
        const counted = once!.map(({ shares }) => shares.reduce((total, share) => total + Number(share[3]), 0));
        expect(counted).toEqual([values.length, values.length]);
      },
    ),
    { numRuns: 15 },
  );
});

const shapes = () => [
  { ...count, code: 'calls' },
  { ...total, code: 'sums' },
  { ...peaks, code: 'peaks' },
  { ...disks, code: 'disks' },
  { ...latest, code: 'latest' },
  { ...seats, code: 'seats' },
];

/**
 * What becomes of stored batches meanwhile: their steps are done, once or twice, or their hours are built anew, or
 * nothing.
 */
async function settle(step: string | undefined, subscription: string, jobs: { payload: unknown }[]): Promise<void> {
  const ids = jobs.flatMap(({ payload }) => (payload as { batch_ids: string[] }).batch_ids);
  if (step === 'finish twice') {
    const again = newId();
    await database.sql`
      insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
      select ${again}, organization_ids, event_ids, created_at, enqueued_at from event_batches where id = ${ids[0]!}`;
    await database.sql.begin((tx) => finishBatches(tx, [again]));
  }
  if (step === 'finish' || step === 'finish twice') await database.sql.begin((tx) => finishBatches(tx, ids));
  if (step !== 'rebuild') return;
  await database.sql.begin(async (tx) => {
    const hours = await tx<{ hour: Temporal.Instant }[]>`
      select distinct date_bin('1 hour', timestamp, timestamptz 'epoch') as hour from events
      where organization_id = ${organizationId} and external_subscription_id = ${subscription}`;
    for (const { shapeId } of shapes()) {
      const shape = (await findLiveShape({ db: tx, organizationId }, shapeId))!;
      await repairHours(
        tx,
        shape,
        hours.map(({ hour }) => ({ external_subscription_id: subscription, hour })),
      );
    }
  });
}

/** Deletes events and either repairs their hours or leaves them to be repaired. */
async function remove(subscription: string, ids: string[], repairs: boolean): Promise<void> {
  await database.sql.begin(async (tx) => {
    const hours = await tx<{ code: string; hour: Temporal.Instant }[]>`
      update events set deleted_at = ${RECEIVED} where id = any (${ids}::uuid[])
      returning code, date_bin('1 hour', timestamp, timestamptz 'epoch') as hour`;
    for (const { shapeId, code } of shapes()) {
      const keys = hours
        .filter((row) => row.code === code)
        .map((row) => ({ external_subscription_id: subscription, hour: row.hour }));
      const shape = (await findLiveShape({ db: tx, organizationId }, shapeId))!;
      if (repairs) await repairHours(tx, shape, keys);
      else
        for (const { hour } of keys)
          await tx`
            insert into usage_dirty_hours (organization_id, shape_id, external_subscription_id, hour)
            values (${organizationId}, ${shapeId}, ${subscription}, ${hour}) on conflict do nothing`;
    }
  });
}

describe('windows of usage', () => {
  test('both ends of a window count to the microsecond, the lower one from its millisecond', async () => {
    const { store } = storage(database.sql);
    const times = ['100.999999', '101', '101.000999', '3700', '7300.000001', '7300.000002'];
    await store(
      ...times.map((timestamp) => incoming(organizationId, [{ timestamp, external_subscription_id: 'edges' }])),
    );
    const counted = async (from: string, to: string, mode: 'rollup' | 'scan') =>
      (await usage([charge('edges', between(from, to), { filters: [], groupKeys: [] })], mode))[0]!.shares[0]?.[3] ?? 0;
    for (const mode of ['rollup', 'scan'] as const) {
      expect(await counted('1970-01-01T00:01:41.000999Z', '1970-01-01T02:01:40.000002Z', mode)).toBe(4);
      expect(await counted('1970-01-01T00:01:41.001Z', '1970-01-01T02:01:40.000001Z', mode)).toBe(1);
      expect(await counted('1970-01-01T00:00:00Z', '1970-01-01T03:00:00Z', mode)).toBe(6);
    }
  });

  test('a window may be open at its start', async () => {
    const { store } = storage(database.sql);
    await store(
      ...['-62135596800', '0', '1709290800'].map((timestamp) =>
        incoming(organizationId, [
          { timestamp, external_subscription_id: 'ever', code: 'sums', properties: { value: '2' } },
        ]),
      ),
    );
    const charges = [charge('ever', between(null, '2024-03-01T11:00:00Z'), { metric: sumMetric() })];
    expect(await usage(charges)).toEqual([{ key: 'charge', shares: [[null, null, '4', 2]] }]);
    expect(await usage(charges, 'scan')).toEqual(await usage(charges));
  });

  test('an event at the instant of a plan change counts once, by its id for the old or the new subscription', async () => {
    const { store } = storage(database.sql);
    const at = { timestamp: '1709287200', external_subscription_id: 'upgraded' };
    await store(incoming(organizationId, [at]));
    const successor = newId();
    await store(incoming(organizationId, [at]), incoming(organizationId, [{ ...at, timestamp: '1709290800.5' }]));
    const change = '2024-03-01T10:00:00Z';
    const old = between('2024-03-01T00:00:00Z', '2024-03-01T10:00:00.000001Z');
    const next = between(change, '2024-04-01T00:00:00Z');
    const charges = [
      charge('upgraded', { ...old, replacedBy: successor }, { key: 'old' }),
      charge('upgraded', { ...next, startedAs: successor }, { key: 'new' }),
    ];
    for (const mode of ['rollup', 'scan'] as const) {
      expect(await usage(charges, mode)).toEqual([
        { key: 'old', shares: [[null, null, '1', 1]] },
        { key: 'new', shares: [[null, null, '2', 2]] },
      ]);
    }
  });
});

test('a charge without events has an empty share for each filter and the default bucket', async () => {
  const [counted] = await countUsage(database.sql, {
    organizationId,
    charges: [charge('nobody', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'))],
  });
  expect(
    counted!.shares.map((share) => [share.filterId, share.groupedBy, share.units.toFixed(), share.eventsCount]),
  ).toEqual([
    [FILTERS[0]!.id, { team: null }, '0', 0],
    [FILTERS[1]!.id, {}, '0', 0],
    [null, { team: null }, '0', 0],
  ]);
});

test('usage may be restricted to events with given property texts', async () => {
  const { store } = storage(database.sql);
  await store(
    ...['a', 'b', 'b'].map((team) =>
      incoming(organizationId, [{ external_subscription_id: 'teams', timestamp: 1709287200, properties: { team } }]),
    ),
  );
  const asked = charge('teams', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'), {
    filters: [],
    groupKeys: [],
    only: { team: ['b'] },
  });
  expect(await usage([asked])).toEqual([{ key: 'charge', shares: [[null, null, '2', 2]] }]);
  expect(await usage([{ ...asked, only: { team: ['a', 'c', 'b'] } }])).toEqual([
    { key: 'charge', shares: [[null, null, '3', 3]] },
  ]);
});

test.each([
  ['all together', [], [[null, ['1', '2']]]],
  [
    'by group',
    ['team'],
    [
      ['a', ['1', '3']],
      ['b', ['2', '7']],
    ],
  ],
])('only the first single values are read beside the units of all: %s', async (_name, groupKeys, expected) => {
  const { store } = storage(database.sql);
  const subscription = newId();
  const values = [1, 2, 3, 'x', 5, 7, -4];
  for (const [index, value] of values.entries()) {
    const properties = { value, team: index % 2 === 0 ? 'a' : 'b' };
    const timestamp = 1709287200 + (index > 4 ? 86_400 : index);
    const sent = { code: 'sums', timestamp, external_subscription_id: subscription, properties };
    await store(incoming(organizationId, [sent]));
  }
  const window = between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z');
  const charges = [charge(subscription, window, { metric: sumMetric(), filters: [], groupKeys, firstValues: 2 })];
  for (const mode of ['rollup', 'scan'] as const) {
    const [counted] = await countUsage(database.sql, { organizationId, charges, mode });
    expect(
      counted!.shares.map((share) => [share.groupedBy.team ?? null, share.values!.slice(0, 2).map(String)]),
    ).toEqual(expected);
    expect(sum(counted!.shares.map(({ units }) => units)).toFixed()).toBe('14');
    expect(counted!.shares.reduce((total, { eventsCount }) => total + eventsCount, 0)).toBe(6);
  }
});

test('counting usage takes two round trips whatever the number of charges, and scans no full hours', async () => {
  const window = between('2024-03-01T00:30:00Z', '2024-04-01T00:00:00.000001Z');
  const charges = Array.from({ length: 30 }, (_, index) =>
    charge(`s${index}`, window, { key: `${index}`, ...(index % 2 ? { metric: sumMetric() } : {}) }),
  );
  statements = [];
  expect(await usage(charges)).toHaveLength(30);
  expect(statements).toHaveLength(2);
  statements = [];
  await usage([charge('s1', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'))]);
  expect(statements).toHaveLength(1);
});

test('full hours are read from rollups, whatever happens to their events', async () => {
  const { store, jobs } = storage(database.sql);
  const events = [
    { timestamp: '1709251200', value: '4' },
    { timestamp: '1709337600', value: '7' },
    { timestamp: '1709337601', value: '4' },
    { timestamp: '1709424000', value: '5.5' },
  ];
  for (const { timestamp, value } of events)
    for (const code of ['sums', 'latest', 'seats'])
      await store(
        incoming(organizationId, [{ code, timestamp, external_subscription_id: 'gone', properties: { value } }]),
      );
  for (const { payload } of jobs)
    await database.sql.begin((tx) => finishBatches(tx, (payload as { batch_ids: string[] }).batch_ids));
  await database.sql`delete from events where external_subscription_id = 'gone'`;
  const window = between('2024-03-02T00:00:00Z', '2024-04-01T00:00:00Z');
  const ever = { ...window, from: null };
  const proration: Proration = {
    period: { from: window.from!, to: window.to },
    periodDays: 31,
    zone: 'America/New_York',
    isUpgraded: false,
  };
  const prorated = { proration, isProrated: true };
  const seatMetric = metricOf(seats.id, 'seats', 'unique_count_agg');
  const counted = await usage([
    charge('gone', window, { key: 'latest', metric: metricOf(latest.id, 'latest', 'latest_agg') }),
    charge('gone', window, { key: 'seats', metric: seatMetric }),
    charge('gone', ever, { key: 'members', metric: seatMetric }),
    charge('gone', ever, { key: 'proratedMembers', metric: seatMetric, ...prorated }),
    charge('gone', ever, { key: 'proratedSum', metric: sumMetric(), ...prorated }),
    charge('gone', window, { key: 'dynamic', metric: sumMetric(), needs: 'amounts' }),
  ]);
  expect(counted.map(({ key, shares }) => [key, ...(shares[0] ?? []).slice(2)])).toEqual([
    ['latest', '5.5', 3],
    ['seats', '3', 3],
    ['members', '3', 3],
    // 4 since ever, 7 from the 1st and 5.5 from the 2nd of March in New York: 31 + 31 + 30 days.
    ['proratedMembers', '2.96775', 3],
    ['proratedSum', '20.32259', 4],
    ['dynamic', '16.5', 3, '0'],
  ]);
});

test('counting usage takes at most five statements in two round trips', async () => {
  const window = between('2024-03-01T00:30:00Z', '2024-04-01T00:00:00.000001Z');
  const proration: Proration = {
    period: { from: window.from!, to: window.to },
    periodDays: 31,
    zone: 'UTC',
    isUpgraded: false,
  };
  const disk = metricOf(disks.id, 'disks', 'weighted_sum_agg');
  const carriedOver = { subscriptionId: newId(), chargeId: newId(), replacesAnother: true };
  const charges = [
    charge('s', window),
    charge('s', window, { metric: metricOf(seats.id, 'seats', 'unique_count_agg') }),
    charge('s', { ...window, from: null }, { metric: sumMetric(), proration, isProrated: true }),
    charge('s', window, { metric: sumMetric(), needs: 'amounts' }),
    charge('s', window, { metric: sumMetric(), needs: 'values' }),
    charge('s', window, { metric: metricOf(latest.id, 'latest', 'latest_agg') }),
    charge('s', window, { metric: disk, proration, carriedOver }),
  ];
  await countUsage(database.sql, { organizationId, charges }); // opens the connections
  statements = [];
  await countUsage(database.sql, { organizationId, charges });
  expect(statements).toHaveLength(5);
});

test('single values come in processing order, and amounts of numeric events only, per group', async () => {
  const { store } = storage(database.sql);
  const sends: [number, string | number, string, string | undefined][] = [
    [3, 5, 'a', '1.5'],
    [1, '2.5', 'a', '100.25'],
    [1, 7, 'b', undefined],
    [2, 'none', 'a', '9'],
    [1, 1, 'a', '0.000000000000001'],
  ];
  for (const [second, value, team, amount] of sends)
    await store(
      incoming(organizationId, [
        {
          code: 'sums',
          external_subscription_id: 'valued',
          timestamp: 1709287200 + second,
          properties: { value, team },
          ...(amount === undefined ? {} : { precise_total_amount_cents: amount }),
        },
      ]),
    );
  const window = between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z');
  const asked = { metric: sumMetric(), filters: [] };
  const [values, amounts] = await countUsage(database.sql, {
    organizationId,
    charges: [
      charge('valued', window, { ...asked, needs: 'values' }),
      charge('valued', window, { ...asked, needs: 'amounts' }),
    ],
  });
  expect(values!.shares.map((share) => share.values?.map(String))).toEqual([['2.5', '1', '5'], ['7']]);
  expect(values!.shares.map((share) => [share.units.toFixed(), share.eventsCount])).toEqual([
    ['8.5', 3],
    ['7', 1],
  ]);
  expect(amounts!.shares.map((share) => share.preciseTotalAmountCents?.toFixed())).toEqual([
    '101.750000000000001',
    '0',
  ]);
});

test('a recurring sum of a subscription that replaced another one includes what was stored before it', async () => {
  const { store } = storage(database.sql);
  const event = { code: 'sums', external_subscription_id: 'heir', properties: { value: 4 } };
  await store(incoming(organizationId, [{ ...event, timestamp: '1709287200' }]));
  const startedAs = newId();
  await store(incoming(organizationId, [{ ...event, timestamp: '1709290800' }]));
  const window = { ...between(null, '2024-03-01T11:30:00Z'), startedAs };
  for (const mode of ['rollup', 'scan'] as const)
    expect(await usage([charge('heir', window, { metric: sumMetric() })], mode)).toEqual([
      { key: 'charge', shares: [[null, null, '8', 2]] },
    ]);
});

test('a charge that needs properties beyond its shape is counted by a scan', async () => {
  const { store } = storage(database.sql);
  await store(
    incoming(organizationId, [
      { external_subscription_id: 'planets', timestamp: 1709287200, properties: { planet: 'mars' } },
    ]),
  );
  const asked = charge('planets', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'), {
    filters: [{ ...FILTERS[0]!, values: { planet: ['mars'] }, groupKeys: [] }],
  });
  expect(await usage([asked])).toEqual([{ key: 'charge', shares: [['1', null, '1', 1]] }]);
});

test('a subscription marked for scans is counted by a scan', async () => {
  const { sql } = database;
  const { store } = storage(sql);
  await sql`
    insert into usage_raw_subscriptions (organization_id, shape_id, external_subscription_id, marked_at)
    values (${organizationId}, ${count.shapeId}, 'raw', ${RECEIVED})`;
  await sql`update organizations set shapes_version = shapes_version + 1 where id = ${organizationId}`;
  await store(incoming(organizationId, [{ external_subscription_id: 'raw', timestamp: 1709287200 }]));
  expect(await sql`select from usage_buckets where external_subscription_id = 'raw'`).toHaveLength(0);
  expect(await usage([charge('raw', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'))])).toEqual([
    { key: 'charge', shares: [[null, null, '1', 1]] },
  ]);
});
