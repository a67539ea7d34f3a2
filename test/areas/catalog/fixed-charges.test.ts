import { afterAll, beforeAll, expect, test } from 'vitest';
import { listPlanFixedCharges } from '../../../src/areas/catalog/plan-fixed-charges/reads.ts';
import { listSubscriptionFixedCharges } from '../../../src/areas/subscriptions/fixed-charges/reads.ts';
import { openCatalog } from '../support/catalog.ts';

let catalog: Awaited<ReturnType<typeof openCatalog>>;
beforeAll(async () => {
  catalog = await openCatalog();
  for (const code of ['seat', 'desk'])
    await catalog.org.post('/add_ons', {
      add_on: { name: code, code, amount_cents: 100, amount_currency: 'EUR' },
    });
});
afterAll(() => catalog.stop());

const seats = (fields: object = {}) => ({
  add_on_code: 'seat',
  charge_model: 'standard',
  properties: { amount: '10' },
  ...fields,
});

test('a plan creates its fixed charges with generated codes and default values', async () => {
  const tax = await catalog.tax();
  const plan = await catalog.plan({
    fixed_charges: [seats({ units: '2.5', tax_codes: [tax.code] }), seats({ properties: {} }), seats({ code: 'own' })],
  });
  expect(plan.fixed_charges).toMatchObject([
    { code: 'seat', add_on_code: 'seat', units: 2.5, pay_in_advance: false, prorated: false, svc_parent_id: null },
    { code: 'seat_2', units: 0, properties: { amount: '0' } },
    { code: 'own', invoice_display_name: 'seat' },
  ]);
  expect(plan.fixed_charges[0].taxes).toMatchObject([{ code: tax.code }]);
  expect((await catalog.org.get(`/plans/${plan.code}`)).body.plan).toEqual(plan);
});

test.each([
  [{ add_on_code: undefined }, { add_on: ['value_is_mandatory'] }],
  [{ charge_model: 'package' }, { charge_model: ['value_is_invalid'] }],
  [{ charge_model: undefined }, { charge_model: ['value_is_invalid'] }],
  [{ units: -1 }, { units: ['value_is_out_of_range'] }],
  [{ units: 'many' }, { units: ['value_is_invalid'] }],
  [{ properties: { amount: 10 } }, { properties: ['invalid_amount'] }],
  [{ charge_model: 'volume', properties: {}, pay_in_advance: true }, { pay_in_advance: ['invalid_charge_model'] }],
  [
    { charge_model: 'graduated', properties: {}, pay_in_advance: true, prorated: true },
    { prorated: ['invalid_charge_model'] },
  ],
  [{ code: 'taken' }, { code: ['value_already_exist'] }],
])('a fixed charge with %j is refused, alone and inside a plan', async (fields, details) => {
  const plan = await catalog.plan({ fixed_charges: [seats({ code: 'taken' })] });
  const alone = await catalog.org.post(`/plans/${plan.code}/fixed_charges`, { fixed_charge: seats(fields) });
  expect(alone).toMatchObject({ status: 422, body: { error_details: details } });
  const body = catalog.planBody({ fixed_charges: [seats({ code: 'taken' }), seats(fields)] });
  expect(await catalog.org.post('/plans', { plan: body })).toMatchObject({
    status: 422,
    body: { error_details: details },
  });
});

test('an unknown add-on is refused with 404 add_on, inside a plan with 404 add_ons', async () => {
  const plan = await catalog.plan();
  const alone = await catalog.org.post(`/plans/${plan.code}/fixed_charges`, {
    fixed_charge: seats({ add_on_code: 'nothing' }),
  });
  expect(alone.body).toMatchObject({ status: 404, resource: 'add_on' });
  const body = catalog.planBody({ fixed_charges: [seats({ add_on_code: undefined, add_on_id: 'nothing' })] });
  expect((await catalog.org.post('/plans', { plan: body })).body).toMatchObject({ status: 404, resource: 'add_ons' });
});

test('a fixed charge is created, listed newest first, shown, changed and deleted', async () => {
  const plan = await catalog.plan({ fixed_charges: [seats({ code: 'first' })] });
  const path = `/plans/${plan.code}/fixed_charges`;
  const made = await catalog.org.post(path, {
    fixed_charge: seats({ add_on_code: 'desk', units: 3, pay_in_advance: true, prorated: true }),
  });
  expect(made.body.fixed_charge).toMatchObject({ code: 'desk', units: 3, pay_in_advance: true, prorated: true });
  const list = await catalog.org.get(path);
  expect(list.body).toMatchObject({ fixed_charges: [{ code: 'desk' }, { code: 'first' }], meta: { total_count: 2 } });
  const changed = await catalog.org.put(`${path}/desk`, {
    fixed_charge: { units: 4, properties: { amount: '11' }, invoice_display_name: 'Desks', prorated: true },
  });
  expect(changed.body.fixed_charge).toMatchObject({
    units: 4,
    properties: { amount: '11' },
    invoice_display_name: 'Desks',
  });
  expect((await catalog.org.get(`${path}/desk`)).body).toEqual(changed.body);
  expect((await catalog.org.delete(`${path}/desk`)).body.fixed_charge.code).toBe('desk');
  for (const call of [catalog.org.get(`${path}/desk`), catalog.org.delete(`${path}/desk`)])
    expect((await call).body).toMatchObject({ status: 404, resource: 'fixed_charge' });
});

test('add-on, payment time and proration of a fixed charge never change; model and code are frozen once the plan has a subscription', async () => {
  const plan = await catalog.plan({ fixed_charges: [seats({ code: 'seats' })] });
  const put = (fixed_charge: object) => catalog.org.put(`/plans/${plan.code}/fixed_charges/seats`, { fixed_charge });
  const frozen = ['value_is_frozen'];
  expect((await put({ pay_in_advance: true, prorated: true, add_on_code: 'desk' })).body.error_details).toEqual({
    pay_in_advance: frozen,
    prorated: frozen,
    add_on: frozen,
  });
  expect((await put({ charge_model: 'graduated' })).status).toBe(200);
  expect((await put({ charge_model: 'standard', properties: { amount: '1' } })).status).toBe(200);
  await catalog.subscribe(plan.svc_id);
  expect((await put({ charge_model: 'volume', code: 'other' })).body.error_details).toEqual({
    charge_model: frozen,
    code: frozen,
  });
  expect((await put({ charge_model: 'standard', code: 'seats', units: 2 })).status).toBe(200);
});

test('the list of fixed charges of a plan is replaced by id: changed, created and deleted', async () => {
  const plan = await catalog.plan({ fixed_charges: [seats({ code: 'a' }), seats({ code: 'b' })] });
  const put = (fixed_charges: object[]) => catalog.org.put(`/plans/${plan.code}`, { plan: { fixed_charges } });
  const [a] = plan.fixed_charges;
  const { body } = await put([{ id: a.svc_id, units: 7 }, seats({ code: 'b', units: 1 })]);
  expect(body.plan.fixed_charges).toMatchObject([
    { svc_id: a.svc_id, code: 'a', units: 7 },
    { code: 'b', units: 1 },
  ]);
  expect((await put([{ id: plan.fixed_charges[1].svc_id }])).body).toMatchObject({ resource: 'fixed_charge' });
  expect((await put([])).body.plan.fixed_charges).toEqual([]);
});

test('a subscription may have its own units of a fixed charge; otherwise it has those of its plan', async () => {
  const plan = await catalog.plan({ fixed_charges: [seats({ code: 'seats', units: 5 })] });
  const [one, two] = [await catalog.subscribe(plan.svc_id), await catalog.subscribe(plan.svc_id)];
  const path = (externalId: string) => `/subscriptions/${externalId}/fixed_charges/seats`;
  const own = await catalog.org.put(path(one.externalId), { fixed_charge: { units: '8' } });
  expect(own.body.fixed_charge).toMatchObject({ units: 8 });
  expect((await catalog.org.get(path(two.externalId))).body.fixed_charge).toMatchObject({ units: 5 });
  const other = await catalog.org.put(path(one.externalId), { fixed_charge: { charge_model: 'volume', units: '1' } });
  expect(other).toMatchObject({ status: 403, body: { code: 'cannot_override_charge_model' } });
  expect((await catalog.org.get(path('nobody'))).body).toMatchObject({ status: 404, resource: 'subscription' });
  const missing = await catalog.org.get(`/subscriptions/${one.externalId}/fixed_charges/nothing`);
  expect(missing.body).toMatchObject({ status: 404, resource: 'fixed_charge' });
});

test('lists of fixed charges take at most six statements', async () => {
  const plan = await catalog.plan({ fixed_charges: [seats(), seats()] });
  const subscription = await catalog.subscribe(plan.svc_id);
  const page = { page: 1, per_page: 20 };
  const ofPlan = await catalog.statementsOf((ctx) => listPlanFixedCharges(ctx, { code: plan.code, query: page }));
  expect(ofPlan).toBeLessThanOrEqual(6);
  const ofSubscription = await catalog.statementsOf((ctx) =>
    listSubscriptionFixedCharges(ctx, {
      external_id: subscription.externalId,
      query: { ...page, subscription_status: 'active' },
    }),
  );
  expect(ofSubscription).toBeLessThanOrEqual(6);
});
