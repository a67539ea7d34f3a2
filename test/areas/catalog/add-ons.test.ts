import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let org: Client;
beforeAll(async () => {
  service = await startService();
  org = await service.org();
  await org.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20' } });
});
afterAll(() => service.stop());

const SETUP = { name: 'Setup', code: 'setup', amount_cents: 5000, amount_currency: 'EUR' };

test('an add-on is created, shown, listed, changed and deleted', async () => {
  const made = await org.post('/add_ons', { add_on: { ...SETUP, tax_codes: ['vat'], description: 'Once' } });
  expect(made.status).toBe(200);
  expect(made.body.add_on).toMatchObject({
    ...SETUP,
    description: 'Once',
    invoice_display_name: null,
    taxes: [{ code: 'vat' }],
  });
  expect((await org.get('/add_ons/setup')).body).toEqual(made.body);
  expect((await org.get('/add_ons')).body).toMatchObject({ add_ons: [{ code: 'setup' }], meta: { total_count: 1 } });

  const changed = await org.put('/add_ons/setup', { add_on: { code: 'start', amount_cents: 7000, tax_codes: [] } });
  expect(changed.body.add_on).toMatchObject({ code: 'start', amount_cents: 7000, name: 'Setup', taxes: [] });
  expect((await org.delete('/add_ons/start')).body.add_on).toMatchObject({ code: 'start' });
  expect((await org.get('/add_ons/start')).body).toMatchObject({ code: 'object_not_found', resource: 'add_on' });
  expect((await org.post('/add_ons', { add_on: { ...SETUP, code: 'start' } })).status).toBe(200);
});

test.each([
  [{}, { name: ['value_is_mandatory'], code: ['value_is_mandatory'], amount_cents: ['value_is_mandatory'] }],
  [{ ...SETUP, code: 'x', amount_cents: 0 }, { amount_cents: ['value_is_out_of_range'] }],
  [{ ...SETUP, code: 'x', amount_currency: 'EURO' }, { amount_currency: ['value_is_invalid'] }],
  [{ ...SETUP, code: 'start' }, { code: ['value_already_exist'] }],
  [{ ...SETUP, code: 'x', unit_code: 'hours' }, { unit_code: ['invalid_format'] }],
  [{ ...SETUP, code: 'x', unit_code: 'QQQ' }, { unit_code: ['value_is_invalid'] }],
])('an add-on with %j is refused', async (add_on, details) => {
  const refused = await org.post('/add_ons', { add_on: { x: 1, ...add_on } });
  expect(refused.status).toBe(422);
  expect(refused.body.error_details).toMatchObject(details);
});

test('an add-on with an unknown tax is refused with 404', async () => {
  const refused = await org.post('/add_ons', { add_on: { ...SETUP, code: 'y', tax_codes: ['nope'] } });
  expect(refused.body).toMatchObject({ status: 404, resource: 'tax' });
});
