import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
let metric: { svc_id: string };
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  metric = await catalog.metric({ filters: [{ key: 'region', values: ['eu', 'us', 'asia'] }] });
});
afterAll(() => catalog.stop());

let made = 0;
const charge = (fields: object = {}) => ({
  billable_metric_id: metric.svc_id,
  charge_model: 'standard',
  code: 'calls',
  properties: { amount: '1' },
  filters: [
    { invoice_display_name: 'EU', properties: { amount: '2' }, values: { region: ['eu'] } },
    { invoice_display_name: 'US', properties: { amount: '3' }, values: { region: ['us'] } },
  ],
  ...fields,
});
const subscribe = async (plan: { code: string }, fields: object = {}) => {
  const external_id = `sub-${++made}`;
  const answer = await org.post('/subscriptions', {
    subscription: { external_customer_id: 'acme', external_id, plan_code: plan.code, ...fields },
  });
  return { ...answer, path: `/subscriptions/${external_id}`, external_id };
};
const amounts = (shown: { filters: { properties: { amount: string } }[] }) =>
  shown.filters.map(({ properties }) => properties.amount);

describe('plan_overrides of a subscription', () => {
  test('plan overrides copy the plan with its code, charges, taxes and commitment and change what they name', async () => {
    const tax = await catalog.tax();
    const plan = await catalog.plan({
      charges: [charge({ tax_codes: [tax.code] }), charge({ code: 'other' })],
      tax_codes: [tax.code],
      minimum_commitment: { amount_cents: 500, tax_codes: [tax.code] },
    });
    const { status, body, path } = await subscribe(plan, {
      plan_overrides: {
        amount_cents: 77,
        name: 'Special',
        charges: [{ id: plan.charges[0].svc_id, properties: { amount: '9' }, min_amount_cents: 100 }],
      },
    });
    expect(status).toBe(200);
    const { subscription } = body;
    expect(subscription).toMatchObject({ plan_code: plan.code, plan_amount_cents: 77 });
    expect(subscription.plan).toMatchObject({
      parent_id: plan.svc_id,
      code: plan.code,
      name: 'Special',
      amount_cents: 77,
      taxes: [{ code: tax.code }],
      minimum_commitment: { amount_cents: 500, taxes: [{ code: tax.code }] },
      charges: [
        {
          code: 'calls',
          svc_parent_id: plan.charges[0].svc_id,
          properties: { amount: '9' },
          min_amount_cents: 100,
          taxes: [{ code: tax.code }],
        },
        { code: 'other', svc_parent_id: plan.charges[1].svc_id, properties: { amount: '1' } },
      ],
    });
    expect(amounts(subscription.plan.charges[0])).toEqual(['2', '3']);
    expect((await org.get(`/plans/${plan.code}`)).body.plan).toMatchObject({ amount_cents: 1000, name: 'Plan' });
    const listed = await org.get('/plans?per_page=1000');
    expect(listed.body.plans.filter(({ code }: { code: string }) => code === plan.code)).toHaveLength(1);

    const copyId = subscription.plan.svc_id;
    const changed = await org.put(path, {
      subscription: { plan_overrides: { minimum_commitment: {}, tax_codes: [] } },
    });
    expect(changed.status).toBe(200);
    const after = (await org.get(path)).body.subscription.plan;
    expect(after).toMatchObject({ svc_id: copyId, amount_cents: 77, taxes: [] });
    expect(after).not.toHaveProperty('minimum_commitment');
    const found = await org.get('/subscriptions?overridden=true');
    expect(found.body.subscriptions.map(({ svc_id }: { svc_id: string }) => svc_id)).toContain(subscription.svc_id);
  });

  test('posting the same plan with overrides changes the running subscription', async () => {
    const plan = await catalog.plan();
    const { body, external_id } = await subscribe(plan);
    const again = await org.post('/subscriptions', {
      subscription: {
        external_customer_id: 'acme',
        external_id,
        plan_code: plan.code,
        plan_overrides: { amount_cents: 5 },
      },
    });
    expect(again.body.subscription).toMatchObject({ svc_id: body.subscription.svc_id, plan_amount_cents: 5 });
  });

  test.each([
    ['interval', { interval: 'weekly' }, { 'plan_overrides.interval': ['value_is_frozen'] }],
    ['currency', { amount_currency: 'XX' }, { 'plan_overrides.amount_currency': ['value_is_invalid'] }],
    [
      'commitment',
      { minimum_commitment: { amount_cents: 0 } },
      { 'plan_overrides.minimum_commitment.amount_cents': ['value_is_out_of_range'] },
    ],
  ])('a plan override with a wrong %s is refused', async (_what, overrides, details) => {
    const plan = await catalog.plan();
    expect((await subscribe(plan, { plan_overrides: overrides })).body.error_details).toEqual(details);
  });

  test('an overridden charge keeps its model and metric, and an unknown one is refused with 404', async () => {
    const plan = await catalog.plan({ charges: [charge()] });
    const id = plan.charges[0].svc_id;
    const wrong = (element: object) => subscribe(plan, { plan_overrides: { charges: [element] } });
    expect((await wrong({ id, charge_model: 'volume' })).body.error_details).toMatchObject({
      'plan_overrides.charge_model': ['value_is_frozen'],
    });
    expect((await wrong({ id, properties: { amount: -1 } })).body.error_details).toEqual({
      'plan_overrides.properties': ['invalid_amount'],
    });
    expect((await wrong({ id: plan.svc_id })).body).toMatchObject({ status: 404, resource: 'charge' });
  });

  test('an override of units alone copies no plan; any other field of a fixed charge makes a copy with those units', async () => {
    const addOn = { name: 'Seat', code: `seat-${++made}`, amount_cents: 100, amount_currency: 'EUR' };
    expect((await org.post('/add_ons', { add_on: addOn })).status).toBe(200);
    const seats = { add_on_code: addOn.code, charge_model: 'standard', units: 2, properties: { amount: '5' } };
    const plan = await catalog.plan({ fixed_charges: [seats] });
    const [{ svc_id: id, code }] = plan.fixed_charges;
    const { body, path } = await subscribe(plan, { plan_overrides: { fixed_charges: [{ id, units: 7 }] } });
    expect(body.subscription.plan.parent_id).toBeNull();
    expect((await org.get(`${path}/fixed_charges/${code}`)).body.fixed_charge.units).toBe(7);

    const changed = await org.put(`${path}/fixed_charges/${code}`, { fixed_charge: { properties: { amount: '9' } } });
    expect(changed.body.fixed_charge).toMatchObject({ svc_parent_id: id, units: 7, properties: { amount: '9' } });
    expect((await org.get(path)).body.subscription.plan).toMatchObject({ parent_id: plan.svc_id });
    const wrong = await org.put(path, {
      subscription: { plan_overrides: { fixed_charges: [{ id, charge_model: 'volume' }] } },
    });
    expect(wrong.body).toMatchObject({ status: 403, code: 'cannot_override_charge_model' });
  });

  test('usage thresholds at two places of one request are refused', async () => {
    const plan = await catalog.plan();
    const usage_thresholds = [{ amount_cents: 10 }];
    const { body } = await subscribe(plan, { usage_thresholds, plan_overrides: { usage_thresholds } });
    expect(body.error_details).toEqual({
      usage_thresholds: ['incompatible_params'],
      'plan_overrides.usage_thresholds': ['incompatible_params'],
    });
  });
});

describe('charges of a subscription', () => {
  test('a subscription lists the charges of its plan until the first override, then its own', async () => {
    const plan = await catalog.plan({ charges: [charge()] });
    const { path } = await subscribe(plan);
    const before = await org.get(`${path}/charges`);
    expect(before.body).toMatchObject({ charges: [{ svc_id: plan.charges[0].svc_id }], meta: { total_count: 1 } });

    const changed = await org.put(`${path}/charges/calls`, {
      charge: { properties: { amount: '50' }, invoice_display_name: 'Mine' },
    });
    expect(changed.body.charge).toMatchObject({
      svc_parent_id: plan.charges[0].svc_id,
      properties: { amount: '50' },
      invoice_display_name: 'Mine',
    });
    expect((await org.get(`${path}/charges/calls`)).body).toEqual(changed.body);
    expect((await org.get(`/plans/${plan.code}/charges/calls`)).body.charge.properties).toEqual({ amount: '1' });
    expect((await org.put(`${path}/charges/calls`, { charge: { prorated: true } })).body.error_details).toMatchObject({
      prorated: expect.arrayContaining(['value_is_frozen']),
    });
    expect((await org.get(`${path}/charges/none`)).body).toMatchObject({ status: 404, resource: 'charge' });
    expect((await org.get('/subscriptions/none/charges')).body).toMatchObject({
      status: 404,
      resource: 'subscription',
    });
    expect((await org.get(`${path}/charges?subscription_status=pending`)).status).toBe(404);
  });

  test('twenty overrides at the same time make one copy and are all kept', async () => {
    const plan = await catalog.plan({ charges: [charge({ filters: [] })] });
    const { path, external_id } = await subscribe(plan);
    const names = Array.from({ length: 10 }, (_, index) => `name ${index}`);
    const answers = await Promise.all(
      names.flatMap((name, index) => [
        org.put(`${path}/charges/calls`, { charge: { invoice_display_name: name } }),
        org.put(path, { subscription: { plan_overrides: { amount_cents: index } } }),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const [row] = await catalog.service.sql`
      select count(*)::int as copies from plans where parent_id = ${plan.svc_id}`;
    expect(row).toEqual({ copies: 1 });
    const { subscription } = (await org.get(`/subscriptions/${external_id}`)).body;
    expect(names).toContain(subscription.plan.charges[0].invoice_display_name);
    expect(subscription.plan_amount_cents).toBeLessThan(10);
  });

  test('a filter is named by its id in the plan or in the copy', async () => {
    const plan = await catalog.plan({ charges: [charge()] });
    const { path } = await subscribe(plan);
    const filters = `${path}/charges/calls/filters`;
    const [eu, us] = (await org.get(`/plans/${plan.code}/charges/calls/filters`)).body.filters;
    expect((await org.get(`${filters}/${eu.svc_id}`)).body.filter).toEqual(eu);

    const changed = await org.put(`${filters}/${eu.svc_id}`, { filter: { properties: { amount: '20' } } });
    expect(changed.body.filter).toMatchObject({ values: { region: ['eu'] }, properties: { amount: '20' } });
    expect(changed.body.filter.svc_id).not.toBe(eu.svc_id);
    expect((await org.get(`${filters}/${eu.svc_id}`)).body).toEqual(changed.body);
    expect((await org.get(`${filters}/${changed.body.filter.svc_id}`)).body).toEqual(changed.body);

    const asia = { properties: { amount: '4' }, values: { region: ['asia'] } };
    expect((await org.post(filters, { filter: asia })).status).toBe(200);
    expect((await org.post(filters, { filter: asia })).body.error_details).toEqual({
      values: ['value_already_exist'],
    });
    expect((await org.post(filters, { filter: { properties: {}, values: {} } })).body.error_details).toEqual({
      values: ['value_is_mandatory'],
    });
    expect((await org.delete(`${filters}/${us.svc_id}`)).body.filter).toMatchObject({ values: { region: ['us'] } });
    expect((await org.delete(`${filters}/${us.svc_id}`)).body).toMatchObject({
      status: 404,
      resource: 'charge_filter',
    });
    expect((await org.get(filters)).body.meta.total_count).toBe(2);
    expect((await org.get(`/plans/${plan.code}/charges/calls/filters`)).body.filters).toEqual([eu, us]);
  });
});

describe('cascade_updates of a plan', () => {
  /** A plan, a subscription with a copy as the plan is, and one whose copy differs. */
  const family = async () => {
    const plan = await catalog.plan({ charges: [charge()] });
    const same = await subscribe(plan, { plan_overrides: { description: 'same' } });
    const own = await subscribe(plan, {
      plan_overrides: { amount_cents: 5, charges: [{ id: plan.charges[0].svc_id, properties: { amount: '7' } }] },
    });
    const planOf = async ({ path }: { path: string }) => (await org.get(path)).body.subscription.plan;
    const settled = () =>
      until(async () => {
        const [row] = await catalog.service.sql`
          select count(*)::int as left from after_steps where job = 'cascade-plan-changes'`;
        return row!.left === 0 ? true : undefined;
      });
    return { plan, same: () => planOf(same), own: () => planOf(own), settled };
  };

  test('cascade_updates brings a new amount to the copies that still have the old one', async () => {
    const { plan, same, own, settled } = await family();
    await org.put(`/plans/${plan.code}`, { plan: { amount_cents: 2000 } });
    await settled();
    expect((await same()).amount_cents).toBe(1000);
    await org.put(`/plans/${plan.code}`, { plan: { amount_cents: 1000 } });
    await org.put(`/plans/${plan.code}`, { plan: { amount_cents: 3000, name: 'New', cascade_updates: true } });
    await settled();
    expect(await same()).toMatchObject({ amount_cents: 3000, name: 'Plan' });
    expect((await own()).amount_cents).toBe(5);
  });

  test('cascade_updates locks a customer before its copy, as changes of a subscription do', async () => {
    const { plan, same, settled } = await family();
    const { sql } = catalog.service;
    const { svc_id: copyId } = await same();
    await sql.begin(async (tx) => {
      await tx`select from customers where organization_id = ${catalog.organizationId} for no key update`;
      await org.put(`/plans/${plan.code}`, { plan: { amount_cents: 3000, cascade_updates: true } });
      await until(async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%from customers%'`;
        return row!.count > 0;
      });
      await tx`select from plans where id = ${copyId} for update nowait`;
    });
    await settled();
    expect((await same()).amount_cents).toBe(3000);
  });

  test('cascade_updates brings prices to copies that equalled the plan, and group keys to all', async () => {
    const { plan, same, own, settled } = await family();
    await org.put(`/plans/${plan.code}/charges/calls`, {
      charge: {
        properties: { amount: '8', pricing_group_keys: ['team'] },
        invoice_display_name: 'Not theirs',
        cascade_updates: true,
      },
    });
    await settled();
    expect((await same()).charges[0]).toMatchObject({
      properties: { amount: '8', pricing_group_keys: ['team'] },
      invoice_display_name: null,
    });
    expect((await own()).charges[0].properties).toMatchObject({ amount: '7', pricing_group_keys: ['team'] });
  });

  test('cascade_updates adds and removes charges, and filters one by one', async () => {
    const { plan, same, own, settled } = await family();
    const added = await org.post(`/plans/${plan.code}/charges`, {
      charge: charge({ code: 'more', filters: [], cascade_updates: true }),
    });
    await org.post(`/plans/${plan.code}/charges/calls/filters`, {
      filter: { properties: { amount: '4' }, values: { region: ['asia'] }, cascade_updates: true },
    });
    const [eu] = (await org.get(`/plans/${plan.code}/charges/calls/filters`)).body.filters;
    await org.delete(`/plans/${plan.code}/charges/calls/filters/${eu.svc_id}`, { filter: { cascade_updates: true } });
    await settled();
    for (const shown of [await same(), await own()]) {
      expect(shown.charges.map(({ code }: { code: string }) => code)).toEqual(['calls', 'more']);
      expect(shown.charges[1].svc_parent_id).toBe(added.body.charge.svc_id);
      expect(amounts(shown.charges[0])).toEqual(['3', '4']);
    }
    await org.delete(`/plans/${plan.code}/charges/more`, { charge: { cascade_updates: true } });
    await settled();
    expect((await same()).charges).toHaveLength(1);
  });
});

test('deleting a plan ends the subscriptions on its copies', async () => {
  const plan = await catalog.plan();
  const { path } = await subscribe(plan, { plan_overrides: { amount_cents: 5 } });
  expect((await org.delete(`/plans/${plan.code}`)).body.plan.pending_deletion).toBe(true);
  await until(async () => ((await org.get(path)).status === 404 ? true : undefined));
  const ended = await org.get(`${path}?status=terminated`);
  expect(ended.body.subscription).toMatchObject({ status: 'terminated', plan: { parent_id: plan.svc_id } });
});
