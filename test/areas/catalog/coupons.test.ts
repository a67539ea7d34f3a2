import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let org: Client & { organization: { organization_id: string } };
beforeAll(async () => {
  service = await startService({ settings: { RATE_LIMIT_DEFAULT: '1000' } });
  org = await service.org();
  for (const code of ['calls', 'mails'])
    await org.post('/billable_metrics', { billable_metric: { name: code, code, aggregation_type: 'count_agg' } });
  const metrics = (await org.get('/billable_metrics')).body.billable_metrics as { svc_id: string; code: string }[];
  const calls = metrics.find(({ code }) => code === 'calls')!.svc_id;
  const plan = { name: 'P', interval: 'monthly', amount_cents: 1000, amount_currency: 'EUR', pay_in_advance: false };
  const charge = { billable_metric_id: calls, charge_model: 'standard', properties: { amount: '1' } };
  await org.post('/plans', { plan: { ...plan, code: 'with_calls', charges: [charge] } });
  await org.post('/plans', { plan: { ...plan, code: 'plain' } });
});
afterAll(() => service.stop());

const WELCOME = {
  name: 'Welcome',
  code: 'welcome',
  coupon_type: 'fixed_amount',
  amount_cents: 1000,
  amount_currency: 'EUR',
  frequency: 'once',
  expiration: 'no_expiration',
};
const ELEVENTH = { ...WELCOME, coupon_type: 'percentage', percentage_rate: '11.111111', frequency: 'forever' };

const make = async (coupon: object) => (await org.post('/coupons', { coupon: { ...WELCOME, ...coupon } })).body.coupon;
const apply = (customer: string, code: string, more: object = {}) =>
  org.post('/applied_coupons', {
    applied_coupon: { external_customer_id: customer, coupon_code: code, ...more },
  });
const customer = async (external_id: string) => org.post('/customers', { customer: { external_id } });

describe('coupons', () => {
  test('a coupon is created, shown, listed, changed and deleted', async () => {
    const made = await org.post('/coupons', { coupon: WELCOME });
    expect(made.body.coupon).toMatchObject({
      ...WELCOME,
      description: null,
      percentage_rate: null,
      frequency_duration: null,
      reusable: true,
      limited_plans: false,
      plan_codes: [],
      limited_billable_metrics: false,
      billable_metric_codes: [],
      expiration_at: null,
      terminated_at: null,
    });
    expect((await org.get('/coupons/welcome')).body).toEqual(made.body);
    const changed = await org.put('/coupons/welcome', { coupon: { ...ELEVENTH, code: 'eleventh' } });
    expect(changed.body.coupon).toMatchObject({
      code: 'eleventh',
      coupon_type: 'percentage',
      percentage_rate: 11.11111,
      amount_cents: null,
      amount_currency: null,
    });
    expect((await org.get('/coupons')).body).toMatchObject({
      coupons: [{ code: 'eleventh' }],
      meta: { total_count: 1 },
    });
    expect((await org.delete('/coupons/eleventh')).body.coupon).toMatchObject({ code: 'eleventh' });
    expect((await org.get('/coupons/eleventh')).body).toMatchObject({ resource: 'coupon' });
    expect((await org.get('/coupons')).body.meta.total_count).toBe(0);
  });

  test.each([
    [
      { name: '', code: null },
      { name: ['value_is_mandatory'], code: ['value_is_mandatory'] },
    ],
    [{ coupon_type: 'gift' }, { coupon_type: ['value_is_invalid'] }],
    [{ amount_cents: null }, { amount_cents: ['value_is_mandatory'] }],
    [{ amount_cents: 0 }, { amount_cents: ['value_is_out_of_range'] }],
    [{ amount_currency: null }, { amount_currency: ['value_is_mandatory'] }],
    [{ amount_currency: 'EURO' }, { amount_currency: ['value_is_invalid'] }],
    [{ coupon_type: 'percentage' }, { percentage_rate: ['value_is_mandatory'] }],
    [{ coupon_type: 'percentage', percentage_rate: '-1' }, { percentage_rate: ['value_is_out_of_range'] }],
    [{ frequency: 'twice' }, { frequency: ['value_is_invalid'] }],
    [{ frequency: 'recurring' }, { frequency_duration: ['value_is_mandatory'] }],
    [{ frequency: 'recurring', frequency_duration: 0 }, { frequency_duration: ['value_is_out_of_range'] }],
    [{ reusable: null }, { reusable: ['value_is_reserved'] }],
    [{ expiration: 'never' }, { expiration: ['value_is_invalid'] }],
    [{ expiration: 'time_limit', expiration_at: 'soon' }, { expiration_at: ['invalid_date'] }],
    [{ expiration: 'time_limit', expiration_at: '2001-01-01' }, { expiration_at: ['invalid_date'] }],
  ])('a coupon with %j is refused', async (changes, details) => {
    const refused = await org.post('/coupons', { coupon: { ...WELCOME, code: 'refused', ...changes } });
    expect([refused.status, refused.body.error_details]).toEqual([422, details]);
  });

  test('a coupon may be limited to plans or to metrics, not to both', async () => {
    const limited = await make({ code: 'plans', applies_to: { plan_codes: ['plain', 'with_calls'] } });
    expect(limited).toMatchObject({ limited_plans: true, plan_codes: ['plain', 'with_calls'] });
    const metrics = await make({ code: 'metrics', applies_to: { billable_metric_codes: ['calls'] } });
    expect(metrics).toMatchObject({ limited_billable_metrics: true, billable_metric_codes: ['calls'] });
    const refused = async (applies_to: object) =>
      (await org.post('/coupons', { coupon: { ...WELCOME, code: 'x', applies_to } })).body;
    expect(await refused({ plan_codes: ['none'] })).toMatchObject({ status: 404, resource: 'plans' });
    expect(await refused({ billable_metric_codes: ['none'] })).toMatchObject({ resource: 'billable_metrics' });
    expect(await refused({ plan_codes: ['plain'], billable_metric_codes: ['calls'] })).toMatchObject({
      status: 405,
      code: 'only_one_limitation_type_per_coupon_allowed',
    });
  });

  test('a taken code is refused, and so is a change of a field that is frozen once a customer had the coupon', async () => {
    await make({ code: 'frozen' });
    expect((await org.post('/coupons', { coupon: { ...WELCOME, code: 'frozen' } })).body.error_details).toEqual({
      code: ['value_already_exist'],
    });
    await customer('freezer');
    await apply('freezer', 'frozen');
    const refused = await org.put('/coupons/frozen', {
      coupon: { amount_cents: 5, applies_to: { plan_codes: ['plain'] }, frequency: 'once' },
    });
    expect(refused.body.error_details).toEqual({ amount_cents: ['value_is_frozen'], applies_to: ['value_is_frozen'] });
    const renamed = await org.put('/coupons/frozen', { coupon: { ...WELCOME, code: 'frozen', name: 'Other' } });
    expect(renamed.body.coupon.name).toBe('Other');
  });
});

describe('applied coupons', () => {
  test('a customer can be given a coupon with its own terms and can lose it again', async () => {
    await customer('ann');
    await make({ code: 'ann1' });
    const applied = await apply('ann', 'ann1', { amount_cents: 300, frequency: 'recurring', frequency_duration: 3 });
    expect(applied.body.applied_coupon).toMatchObject({
      coupon_code: 'ann1',
      coupon_name: 'Welcome',
      coupon_status: 'active',
      coupon_deleted_at: null,
      external_customer_id: 'ann',
      status: 'active',
      amount_cents: 300,
      amount_cents_remaining: null,
      amount_currency: 'EUR',
      percentage_rate: null,
      frequency: 'recurring',
      frequency_duration: 3,
      frequency_duration_remaining: 3,
      terminated_at: null,
    });
    expect((await org.get('/customers/ann')).body.customer.currency).toBe('EUR');
    const id = applied.body.applied_coupon.svc_id;
    const gone = await org.delete(`/customers/ann/applied_coupons/${id}`);
    expect(gone.body.applied_coupon).toMatchObject({ status: 'terminated', terminated_at: expect.any(String) });
    expect((await org.delete(`/customers/ann/applied_coupons/${id}`)).body).toEqual(gone.body);
    expect((await org.delete('/customers/ann/applied_coupons/none')).body).toMatchObject({
      resource: 'applied_coupon',
    });
    const listed = await org.get('/applied_coupons?external_customer_id=ann&status=terminated&coupon_code[]=ann1');
    expect(listed.body).toMatchObject({ applied_coupons: [{ svc_id: id, credits: [] }], meta: { total_count: 1 } });
    expect((await org.get('/customers/ann/applied_coupons?status=active')).body.meta.total_count).toBe(0);
    expect((await org.get('/customers/ann/applied_coupons?status=other')).body.meta.total_count).toBe(1);
  });

  test('refusals of an applied coupon come in the documented order', async () => {
    await customer('bob');
    await make({ code: 'bob1', reusable: false });
    expect((await apply('nobody', 'bob1')).body).toMatchObject({ status: 404, resource: 'customer' });
    expect((await apply('bob', 'none')).body).toMatchObject({ status: 404, resource: 'coupon' });
    const details = async (more: object) => (await apply('bob', 'bob1', more)).body.error_details;
    expect(await details({ amount_cents: -1 })).toEqual({ amount_cents: ['value_is_out_of_range'] });
    expect(await details({ amount_currency: 'EURO' })).toEqual({ amount_currency: ['value_is_invalid'] });
    expect(await details({ frequency: 'recurring' })).toEqual({ frequency_duration: ['value_is_mandatory'] });
    expect(await details({ frequency: 'recurring', frequency_duration: 0 })).toEqual({
      frequency_duration: ['value_is_out_of_range'],
    });
    const { svc_id } = (await apply('bob', 'bob1')).body.applied_coupon;
    await org.delete(`/customers/bob/applied_coupons/${svc_id}`);
    expect(await details({})).toEqual({ coupon: ['coupon_is_not_reusable'] }); // 28
  });

  test.each([
    // 29, and the other ways to meet
    ['two on one plan', { plan_codes: ['plain'] }, { plan_codes: ['plain', 'with_calls'] }, 405],
    ['two on one metric', { billable_metric_codes: ['calls'] }, { billable_metric_codes: ['calls', 'mails'] }, 405],
    ['a plan and a metric that it charges', { plan_codes: ['with_calls'] }, { billable_metric_codes: ['calls'] }, 405],
    ['a metric and a plan that charges it', { billable_metric_codes: ['calls'] }, { plan_codes: ['with_calls'] }, 405],
    [
      'a plan and a metric that it does not charge',
      { plan_codes: ['plain'] },
      { billable_metric_codes: ['calls'] },
      200,
    ],
  ])('a second coupon meets the first one: %s', async (name, first, second, status) => {
    const external = `limited ${name}`;
    await customer(external);
    await make({ code: `${name} 1`, applies_to: first });
    await make({ code: `${name} 2`, applies_to: second });
    await apply(external, `${name} 1`);
    const answer = await apply(external, `${name} 2`);
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.body.code).toBe('plan_overlapping');
  });

  test('deleting a coupon ends it for every customer, and a reusable one may be applied twice (golden case 31)', async () => {
    await customer('cid');
    await make({ code: 'twice' });
    await apply('cid', 'twice');
    await apply('cid', 'twice');
    await org.delete('/coupons/twice');
    const { applied_coupons } = (await org.get('/customers/cid/applied_coupons')).body;
    expect(applied_coupons).toMatchObject([
      { status: 'terminated', coupon_deleted_at: expect.any(String) },
      { status: 'terminated' },
    ]);
    expect((await apply('cid', 'twice')).body.resource).toBe('coupon');
  });

  test('a coupon that is not reusable is applied once, however many requests arrive at the same time', async () => {
    await customer('many');
    await make({ code: 'single', reusable: false });
    const answers = await Promise.all(Array.from({ length: 50 }, () => apply('many', 'single')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await org.get('/customers/many/applied_coupons')).body.meta.total_count).toBe(1);
  });
});

test('lists of coupons take at most six round trips', async () => {
  const now = '2030-01-01T00:00:00Z';
  const { organization_id: id } = org.organization;
  const read = (operation: string, input: object) =>
    countStatements(service, id, operation, { now, query: { page: 1, per_page: 1000 }, ...input });
  const applied = await read('findAllCustomerAppliedCoupons', { external_customer_id: 'ann' });
  expect(applied.body.applied_coupons.length).toBeGreaterThan(0);
  expect(applied.roundTrips).toBeLessThanOrEqual(4);
  expect((await read('findAllAppliedCoupons', {})).roundTrips).toBeLessThanOrEqual(3);
  expect((await read('findAllCoupons', {})).roundTrips).toBeLessThanOrEqual(2);
});

test('the audit trail records coupons, and each customer that gets or loses one', async () => {
  const own = await service.org();
  await own.post('/customers', { customer: { external_id: 'dan' } });
  const { svc_id } = (await own.post('/coupons', { coupon: WELCOME })).body.coupon;
  await own.put('/coupons/welcome', { coupon: { name: 'Hello' } });
  const given = { external_customer_id: 'dan', coupon_code: 'welcome' };
  const { applied_coupon } = (await own.post('/applied_coupons', { applied_coupon: given })).body;
  await own.delete(`/customers/dan/applied_coupons/${applied_coupon.svc_id}`);
  await own.delete('/coupons/welcome');
  const rows = await service.sql`
    select activity_type, resource_id, activity_object_changes from activity_logs
    where organization_id = ${own.organization.organization_id} and resource_type = 'Coupon' order by id`;
  expect(rows.map(({ activity_type }) => activity_type)).toEqual([
    'coupon.created',
    'coupon.updated',
    'applied_coupon.created',
    'applied_coupon.deleted',
    'coupon.deleted',
  ]);
  expect(new Set(rows.map(({ resource_id }) => resource_id))).toEqual(new Set([svc_id]));
});
