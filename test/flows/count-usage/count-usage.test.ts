import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decimal, sum } from '../../../src/engine/money/decimal.ts';
import { repairHours } from '../../../src/flows/build-shapes/repair.ts';
import { findLiveShape } from '../../../src/flows/build-shapes/sql.ts';
import { countUsage } from '../../../src/flows/count-usage/count-usage.ts';
import type { ChargeToCount, FilterToCount, UsageWindow } from '../../../src/flows/count-usage/request.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createOrganization } from '../../../src/resources/organizations/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { incoming, makeMetric, RECEIVED, type Sent, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let statements: string[] = [];
let organizationId: string;
let count: { id: string; shapeId: string };
let total: { id: string; shapeId: string };

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
      ]),
  }));

const usage = async (charges: ChargeToCount[], mode: 'rollup' | 'scan' = 'rollup') =>
  used(await countUsage(database.sql, { organizationId, charges, mode }));

interface Event {
  code: 'calls' | 'sums';
  /** Microseconds since 1970. */
  at: number;
  region: string | null;
  cloud: string | null;
  team: string | null;
  value: string | number | null;
  isDeleted: boolean;
}

const HOUR = 3_600_000_000;
const START = Date.UTC(2024, 2, 1) * 1000;
/** Instants that crowd at the edges of hours. */
const time = fc
  .tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom(-1, 0, 1, 999, 1000, HOUR / 2, HOUR - 1))
  .map(([hour, offset]) => START + hour * HOUR + offset);
const event: fc.Arbitrary<Event> = fc.record({
  code: fc.constantFrom('calls', 'sums'),
  at: time,
  region: fc.constantFrom('eu', 'us', '', null),
  cloud: fc.constantFrom('aws', 'gcp', null),
  team: fc.constantFrom('a', 'b', '', null),
  value: fc.constantFrom(1, 2.5, '-3', '0.1', '1e3', 'abc', '', null),
  isDeleted: fc.boolean(),
});
const windows = fc.tuple(time, time).map(([a, b]) => [Math.min(a, b), Math.max(a, b) + 1] as const);

const isoOf = (micros: number) =>
  Temporal.Instant.fromEpochNanoseconds(BigInt(micros) * 1000n).toString({ fractionalSecondDigits: 6 });

function sentAs({ code, at, value, ...texts }: Event, subscription: string): Sent {
  const properties = { value, region: texts.region, cloud: texts.cloud, team: texts.team };
  const given = Object.entries(properties).filter(([, text]) => text !== null);
  return {
    code,
    external_subscription_id: subscription,
    timestamp: `${Math.floor(at / 1e6)}.${String(at % 1e6).padStart(6, '0')}`,
    properties: Object.fromEntries(given),
  };
}

/** What the rules say, event by event. */
function reference(events: Event[], code: Event['code'], from: number, to: number) {
  const floored = Math.floor(from / 1000) * 1000;
  const shares = new Map<string, { units: string[]; row: (string | null)[] }>();
  for (const each of events) {
    if (each.isDeleted || each.code !== code || each.at < floored || each.at >= to) continue;
    const number =
      code === 'calls' ? '1' : /^-?[0-9]+(\.[0-9]+)?$/.test(String(each.value)) ? String(each.value) : null;
    if (number === null) continue;
    const filter = each.region === 'eu' ? (each.cloud === 'aws' ? '2' : '1') : null;
    const row = [filter, filter === '2' ? null : each.team || null];
    const share = shares.get(JSON.stringify(row)) ?? { units: [], row };
    share.units.push(number);
    shares.set(JSON.stringify(row), share);
  }
  return [...shares.values()].map(({ units, row }) => [
    ...row,
    sum(units.map((text) => decimal(text))).toFixed(),
    units.length,
  ]);
}

const sorted = (shares: unknown[][]) => shares.map((share) => JSON.stringify(share)).sort();

test('rollups, scans and the rules agree on any history and window', { timeout: 120_000 }, async () => {
  const { store } = storage(database.sql);
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 40 }),
      windows,
      fc.boolean(),
      async (events, [from, to], repairs) => {
        const subscription = newId();
        const batches = events.map((each) => incoming(organizationId, [sentAs(each, subscription)]));
        await store(...batches);
        const deleted = batches.filter((_, index) => events[index]!.isDeleted).map((batch) => batch.events[0]!.id);
        await remove(subscription, deleted, repairs);
        const window = { from: instant(isoOf(from)), to: instant(isoOf(to)) };
        const charges = [
          charge(subscription, window, { key: 'calls' }),
          charge(subscription, window, { key: 'sums', metric: sumMetric() }),
        ];
        for (const mode of ['rollup', 'scan'] as const) {
          const counted = await usage(charges, mode);
          expect(sorted(counted[0]!.shares)).toEqual(sorted(reference(events, 'calls', from, to)));
          expect(sorted(counted[1]!.shares)).toEqual(sorted(reference(events, 'sums', from, to)));
        }
      },
    ),
    { numRuns: 60 },
  );
});

/** Deletes events and either repairs their hours or leaves them to be repaired. */
async function remove(subscription: string, ids: string[], repairs: boolean): Promise<void> {
  await database.sql.begin(async (tx) => {
    const hours = await tx<{ code: string; hour: Temporal.Instant }[]>`
      update events set deleted_at = ${RECEIVED} where id = any (${ids}::uuid[])
      returning code, date_bin('1 hour', timestamp, timestamptz 'epoch') as hour`;
    for (const { shapeId, code } of [
      { ...count, code: 'calls' },
      { ...total, code: 'sums' },
    ]) {
      const keys = hours
        .filter((row) => row.code === code)
        .map((row) => ({ external_subscription_id: subscription, hour: row.hour }));
      const shape = (await findLiveShape(tx, organizationId, shapeId))!;
      if (repairs) await repairHours(tx, shape, keys);
      else
        for (const { hour } of keys)
          await tx`
            insert into usage_dirty_hours (organization_id, shape_id, external_subscription_id, hour)
            values (${organizationId}, ${shapeId}, ${subscription}, ${hour}) on conflict do nothing`;
    }
  });
}

describe('windows', () => {
  test('both ends count to the microsecond, the lower one from its millisecond', async () => {
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

  test('since ever', async () => {
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

  test('an event at the instant of a change counts once: by its id for the old or the new one', async () => {
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

test('only events with the texts asked for', async () => {
  const { store } = storage(database.sql);
  await store(
    ...['a', 'b', 'b'].map((team) =>
      incoming(organizationId, [{ external_subscription_id: 'teams', timestamp: 1709287200, properties: { team } }]),
    ),
  );
  const asked = charge('teams', between('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z'), {
    filters: [],
    groupKeys: [],
    only: { team: 'b' },
  });
  expect(await usage([asked])).toEqual([{ key: 'charge', shares: [[null, null, '2', 2]] }]);
});

test('two round trips, whatever the number of charges; no scan of full hours', async () => {
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

test('a charge that needs more than the shape knows is scanned', async () => {
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
