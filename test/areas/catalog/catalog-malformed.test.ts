import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inLongRun } from '../../support/long-run.ts';
import { type Catalog, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await openCatalog();
});
afterAll(() => catalog.stop());

const ODD = [
  ...[null, '', ' ', 'x', 'a\0', '\ud800', 'x'.repeat(5000), '__proto__', '1e400', '99999999999999999999'],
  ...[0, -1, 1.5, 1e21, 1e308, 9007199254740992, true, [], {}, [null], [{}], ['a', 1], [[[]]], { a: { b: 1 } }],
  ...[
    JSON.parse('{"__proto__": ["eu"]}'),
    JSON.parse('[{"key": "__proto__", "values": ["a"]}]'),
    { constructor: ['x'] },
  ],
];

/** What is right for each field, so that requests also get far. */
const RIGHT: Record<string, readonly unknown[]> = {
  name: ['n'],
  aggregation_type: ['sum_agg', 'count_agg', 'weighted_sum_agg'],
  weighted_interval: ['seconds'],
  field_name: ['value'],
  rounding_function: ['ceil'],
  rounding_precision: [3, -3],
  expression: ['1 + 1'],
  interval: ['monthly', 'yearly'],
  amount_cents: [1],
  amount_currency: ['EUR'],
  pay_in_advance: [false],
  trial_period: [1, '0.1e-5', '1e-300'],
  metadata: [{ a: 'b' }, { a: 'b\0' }],
  charge_model: [
    'standard',
    'graduated',
    'package',
    'volume',
    'graduated_percentage',
    'percentage',
    'dynamic',
    'custom',
  ],
  properties: [
    { amount: '1' },
    { amount: '1e99', package_size: 1, free_units: 0 },
    { graduated_ranges: [{ from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '1' }] },
    { amount: '1', pricing_group_keys: ['a\0', '\ud800', 'x'.repeat(3000)] },
  ],
  min_amount_cents: [0],
  values: [{ region: ['eu'] }, { region: ['__ALL_FILTER_VALUES__'] }],
};

const METRIC = [
  'name',
  'aggregation_type',
  'field_name',
  'weighted_interval',
  'rounding_function',
  'rounding_precision',
  'expression',
];
const PLAN = ['name', 'interval', 'amount_cents', 'amount_currency', 'pay_in_advance', 'trial_period', 'metadata'];
const CHARGE = ['charge_model', 'properties', 'min_amount_cents'];

test('no malformed metric, plan or charge makes the service fail', async () => {
  const { org } = catalog;
  const metric = await catalog.metric({ filters: [{ key: 'region', values: ['eu', 'us'] }] });
  const plan = await catalog.plan({
    charges: [{ billable_metric_id: metric.svc_id, charge_model: 'standard', code: 'c', properties: { amount: '1' } }],
  });

  const odd = fc.constantFrom(...ODD);
  const field = (right: readonly unknown[]) =>
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: odd });
  const fields = (names: readonly string[], more: Record<string, fc.Arbitrary<unknown>> = {}) =>
    fc.record(
      { ...Object.fromEntries(names.map((name) => [name, field(RIGHT[name]!)])), ...more },
      { requiredKeys: [] },
    );
  const code = fc.oneof({ weight: 6, arbitrary: fc.uuid() }, { weight: 1, arbitrary: odd });
  const list = (item: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 2 }) }, { weight: 1, arbitrary: odd });
  const filter = fields(['values', 'properties'], { invoice_display_name: odd });
  const charge = fields(CHARGE, {
    billable_metric_id: field([metric.svc_id]),
    filters: list(filter),
    tax_codes: odd,
    applied_pricing_unit: odd,
  });
  const element = fc.oneof(
    charge,
    fc.record({ id: field([plan.charges[0].svc_id]), properties: field(RIGHT.properties!) }),
  );
  const request = fc.oneof(
    fields(METRIC, { code, filters: odd }).map(
      (body) => ['post', '/billable_metrics', { billable_metric: body }] as const,
    ),
    fields(METRIC, { filters: odd }).map(
      (body) => ['put', `/billable_metrics/${metric.code}`, { billable_metric: body }] as const,
    ),
    fc
      .record({ expression: field(RIGHT.expression!), event: odd })
      .map((body) => ['post', '/billable_metrics/evaluate_expression', body] as const),
    fields(PLAN, { code, charges: list(charge) }).map((body) => ['post', '/plans', { plan: body }] as const),
    fields(PLAN, { charges: list(element) }).map((body) => ['put', `/plans/${plan.code}`, { plan: body }] as const),
    charge.map((body) => ['post', `/plans/${plan.code}/charges`, { charge: body }] as const),
    charge.map((body) => ['put', `/plans/${plan.code}/charges/c`, { charge: body }] as const),
    filter.map((body) => ['post', `/plans/${plan.code}/charges/c/filters`, { filter: body }] as const),
    odd.map((body) => ['post', `/plans/${plan.code}/metadata`, { metadata: body }] as const),
  );
  const statuses = new Set<number>();
  // What chance may leave out in a short run.
  type Sent = typeof request extends fc.Arbitrary<infer Value> ? Value : never;
  const examples: [Sent][] = [
    [
      [
        'post',
        `/plans/${plan.code}/charges`,
        { charge: { billable_metric_id: plan.svc_id, charge_model: 'standard' } },
      ],
    ],
    [['post', `/plans/${plan.code}/charges`, { charge: {} }]],
  ];
  await fc.assert(
    fc.asyncProperty(request, async ([method, path, body]) => {
      const answer = await org[method](path, body, { beyondContract: 'json.md: whatever is sent is answered' });
      statuses.add(answer.status);
      expect(answer.status, answer.text).toBeLessThan(500);
      for (const codes of Object.values(answer.body.error_details ?? {}))
        for (const each of codes as string[]) expect(each).toMatch(/^[a-z_]+$/);
    }),
    { numRuns: inLongRun(600, 200), examples, endOnFailure: true },
  );
  expect([...statuses].sort()).toEqual([200, 400, 404, 422]);
  for (const list of ['/billable_metrics', '/plans', `/plans/${plan.code}/charges`])
    expect((await org.get(`${list}?per_page=1000`)).status).toBe(200);
});
