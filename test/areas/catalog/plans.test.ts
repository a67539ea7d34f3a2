import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAllPlans } from '../../../src/areas/catalog/plans/reads.ts';
import { PlanListQuery } from '../../../src/areas/catalog/plans/schema.ts';
import { until } from '../../support/until.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
let metric: { svc_id: string; code: string };
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  metric = await catalog.metric({ code: 'calls', filters: [{ key: 'region', values: ['eu', 'us'] }] });
});
afterAll(() => catalog.stop());

const charge = (fields: object = {}) => ({
  billable_metric_id: metric.svc_id,
  charge_model: 'standard',
  properties: { amount: '1' },
  ...fields,
});
const create = (fields: object) => org.post('/plans', { plan: catalog.planBody(fields) });
const update = (code: string, fields: object) => org.put(`/plans/${code}`, { plan: fields });
const codesOf = (plan: { charges: { code: string }[] }) => plan.charges.map(({ code }) => code);

describe('creating a plan', () => {
  test('a new plan answers with every field of the contract', async () => {
    const tax = await catalog.tax();
    const { status, body } = await create({
      code: 'starter',
      invoice_display_name: 'Starter pack',
      description: 'For a start',
      amount_cents: '1200',
      trial_period: 7.5,
      tax_codes: [tax.code],
      metadata: { tier: 'small', note: null },
      charges: [
        charge({
          invoice_display_name: 'Calls made',
          properties: { amount: '0.02', grouped_by: ['team', ' '], unknown: 1 },
          tax_codes: [tax.code],
          filters: [
            { invoice_display_name: 'Europe', properties: { amount: '0.01' }, values: { region: ['eu', 'eu'] } },
          ],
        }),
      ],
      fixed_charges: [],
      usage_thresholds: [],
      minimum_commitment: {},
      something_new: true,
    });
    expect(status).toBe(200);
    expect(body.plan).toEqual({
      svc_id: expect.any(String),
      name: 'Plan',
      invoice_display_name: 'Starter pack',
      created_at: expect.stringMatching(/Z$/),
      code: 'starter',
      interval: 'monthly',
      description: 'For a start',
      amount_cents: 1200,
      amount_currency: 'EUR',
      trial_period: 7.5,
      pay_in_advance: false,
      bill_charges_monthly: null,
      bill_fixed_charges_monthly: null,
      parent_id: null,
      pending_deletion: false,
      customers_count: 0,
      active_subscriptions_count: 0,
      draft_invoices_count: 0,
      charges: [
        {
          svc_id: expect.any(String),
          svc_billable_metric_id: metric.svc_id,
          code: 'calls',
          invoice_display_name: 'Calls made',
          billable_metric_code: 'calls',
          created_at: expect.stringMatching(/Z$/),
          charge_model: 'standard',
          invoiceable: true,
          regroup_paid_fees: null,
          pay_in_advance: false,
          prorated: false,
          min_amount_cents: 0,
          accepts_target_wallet: false,
          properties: { amount: '0.02', pricing_group_keys: ['team'], grouped_by: ['team'] },
          applied_pricing_unit: null,
          svc_parent_id: null,
          filters: [{ invoice_display_name: 'Europe', properties: { amount: '0.01' }, values: { region: ['eu'] } }],
          taxes: [tax],
        },
      ],
      fixed_charges: [],
      taxes: [tax],
      entitlements: [],
      usage_thresholds: [],
      applicable_usage_thresholds: [],
      metadata: { tier: 'small', note: null },
    });
    expect((await org.get('/plans/starter')).body).toEqual(body);
  });

  test('charges without a code get that of their metric with a number, after the codes that were given', async () => {
    const plan = await catalog.plan({
      charges: [charge(), charge({ code: 'calls' }), charge({ code: 'calls_7' }), charge(), charge({ code: null })],
    });
    expect(codesOf(plan)).toEqual(['calls_8', 'calls', 'calls_7', 'calls_9', 'calls_10']);
  });

  test.each([
    ['weekly', true, null],
    ['monthly', true, null],
    ['quarterly', true, null],
    ['semiannual', true, true],
    ['yearly', undefined, false],
  ])('a %s plan whose monthly charges are sent as %s shows %s', async (interval, asked, shown) => {
    const plan = await catalog.plan({ interval, bill_charges_monthly: asked, bill_fixed_charges_monthly: asked });
    expect(plan).toMatchObject({ interval, bill_charges_monthly: shown, bill_fixed_charges_monthly: shown });
    expect('metadata' in plan).toBe(false);
  });

  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'x']));
  test.each([
    ['name', { name: '' }, { name: ['value_is_mandatory'] }],
    ['code', { code: ' ' }, { code: ['value_is_mandatory'] }],
    ['long code', { code: 'x'.repeat(256) }, { code: ['value_is_too_long'] }],
    ['interval', { interval: 'daily' }, { interval: ['value_is_invalid'] }],
    ['missing interval', { interval: undefined }, { interval: ['value_is_invalid'] }],
    ['missing pay_in_advance', { pay_in_advance: undefined }, { pay_in_advance: ['value_is_invalid'] }],
    ['missing amount', { amount_cents: null }, { amount_cents: ['value_is_mandatory'] }],
    ['negative amount', { amount_cents: -1 }, { amount_cents: ['value_is_out_of_range'] }],
    ['half a cent', { amount_cents: 1.5 }, { amount_cents: ['value_is_invalid'] }],
    ['currency', { amount_currency: 'eur' }, { amount_currency: ['value_is_invalid'] }],
    ['trial', { trial_period: -1 }, { trial_period: ['value_is_out_of_range'] }],
    ['trial text', { trial_period: 'long' }, { trial_period: ['value_is_invalid'] }],
    ['metadata value', { metadata: { a: 1 } }, { value: ['value_is_invalid'] }],
    ['long metadata value', { metadata: { a: 'x'.repeat(256) } }, { value: ['value_is_invalid'] }],
    ['long metadata key', { metadata: { ['k'.repeat(101)]: 'x' } }, { value: ['key_is_invalid'] }],
    ['metadata of 51 keys', { metadata: many }, { value: ['too_many_keys'] }],
    ['charges', { charges: {} }, { charges: ['value_is_invalid'] }],
    [
      'charge without metric',
      { charges: [{ charge_model: 'standard' }] },
      { billable_metric_id: ['value_is_mandatory'] },
    ],
    [
      'fixed charges',
      { fixed_charges: [{ units: 1 }] },
      { add_on: ['value_is_mandatory'], charge_model: ['value_is_invalid'] },
    ],
    [
      'commitment',
      { minimum_commitment: { amount_cents: 0 } },
      { 'minimum_commitment.amount_cents': ['value_is_out_of_range'] },
    ],
    [
      'commitment without an amount',
      { minimum_commitment: { invoice_display_name: 'At least' } },
      { 'minimum_commitment.amount_cents': ['value_is_mandatory'] },
    ],
    [
      'several',
      { name: null, amount_cents: 'x' },
      { name: ['value_is_mandatory'], amount_cents: ['value_is_invalid'] },
    ],
  ])('a new plan with a wrong %s is refused', async (_what, fields, details) => {
    const answer = await create(fields);
    expect(answer.status).toBe(422);
    expect(answer.body.error_details).toEqual(details);
  });

  test('a taken plan code is refused together with errors inside charges', async () => {
    const { code } = await catalog.plan();
    const answer = await create({
      code,
      charges: [charge({ properties: { amount: 'x' } }), charge({ properties: { amount: 1 } })],
    });
    expect(answer.body.error_details).toEqual({
      code: ['value_already_exist'],
      properties: ['invalid_amount'],
    });
  });

  test('a plan with unknown metrics or taxes is refused with 404, and nothing is written', async () => {
    const unknown = '0199c0de-0000-7000-8000-000000000000';
    const cases = [
      [{ charges: [charge(), charge({ billable_metric_id: unknown })] }, 'billable_metrics'],
      [{ charges: [charge({ billable_metric_id: 'calls' })] }, 'billable_metrics'],
      [{ tax_codes: ['none'] }, 'tax'],
      [{ charges: [charge({ tax_codes: ['none'] })] }, 'tax'],
    ] as const;
    for (const [fields, resource] of cases) {
      const answer = await create({ code: 'nothing', ...fields });
      expect(answer.body).toEqual({ status: 404, error: 'Not Found', code: 'object_not_found', resource });
    }
    expect((await org.get('/plans/nothing')).body).toMatchObject({ status: 404, resource: 'plan' });
  });
});

test('plans are listed newest first in six statements whatever their number, only those of the organization', async () => {
  const other = await openCatalog(catalog.service);
  const own = await other.metric({ filters: [{ key: 'region', values: ['eu'] }] });
  const tax = await other.tax({ code: 'theirs' });
  const addOn = { name: 'Seat', code: 'seat', amount_cents: 100, amount_currency: 'EUR' };
  await other.org.post('/add_ons', { add_on: addOn });
  for (const code of ['one', 'two', 'three'])
    await other.plan({
      code,
      tax_codes: [tax.code],
      fixed_charges: [{ add_on_code: 'seat', charge_model: 'standard', tax_codes: [tax.code] }],
      charges: Array.from({ length: 3 }, () => ({
        ...charge({ billable_metric_id: own.svc_id, tax_codes: [tax.code] }),
        filters: [{ properties: { amount: '2' }, values: { region: ['eu'] } }],
      })),
    });
  const { body } = await other.org.get('/plans?per_page=2&page=1');
  expect(body.plans.map(({ code }: { code: string }) => code)).toEqual(['three', 'two']);
  expect(body.plans[0].charges[2]).toMatchObject({
    filters: [{ values: { region: ['eu'] } }],
    taxes: [{ code: tax.code }],
  });
  expect(body.plans[0].fixed_charges).toMatchObject([{ taxes: [{ code: tax.code }] }]);
  expect(body.meta).toMatchObject({ total_count: 3, total_pages: 2 });
  expect(await other.statementsOf((ctx) => listAllPlans(ctx, { query: PlanListQuery.parse({}) }))).toBe(7);

  expect((await org.get('/plans/one')).status).toBe(404);
  expect((await update('one', { name: 'x' })).status).toBe(404);
  expect((await org.delete('/plans/one')).status).toBe(404);
  expect((await org.post('/plans/one/metadata', { metadata: { a: 'b' } })).status).toBe(404);
  expect((await create({ charges: [charge({ billable_metric_id: own.svc_id })] })).body.resource).toBe(
    'billable_metrics',
  );
  expect((await create({ tax_codes: [tax.code] })).body.resource).toBe('tax');
});

describe('updating a plan', () => {
  test('PUT and PATCH may change every field of a plan while it has no subscription', async () => {
    const { code } = await catalog.plan({ description: 'old', trial_period: 3, metadata: { a: 'b' } });
    const changes = {
      name: 'New',
      code: `${code}-new`,
      invoice_display_name: 'Shown',
      description: null,
      interval: 'yearly',
      pay_in_advance: true,
      amount_cents: 5,
      amount_currency: 'JPY',
      trial_period: null,
      bill_charges_monthly: true,
      metadata: { c: 'd' },
    };
    const { body } = await org.patch(`/plans/${code}`, { plan: changes });
    const { description: _description, trial_period: _trial, ...shown } = changes;
    expect(body.plan).toMatchObject({ ...shown, bill_fixed_charges_monthly: false });
    expect(Object.keys(body.plan)).not.toEqual(expect.arrayContaining(['description']));
    expect(Object.keys(body.plan)).not.toEqual(expect.arrayContaining(['trial_period']));
    const cleared = await update(`${code}-new`, { metadata: null, interval: 'monthly' });
    expect(cleared.body.plan.bill_charges_monthly).toBeNull();
    expect('metadata' in cleared.body.plan).toBe(false);
  });

  test.each([
    [{ code: 'another' }],
    [{ interval: 'weekly' }],
    [{ amount_currency: 'USD' }],
    [{ pay_in_advance: true }],
    [{ trial_period: 5 }],
    [{ bill_charges_monthly: true }],
    [{ bill_fixed_charges_monthly: true }],
  ])('once a plan had a subscription %j is frozen, whatever became of the subscription', async (fields) => {
    const plan = await catalog.plan({ interval: 'yearly' });
    await catalog.subscribe(plan.svc_id, { status: 'terminated' });
    const refused = await update(plan.code, { name: 'Kept away', ...fields });
    expect(refused.body.error_details).toEqual({ [Object.keys(fields)[0]!]: ['value_is_frozen'] });

    const same = {
      code: plan.code,
      interval: 'yearly',
      amount_currency: 'EUR',
      pay_in_advance: 'false',
      trial_period: '0',
    };
    const allowed = await update(plan.code, {
      ...same,
      name: 'Free',
      amount_cents: 2000,
      description: 'too',
      metadata: {},
    });
    expect(allowed.body.plan).toMatchObject({ name: 'Free', amount_cents: 2000, description: 'too', metadata: {} });
  });

  test('a plan cannot be changed to a taken code', async () => {
    const [one, two] = [await catalog.plan(), await catalog.plan()];
    expect((await update(one.code, { code: two.code })).body.error_details).toEqual({ code: ['value_already_exist'] });
  });

  test('an update of a plan replaces its taxes as a whole', async () => {
    const [one, two] = [await catalog.tax(), await catalog.tax()];
    const { code } = await catalog.plan({ tax_codes: [one.code, two.code] });
    const taxes = async (fields: object) =>
      (await update(code, fields)).body.plan.taxes.map((tax: { code: string }) => tax.code);
    expect(await taxes({ name: 'x' })).toEqual([one.code, two.code]);
    expect(await taxes({ tax_codes: [two.code] })).toEqual([two.code]);
    expect(await taxes({ tax_codes: [] })).toEqual([]);
  });

  test('an update of a plan replaces charges by id: changed, created and deleted; an absent list keeps them', async () => {
    const plan = await catalog.plan({ charges: [charge({ code: 'a' }), charge({ code: 'b' })] });
    const [a] = plan.charges;
    expect(codesOf((await update(plan.code, { name: 'x' })).body.plan)).toEqual(['a', 'b']);
    const { body } = await update(plan.code, {
      charges: [charge({ code: 'b', properties: { amount: '3' } }), { id: a.svc_id, properties: { amount: '2' } }],
    });
    expect(body.plan.charges).toMatchObject([
      { svc_id: a.svc_id, code: 'a', properties: { amount: '2' } },
      { code: 'b', properties: { amount: '3' } },
    ]);
    expect(body.plan.charges[1].svc_id).not.toBe(plan.charges[1].svc_id);
    expect(codesOf((await update(plan.code, { charges: null })).body.plan)).toEqual(['a', 'b']);
    expect((await update(plan.code, { charges: [] })).body.plan.charges).toEqual([]);
  });

  test('a charge id of another plan, or one that appears twice, is refused with 404', async () => {
    const [plan, other] = [await catalog.plan({ charges: [charge()] }), await catalog.plan({ charges: [charge()] })];
    const own = plan.charges[0].svc_id;
    for (const ids of [[other.charges[0].svc_id], ['x'], [own, own]]) {
      const answer = await update(plan.code, { name: 'Kept away', charges: ids.map((id) => ({ id })) });
      expect(answer.body).toMatchObject({ status: 404, resource: 'charge' });
    }
    expect((await org.get(`/plans/${plan.code}`)).body.plan).toEqual(plan);
  });

  test('an update of a plan flags its draft invoices and those of no other plan', async () => {
    const [plan, other] = [await catalog.plan(), await catalog.plan()];
    const draft = await catalog.draft((await catalog.subscribe(plan.svc_id)).id);
    const spared = await catalog.draft((await catalog.subscribe(other.svc_id)).id);
    await update(plan.code, { name: 'x' });
    expect([await draft.isFlagged(), await spared.isFlagged()]).toEqual([true, false]);
  });

  test('a plan that becomes cheaper keeps its subscribers and withdraws their waiting downgrade', async () => {
    const [dear, cheap] = [await catalog.plan({ amount_cents: 1000 }), await catalog.plan({ amount_cents: 500 })];
    const current = await catalog.subscribe(dear.svc_id);
    const pending = await catalog.subscribe(cheap.svc_id, {
      status: 'pending',
      external_id: current.externalId,
      previous: current.id,
    });
    const status = async () => {
      const [row] = await catalog.service.sql`select status from subscriptions where id = ${pending.id}`;
      return row!.status;
    };
    await update(dear.code, { amount_cents: 500 });
    expect(await status()).toBe('pending');
    await update(dear.code, { amount_cents: 499 });
    expect(await status()).toBe('canceled');
  });

  test('a waiting downgrade to a plan that becomes dearer is an upgrade and happens at once', async () => {
    const [dear, cheap] = [await catalog.plan({ amount_cents: 1000 }), await catalog.plan({ amount_cents: 500 })];
    const current = await catalog.subscribe(dear.svc_id);
    await catalog.subscribe(cheap.svc_id, { status: 'pending', external_id: current.externalId, previous: current.id });
    const lineage = () => catalog.service.sql`
      select plan_id, status from subscriptions where external_id = ${current.externalId} order by id`;
    await update(cheap.code, { amount_cents: 999 });
    expect(await lineage()).toMatchObject([{ status: 'active' }, { status: 'pending' }]);
    await update(cheap.code, { amount_cents: 1000 });
    expect(await lineage()).toMatchObject([
      { plan_id: dear.svc_id, status: 'terminated' },
      { plan_id: cheap.svc_id, status: 'canceled' },
      { plan_id: cheap.svc_id, status: 'active' },
    ]);
  });
});

describe('deleting a plan', () => {
  test('a plan is marked for deletion at once and deleted afterwards: its subscriptions end and its code is free', async () => {
    const plan = await catalog.plan({ charges: [charge()] });
    const active = await catalog.subscribe(plan.svc_id);
    const pending = await catalog.subscribe(plan.svc_id, { status: 'pending' });
    const { body } = await org.delete(`/plans/${plan.code}`);
    expect(body.plan).toEqual({ ...plan, pending_deletion: true });

    await until(async () => (await org.get(`/plans/${plan.code}`)).status === 404);
    const rows = await catalog.service.sql`
      select status from subscriptions where id in (${active.id}, ${pending.id}) order by id`;
    expect(rows.map(({ status }) => status)).toEqual(['terminated', 'canceled']);
    expect((await org.delete(`/plans/${plan.code}`)).body).toMatchObject({ status: 404, resource: 'plan' });
    expect((await create({ code: plan.code })).status).toBe(200);
  });
});

describe('metadata of a plan', () => {
  test('POST replaces metadata of a plan, PATCH and PUT merge it, DELETE clears it', async () => {
    const { code } = await catalog.plan();
    const path = `/plans/${code}/metadata`;
    expect((await org.delete(`${path}/a`)).body).toMatchObject({ status: 404, resource: 'metadata' });
    expect((await org.post(path, { metadata: { a: '1', b: null } })).body).toEqual({ metadata: { a: '1', b: null } });
    expect((await org.patch(path, { metadata: { c: '3' } })).body).toEqual({ metadata: { a: '1', b: null, c: '3' } });
    expect((await org.put(path, { metadata: { 'a\0': '2\0' } })).body).toEqual({
      metadata: { a: '2', b: null, c: '3' },
    });
    expect((await org.delete(`${path}/a`)).body).toEqual({ metadata: { b: null, c: '3' } });
    expect((await org.delete(`${path}/unknown`)).body).toEqual({ metadata: { b: null, c: '3' } });
    expect((await org.get(`/plans/${code}`)).body.plan.metadata).toEqual({ b: null, c: '3' });
    expect((await org.post(path, { metadata: { z: 'z' } })).body).toEqual({ metadata: { z: 'z' } });
    expect((await org.delete(path)).body).toEqual({ metadata: null });
    expect('metadata' in (await org.get(`/plans/${code}`)).body.plan).toBe(false);
  });

  test('limits of metadata hold for the merged whole', async () => {
    const keys = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, 'x']));
    const { code } = await catalog.plan({ metadata: keys(0, 49) });
    const path = `/plans/${code}/metadata`;
    expect((await org.patch(path, { metadata: keys(49, 1) })).status).toBe(200);
    expect((await org.patch(path, { metadata: keys(50, 1) })).body.error_details).toEqual({ value: ['too_many_keys'] });
    expect((await org.patch(path, { metadata: keys(0, 1) })).status).toBe(200);
    expect((await org.post(path, { metadata: { a: {} } })).body.error_details).toEqual({ value: ['value_is_invalid'] });
    expect((await org.post(path, {})).status).toBe(400);
  });
});

test('every write of a plan leaves an audit line and an outgoing event', async () => {
  const other = await openCatalog(catalog.service);
  const own = await other.metric();
  const plan = await other.plan({ charges: [charge({ billable_metric_id: own.svc_id })] });
  await other.org.put(`/plans/${plan.code}`, { plan: { name: 'Renamed' } });
  await other.org.delete(`/plans/${plan.code}`);
  for (const action of ['created', 'updated', 'deleted']) {
    const [activity] = await other.activities(`plan.${action}`);
    expect(activity).toMatchObject({
      resource_type: 'Plan',
      resource_id: plan.svc_id,
      activity_object: { code: plan.code, charges: [{ billable_metric_code: own.code }] },
    });
    expect(activity!.activity_object_changes).toEqual(action === 'updated' ? { name: ['Plan', 'Renamed'] } : {});
    const [event] = await other.webhooks(`plan.${action}`);
    expect(event).toMatchObject({ object_type: 'plan', plan: { svc_id: plan.svc_id, charges: [{}], taxes: [] } });
    expect('entitlements' in event.plan).toBe(action !== 'deleted');
  }
});
