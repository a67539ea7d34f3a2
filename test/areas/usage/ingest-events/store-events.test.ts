import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockOrganizationEvents } from '../../../../src/areas/catalog/usage-shapes/shape-locks.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import type { LimitedUsage } from '../../../../src/areas/usage/events/storage/limited-usage.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';
import { incoming, makeMetric, RECEIVED, storage } from './build.ts';

let database: TestDatabase;
let statements: string[] = [];
let organizationId: string;

beforeAll(async () => {
  database = await createTestDatabase({ onStatement: (text) => statements.push(text.trim()) });
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
});

const rows = () => database.sql<{ transaction_id: string; external_subscription_id: string; properties: object }[]>`
  select transaction_id, external_subscription_id, properties from events
  where organization_id = ${organizationId} order by transaction_id, external_subscription_id`;

const transactions = async () => (await rows()).map((row) => row.transaction_id);

const counted = async () => {
  const [row] = await database.sql<{ events: number; sum: { toFixed(): string } }[]>`
    select coalesce(sum(events_count), 0)::bigint as events, coalesce(sum(sum), 0) as sum from usage_buckets
    where organization_id = ${organizationId}`;
  return { events: row!.events, sum: row!.sum.toFixed() };
};

const replayed = (verdict: unknown) => JSON.parse((verdict as { r: string }).r);

describe('verdicts of stored events', () => {
  test('a new event is stored as sent, with the time of reception when it has none', async () => {
    const { store, jobs } = storage(database.sql);
    expect(await store(incoming(organizationId, [{ transaction_id: 'a', properties: { b: 1 } }]))).toEqual([[0]]);
    const [stored] = await database.sql`
      select timestamp, created_at, properties, user_agent, remote_address from events
        where organization_id = ${organizationId}`;
    expect(stored).toMatchObject({ properties: { b: 1 }, user_agent: 'test', remote_address: '127.0.0.1' });
    expect(stored!.timestamp.toString()).toBe(RECEIVED);
    expect(stored!.created_at.toString()).toBe(RECEIVED);
    expect(jobs).toEqual([
      { name: 'events.finish-batch', payload: { organization_id: organizationId, batch_ids: [expect.any(String)] } },
    ]);
  });

  test('an identical event is a replay answered with the body of the first', async () => {
    const { store, jobs } = storage(database.sql);
    const first = incoming(organizationId, [
      { transaction_id: 'a', timestamp: 10, properties: { b: 1, a: 'x' }, precise_total_amount_cents: '12.50' },
    ]);
    await store(first);
    const [[verdict]] = (await store(
      incoming(organizationId, [
        { transaction_id: 'a', timestamp: 10, properties: { a: 'x', b: 1 }, precise_total_amount_cents: '12.50' },
      ]),
    )) as [[unknown]];
    expect(replayed(verdict)).toEqual({
      svc_id: first.events[0]!.id,
      transaction_id: 'a',
      svc_customer_id: null,
      code: 'calls',
      timestamp: '1970-01-01T00:00:10.000Z',
      precise_total_amount_cents: '12.5',
      properties: { a: 'x', b: 1 },
      svc_subscription_id: null,
      external_subscription_id: 's',
      created_at: '2024-03-10T12:00:00Z',
    });
    expect(jobs).toHaveLength(1);
  });

  test('an event without timestamp is a replay of one with any timestamp', async () => {
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{ transaction_id: 'a', timestamp: 10 }]));
    const [[verdict]] = (await store(incoming(organizationId, [{ transaction_id: 'a' }]))) as [[unknown]];
    expect(replayed(verdict).timestamp).toBe('1970-01-01T00:00:10.000Z');
  });

  test.each([
    ['code', { code: 'other' }],
    ['properties', { properties: { a: 2 } }],
    ['timestamp', { timestamp: 11 }],
    ['timestamp by a microsecond', { timestamp: '10.000001' }],
    ['amount', { precise_total_amount_cents: '1' }],
  ])('an event with another %s under the same transaction id is a conflict', async (_what, changes) => {
    const { store } = storage(database.sql);
    const event = { transaction_id: 'a', timestamp: 10, properties: { a: 1 } };
    await store(incoming(organizationId, [event]));
    expect(await store(incoming(organizationId, [{ ...event, ...changes }]))).toEqual([[1]]);
    expect(await transactions()).toEqual(['a']);
  });

  test('a transaction id may be used again for another subscription or organization', async () => {
    const { store } = storage(database.sql);
    const other = await createOrganization(database.sql, { name: 'Other', sandbox: false });
    expect(
      await store(
        incoming(organizationId, [{ transaction_id: 'a' }]),
        incoming(organizationId, [{ transaction_id: 'a', external_subscription_id: 'two', properties: { a: 1 } }]),
        incoming(other.organization_id, [{ transaction_id: 'a', properties: { a: 2 } }]),
      ),
    ).toEqual([[0], [0], [0]]);
  });

  test('a job delivered twice stores its events once and does not report replays', async () => {
    await makeMetric(database.sql, organizationId, { shape: [] });
    const { store } = storage(database.sql);
    const batch = incoming(organizationId, [{ transaction_id: 'a' }, { transaction_id: 'b' }]);
    expect(await store(batch)).toEqual([[0, 0]]);
    expect(await store(batch)).toEqual([[0, 0]]);
    expect((await counted()).events).toBe(2);
  });

  test('a deleted event keeps its transaction id', async () => {
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{ transaction_id: 'a', timestamp: 1 }]));
    await database.sql`update events set deleted_at = ${RECEIVED} where organization_id = ${organizationId}`;
    const [[same], [different]] = (await store(
      incoming(organizationId, [{ transaction_id: 'a', timestamp: 1 }]),
      incoming(organizationId, [{ transaction_id: 'a', timestamp: 2 }]),
    )) as [[unknown], [unknown]];
    expect(replayed(same).transaction_id).toBe('a');
    expect(different).toBe(1);
  });

  test('a corrected event is compared with its first version and answered with its first body', async () => {
    const { store } = storage(database.sql);
    const event = { transaction_id: 'a', timestamp: 10, properties: { a: 1 } };
    await store(incoming(organizationId, [event]));
    await database.sql`
      insert into event_versions (organization_id, event_id, version, code, timestamp, properties, recorded_at)
      select organization_id, id, version, code, timestamp, properties, created_at from events
        where organization_id = ${organizationId}`;
    await database.sql`
      update events set version = 2, timestamp = ${RECEIVED},
        properties = '{"a": 7}' where organization_id = ${organizationId}`;
    const [[verdict]] = (await store(incoming(organizationId, [event]))) as [[unknown]];
    expect(replayed(verdict)).toMatchObject({ timestamp: '1970-01-01T00:00:10.000Z', properties: { a: 1 } });
  });
});

describe('batches of events', () => {
  test('a conflict stores nothing of its batch and everything of other batches', async () => {
    await makeMetric(database.sql, organizationId, { shape: [] });
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{ transaction_id: 'taken', timestamp: 1 }]));
    const verdicts = await store(
      incoming(organizationId, [{ transaction_id: 'a' }, { transaction_id: 'taken', timestamp: 2 }]),
      incoming(organizationId, [{ transaction_id: 'b' }, { transaction_id: 'c' }]),
      incoming(organizationId, [{ transaction_id: 'd' }]),
    );
    expect(verdicts).toEqual([[0, 1], [0, 0], [0]]);
    expect(await transactions()).toEqual(['b', 'c', 'd', 'taken']);
    expect((await counted()).events).toBe(4);
  });

  test('an identical event within a batch is answered with the first one', async () => {
    const { store } = storage(database.sql);
    const batch = incoming(organizationId, [
      { transaction_id: 'a', timestamp: 5 },
      { transaction_id: 'a', timestamp: 5 },
    ]);
    const [[first, second]] = (await store(batch)) as [[unknown, unknown]];
    expect(first).toBe(0);
    expect(replayed(second).svc_id).toBe(batch.events[0]!.id);
    expect(await transactions()).toEqual(['a']);
  });

  test('a different event with the same transaction id within a batch refuses the batch', async () => {
    const { store } = storage(database.sql);
    expect(
      await store(
        incoming(organizationId, [
          { transaction_id: 'a', timestamp: 5 },
          { transaction_id: 'a', timestamp: 6 },
        ]),
      ),
    ).toEqual([[0, 1]]);
    expect(await transactions()).toEqual([]);
  });

  test('events that a refused batch would have stored first are stored by the next batch', async () => {
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{ transaction_id: 'taken', timestamp: 1 }]));
    const [refused, kept] = [
      incoming(organizationId, [
        { transaction_id: 'a', timestamp: 5 },
        { transaction_id: 'taken', timestamp: 2 },
      ]),
      incoming(organizationId, [{ transaction_id: 'a', timestamp: 5 }]),
    ];
    const verdicts = await store(refused, kept);
    expect(verdicts[1]).toEqual([0]);
    const [stored] = await database.sql<{ id: string }[]>`
      select id from events where organization_id = ${organizationId} and transaction_id = 'a'`;
    expect(stored!.id).toBe(kept.events[0]!.id);
  });

  test('events of a tolerant batch are stored beside a conflict', async () => {
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{ transaction_id: 'taken', timestamp: 1 }]));
    const batch = incoming(organizationId, [{ transaction_id: 'a' }, { transaction_id: 'taken', timestamp: 2 }], {
      atomic: false,
    });
    expect(await store(batch)).toEqual([[0, 1]]);
    expect(await transactions()).toEqual(['a', 'taken']);
  });

  test('only the event with a value that Postgres refuses is refused, wherever it stands', async () => {
    const { store } = storage(database.sql);
    const poison = incoming(organizationId, [{ transaction_id: 'bad' }]);
    poison.events[0]!.precise_total_amount_cents = `1${'0'.repeat(40)}`;
    const within = incoming(organizationId, [{ transaction_id: 'x' }, { transaction_id: 'worse' }]);
    within.events[1]!.precise_total_amount_cents = `1${'0'.repeat(40)}`;
    const good = ['a', 'b', 'c', 'd', 'e'].map((id) => incoming(organizationId, [{ transaction_id: id }]));
    const verdicts = await store(good[0]!, good[1]!, poison, good[2]!, within, good[3]!, good[4]!);
    const refused = {
      e: { status: 422, body: expect.objectContaining({ error_details: { base: ['invalid_format'] } }) },
    };
    expect(verdicts).toEqual([[0], [0], [refused], [0], [0, refused], [0], [0]]);
    expect(await transactions()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('expressions of metrics', () => {
  test('the value of an expression is written into its field, shown, counted and left out of the comparison', async () => {
    await makeMetric(database.sql, organizationId, {
      aggregation_type: 'sum_agg',
      field_name: 'total',
      expression: 'event.properties.a + event.properties.b',
      shape: [],
    });
    const { store } = storage(database.sql);
    const event = { transaction_id: 'a', timestamp: 1, properties: { a: '1', b: '2' } };
    const [[verdict]] = (await store(incoming(organizationId, [event]))) as [[{ s: string }]];
    expect(JSON.parse(verdict.s).properties).toEqual({ a: '1', b: '2', total: '3.0' });
    expect(await counted()).toEqual({ events: 1, sum: '3' });
    const [[again]] = (await store(incoming(organizationId, [event]))) as [[unknown]];
    expect(replayed(again).properties).toEqual({ a: '1', b: '2', total: '3.0' });
  });

  test('an expression that fails refuses the event and its whole batch', async () => {
    await makeMetric(database.sql, organizationId, {
      aggregation_type: 'sum_agg',
      field_name: 'total',
      expression: 'event.properties.a + event.properties.b',
    });
    const { store } = storage(database.sql);
    const refused = {
      e: {
        status: 422,
        body: expect.objectContaining({
          error_details: { expression: ['expression_evaluation_failed: Variable: b not found'] },
        }),
      },
    };
    expect(
      await store(
        incoming(organizationId, [{ properties: { a: 1 } }]),
        incoming(organizationId, [{ transaction_id: 'x', code: 'free' }, { properties: { a: 1 } }]),
        incoming(organizationId, [{ transaction_id: 'y', code: 'free' }]),
      ),
    ).toEqual([[refused], [0, refused], [0]]);
    expect(await transactions()).toEqual(['y']);
  });
});

describe('catalogs of metrics', () => {
  test('a metric created since the last event is used for the next one', async () => {
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{}]));
    await makeMetric(database.sql, organizationId, { shape: [] });
    await store(incoming(organizationId, [{}]));
    expect((await counted()).events).toBe(1);
  });

  test('an organization with a stale catalog does not delay another', async () => {
    const other = await createOrganization(database.sql, { name: 'Other', sandbox: false });
    const { store, jobs } = storage(database.sql);
    await store(incoming(organizationId, [{}]), incoming(other.organization_id, [{}]));
    await makeMetric(database.sql, organizationId, { shape: [] });
    expect(
      await store(
        incoming(organizationId, [{ transaction_id: 'a' }, { transaction_id: 'b' }]),
        incoming(other.organization_id, [{}]),
      ),
    ).toEqual([[0, 0], [0]]);
    expect((await counted()).events).toBe(2);
    expect(jobs).toHaveLength(3);
  });
});

test('a writer that waited for a change of the catalog stores by the new one', async () => {
  const { sql } = database;
  const { store } = storage(sql);
  await store(incoming(organizationId, [{}]));
  let storing: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await lockOrganizationEvents({ db: tx, organizationId });
    await makeMetric(tx, organizationId, { shape: [] });
    storing = store(
      incoming(organizationId, [{ transaction_id: 'a' }]),
      incoming(organizationId, [{ transaction_id: 'b' }]),
    );
    await until(async () => (await sql`select from pg_locks where locktype = 'advisory' and not granted`).length > 0);
  });
  expect(await storing).toEqual([[0], [0]]);
  expect((await counted()).events).toBe(2);
});

describe('number of statements', () => {
  const awaited = () => statements.filter((text) => !/^(begin|commit|savepoint|rollback)/i.test(text));

  const many = () =>
    Array.from({ length: 50 }, (_, index) =>
      incoming(organizationId, [
        {
          transaction_id: `t${index}`,
          external_subscription_id: `s${index}`,
          timestamp: 1,
          properties: { region: `r${index}` },
        },
      ]),
    );

  test('storing new events takes one statement, and two when some existed', async () => {
    await makeMetric(database.sql, organizationId, { shape: ['region'] });
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{}]));
    statements = [];
    await store(...many());
    expect(statements).toHaveLength(1);
    statements = [];
    await store(...many());
    expect(statements).toHaveLength(2);
  });

  test('very many events are stored in two statements, each batch within one of them', async () => {
    const { store } = storage(database.sql);
    const batches = Array.from({ length: 600 }, (_, index) =>
      incoming(organizationId, [{ transaction_id: `t${index}`, external_subscription_id: `s${index % 7}` }]),
    );
    statements = [];
    expect(await store(...batches)).toEqual(batches.map(() => [0]));
    expect(statements).toHaveLength(3); // the catalog first
    expect(await store(...batches)).toEqual(batches.map(() => [0]));
    expect(await database.sql`select from events where organization_id = ${organizationId}`).toHaveLength(600);
    const large = incoming(
      organizationId,
      Array.from({ length: 600 }, () => ({})),
    );
    statements = [];
    await store(incoming(organizationId, [{}]), large);
    expect(awaited()).toHaveLength(2);
  });

  test('strict batches need no statements of their own, and a test clock needs one', async () => {
    const sandbox = (await createOrganization(database.sql, { name: 'Sandbox', sandbox: true })).organization_id;
    const { store } = storage(database.sql);
    await store(incoming(organizationId, [{}]), incoming(sandbox, [{}], { sandbox: true }));
    statements = [];
    await store(...many(), incoming(organizationId, [{}, {}]));
    expect(awaited()).toHaveLength(1);
    statements = [];
    await store(incoming(organizationId, [{}, {}]), incoming(sandbox, [{}], { sandbox: true }));
    expect(awaited()).toHaveLength(2);
  });
});

test('usage under a limit costs one more call after the commit and no statement; other usage costs nothing', async () => {
  const { store, deps } = storage(database.sql);
  const calls: LimitedUsage[] = [];
  deps.counters = { add: async (usage) => void calls.push(usage) };
  const { id } = await makeMetric(database.sql, organizationId, {
    aggregation_type: 'sum_agg',
    field_name: 'n',
    shape: [],
  });
  await makeMetric(database.sql, organizationId, { code: 'free' });
  const feature = newId();
  const privilege = newId();
  await database.sql`
    insert into features (id, organization_id, code, created_at, updated_at)
    values (${feature}, ${organizationId}, 'api', ${RECEIVED}, ${RECEIVED})`;
  await database.sql`
    insert into privileges (id, organization_id, feature_id, code, value_type, created_at)
    values (${privilege}, ${organizationId}, ${feature}, 'max', 'integer', ${RECEIVED})`;
  await database.sql`
    insert into feature_usage_limits (organization_id, feature_id, place, privilege_id, billable_metric_id, period)
    values (${organizationId}, ${feature}, 1, ${privilege}, ${id}, 'day')`;
  await store(incoming(organizationId, [{ code: 'free' }]));
  expect(calls).toEqual([]);
  const used = (transaction_id: string, n: unknown, timestamp: number) => ({
    transaction_id,
    timestamp,
    properties: { n },
  });
  statements = [];
  await store(
    incoming(organizationId, [used('a', 2.5, 60)]),
    incoming(organizationId, [used('b', 'none', 30)]),
    incoming(organizationId, [used('c', 1, 90), { code: 'free' }]),
  );
  expect(statements.filter((text) => !/^(begin|commit|savepoint|rollback)/i.test(text))).toHaveLength(1);
  expect(calls).toMatchObject([
    {
      transaction: expect.stringMatching(/^\d+$/),
      groups: [
        {
          external_subscription_id: 's',
          metric: { code: 'calls', aggregation_type: 'sum_agg', field_name: 'n' },
          first: '1970-01-01T00:00:30.000000Z',
          last: '1970-01-01T00:01:30.000000Z',
        },
      ],
    },
  ]);
  expect(calls[0]!.groups[0]!.units?.toFixed()).toBe('3.5');
  // Delivered twice, or in conflict: only what was stored counts.
  await store(incoming(organizationId, [used('a', 2.5, 60)]), incoming(organizationId, [used('a', 3, 60)]));
  expect(calls).toHaveLength(1);
});

describe('events under test clocks', () => {
  const withClock = async (status: string) => {
    const { organization_id } = await createOrganization(database.sql, { name: 'Sandbox', sandbox: true });
    await database.sql`
      insert into test_clocks (organization_id, frozen_time, status, created_at)
      values (${organization_id}, '2030-05-01T00:00:00Z', ${status}, ${RECEIVED})`;
    return organization_id;
  };

  test('the test clock gives the default timestamp and the time of creation of an event', async () => {
    const sandbox = await withClock('ready');
    const { store } = storage(database.sql);
    const [[verdict]] = (await store(incoming(sandbox, [{ transaction_id: 'a' }], { sandbox: true }))) as [
      [{ s: string }],
    ];
    expect(JSON.parse(verdict.s)).toMatchObject({
      timestamp: '2030-05-01T00:00:00.000Z',
      created_at: '2030-05-01T00:00:00Z',
    });
  });

  test('while a test clock advances its events are refused and those of others stored', async () => {
    const sandbox = await withClock('advancing');
    const { store } = storage(database.sql);
    const [[refused], [stored]] = (await store(
      incoming(sandbox, [{ transaction_id: 'a' }], { sandbox: true }),
      incoming(organizationId, [{ transaction_id: 'b' }]),
    )) as [[unknown], [unknown]];
    expect(refused).toEqual({ e: { status: 405, body: expect.objectContaining({ code: 'test_clock_advancing' }) } });
    expect(stored).toBe(0);
    expect(await database.sql`select from events where organization_id = ${sandbox}`).toHaveLength(0);
  });

  test('a sandbox without a test clock uses real time', async () => {
    const { organization_id } = await createOrganization(database.sql, { name: 'Sandbox', sandbox: true });
    const { store } = storage(database.sql);
    expect(await store(incoming(organization_id, [{}], { sandbox: true }))).toEqual([[0]]);
  });
});

test('many writers of the same transaction ids never store an event twice', async () => {
  await makeMetric(database.sql, organizationId, { aggregation_type: 'sum_agg', field_name: 'v', shape: ['region'] });
  const { store } = storage(database.sql);
  const events = Array.from({ length: 40 }, (_, index) => ({
    transaction_id: `t${index}`,
    external_subscription_id: `s${index % 7}`,
    timestamp: 3600 * (index % 3),
    properties: { v: index, region: `r${index % 4}` },
  }));
  const shuffled = (seed: number) =>
    [...events].sort((a, b) => ((a.properties.v * seed) % 41) - ((b.properties.v * seed) % 41));
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      store(...shuffled(index + 3).map((event) => incoming(organizationId, [event]))),
    ),
  );
  expect(all.flat(2).filter((verdict) => verdict === 0)).toHaveLength(40);
  expect(await transactions()).toHaveLength(40);
  expect(await counted()).toEqual({ events: 40, sum: '780' });
});
