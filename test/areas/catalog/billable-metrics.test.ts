import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listBillableMetrics } from '../../../src/areas/catalog/billable-metrics/reads.ts';
import { BillableMetricListQuery } from '../../../src/areas/catalog/billable-metrics/schema.ts';
import { newId } from '../../../src/platform/ids.ts';
import { until } from '../../support/until.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
});
afterAll(() => catalog.stop());

const create = (fields: object) =>
  org.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: newId(), aggregation_type: 'sum_agg', field_name: 'value', ...fields },
  });
const update = (code: string, fields: object) => org.put(`/billable_metrics/${code}`, { billable_metric: fields });
const priced = { charge_model: 'standard', properties: { amount: '1' } };

describe('creating a billable metric', () => {
  test('a new metric answers with every field of the contract, and its filters by key with sorted values', async () => {
    const { body } = await create({
      code: 'storage',
      description: 'GB stored',
      recurring: true,
      rounding_function: 'ceil',
      rounding_precision: -1,
      filters: [
        { key: 'region', values: ['us', 'eu', 'us'] },
        { key: 'cloud', values: ['aws', 7] },
      ],
    });
    expect(body.billable_metric).toEqual({
      svc_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Calls',
      code: 'storage',
      description: 'GB stored',
      aggregation_type: 'sum_agg',
      recurring: true,
      rounding_function: 'ceil',
      rounding_precision: -1,
      weighted_interval: null,
      field_name: 'value',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      filters: [
        { key: 'cloud', values: ['7', 'aws'] },
        { key: 'region', values: ['eu', 'us'] },
      ],
      active_subscriptions_count: 0,
      draft_invoices_count: 0,
      plans_count: 0,
    });
    const { active_subscriptions_count, draft_invoices_count, plans_count, ...shown } = body.billable_metric;
    expect((await org.get('/billable_metrics/storage')).body).toEqual({ billable_metric: shown });
  });

  test.each([
    ['count_agg', {}],
    ['max_agg', {}],
    ['unique_count_agg', { recurring: true }],
    ['latest_agg', {}],
    ['weighted_sum_agg', { weighted_interval: 'seconds', recurring: true }],
  ])('a new metric may have %s', async (aggregation_type, fields) => {
    const { status, body } = await create({ aggregation_type, ...fields });
    expect(status).toBe(200);
    expect(body.billable_metric.field_name).toBe(aggregation_type === 'count_agg' ? null : 'value');
  });

  test.each([
    ['name', { name: ' ' }, { name: ['value_is_mandatory'] }],
    ['code', { code: null }, { code: ['value_is_mandatory'] }],
    ['a long code', { code: 'x'.repeat(256) }, { code: ['value_is_too_long'] }],
    ['type', { aggregation_type: undefined }, { aggregation_type: ['value_is_invalid'] }],
    ['an unknown type', { aggregation_type: 'avg_agg' }, { aggregation_type: ['value_is_invalid'] }],
    ['field', { field_name: null }, { field_name: ['value_is_mandatory'] }],
    [
      'a recurring count',
      { aggregation_type: 'count_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'a recurring max',
      { aggregation_type: 'max_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'a recurring latest',
      { aggregation_type: 'latest_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'a weighted sum without interval',
      { aggregation_type: 'weighted_sum_agg' },
      { weighted_interval: ['value_is_invalid'] },
    ],
    ['interval', { weighted_interval: 'hours' }, { weighted_interval: ['value_is_invalid'] }],
    ['rounding', { rounding_function: 'up' }, { rounding_function: ['value_is_invalid'] }],
    ['precision', { rounding_precision: 61 }, { rounding_precision: ['value_is_out_of_range'] }],
    ['expression', { expression: '1.1.1' }, { expression: ['invalid_expression'] }],
    ['a filter without values', { filters: [{ key: 'region', values: [] }] }, { values: ['value_is_mandatory'] }],
    ['a filter of no list', { filters: [{ key: 'region' }] }, { values: ['value_is_mandatory'] }],
    ['a blank filter value', { filters: [{ key: 'region', values: [''] }] }, { values: ['value_is_mandatory'] }],
    ['a blank filter key', { filters: [{ key: '', values: ['eu'] }] }, { key: ['value_is_mandatory'] }],
    [
      'a repeated filter key',
      {
        filters: [
          { key: 'a', values: ['1'] },
          { key: 'a', values: ['2'] },
        ],
      },
      { key: ['value_already_exist'] },
    ],
    ['filters', { filters: 'region' }, { filters: ['value_is_invalid'] }],
    ['text', { name: 'a\0' }, { name: ['invalid_format'] }],
    [
      'several',
      { name: '', aggregation_type: 'x' },
      { name: ['value_is_mandatory'], aggregation_type: ['value_is_invalid'] },
    ],
  ])('a new metric with a wrong %s is refused', async (_what, fields, details) => {
    const answer = await create(fields);
    expect(answer.status).toBe(422);
    expect(answer.body.error_details).toEqual(details);
  });

  test('a metric with a taken code is refused, also when two are created at the same time', async () => {
    const twins = await Promise.all(Array.from({ length: 4 }, () => create({ code: 'twin' })));
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
    expect(twins.find(({ status }) => status === 422)!.body.error_details).toEqual({ code: ['value_already_exist'] });
  });

  test('custom aggregations are not available', async () => {
    expect((await create({ aggregation_type: 'custom_agg' })).body).toEqual({
      status: 403,
      error: 'Forbidden',
      code: 'feature_unavailable',
    });
    const metric = await catalog.metric();
    expect((await update(metric.code, { aggregation_type: 'custom_agg' })).status).toBe(403);
  });

  test('a metric without its root key is a bad request', async () => {
    expect((await org.post('/billable_metrics', {})).status).toBe(400);
  });
});

test('metrics are listed newest first in two statements, only those of the organization', async () => {
  const other = await openCatalog(catalog.service);
  for (const code of ['one', 'two', 'three']) await other.metric({ code, filters: [{ key: 'a', values: ['1'] }] });
  const { body } = await other.org.get('/billable_metrics?per_page=2');
  expect(body.billable_metrics.map(({ code }: { code: string }) => code)).toEqual(['three', 'two']);
  expect(body.meta).toEqual({ current_page: 1, next_page: 2, prev_page: null, total_pages: 2, total_count: 3 });
  expect(
    await other.statementsOf((ctx) => listBillableMetrics(ctx, { query: BillableMetricListQuery.parse({}) })),
  ).toBe(2);

  expect((await org.get('/billable_metrics/one')).body).toMatchObject({ status: 404, resource: 'billable_metric' });
  expect((await org.delete('/billable_metrics/one')).status).toBe(404);
  expect((await org.put('/billable_metrics/one', { billable_metric: { name: 'x' } })).status).toBe(404);
});

describe('updating a billable metric', () => {
  test('PUT and PATCH may change every field of a metric while no plan uses it', async () => {
    const metric = await catalog.metric();
    const { body } = await org.patch(`/billable_metrics/${metric.code}`, {
      billable_metric: {
        name: 'Renamed',
        code: 'renamed',
        aggregation_type: 'unique_count_agg',
        recurring: true,
        field_name: 'user',
        rounding_function: 'floor',
        expression: 'round(event.properties.a)',
      },
    });
    expect(body.billable_metric).toMatchObject({
      svc_id: metric.svc_id,
      name: 'Renamed',
      code: 'renamed',
      aggregation_type: 'unique_count_agg',
      recurring: true,
      field_name: 'user',
      rounding_function: 'floor',
      expression: 'round(event.properties.a)',
    });
    const cleared = await update('renamed', { rounding_function: null, expression: '', recurring: null });
    expect(cleared.body.billable_metric).toMatchObject({ rounding_function: null, recurring: false });
    expect('expression' in cleared.body.billable_metric).toBe(false);
  });

  test.each([
    [{ code: 'other' }],
    [{ aggregation_type: 'max_agg' }],
    [{ recurring: true }],
    [{ field_name: 'other' }],
    [{ weighted_interval: 'seconds' }],
    [{ rounding_function: 'ceil' }],
    [{ rounding_precision: 2 }],
    [{ expression: '1 + 1' }],
  ])('%j of a metric is frozen once a live plan uses it', async (fields) => {
    const metric = await catalog.metric();
    const plan = await catalog.plan({ charges: [{ ...priced, billable_metric_id: metric.svc_id }] });
    const refused = await update(metric.code, { name: 'Kept away', ...fields });
    expect(refused.body.error_details).toEqual({ [Object.keys(fields)[0]!]: ['value_is_frozen'] });
    expect((await org.get(`/billable_metrics/${metric.code}`)).body.billable_metric.name).toBe('Calls');

    const { active_subscriptions_count, draft_invoices_count, plans_count, svc_id, created_at, ...same } = metric;
    expect((await update(metric.code, { ...same, name: 'Free', description: 'too' })).status).toBe(200);
    await org.delete(`/plans/${plan.code}/charges/${metric.code}`);
    expect((await update(metric.code, fields)).status).toBe(200);
  });

  test('a metric cannot be changed to a taken code', async () => {
    const [one, two] = [await catalog.metric(), await catalog.metric()];
    expect((await update(one.code, { code: two.code })).body.error_details).toEqual({ code: ['value_already_exist'] });
    expect((await update(one.code, { code: one.code })).status).toBe(200);
  });

  test('an update of a metric keeps absent filters, replaces a list by key and removes all with an empty list', async () => {
    const { code } = await catalog.metric({
      filters: [
        { key: 'a', values: ['1', '2'] },
        { key: 'b', values: ['1'] },
      ],
    });
    const filters = async (fields: object) => (await update(code, fields)).body.billable_metric.filters;
    expect(await filters({ name: 'x' })).toHaveLength(2);
    expect(
      await filters({
        filters: [
          { key: 'c', values: ['9'] },
          { key: 'a', values: ['3', '2'] },
        ],
      }),
    ).toEqual([
      { key: 'a', values: ['2', '3'] },
      { key: 'c', values: ['9'] },
    ]);
    expect(await filters({ filters: [] })).toEqual([]);
  });

  test('filter values removed from a metric are removed from charge filters, and draft invoices are flagged', async () => {
    const metric = await catalog.metric({
      filters: [
        { key: 'region', values: ['eu', 'us'] },
        { key: 'cloud', values: ['aws'] },
      ],
    });
    const filter = (name: string, values: object) => ({
      invoice_display_name: name,
      properties: { amount: '2' },
      values,
    });
    const plan = await catalog.plan({
      charges: [
        {
          ...priced,
          billable_metric_id: metric.svc_id,
          filters: [
            filter('trimmed', { region: ['eu', 'us'], cloud: ['aws'] }),
            filter('left without a key', { region: ['us'], cloud: ['aws'] }),
            filter('left without anything', { region: ['us'] }),
            filter('wildcard', { region: ['__ALL_FILTER_VALUES__'] }),
          ],
        },
      ],
    });
    const draft = await catalog.draft((await catalog.subscribe(plan.svc_id)).id);
    await update(metric.code, {
      filters: [
        { key: 'region', values: ['eu', 'asia'] },
        { key: 'cloud', values: ['aws'] },
      ],
    });
    const path = `/plans/${plan.code}/charges/${metric.code}/filters`;
    const valuesOf = async () =>
      (await org.get(path)).body.filters.map((each: { invoice_display_name: string; values: object }) => [
        each.invoice_display_name,
        each.values,
      ]);
    expect(await valuesOf()).toEqual([
      ['trimmed', { region: ['eu'], cloud: ['aws'] }],
      ['left without a key', { cloud: ['aws'] }],
      ['wildcard', { region: ['__ALL_FILTER_VALUES__'] }],
    ]);
    expect(await draft.isFlagged()).toBe(true);

    await update(metric.code, { filters: [{ key: 'region', values: ['eu'] }] });
    expect(await valuesOf()).toEqual([
      ['trimmed', { region: ['eu'] }],
      ['wildcard', { region: ['__ALL_FILTER_VALUES__'] }],
    ]);
  });
});

describe('deleting a billable metric', () => {
  test('deleting a metric deletes its charges, flags drafts and frees the code, and its events are marked afterwards', async () => {
    const metric = await catalog.metric({ filters: [{ key: 'region', values: ['eu'] }] });
    const plan = await catalog.plan({
      charges: [
        {
          ...priced,
          billable_metric_id: metric.svc_id,
          filters: [{ properties: { amount: '2' }, values: { region: ['eu'] } }],
        },
      ],
    });
    const subscription = await catalog.subscribe(plan.svc_id);
    const draft = await catalog.draft(subscription.id);
    const store = async (code: string, externalId: string) => {
      const id = newId();
      await catalog.service.sql`
        insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
          digest, created_at)
        values (${id}, ${catalog.organizationId}, ${externalId}, ${id}, ${code}, '2026-01-02', '{}', '\\x00',
          '2026-01-02')`;
      return id;
    };
    const [counted, otherCode, otherSubscription] = [
      await store(metric.code, subscription.externalId),
      await store('other', subscription.externalId),
      await store(metric.code, 'elsewhere'),
    ];

    const answer = await org.delete(`/billable_metrics/${metric.code}`);
    expect(answer.body.billable_metric).toEqual(metric);
    expect((await org.get(`/billable_metrics/${metric.code}`)).status).toBe(404);
    expect((await org.delete(`/billable_metrics/${metric.code}`)).body).toMatchObject({
      status: 404,
      resource: 'billable_metric',
    });
    expect((await org.get(`/plans/${plan.code}`)).body.plan.charges).toEqual([]);
    expect(await draft.isFlagged()).toBe(true);
    expect((await create({ code: metric.code })).status).toBe(200);
    const later = await store(metric.code, subscription.externalId);

    const deleted = async () => {
      const rows = await catalog.service.sql<{ id: string }[]>`
        select id from events where organization_id = ${catalog.organizationId} and deleted_at is not null`;
      return rows.map(({ id }) => id);
    };
    await until(async () => (await deleted()).length > 0);
    expect(await deleted()).toEqual([counted]);
    expect(await deleted()).not.toContain([otherCode, otherSubscription, later]);
  });
});

test('every write of a metric leaves an audit line and an outgoing event', async () => {
  const other = await openCatalog(catalog.service);
  const metric = await other.metric();
  await other.org.put(`/billable_metrics/${metric.code}`, { billable_metric: { name: 'Renamed' } });
  await other.org.delete(`/billable_metrics/${metric.code}`);
  for (const action of ['created', 'updated', 'deleted']) {
    const [activity] = await other.activities(`billable_metric.${action}`);
    expect(activity).toMatchObject({ resource_type: 'BillableMetric', resource_id: metric.svc_id });
    expect(activity!.activity_object_changes).toEqual(action === 'updated' ? { name: ['Calls', 'Renamed'] } : {});
    const [event] = await other.webhooks(`billable_metric.${action}`);
    expect(event).toMatchObject({
      webhook_type: `billable_metric.${action}`,
      object_type: 'billable_metric',
      billable_metric: { svc_id: metric.svc_id, filters: [] },
    });
  }
  await other.org.post('/billable_metrics', { billable_metric: { name: '' } });
  expect(await other.activities('billable_metric.created')).toHaveLength(1);
});

describe('trying an expression on an event', () => {
  const evaluate = (body: object) => org.post('/billable_metrics/evaluate_expression', body);

  test.each([
    ['ceil(event.properties.a / 3, 1)', { code: 'work', timestamp: 1709712000, properties: { a: '10' } }, '3.4'],
    ["concat(event.code, '-', 1)", { code: 'x' }, 'x-1'],
    ['event.timestamp', { code: 'x', timestamp: '1709712000.9' }, '1709712000.0'],
    ['event.code', { properties: {} }, ''],
  ])('the expression %s on event %j gives %s', async (expression, event, value) => {
    expect((await evaluate({ expression, event })).body).toEqual({ expression_result: { value } });
  });

  test.each([
    [{ expression: ' ', event: { code: 'x' } }, { expression: ['value_is_mandatory'] }],
    [{ expression: 'invalid', event: { code: 'x' } }, { expression: ['invalid_expression'] }],
    [{ expression: 'event.properties.b', event: { code: 'x', properties: { a: 1 } } }, { event: ['invalid_event'] }],
    [{ expression: '1 / 0', event: { code: 'x' } }, { event: ['invalid_event'] }],
    [{ expression: '1' }, { event: ['invalid_event'] }],
    [{ expression: '1', event: { timestamp: 'soon' } }, { event: ['invalid_event'] }],
  ])('an expression request with %j is refused', async (body, details) => {
    expect((await evaluate(body)).body.error_details).toEqual(details);
  });
});
