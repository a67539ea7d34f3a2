import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFeatures } from '../../../src/areas/catalog/features/reads.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
});
afterAll(() => catalog.stop());

const create = (fields: object) => org.post('/features', { feature: fields });
const faultsOf = async (answer: Promise<{ status: number; body: { error_details?: object } }>) => {
  const { status, body } = await answer;
  expect(status).toBe(422);
  return body.error_details;
};
const select = (options: unknown) => ({
  code: 'channel',
  value_type: 'select',
  config: { select_options: options },
});

test('a feature is created, shown, changed and deleted, and each write is announced', async () => {
  const made = await create({
    code: ' seats ',
    name: 'Seats',
    description: 'Of the team',
    privileges: [
      { code: 'max', name: 'Most', value_type: 'integer' },
      { code: 'sso', value_type: 'boolean', config: {} },
      { code: 'note' },
      select(['email', 'slack', 'email']),
    ],
  });
  const shown = {
    code: 'seats',
    name: 'Seats',
    description: 'Of the team',
    privileges: [
      { code: 'max', name: 'Most', value_type: 'integer', config: {} },
      { code: 'sso', name: null, value_type: 'boolean', config: {} },
      { code: 'note', name: null, value_type: 'string', config: {} },
      { code: 'channel', name: null, value_type: 'select', config: { select_options: ['email', 'slack'] } },
    ],
    usage_limits: [],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  };
  expect(made).toMatchObject({ status: 200, body: { feature: shown } });
  expect((await org.get('/features/seats')).body).toEqual({ feature: shown });

  const changed = await org.put('/features/seats', {
    feature: {
      code: 'seats',
      name: null,
      privileges: [
        { code: 'max', name: 'At most', value_type: 'integer' },
        { code: 'channel', config: { select_options: ['fax', 'slack'] } },
        { code: 'region', value_type: 'string' },
      ],
    },
  });
  expect(changed.body.feature).toMatchObject({
    name: null,
    description: 'Of the team',
    privileges: [
      { code: 'max', name: 'At most' },
      { code: 'sso' },
      { code: 'note' },
      { code: 'channel', config: { select_options: ['email', 'slack', 'fax'] } },
      { code: 'region' },
    ],
  });
  expect((await org.patch('/features/seats', { feature: { name: 'Chairs' } })).body.feature.name).toBe('Chairs');

  const without = await org.delete('/features/seats/privileges/note');
  expect(without.body.feature.privileges.map(({ code }: { code: string }) => code)).toEqual([
    'max',
    'sso',
    'channel',
    'region',
  ]);
  expect((await org.delete('/features/seats/privileges/note')).body).toMatchObject({ resource: 'privilege' });
  expect((await org.delete('/features/seats')).body.feature).toMatchObject({ code: 'seats', name: 'Chairs' });
  expect((await org.get('/features/seats')).body).toMatchObject({ status: 404, resource: 'feature' });
  for (const verb of ['put', 'patch'] as const)
    expect((await org[verb]('/features/seats', { feature: { name: 'x' } })).body.resource).toBe('feature');
  expect((await org.delete('/features/seats')).body.resource).toBe('feature');

  expect((await catalog.activities('feature.created'))[0]).toMatchObject({ resource_type: 'Entitlement::Feature' });
  expect(
    (await catalog.activities('feature.updated')).map((each) => Object.keys(each.activity_object_changes)),
  ).toEqual([['name', 'privileges'], ['name'], ['privileges']]);
  expect(await catalog.activities('feature.deleted')).toHaveLength(1);
  expect((await create({ code: 'seats' })).body.feature).toMatchObject({ name: null, privileges: [] });
});

test('every update of a feature sends a webhook, whether anything changed or not', async () => {
  await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'https://hooks.example.com/features' } });
  await create({ code: 'told', privileges: [{ code: 'max', value_type: 'integer' }] });
  await org.put('/features/told', { feature: { name: 'Told' } });
  await org.put('/features/told', { feature: { name: 'Told' } });
  await org.delete('/features/told/privileges/max');
  await org.delete('/features/told');
  const told = await Promise.all(
    ['feature.created', 'feature.updated', 'feature.deleted'].map(async (type) =>
      (await catalog.webhooks(type)).filter(({ feature }) => feature.code === 'told'),
    ),
  );
  expect(told.map(({ length }) => length)).toEqual([1, 3, 1]);
  expect(told[1]![0]).toMatchObject({
    webhook_type: 'feature.updated',
    object_type: 'feature',
    feature: { code: 'told', name: 'Told', privileges: [{ code: 'max' }] },
  });
  expect(told[1]![2].feature.privileges).toEqual([]);
});

describe('refused features', () => {
  test.each<[string, object, object]>([
    ['no code', { name: 'x' }, { code: ['value_is_mandatory'] }],
    ['a blank code', { code: ' ' }, { code: ['value_is_mandatory'] }],
    ['a long code', { code: 'x'.repeat(256) }, { code: ['value_is_too_long'] }],
    ['a long name', { code: 'a', name: 'x'.repeat(256) }, { name: ['value_is_too_long'] }],
    ['a long description', { code: 'a', description: 'x'.repeat(601) }, { description: ['value_is_too_long'] }],
    ['privileges as text', { code: 'a', privileges: 'x' }, { privileges: ['value_is_invalid'] }],
    ['a privilege without code', { code: 'a', privileges: [{}] }, { 'privilege.code': ['value_is_mandatory'] }],
    [
      'a privilege twice',
      { code: 'a', privileges: [{ code: 'p' }, { code: 'p' }] },
      { 'privilege.code': ['value_is_duplicated'] },
    ],
    [
      'an unknown type',
      { code: 'a', privileges: [{ code: 'p', value_type: 'float' }] },
      { 'privilege.value_type': ['value_is_invalid'] },
    ],
    [
      'a select without options',
      { code: 'a', privileges: [{ code: 'p', value_type: 'select' }] },
      { 'privilege.config': ['invalid_format'] },
    ],
    ['a select with no options', { code: 'a', privileges: [select([])] }, { 'privilege.config': ['invalid_format'] }],
    ['blank options', { code: 'a', privileges: [select([' '])] }, { 'privilege.config': ['invalid_format'] }],
    ['options that are no texts', { code: 'a', privileges: [select([1])] }, { 'privilege.config': ['invalid_format'] }],
    [
      'a select with more',
      { code: 'a', privileges: [{ ...select(['a']), config: { select_options: ['a'], more: 1 } }] },
      { 'privilege.config': ['invalid_format'] },
    ],
    [
      'options of an integer',
      { code: 'a', privileges: [{ ...select(['a']), value_type: 'integer' }] },
      { 'privilege.config': ['invalid_format'] },
    ],
    ['a null byte', { code: 'a\0' }, { code: ['invalid_format'] }],
  ])('a feature is refused: %s', async (_what, fields, details) => {
    expect(await faultsOf(create(fields))).toEqual(details);
  });

  test('a feature with a taken code is refused, also when two are created at the same time', async () => {
    await create({ code: 'taken' });
    expect(await faultsOf(create({ code: 'taken' }))).toEqual({ code: ['value_already_exist'] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ code: 'raced' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(422)]);
  });

  test('fields of a feature that cannot change are refused', async () => {
    await create({ code: 'fixed', privileges: [{ code: 'p', value_type: 'integer' }, select(['a'])] });
    const put = (feature: object) => faultsOf(org.put('/features/fixed', { feature }));
    expect(await put({ code: 'other' })).toEqual({ code: ['value_is_frozen'] });
    expect(await put({ privileges: [{ code: 'p', value_type: 'string' }] })).toEqual({
      'privilege.value_type': ['value_is_frozen'],
    });
    expect(await put({ privileges: [{ code: 'p', config: { select_options: ['a'] } }] })).toEqual({
      'privilege.config': ['invalid_format'],
    });
    expect(await put({ privileges: [{ code: 'p' }, { code: 'p' }] })).toEqual({
      'privilege.code': ['value_is_duplicated'],
    });
    expect((await org.put('/features/fixed', {})).status).toBe(400);
  });
});

describe('the list of features', () => {
  test('features are paged newest first and searched by name, code and description', async () => {
    const other = await catalog.service.org();
    for (const n of [1, 2, 3])
      await other.post('/features', { feature: { code: `f${n}`, name: `100% ${n}`, description: `Part_${n} ` } });
    const codes = async (query: string) => {
      const { body } = await other.get(`/features?${query}`);
      return [body.features.map(({ code }: { code: string }) => code).join(), body.meta.total_count];
    };
    expect(await codes('')).toEqual(['f3,f2,f1', 3]);
    expect(await codes('per_page=2&page=2')).toEqual(['f1', 3]);
    expect(await codes('search_term=F2')).toEqual(['f2', 1]);
    expect(await codes('search_term=100%25')).toEqual(['f3,f2,f1', 3]);
    expect(await codes('search_term=part_3')).toEqual(['f3', 1]);
    expect((await org.get('/features/f1')).status).toBe(404);
  });

  test('the list of features takes two statements', async () => {
    const query = { page: 1, per_page: 20, search_term: undefined };
    expect(await catalog.statementsOf((ctx) => listFeatures(ctx, { query }))).toBeLessThanOrEqual(2);
  });
});

describe('usage limits', () => {
  test('usage limits of a feature are replaced, shown and deleted with their privilege', async () => {
    const metric = await catalog.metric({ code: 'api_calls' });
    await create({
      code: 'api',
      privileges: [
        { code: 'max_calls', value_type: 'integer' },
        { code: 'vip', value_type: 'boolean' },
      ],
    });
    const put = (limits: unknown) => org.put('/features/api/usage_limits', { usage_limits: limits });
    const limit = { privilege_code: 'max_calls', billable_metric_code: metric.code, period: 'billing_period' };
    const daily = { ...limit, period: 'day' };
    expect((await put([limit, daily])).body.feature.usage_limits).toEqual([limit, daily]);
    expect((await put([daily])).body.feature.usage_limits).toEqual([daily]);

    expect((await put([{ ...limit, privilege_code: 'nope' }])).body).toMatchObject({ resource: 'privilege' });
    expect((await put([{ ...limit, billable_metric_code: 'x' }])).body).toMatchObject({ resource: 'billable_metric' });
    expect((await put([{ ...limit, privilege_code: 'vip' }])).body.error_details).toEqual({
      privilege_code: ['value_is_invalid'],
    });
    expect((await put([{ ...limit, period: 'year' }])).body.error_details).toEqual({ period: ['value_is_invalid'] });
    expect((await put([{}])).body.error_details).toEqual({
      privilege_code: ['value_is_mandatory'],
      billable_metric_code: ['value_is_mandatory'],
      period: ['value_is_invalid'],
    });
    expect((await put('x')).body.error_details).toEqual({ usage_limits: ['value_is_invalid'] });
    expect((await org.put('/features/api/usage_limits', {})).body.error_details).toEqual({
      usage_limits: ['value_is_mandatory'],
    });
    expect((await org.put('/features/none/usage_limits', { usage_limits: [] })).body.resource).toBe('feature');
    expect((await org.get('/features/api')).body.feature.usage_limits).toEqual([daily]);
    await org.delete('/features/api/privileges/max_calls');
    expect((await org.get('/features/api')).body.feature.usage_limits).toEqual([]);
  });
});
