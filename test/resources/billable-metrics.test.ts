import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let acme: Awaited<ReturnType<TestService['org']>>;
beforeAll(async () => {
  service = await startService();
  acme = await service.org();
});
afterAll(() => service.stop());

let made = 0;
const sumMetric = (fields: object = {}) => ({
  name: 'Calls',
  code: `calls_${++made}`,
  aggregation_type: 'sum_agg',
  field_name: 'value',
  ...fields,
});
const create = async (fields: object = {}) => {
  const answer = await acme.post('/billable_metrics', { billable_metric: sumMetric(fields) });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.billable_metric;
};

describe('creation', () => {
  test('answers every field of the contract, filters by key with sorted values', async () => {
    const metric = await create({
      code: 'storage',
      description: 'GB stored',
      recurring: true,
      rounding_function: 'ceil',
      rounding_precision: -1,
      filters: [
        { key: 'region', values: ['us', 'eu', 'us'] },
        { key: 'cloud', values: ['aws'] },
      ],
    });
    expect(metric).toEqual({
      svc_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Calls',
      code: 'storage',
      description: 'GB stored',
      aggregation_type: 'sum_agg',
      recurring: true,
      rounding_function: 'ceil',
      rounding_precision: -1,
      weighted_interval: null,
      expression: null,
      field_name: 'value',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      filters: [
        { key: 'cloud', values: ['aws'] },
        { key: 'region', values: ['eu', 'us'] },
      ],
      active_subscriptions_count: 0,
      draft_invoices_count: 0,
      plans_count: 0,
    });
    const { active_subscriptions_count, draft_invoices_count, plans_count, ...shown } = metric;
    expect((await acme.get('/billable_metrics/storage')).body).toEqual({ billable_metric: shown });
  });

  test('a count has no field', async () => {
    expect((await create({ aggregation_type: 'count_agg', field_name: 'value' })).field_name).toBeNull();
  });

  test.each([
    ['name', { name: ' ' }, { name: ['value_is_mandatory'] }],
    ['code', { code: null }, { code: ['value_is_mandatory'] }],
    ['a long code', { code: 'x'.repeat(256) }, { code: ['value_is_too_long'] }],
    ['type', { aggregation_type: undefined }, { aggregation_type: ['value_is_invalid'] }],
    ['unknown type', { aggregation_type: 'avg_agg' }, { aggregation_type: ['value_is_invalid'] }],
    ['field', { field_name: null }, { field_name: ['value_is_mandatory'] }],
    [
      'recurring count',
      { aggregation_type: 'count_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'recurring max',
      { aggregation_type: 'max_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'recurring latest',
      { aggregation_type: 'latest_agg', recurring: true },
      { recurring: ['not_compatible_with_aggregation_type'] },
    ],
    [
      'weighted without interval',
      { aggregation_type: 'weighted_sum_agg' },
      { weighted_interval: ['value_is_invalid'] },
    ],
    ['interval', { weighted_interval: 'hours' }, { weighted_interval: ['value_is_invalid'] }],
    ['rounding', { rounding_function: 'up' }, { rounding_function: ['value_is_invalid'] }],
    ['precision', { rounding_precision: 61 }, { rounding_precision: ['value_is_out_of_range'] }],
    ['expression', { expression: '1.1.1' }, { expression: ['invalid_expression'] }],
    ['filter values', { filters: [{ key: 'region', values: [] }] }, { values: ['value_is_mandatory'] }],
    ['filter without values', { filters: [{ key: 'region' }] }, { values: ['value_is_mandatory'] }],
    ['blank filter key', { filters: [{ key: '', values: ['eu'] }] }, { key: ['value_is_mandatory'] }],
    [
      'repeated filter key',
      {
        filters: [
          { key: 'a', values: ['1'] },
          { key: 'a', values: ['2'] },
        ],
      },
      { key: ['value_already_exist'] },
    ],
    ['filters', { filters: 'region' }, { filters: ['value_is_invalid'] }],
    [
      'several at once',
      { name: '', aggregation_type: 'x' },
      { name: ['value_is_mandatory'], aggregation_type: ['value_is_invalid'] },
    ],
  ])('refuses a wrong %s', async (_what, fields, details) => {
    const answer = await acme.post('/billable_metrics', { billable_metric: sumMetric(fields) });
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_errors', error_details: details } });
    expect(answer.body.error_details).toEqual(details);
  });

  test('refuses a taken code, also of twins at the same time', async () => {
    const twins = await Promise.all(
      Array.from({ length: 4 }, () => acme.post('/billable_metrics', { billable_metric: sumMetric({ code: 'twin' }) })),
    );
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
    const refused = twins.find(({ status }) => status === 422)!;
    expect(refused.body.error_details).toEqual({ code: ['value_already_exist'] });
  });

  test('custom aggregations are not available', async () => {
    const answer = await acme.post('/billable_metrics', {
      billable_metric: sumMetric({ aggregation_type: 'custom_agg' }),
    });
    expect(answer.body).toEqual({ status: 403, error: 'Forbidden', code: 'feature_unavailable' });
  });
});

test('lists newest first, at most six round trips', async () => {
  const globex = await service.org({ name: 'Globex' });
  for (const code of ['one', 'two', 'three'])
    await globex.post('/billable_metrics', {
      billable_metric: sumMetric({ code, filters: [{ key: 'a', values: ['1'] }] }),
    });
  const { body } = await globex.get('/billable_metrics?per_page=2');
  expect(body.billable_metrics.map(({ code }: { code: string }) => code)).toEqual(['three', 'two']);
  expect(body.meta).toEqual({ current_page: 1, next_page: 2, prev_page: null, total_pages: 2, total_count: 3 });
});
