import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Catalog, type Org, openCatalog } from '../support/catalog.ts';

let catalog: Catalog;
let org: Org;
let metricId: string;
beforeAll(async () => {
  catalog = await openCatalog();
  org = catalog.org;
  metricId = (await catalog.metric()).svc_id;
});
afterAll(() => catalog.stop());

const unit = (fields: object = {}) =>
  org.post('/pricing_units', { pricing_unit: { code: 'tokens', name: 'Tokens', short_name: 'TOK', ...fields } });
const charge = (applied: unknown) => ({
  billable_metric_id: metricId,
  charge_model: 'standard',
  properties: { amount: '1' },
  applied_pricing_unit: applied,
});

test('a pricing unit is created, listed, changed and deleted once no charge uses it', async () => {
  const made = await unit({ description: 'Of models' });
  expect(made.body.pricing_unit).toMatchObject({ code: 'tokens', short_name: 'TOK', description: 'Of models' });
  expect((await unit()).body.error_details).toEqual({ code: ['value_already_exist'] });
  expect((await unit({ code: 'b', short_name: 'LONG' })).body.error_details).toEqual({
    short_name: ['value_is_too_long'],
  });
  await unit({ code: 'credits', name: 'Credits', short_name: 'CR' });
  const list = await org.get('/pricing_units?search_term=cred');
  expect(list.body).toMatchObject({ pricing_units: [{ code: 'credits' }], meta: { total_count: 1 } });

  const changed = await org.put('/pricing_units/tokens', { pricing_unit: { code: 'tokens', name: 'Model tokens' } });
  expect(changed.body.pricing_unit).toMatchObject({ name: 'Model tokens', short_name: 'TOK' });
  expect((await org.put('/pricing_units/tokens', { pricing_unit: { code: 'x' } })).body.error_details).toEqual({
    code: ['value_is_frozen'],
  });

  const plan = await catalog.plan({ charges: [charge({ code: 'tokens', conversion_rate: '0.5' })] });
  expect((await org.delete('/pricing_units/tokens')).body).toMatchObject({ status: 405, code: 'not_deletable' });
  await org.delete(`/plans/${plan.code}/charges/${plan.charges[0].code}`);
  expect((await org.delete('/pricing_units/tokens')).status).toBe(200);
  expect((await org.get('/pricing_units/tokens')).body).toMatchObject({ status: 404, resource: 'pricing_unit' });
});

test.each([
  ['an unknown unit', { code: 'nope', conversion_rate: '1' }, { pricing_unit: ['relation_must_exist'] }],
  ['no rate', { code: 'gems' }, { conversion_rate: ['value_is_mandatory'] }],
  ['a rate of 0', { code: 'gems', conversion_rate: '0' }, { conversion_rate: ['value_is_out_of_range'] }],
  ['a negative rate', { code: 'gems', conversion_rate: -1 }, { conversion_rate: ['value_is_out_of_range'] }],
  ['a text as rate', { code: 'gems', conversion_rate: 'x' }, { conversion_rate: ['value_is_invalid'] }],
])('a charge with %s is refused', async (_what, applied, details) => {
  await unit({ code: 'gems' });
  const plan = await catalog.plan();
  expect((await org.post(`/plans/${plan.code}/charges`, { charge: charge(applied) })).body.error_details).toEqual(
    details,
  );
});

test('the conversion rate of a charge may change, its pricing unit may not', async () => {
  await unit({ code: 'gems' });
  await unit({ code: 'coins' });
  const plan = await catalog.plan({ charges: [charge({ code: 'gems', conversion_rate: '0.5' })] });
  const path = `/plans/${plan.code}/charges/${plan.charges[0].code}`;
  expect(plan.charges[0].applied_pricing_unit).toEqual({ code: 'gems', conversion_rate: '0.5' });

  const changed = await org.put(path, { charge: { applied_pricing_unit: { conversion_rate: '3.0150695' } } });
  expect(changed.body.charge.applied_pricing_unit).toEqual({ code: 'gems', conversion_rate: '3.0150695' });
  for (const applied of [null, { code: 'coins', conversion_rate: '1' }])
    expect((await org.put(path, { charge: { applied_pricing_unit: applied } })).body.error_details).toEqual({
      applied_pricing_unit: ['value_is_frozen'],
    });
});

test('a minimum commitment is shown with its taxes, changed in part and removed', async () => {
  const tax = await catalog.tax();
  const plan = await catalog.plan({
    minimum_commitment: { amount_cents: 100_000, invoice_display_name: 'At least', tax_codes: [tax.code] },
  });
  expect(plan.minimum_commitment).toMatchObject({
    plan_code: plan.code,
    amount_cents: 100_000,
    invoice_display_name: 'At least',
    interval: 'monthly',
    taxes: [{ code: tax.code }],
  });
  const put = async (commitment: unknown) =>
    (await org.put(`/plans/${plan.code}`, { plan: { minimum_commitment: commitment } })).body.plan;
  expect((await put({ amount_cents: 5 })).minimum_commitment).toMatchObject({
    svc_id: plan.minimum_commitment.svc_id,
    amount_cents: 5,
    invoice_display_name: 'At least',
    taxes: [{ code: tax.code }],
  });
  expect((await put({ tax_codes: [] })).minimum_commitment).toMatchObject({ amount_cents: 5, taxes: [] });
  expect(await put({})).not.toHaveProperty('minimum_commitment');
  expect((await org.get(`/plans/${plan.code}`)).body.plan).not.toHaveProperty('minimum_commitment');
});
