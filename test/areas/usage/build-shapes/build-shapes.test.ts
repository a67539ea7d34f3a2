import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { refreshShapes } from '../../../../src/areas/catalog/usage-shapes/commands.ts';
import { createOrganization } from '../../../../src/areas/tenancy/organizations/commands.ts';
import { buildShape, sweepBuildingShapes } from '../../../../src/areas/usage/build-shapes/build-shape.ts';
import { auditHours, guardGroups, rollupAudit } from '../../../../src/areas/usage/build-shapes/repair-hours.ts';
import { finishBatches } from '../../../../src/areas/usage/ingest-events/finish-batches.ts';
import { json } from '../../../../src/platform/db/values.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { incoming, makeMetric, RECEIVED, type Sent, storage } from '../ingest-events/build.ts';

let database: TestDatabase;
let organizationId: string;
const log = createLog({ level: 'silent', process: 'test' });

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  organizationId = (await createOrganization(database.sql, { name: 'Acme', sandbox: false })).organization_id;
});

/** Runs `refreshShapes` as a command would, and answers the builds that it owes. */
async function refresh(metricIds: string[], change?: 'charges') {
  const steps: { step: string; payload: object }[] = [];
  await database.sql.begin((tx) =>
    refreshShapes(
      {
        organizationId,
        db: tx,
        now: () => Temporal.Instant.from(RECEIVED),
        after: (step: { step: string; payload: object }) => steps.push(step),
      } as never,
      metricIds,
      change,
    ),
  );
  return steps.filter(({ step }) => step === 'build-shape');
}

async function charge(metricId: string, properties: object, filters: { values: object; properties?: object }[] = []) {
  const { sql } = database;
  const [planId, chargeId] = [newId(), newId()];
  await sql`
    insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
      created_at, updated_at)
    values (${planId}, ${organizationId}, ${planId}, 'p', 'monthly', false, 0, 'USD', ${RECEIVED}, ${RECEIVED})`;
  await sql`
    insert into charges (id, organization_id, plan_id, billable_metric_id, code, charge_model, properties, created_at,
      updated_at)
    values (${chargeId}, ${organizationId}, ${planId}, ${metricId}, 'c', 'standard', ${json(properties)}, ${RECEIVED},
      ${RECEIVED})`;
  for (const [position, filter] of filters.entries())
    await sql`
      insert into charge_filters (id, organization_id, charge_id, code, "values", properties, position, created_at,
        updated_at)
      values (${newId()}, ${organizationId}, ${chargeId}, ${`f${position}`}, ${json(filter.values)},
        ${json(filter.properties ?? {})},
        ${position}, ${RECEIVED}, ${RECEIVED})`;
  return chargeId;
}

const shapes = () => database.sql<{ id: string; state: string; property_names: string[]; field_name: string | null }[]>`
  select id, state, property_names, field_name from usage_shapes where organization_id = ${organizationId} order by id`;
const version = async () =>
  (await database.sql<{ v: number }[]>`select shapes_version as v from organizations where id = ${organizationId}`)[0]!
    .v;

/** Buckets of the live shape, in a form that compares. */
const buckets = () => database.sql`
  select b.external_subscription_id as subscription, b.hour::text, encode(b.group_hash, 'hex') as hash, g.properties,
    b.events_count, b.valid_count, b.sum::text, b.moment::text, b.max::text
  from usage_buckets b
  join usage_shapes s on s.id = b.shape_id and s.state = 'live'
  left join usage_groups g on g.shape_id = b.shape_id and g.group_hash = b.group_hash
  where b.organization_id = ${organizationId}
  order by 1, 2, 3`;

describe('definition of a shape', () => {
  test('a shape holds the field and all names in filters, pricing groups and presentation groups of live charges', async () => {
    const metric = await makeMetric(database.sql, organizationId, { aggregation_type: 'sum_agg', field_name: 'v' });
    await charge(metric.id, { pricing_group_keys: ['team'], presentation_group_keys: [{ value: 'project' }] }, [
      { values: { region: ['eu'], cloud: ['aws'] }, properties: { grouped_by: ['zone'] } },
    ]);
    await charge(metric.id, { pricing_group_keys: null });
    const steps = await refresh([metric.id]);
    const [shape] = await shapes();
    expect(shape).toMatchObject({
      state: 'building',
      field_name: 'v',
      property_names: ['cloud', 'project', 'region', 'team', 'zone'],
    });
    expect(steps).toEqual([{ step: 'build-shape', payload: { shape_id: shape!.id } }]);
  });

  test('a metric that no live charge uses, or that cannot be rolled up, has no shape', async () => {
    const [free, custom] = [
      await makeMetric(database.sql, organizationId, { code: 'free' }),
      await makeMetric(database.sql, organizationId, {
        code: 'u',
        aggregation_type: 'custom_agg',
        field_name: 'v',
      }),
    ];
    await charge(custom.id, {});
    expect(await refresh([free.id, custom.id])).toEqual([]);
    expect(await shapes()).toEqual([]);
  });

  test('the shapes version rises with every change of a metric, and with charges when a shape changes', async () => {
    const metric = await makeMetric(database.sql, organizationId);
    await charge(metric.id, {});
    const before = await version();
    await refresh([metric.id], 'charges');
    expect(await version()).toBe(before + 1);
    await refresh([metric.id], 'charges');
    expect(await version()).toBe(before + 1);
    await refresh([metric.id]);
    expect(await version()).toBe(before + 2);
    expect(await shapes()).toHaveLength(1);
  });

  test('a shape that is no longer wanted retires, and a live one stays until its successor is built', async () => {
    const metric = await makeMetric(database.sql, organizationId);
    const chargeId = await charge(metric.id, {});
    await refresh([metric.id]);
    await build();
    await charge(metric.id, { pricing_group_keys: ['team'] });
    await refresh([metric.id], 'charges');
    expect((await shapes()).map((shape) => shape.state)).toEqual(['live', 'building']);
    await build();
    expect((await shapes()).map((shape) => shape.state)).toEqual(['retired', 'live']);
    await database.sql`update charges set deleted_at = ${RECEIVED} where organization_id = ${organizationId}`;
    await refresh([metric.id], 'charges');
    expect((await shapes()).map((shape) => shape.state)).toEqual(['retired', 'retired']);
    expect(chargeId).toBeTruthy();
  });
});

/** Days of the live shape, and what its hours sum up to. */
const days = async () => {
  const kept = await database.sql`
    select d.external_subscription_id as subscription, d.day::text, encode(d.group_hash, 'hex') as hash, d.events_count,
      d.valid_count, trim_scale(d.sum)::text as sum, trim_scale(d.moment)::text as moment
    from usage_days d join usage_shapes s on s.id = d.shape_id and s.state = 'live'
    where d.organization_id = ${organizationId} order by 1, 2, 3`;
  const summed = await database.sql`
    select b.external_subscription_id as subscription, date_trunc('day', b.hour)::text as day,
      encode(b.group_hash, 'hex') as hash, sum(b.events_count)::bigint as events_count,
      sum(b.valid_count)::bigint as valid_count, trim_scale(sum(b.sum))::text as sum,
      trim_scale(sum(case when s.aggregation_type = 'weighted_sum_agg'
        then b.moment + b.sum * extract(hour from b.hour) * 3600 else 0 end))::text as moment
    from usage_buckets b join usage_shapes s on s.id = b.shape_id and s.state = 'live'
    where b.organization_id = ${organizationId} group by 1, 2, 3 order by 1, 2, 3`;
  return { kept, summed };
};

/** Builds what the sweeper would enqueue. */
async function build() {
  const jobs: { organization_id: string; shape_id: string }[] = [];
  const addMany = async (_name: string, items: { payload: unknown }[]) =>
    void jobs.push(...items.map((item) => item.payload as (typeof jobs)[number]));
  await sweepBuildingShapes({ sql: database.sql, producer: { addMany } as never }, Temporal.Instant.from(RECEIVED));
  for (const job of jobs) await buildShape({ db: database.sql, organizationId: job.organization_id }, job.shape_id);
}

const TEXTS = ['a', '', 'ü"\\\n\u0001\u007f', null, 1.5, 1e21, true, ['x', 1], { b: 1, aa: null }];
const events = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    transaction_id: `t${from + index}`,
    external_subscription_id: `s${index % 25}`,
    timestamp: `${1709287200 + (from + index) * 977}.25`,
    properties: {
      v: ['1', 2.5, '-3', 'x', null][index % 5],
      team: TEXTS[index % TEXTS.length],
      region: TEXTS[(index * 7) % TEXTS.length],
    },
  }));

describe('building a shape', () => {
  test.each(['sum_agg', 'count_agg', 'max_agg', 'weighted_sum_agg'])(
    'buckets of %s built from events equal those that writers make',
    async (aggregation_type) => {
      const field_name = aggregation_type === 'count_agg' ? null : 'v';
      const { store } = storage(database.sql);
      const metric = await makeMetric(database.sql, organizationId, { aggregation_type, field_name });
      await charge(metric.id, { pricing_group_keys: ['team', 'region'] });
      await refresh([metric.id]);
      await build();
      await store(...events(200).map((event) => incoming(organizationId, [event])));
      const written = await buckets();
      expect(written.length).toBeGreaterThan(100);
      await database.sql`update usage_shapes set state = 'retired' where organization_id = ${organizationId}`;
      await refresh([metric.id]);
      await build();
      expect(await buckets()).toEqual(written);
      expect(await auditHours(database.sql, log, 'all')).toMatchObject({ repaired: 0 });
    },
  );

  test('events that arrive while a shape is built are not missed', { timeout: 60_000 }, async () => {
    const { store } = storage(database.sql);
    const metric = await makeMetric(database.sql, organizationId, { aggregation_type: 'sum_agg', field_name: 'v' });
    await charge(metric.id, { pricing_group_keys: ['team'] });
    await store(...events(100).map((event) => incoming(organizationId, [event])));
    const steps = await refresh([metric.id]);
    const { shape_id } = steps[0]!.payload as { shape_id: string };
    let isBuilding = true;
    const writing = (async () => {
      for (let from = 100; isBuilding || from < 400; from += 20)
        await store(...events(20, from).map((event) => incoming(organizationId, [event])));
    })();
    await Promise.all([
      buildShape({ db: database.sql, organizationId }, shape_id),
      buildShape({ db: database.sql, organizationId }, shape_id),
    ]);
    isBuilding = false;
    await writing;
    expect((await shapes()).map((shape) => shape.state)).toEqual(['live']);
    expect(await database.sql`select from usage_dirty_hours where organization_id = ${organizationId}`).toHaveLength(0);
    const [counted] = await database.sql<{ buckets: number; events: number }[]>`
      select (select sum(events_count)::bigint from usage_buckets where organization_id = ${organizationId}) as buckets,
        (select count(*) from events where organization_id = ${organizationId}) as events`;
    expect(counted!.buckets).toBe(counted!.events);
    expect(await auditHours(database.sql, log, 'all')).toMatchObject({ repaired: 0 });
  });
});

describe('daily sums', () => {
  const wide = { aggregation_type: 'sum_agg', field_name: 'v' };
  const teams = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({
      transaction_id: `t${from + index}`,
      timestamp: `${1709287200 + index * 9000}`,
      properties: { v: index + 1, team: `${from + index}` },
    }));

  test.each([
    ['count_agg', null],
    ['sum_agg', 'v'],
    ['weighted_sum_agg', 'v'],
  ])(
    'daily sums of %s are kept once there are more than 20 groups, and are continued',
    async (aggregation_type, field_name) => {
      const { store } = storage(database.sql);
      const metric = await makeMetric(database.sql, organizationId, { aggregation_type, field_name });
      await charge(metric.id, { pricing_group_keys: ['team'] });
      await store(incoming(organizationId, teams(20)));
      await refresh([metric.id]);
      await build();
      expect((await days()).kept).toEqual([]);

      await store(incoming(organizationId, teams(1, 20)));
      await charge(metric.id, { pricing_group_keys: ['team', 'region'] });
      await refresh([metric.id], 'charges');
      await build();
      await store(incoming(organizationId, teams(30, 21)));
      const { kept, summed } = await days();
      expect(kept).toEqual(summed);
      expect(kept).toHaveLength(51);
      expect((await auditHours(database.sql, log, 'all')).repaired).toBe(0);
    },
  );

  test('daily sums are kept once a live shape has grown, and are built beside it', async () => {
    const { store, jobs } = storage(database.sql);
    const metric = await makeMetric(database.sql, organizationId, { ...wide, shape: ['team'] });
    await charge(metric.id, { pricing_group_keys: ['team'] });
    const looks = () => jobs.filter((job) => job.name === 'rollup.guard');
    await store(incoming(organizationId, teams(20)));
    expect(looks()).toEqual([]);
    await store(incoming(organizationId, teams(1, 20)));
    expect(looks()).toHaveLength(1);
    for (let look = 0; look < 2; look += 1)
      await guardGroups({ db: database.sql, organizationId }, metric.shapeId, 's');
    expect((await shapes()).map((shape) => shape.state)).toEqual(['live', 'building']);
    await refresh([metric.id]);
    await store(incoming(organizationId, teams(5, 30)));
    await build();
    expect((await shapes()).map((shape) => shape.state)).toEqual(['retired', 'live']);
    await store(incoming(organizationId, teams(5, 40)));
    const { kept, summed } = await days();
    expect(kept).toEqual(summed);
    expect(kept).toHaveLength(31);
  });

  test('daily sums that differ from their hours are found and repaired', async () => {
    const { store } = storage(database.sql);
    const metric = await makeMetric(database.sql, organizationId, wide);
    await charge(metric.id, { pricing_group_keys: ['team'] });
    await store(incoming(organizationId, teams(25)));
    await refresh([metric.id]);
    await build();
    await database.sql`update usage_days set sum = sum + 1 where organization_id = ${organizationId}`;
    expect((await auditHours(database.sql, log, 'all')).repaired).toBeGreaterThan(0);
    const { kept, summed } = await days();
    expect(kept).toEqual(summed);
    expect((await auditHours(database.sql, log, 'all')).repaired).toBe(0);
  });
});

describe('parts added to rollups after storing', () => {
  const rows = () => database.sql`
    select hour::text, encode(value_hash, 'hex') as value, has_add, is_member, last_ts::text from usage_uniques
    where organization_id = ${organizationId} order by hour, value`;
  const lastValues = () => database.sql`
    select b.hour::text, b.valid_count, b.last_ts::text, b.last_value::text from usage_buckets b
    join usage_shapes s on s.id = b.shape_id and s.state = 'live' and s.aggregation_type = 'latest_agg'
    where b.organization_id = ${organizationId} order by 1`;

  test.each([
    { code: 'seats', aggregation_type: 'unique_count_agg', look: rows },
    { code: 'level', aggregation_type: 'latest_agg', look: lastValues },
  ])('the audit finds and repairs wrong rollups of $aggregation_type', async ({ look, ...metric }) => {
    const { shapeId } = await makeMetric(database.sql, organizationId, { ...metric, field_name: 'v', shape: [] });
    const { store, jobs } = storage(database.sql);
    const sent = [
      ['1709287200', '1', 'add'],
      ['1709287201', '2', 'add'],
      ['1709287202', '1', 'remove'],
      ['1709290800', '3', 'add'],
    ].map(([timestamp, v, operation_type]) => ({ code: metric.code, timestamp, properties: { v, operation_type } }));
    await store(...sent.toReversed().map((event) => incoming(organizationId, [event as Sent])));
    expect((await auditHours(database.sql, log, 'all')).repaired).toBe(0);
    for (const { payload } of jobs)
      await database.sql.begin((tx) => finishBatches(tx, (payload as { batch_ids: string[] }).batch_ids));
    const right = await look();
    expect(right).toHaveLength(look === rows ? 3 : 2);
    expect((await auditHours(database.sql, log, 'all')).repaired).toBe(0);

    await database.sql`update usage_uniques set is_member = not is_member where shape_id = ${shapeId}`;
    await database.sql`update usage_buckets set last_value = 17 where shape_id = ${shapeId}`;
    await database.sql`delete from usage_uniques where shape_id = ${shapeId} and hour > '2024-03-01T10:30:00Z'`;
    expect((await auditHours(database.sql, log, 'all')).repaired).toBe(2);
    expect(await look()).toEqual(right);
  });
});

describe('audit of rollups', () => {
  async function live() {
    const { store } = storage(database.sql);
    const metric = await makeMetric(database.sql, organizationId, {
      aggregation_type: 'sum_agg',
      field_name: 'v',
      shape: ['team'],
    });
    await charge(metric.id, { pricing_group_keys: ['team'] });
    await store(...events(60).map((event) => incoming(organizationId, [event])));
    return metric;
  }

  test('the audit finds and repairs buckets that differ from their events', async () => {
    await live();
    const right = await buckets();
    await database.sql`
      update usage_buckets set sum = sum + 1
        where organization_id = ${organizationId} and external_subscription_id = 's3'`;
    await database.sql`delete from usage_buckets
      where organization_id = ${organizationId} and external_subscription_id = 's4'`;
    expect((await auditHours(database.sql, log, 'all')).repaired).toBeGreaterThan(0);
    expect(await buckets()).toEqual(right);
  });

  test('the audit repairs hours that wait for it', async () => {
    const metric = await live();
    await database.sql`
      update events set deleted_at = ${RECEIVED} where organization_id = ${organizationId} and external_subscription_id = 's5'`;
    await database.sql`
      insert into usage_dirty_hours (organization_id, shape_id, external_subscription_id, hour)
      select distinct organization_id, ${metric.shapeId}::uuid, external_subscription_id, date_bin('1 hour', timestamp,
        timestamptz 'epoch')
      from events where organization_id = ${organizationId} and external_subscription_id = 's5'`;
    await auditHours(database.sql, log, 'all');
    expect((await buckets()).filter((row) => row.subscription === 's5')).toEqual([]);
    expect(await database.sql`select from usage_dirty_hours where organization_id = ${organizationId}`).toHaveLength(0);
  });

  test('the audit drops what retired shapes left', async () => {
    const metric = await live();
    await database.sql`update charges set deleted_at = ${RECEIVED} where organization_id = ${organizationId}`;
    await refresh([metric.id], 'charges');
    await rollupAudit.sweep({ sql: database.sql, log } as never, Temporal.Instant.from(RECEIVED));
    for (const table of ['usage_buckets', 'usage_groups', 'usage_shapes'])
      expect(
        await database.sql`select from ${database.sql(table)} where organization_id = ${organizationId}`,
      ).toHaveLength(0);
  });
});

test('a subscription with more than 10 000 groups in a month is read by scans', async () => {
  const { sql } = database;
  const { store } = storage(sql);
  const metric = await makeMetric(sql, organizationId, { shape: ['team'] });
  const crowd = (subscription: string, groups: number) => sql`
    insert into usage_buckets (organization_id, external_subscription_id, shape_id, hour, group_hash, events_count,
      valid_count)
    select ${organizationId}::uuid, ${subscription}::text, ${metric.shapeId}::uuid, ${RECEIVED}::timestamptz,
      sha256(n::text::bytea), 1, 0
    from generate_series(1, ${groups}::int) n`;
  await crowd('many', 10_001);
  await crowd('some', 10_000);
  for (const subscription of ['many', 'some'])
    await guardGroups({ db: sql, organizationId }, metric.shapeId, subscription);
  const marked = await sql`select external_subscription_id as id from usage_raw_subscriptions
      where organization_id = ${organizationId}`;
  expect(marked).toEqual([{ id: 'many' }]);
  await store(
    ...['many', 'some'].map((subscription) => incoming(organizationId, [{ external_subscription_id: subscription }])),
  );
  const left = await sql`
    select external_subscription_id as id, count(*) as count from usage_buckets
      where organization_id = ${organizationId} group by 1`;
  expect(left).toEqual([{ id: 'some', count: 10_001 }]);
});

test('writers request a look at a subscription after 2 000 new groups', async () => {
  const { store, jobs } = storage(database.sql);
  const metric = await makeMetric(database.sql, organizationId, { shape: ['team'] });
  const batch = (from: number) =>
    incoming(
      organizationId,
      Array.from({ length: 1000 }, (_, index) => ({ properties: { team: `${from + index}` } })),
    );
  await database.sql`update usage_shapes set keeps_days = true where id = ${metric.shapeId}`;
  await store(batch(0));
  await store(batch(0));
  expect(jobs.filter((job) => job.name === 'rollup.guard')).toEqual([]);
  await store(batch(1000));
  expect(jobs.filter((job) => job.name === 'rollup.guard')).toEqual([
    {
      name: 'rollup.guard',
      payload: { organization_id: organizationId, shape_id: metric.shapeId, external_subscription_id: 's' },
    },
  ]);
});
