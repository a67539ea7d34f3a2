import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

// everywhere.md#bounded-cost: a plan is bounded as a whole, however it grows.
const CHARGES = 500;
const FILTERS = 500;
const FILTERS_OF_PLAN = 5000;

let catalog: Catalog;
let org: Org;
let metric: { svc_id: string };
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  const values = (letter: string) => Array.from({ length: FILTERS }, (_, n) => `${letter}${n}`);
  metric = await catalog.metric({
    filters: [
      { key: 'region', values: values('r') },
      { key: 'cloud', values: values('c') },
    ],
  });
});
afterAll(() => catalog.stop());

const filters = (count: number, key = 'region', letter = 'r') =>
  Array.from({ length: count }, (_, n) => ({ properties: { amount: '1' }, values: { [key]: [`${letter}${n}`] } }));
const charge = (code: string, fields: object = {}) => ({
  billable_metric_id: metric.svc_id,
  charge_model: 'standard',
  code,
  properties: { amount: '1' },
  ...fields,
});
/** Charges with so many filters together, 500 each as far as they go. */
const charges = (count: number) =>
  Array.from({ length: Math.ceil(count / FILTERS) }, (_, n) =>
    charge(`c${n}`, { filters: filters(Math.min(FILTERS, count - n * FILTERS)) }),
  );
const OTHER = { properties: { amount: '1' }, values: { cloud: ['c0'] } };
const tooMany = (field: string) => ({ status: 422, error_details: { [field]: ['value_is_too_long'] } });
const countOf = async (planId: string) => {
  const [row] = await catalog.service.sql<{ charges: number; filters: number }[]>`
    select count(distinct charge.id)::int as charges, count(filter.id)::int as filters
    from charges charge
    left join charge_filters filter on filter.organization_id = charge.organization_id
      and filter.charge_id = charge.id and filter.deleted_at is null
    where charge.plan_id = ${planId} and charge.deleted_at is null`;
  return row;
};

describe('filters of a plan', () => {
  test('a plan has at most 5 000 filters in all, whichever write adds them', async () => {
    const more = await org.post('/plans', {
      plan: { ...PLAN, code: 'more', charges: charges(FILTERS_OF_PLAN + 1) },
    });
    expect(more.body).toMatchObject(tooMany('filters'));
    expect((await org.get('/plans/more')).status).toBe(404);

    const plan = await catalog.plan({ charges: charges(FILTERS_OF_PLAN - 1) });
    const path = `/plans/${plan.code}`;
    const added = await org.post(`${path}/charges`, { charge: charge('x', { filters: filters(2) }) });
    expect(added.body).toMatchObject(tooMany('filters'));
    expect((await org.post(`${path}/charges/c9/filters`, { filter: OTHER })).status).toBe(200);
    const another = { ...OTHER, values: { cloud: ['c1'] } };
    const elsewhere = await org.post(`${path}/charges`, { charge: charge('y') });
    expect(elsewhere.status).toBe(200);
    expect((await org.post(`${path}/charges/y/filters`, { filter: another })).body).toMatchObject(tooMany('filters'));
    expect((await org.put(`${path}/charges/y`, { charge: { filters: [another] } })).body).toMatchObject(
      tooMany('filters'),
    );
    const whole = [...plan.charges.map(({ svc_id }: { svc_id: string }) => ({ id: svc_id })), charge('z')];
    const put = await org.put(path, {
      plan: { charges: [...whole.slice(0, -1), { ...whole.at(-1), filters: [OTHER] }] },
    });
    expect(put.body).toMatchObject(tooMany('filters'));
    expect(await countOf(plan.svc_id)).toEqual({ charges: 11, filters: FILTERS_OF_PLAN });
    expect((await org.put(`${path}/charges/c0`, { charge: { properties: { amount: '2' } } })).status).toBe(200);
  }, 120_000);

  test('an override has at most 5 000 filters too, and a change of its plan adds no more', async () => {
    const plan = await catalog.plan({ charges: charges(FILTERS_OF_PLAN - 1) });
    const subscription = { external_customer_id: 'acme', external_id: 'sub', plan_code: plan.code };
    const own = { id: plan.charges[9].svc_id, filters: filters(FILTERS - 1) };
    const made = await org.post('/subscriptions', {
      subscription: { ...subscription, plan_overrides: { charges: [own] } },
    });
    const copy = made.body.subscription.plan;
    expect(await countOf(copy.svc_id)).toEqual({ charges: 10, filters: FILTERS_OF_PLAN - 1 });
    const path = '/subscriptions/sub/charges/c9/filters';
    expect((await org.post(path, { filter: OTHER })).status).toBe(200);
    expect((await org.post(path, { filter: { ...OTHER, values: { cloud: ['c1'] } } })).body).toMatchObject(
      tooMany('filters'),
    );

    const cascades = { cascade_updates: true };
    const later = { ...OTHER, values: { cloud: ['c2'] } };
    expect(
      (await org.post(`/plans/${plan.code}/charges/c9/filters`, { filter: { ...later, ...cascades } })).status,
    ).toBe(200);
    await org.delete(`/plans/${plan.code}/charges/c0/filters/${await firstFilter(plan.code)}`);
    const x = charge('x', { filters: filters(1), ...cascades });
    expect((await org.post(`/plans/${plan.code}/charges`, { charge: x })).status).toBe(200);
    const y = charge('y', cascades);
    expect((await org.post(`/plans/${plan.code}/charges`, { charge: y })).status).toBe(200);
    await followed();
    expect(await countOf(copy.svc_id)).toEqual({ charges: 11, filters: FILTERS_OF_PLAN });
  }, 120_000);

  test('a charge has at most 500 filters, also when they are added one by one', async () => {
    const plan = await catalog.plan({ charges: charges(FILTERS) });
    const path = `/plans/${plan.code}/charges/c0/filters`;
    expect((await org.post(path, { filter: OTHER })).body).toMatchObject(tooMany('filters'));
  });
});

describe('charges of a plan', () => {
  test('a plan has at most 500 charges, also when they are added one by one', async () => {
    const all = Array.from({ length: CHARGES }, (_, n) => charge(`c${n}`));
    const plan = await catalog.plan({ charges: all.slice(1) });
    const path = `/plans/${plan.code}/charges`;
    const subscription = { external_customer_id: 'acme', external_id: 'many', plan_code: plan.code };
    const made = await org.post('/subscriptions', {
      subscription: { ...subscription, plan_overrides: { amount_cents: 5 } },
    });
    const copy = made.body.subscription.plan.svc_id;
    expect((await org.post(path, { charge: { ...charge('x'), cascade_updates: true } })).status).toBe(200);
    expect((await org.post(path, { charge: charge('y') })).body).toMatchObject(tooMany('charges'));
    await org.delete(`${path}/x`);
    expect((await org.post(path, { charge: { ...charge('y'), cascade_updates: true } })).status).toBe(200);
    await followed();
    expect(await countOf(copy)).toEqual({ charges: CHARGES, filters: 0 });
  }, 60_000);

  test('a plan has at most 500 fixed charges, also when they are added one by one', async () => {
    const { body } = await org.post('/add_ons', {
      add_on: { name: 'A', code: 'a', amount_cents: 1, amount_currency: 'EUR' },
    });
    const fixed = (code: string) => ({ add_on_id: body.add_on.svc_id, charge_model: 'standard', code });
    const plan = await catalog.plan({ fixed_charges: Array.from({ length: CHARGES - 1 }, (_, n) => fixed(`f${n}`)) });
    const path = `/plans/${plan.code}/fixed_charges`;
    const subscription = { external_customer_id: 'acme', external_id: 'fixed', plan_code: plan.code };
    const made = await org.post('/subscriptions', {
      subscription: { ...subscription, plan_overrides: { amount_cents: 5 } },
    });
    const copy = made.body.subscription.plan.svc_id;
    expect((await org.post(path, { fixed_charge: { ...fixed('x'), cascade_updates: true } })).status).toBe(200);
    expect((await org.post(path, { fixed_charge: fixed('y') })).body).toMatchObject(tooMany('fixed_charges'));
    await org.delete(`${path}/x`);
    expect((await org.post(path, { fixed_charge: { ...fixed('y'), cascade_updates: true } })).status).toBe(200);
    await followed();
    const [row] = await catalog.service.sql`
      select count(*)::int as fixed from fixed_charges where plan_id = ${copy} and deleted_at is null`;
    expect(row).toEqual({ fixed: CHARGES });
  }, 60_000);
});

const PLAN = { name: 'P', interval: 'monthly', amount_cents: 0, amount_currency: 'EUR', pay_in_advance: false };

/** Overrides have followed their plans. */
const followed = () =>
  until(async () => {
    const left = await catalog.service.sql`
      select from after_steps where job in ('cascade-plan-changes', 'cascade-fixed-charges')`;
    return left.length === 0;
  });

const firstFilter = async (code: string): Promise<string> =>
  (await org.get(`/plans/${code}/charges/c0/filters?per_page=1`)).body.filters[0].svc_id;
