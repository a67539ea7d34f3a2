import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPlanChargeFilters, listPlanCharges } from '../../../src/areas/catalog/plan-charges/reads.ts';
import { isAggregated } from '../../../src/engine/metrics/aggregate.ts';
import { AGGREGATION_TYPES } from '../../../src/engine/metrics/aggregation-types.ts';
import { CHARGE_MODELS } from '../../../src/engine/pricing/charge-models.ts';
import { isPriced } from '../../../src/engine/pricing/price.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
let metric: { svc_id: string; code: string };
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  metric = await catalog.metric({
    code: 'jobs',
    filters: [
      { key: 'region', values: ['eu', 'us', 'asia'] },
      { key: 'cloud', values: ['aws', 'gcp'] },
    ],
  });
});
afterAll(() => catalog.stop());

const charge = (fields: object = {}) => ({
  billable_metric_id: metric.svc_id,
  charge_model: 'standard',
  properties: { amount: '1' },
  ...fields,
});
const filter = (name: string | null, values: object, amount = '2') => ({
  invoice_display_name: name,
  properties: { amount },
  values,
});
const ALL = ['__ALL_FILTER_VALUES__'];

/** A plan with one charge `jobs`, and the addresses of its charges. */
const planWith = async (fields: object = {}) => {
  const plan = await catalog.plan({ charges: [charge(fields)] });
  const charges = `/plans/${plan.code}/charges`;
  return { plan, charges, jobs: `${charges}/jobs`, filters: `${charges}/jobs/filters` };
};
const names = (filters: { invoice_display_name: string }[]) => filters.map((each) => each.invoice_display_name);

describe('charges of a plan', () => {
  test('a charge is created, read, changed and deleted by its code', async () => {
    const { charges } = await planWith();
    const tax = await catalog.tax();
    const made = await org.post(charges, {
      charge: charge({
        code: 'extra',
        tax_codes: [tax.code],
        filters: [filter('EU', { region: ['eu'] })],
        cascade_updates: true,
      }),
    });
    expect(made.body.charge).toMatchObject({
      code: 'extra',
      taxes: [{ code: tax.code }],
      filters: [{ invoice_display_name: 'EU' }],
    });
    expect((await org.get(`${charges}/extra`)).body).toEqual(made.body);

    const changed = await org.put(`${charges}/extra`, {
      charge: { code: 'renamed', properties: { amount: '5' }, invoice_display_name: 'Extra', tax_codes: [] },
    });
    expect(changed.body.charge).toMatchObject({
      svc_id: made.body.charge.svc_id,
      code: 'renamed',
      properties: { amount: '5' },
      invoice_display_name: 'Extra',
      taxes: [],
      filters: [{ invoice_display_name: 'EU' }],
    });
    const patched = await org.patch(`${charges}/renamed`, { charge: { properties: {}, invoice_display_name: null } });
    expect(patched.body.charge).toMatchObject({ properties: { amount: '0' }, invoice_display_name: null });

    expect((await org.delete(`${charges}/renamed`, { charge: { cascade_updates: true } })).body).toEqual(patched.body);
    expect((await org.delete(`${charges}/renamed`)).body).toMatchObject({ status: 404, resource: 'charge' });
    expect((await org.get(`${charges}/renamed`)).status).toBe(404);
    expect((await org.put(`${charges}/renamed`, { charge: { properties: {} } })).status).toBe(404);
  });

  test('a charge without a code gets that of its metric with the next free number', async () => {
    const { charges } = await planWith();
    const code = async () => (await org.post(charges, { charge: charge() })).body.charge.code;
    expect([await code(), await code()]).toEqual(['jobs_2', 'jobs_3']);
    await org.delete(`${charges}/jobs_2`);
    expect(await code()).toBe('jobs_4');
  });

  test('charges are listed newest first, in five statements', async () => {
    const { plan, charges } = await planWith();
    for (const code of ['b', 'c']) await org.post(charges, { charge: charge({ code }) });
    const { body } = await org.get(`${charges}?per_page=2`);
    expect(body.charges.map(({ code }: { code: string }) => code)).toEqual(['c', 'b']);
    expect(body.meta).toMatchObject({ total_count: 3, next_page: 2 });
    expect(
      await catalog.statementsOf((ctx) => listPlanCharges(ctx, { code: plan.code, query: { page: 1, per_page: 20 } })),
    ).toBe(5);
    expect((await org.get('/plans/none/charges')).body).toMatchObject({ status: 404, resource: 'plan' });
  });

  test.each([
    ['model', { charge_model: 'flat' }, { charge_model: ['value_is_invalid'] }],
    ['missing model', { charge_model: undefined }, { charge_model: ['value_is_invalid'] }],
    ['missing metric', { billable_metric_id: undefined }, { billable_metric_id: ['value_is_mandatory'] }],
    ['blank code', { code: '' }, { code: ['value_is_mandatory'] }],
    ['taken code', { code: 'jobs' }, { code: ['value_already_exist'] }],
    ['long code', { code: 'x'.repeat(301) }, { code: ['value_is_too_long'] }],
    ['minimum', { min_amount_cents: -1 }, { min_amount_cents: ['value_is_out_of_range'] }],
    ['amount', { properties: { amount: '-1' } }, { properties: ['invalid_amount'] }],
    ['amount as a number', { properties: { amount: 1 } }, { properties: ['invalid_amount'] }],
    ['properties', { properties: 'cheap' }, { properties: ['invalid_type'] }],
    [
      'text in properties',
      { properties: { amount: '1', pricing_group_keys: ['a\0', '\ud800'] } },
      { properties: ['invalid_format'] },
    ],
    ['group keys', { properties: { amount: '1', pricing_group_keys: 'team' } }, { properties: ['invalid_type'] }],
    [
      'several properties',
      { properties: { amount: 'x', grouped_by: [1] } },
      { properties: ['invalid_amount', 'invalid_type'] },
    ],
    ['regrouping', { regroup_paid_fees: 'all' }, { regroup_paid_fees: ['value_is_invalid'] }],
    ['not invoiceable in arrears', { invoiceable: false }, { invoiceable: ['must_be_true_unless_pay_in_advance'] }],
    [
      'regrouping in arrears',
      { regroup_paid_fees: 'invoice' },
      { regroup_paid_fees: ['only_compatible_with_pay_in_advance_and_non_invoiceable'] },
    ],
    [
      'minimum in advance',
      { pay_in_advance: true, min_amount_cents: 1 },
      { min_amount_cents: ['not_compatible_with_pay_in_advance'] },
    ],
    [
      'volume in advance',
      { charge_model: 'volume', pay_in_advance: true, properties: {} },
      { pay_in_advance: ['invalid_aggregation_type_or_charge_model'] },
    ],
    ['proration of a metered metric', { prorated: true }, { prorated: ['invalid_billable_metric_or_charge_model'] }],
    ['filters', { filters: {} }, { filters: ['value_is_invalid'] }],
    ['filter without values', { filters: [{ properties: { amount: '1' } }] }, { values: ['value_is_mandatory'] }],
    ['filter of no key', { filters: [filter('x', {})] }, { values: ['value_is_mandatory'] }],
    ['filter of no value', { filters: [filter('x', { region: [] })] }, { values: ['value_is_mandatory'] }],
    ['filter of one text', { filters: [filter('x', { region: 'eu' })] }, { values: ['value_is_invalid'] }],
    [
      'filter key',
      { filters: [filter('x', { zone: ['eu'] })] },
      { billable_metric_filter: ['relation_must_exist'], values: ['value_is_invalid'] },
    ],
    ['filter value', { filters: [filter('x', { region: ['mars'] })] }, { values: ['value_is_invalid'] }],
    [
      'wildcard beside a value',
      { filters: [filter('x', { region: [...ALL, 'eu'] })] },
      { values: ['value_is_invalid'] },
    ],
    ['filter properties', { filters: [filter('x', { region: ['eu'] }, 'free')] }, { properties: ['invalid_amount'] }],
  ])('a charge with a wrong %s is refused, inside a plan too', async (_what, fields, details) => {
    const { charges } = await planWith();
    const alone = await org.post(charges, { charge: charge(fields) });
    expect(alone.status).toBe(422);
    expect(alone.body.error_details).toEqual(details);
    const inside = await org.post('/plans', {
      plan: catalog.planBody({ charges: [charge({ code: 'jobs' }), charge(fields)] }),
    });
    expect(inside.body.error_details).toEqual(details);
  });

  test.each([['custom', { charge_model: 'custom' }, { charge_model: ['invalid_aggregation_type_or_charge_model'] }]])(
    'a charge with the model %s, which cannot be priced yet, is refused with the reason',
    async (_what, fields, details) => {
      const { charges } = await planWith();
      expect((await org.post(charges, { charge: charge(fields) })).body.error_details).toEqual(details);
    },
  );

  test.each(CHARGE_MODELS.filter((model) => model !== 'custom'))(
    'a charge with the model %s is accepted with its default properties, since that model can be priced',
    async (charge_model) => {
      const { charges } = await planWith();
      const { status, body } = await org.post(charges, { charge: charge({ charge_model, properties: {} }) });
      expect([status, body.error_details]).toEqual(
        isPriced(charge_model) ? [200, undefined] : [422, { charge_model: ['unsupported_value'] }],
      );
    },
  );

  test.each(AGGREGATION_TYPES.filter((type) => type !== 'custom_agg'))(
    'a charge on a metric of type %s is accepted, since its usage can be counted',
    async (aggregation_type) => {
      const other = await catalog.metric({ aggregation_type, weighted_interval: 'seconds' });
      const { charges } = await planWith();
      const { status, body } = await org.post(charges, { charge: charge({ billable_metric_id: other.svc_id }) });
      expect([status, body.error_details]).toEqual(
        isAggregated(aggregation_type) ? [200, undefined] : [422, { billable_metric_id: ['unsupported_value'] }],
      );
    },
  );

  test('a charge with an unknown metric or tax is refused with 404', async () => {
    const { charges, jobs } = await planWith();
    const stranger = await (await openCatalog(catalog.service)).metric();
    for (const id of [stranger.svc_id, 'jobs']) {
      const answer = await org.post(charges, { charge: charge({ billable_metric_id: id }) });
      expect(answer.body).toMatchObject({ status: 404, resource: 'billable_metric' });
    }
    expect((await org.put(jobs, { charge: { tax_codes: ['none'] } })).body).toMatchObject({
      status: 404,
      resource: 'tax',
    });
    expect((await org.post('/plans/none/charges', { charge: charge() })).body).toMatchObject({
      status: 404,
      resource: 'plan',
    });
  });

  test.each([
    ['code', { code: 'other' }],
    ['min_amount_cents', { min_amount_cents: 5 }],
    ['pay_in_advance', { pay_in_advance: true }],
    ['prorated', { prorated: true }],
    ['invoiceable', { invoiceable: false }],
    ['regroup_paid_fees', { regroup_paid_fees: 'invoice' }],
    ['charge_model', { charge_model: 'package' }],
  ])('once the plan has a subscription %s of a charge is frozen, alone and inside the plan', async (field, fields) => {
    const { plan, jobs } = await planWith();
    await catalog.subscribe(plan.svc_id, { status: 'canceled' });
    const id = plan.charges[0].svc_id;
    for (const refused of [
      await org.put(jobs, { charge: fields }),
      await org.put(`/plans/${plan.code}`, { plan: { charges: [{ id, ...fields }] } }),
    ])
      expect(refused.body.error_details[field]).toContain('value_is_frozen');
    const { svc_id, filters, taxes, svc_billable_metric_id, ...same } = plan.charges[0];
    const allowed = await org.put(jobs, {
      charge: {
        ...same,
        billable_metric_id: svc_billable_metric_id.toUpperCase(),
        min_amount_cents: '0',
        properties: { amount: '9' },
        filters: [filter('EU', { region: ['eu'] })],
        invoice_display_name: 'Jobs',
        accepts_target_wallet: true,
      },
    });
    expect(allowed.body.charge).toMatchObject({
      properties: { amount: '9' },
      filters: [{ invoice_display_name: 'EU' }],
      invoice_display_name: 'Jobs',
      accepts_target_wallet: true,
    });
  });

  test('the metric of a charge is frozen too; before that a new one accepts only filters that it declares', async () => {
    const other = await catalog.metric({ filters: [{ key: 'region', values: ['eu'] }] });
    const { plan, jobs } = await planWith({ filters: [filter('US', { region: ['us'] })] });
    const move = () => org.put(jobs, { charge: { billable_metric_id: other.svc_id } });
    expect((await move()).body.error_details).toEqual({ values: ['value_is_invalid'] });
    await org.put(jobs, { charge: { filters: [filter('EU', { region: ['eu'] })] } });
    expect((await move()).body.charge).toMatchObject({ svc_billable_metric_id: other.svc_id, code: 'jobs' });
    await catalog.subscribe(plan.svc_id);
    const back = await org.put(jobs, { charge: { billable_metric_id: metric.svc_id } });
    expect(back.body.error_details).toEqual({ billable_metric_id: ['value_is_frozen'] });
  });

  test('a change of a charge announces its plan and flags the drafts of the plan', async () => {
    const { plan, jobs, filters } = await planWith();
    const draft = await catalog.draft((await catalog.subscribe(plan.svc_id)).id);
    await org.put(jobs, { charge: { properties: { amount: '7' } } });
    expect(await draft.isFlagged()).toBe(true);
    await org.post(filters, { filter: filter('EU', { region: ['eu'] }) });
    const events = (await catalog.webhooks('plan.updated')).filter((event) => event.plan.svc_id === plan.svc_id);
    expect(events).toMatchObject([
      { plan: { charges: [{ properties: { amount: '7' }, filters: [] }] } },
      { plan: { charges: [{ filters: [{ values: { region: ['eu'] } }] }] } },
    ]);
  });
});

describe('charge filters', () => {
  test('a list of charge filters replaces the stored one: filters with equal values stay, and the order is that of the list', async () => {
    const { jobs, filters } = await planWith({
      filters: [
        filter('one', { region: ['eu', 'us'], cloud: ['aws'] }),
        filter('two', { region: ['asia'] }),
        filter('three', { cloud: ALL }),
      ],
    });
    const before = (await org.get(filters)).body.filters;
    const { body } = await org.put(jobs, {
      charge: {
        filters: [
          filter('three again', { cloud: ALL }, '3'),
          filter('new', { region: ['eu'] }),
          filter('one again', { cloud: ['aws'], region: ['us', 'eu'] }, '1'),
        ],
      },
    });
    expect(names(body.charge.filters)).toEqual(['three again', 'new', 'one again']);
    const after = (await org.get(filters)).body.filters;
    expect(names(after)).toEqual(['three again', 'new', 'one again']);
    expect(after[0]).toMatchObject({ svc_id: before[2].svc_id, properties: { amount: '3' } });
    expect(after[2]).toMatchObject({ svc_id: before[0].svc_id, properties: { amount: '1' } });
    expect((await org.get(`${filters}/${before[1].svc_id}`)).body).toMatchObject({
      status: 404,
      resource: 'charge_filter',
    });

    await org.put(jobs, { charge: { properties: { amount: '4' } } });
    expect((await org.get(filters)).body.filters).toEqual(after);
    expect((await org.put(jobs, { charge: { filters: [] } })).body.charge.filters).toEqual([]);
  });

  test('two charge filters with the same values may stand in one list', async () => {
    const same = { region: ['eu'] };
    const { jobs, filters } = await planWith({ filters: [filter('older', same, '5'), filter('newer', same, '3')] });
    const ids = async () => (await org.get(filters)).body.filters.map(({ svc_id }: { svc_id: string }) => svc_id);
    const before = await ids();
    await org.put(jobs, { charge: { filters: [filter('older', same, '6'), filter('newer', same, '4')] } });
    expect(await ids()).toEqual(before);
  });

  test('a charge filter is created, read, changed and deleted by its id, and a changed one moves to the end', async () => {
    const { plan, filters } = await planWith({
      filters: [filter('one', { region: ['eu'] }), filter('two', { region: ['us'] })],
    });
    const made = await org.post(filters, {
      filter: { ...filter('three', { region: ALL, cloud: ['gcp', 'gcp'] }), cascade_updates: true },
    });
    expect(made.body.filter).toEqual({
      svc_id: expect.any(String),
      charge_code: 'jobs',
      invoice_display_name: 'three',
      properties: { amount: '2' },
      values: { region: ALL, cloud: ['gcp'] },
    });
    const list = (await org.get(filters)).body;
    expect(names(list.filters)).toEqual(['one', 'two', 'three']);
    expect(list.meta).toMatchObject({ total_count: 3 });
    expect((await org.get(`${filters}?per_page=1&page=2`)).body.filters).toMatchObject([
      { invoice_display_name: 'two' },
    ]);
    const read = { code: plan.code, charge_code: 'jobs', query: { page: 1, per_page: 20 } };
    expect(await catalog.statementsOf((ctx) => listPlanChargeFilters(ctx, read))).toBe(4);

    const one = `${filters}/${list.filters[0].svc_id}`;
    expect((await org.get(one)).body).toEqual({ filter: list.filters[0] });
    const changed = await org.put(one, {
      filter: {
        invoice_display_name: null,
        properties: { amount: '8', presentation_group_keys: 'dropped' },
        values: { region: ['eu'] },
      },
    });
    expect(changed.body.filter).toEqual({
      ...list.filters[0],
      invoice_display_name: null,
      properties: { amount: '8' },
    });
    expect(names((await org.get(filters)).body.filters)).toEqual(['two', 'three', null]);
    expect((await org.patch(one, { filter: { invoice_display_name: 'one' } })).body.filter.properties).toEqual({
      amount: '8',
    });

    expect((await org.delete(one)).body.filter).toMatchObject({ invoice_display_name: 'one' });
    for (const answer of [
      await org.delete(one),
      await org.get(one),
      await org.put(one, { filter: { properties: {} } }),
    ])
      expect(answer.body).toMatchObject({ status: 404, resource: 'charge_filter' });
    expect((await org.get(`${filters}/none`)).body).toMatchObject({ status: 404, resource: 'charge_filter' });
    expect((await org.get(`/plans/${plan.code}/charges/none/filters`)).body).toMatchObject({
      status: 404,
      resource: 'charge',
    });
  });

  test.each([
    ['no values', { values: {} }, { values: ['value_is_mandatory'] }],
    ['missing values', { values: undefined }, { values: ['value_is_mandatory'] }],
    [
      'an unknown key',
      { values: { zone: ['eu'] } },
      { billable_metric_filter: ['relation_must_exist'], values: ['value_is_invalid'] },
    ],
    ['an unknown value', { values: { region: ['mars'] } }, { values: ['value_is_invalid'] }],
    ['values that are there', { values: { region: ['eu'] } }, { values: ['value_already_exist'] }],
    ['a wrong price', { values: { region: ['us'] }, properties: { amount: 2 } }, { properties: ['invalid_amount'] }],
  ])('a new charge filter with %s is refused', async (_what, fields, details) => {
    const { filters } = await planWith({ filters: [filter('one', { region: ['eu'] })] });
    const answer = await org.post(filters, { filter: { ...filter('x', {}), ...fields } });
    expect(answer.body.error_details).toEqual(details);
  });

  test('the values of a charge filter are frozen', async () => {
    const { filters } = await planWith({ filters: [filter('one', { region: ['eu'] })] });
    const [one] = (await org.get(filters)).body.filters;
    const answer = await org.put(`${filters}/${one.svc_id}`, {
      filter: { values: { region: ['us'] }, properties: { amount: 'x' } },
    });
    expect(answer.body.error_details).toEqual({ values: ['value_is_frozen'], properties: ['invalid_amount'] });
  });
});

test('charges and filters of other organizations cannot be reached', async () => {
  const { plan, jobs, filters } = await planWith({ filters: [filter('one', { region: ['eu'] })] });
  const [one] = (await org.get(filters)).body.filters;
  const stranger = await openCatalog(catalog.service);
  const { org: other } = stranger;
  for (const path of [`/plans/${plan.code}/charges`, jobs, filters, `${filters}/${one.svc_id}`])
    expect((await other.get(path)).body).toMatchObject({ status: 404, resource: 'plan' });
  expect((await other.delete(jobs)).status).toBe(404);

  const own = await stranger.metric({ code: 'jobs', filters: [{ key: 'region', values: ['eu'] }] });
  const twin = await stranger.plan({
    code: plan.code,
    charges: [charge({ billable_metric_id: own.svc_id, filters: [filter('theirs', { region: ['eu'] })] })],
  });
  expect((await other.get(`${filters}/${one.svc_id}`)).body).toMatchObject({ status: 404, resource: 'charge_filter' });
  expect((await other.delete(`${filters}/${one.svc_id}`)).status).toBe(404);
  const stolen = { plan: { charges: [{ id: plan.charges[0].svc_id }] } };
  expect((await other.put(`/plans/${twin.code}`, stolen)).body).toMatchObject({ status: 404, resource: 'charge' });
  expect((await org.get(`/plans/${plan.code}`)).body.plan).toEqual(plan);
});
