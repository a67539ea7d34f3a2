import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { WIRE_PREFIX: 'lago' }, pools: ['writes'] });
});
afterAll(() => service.stop());

const logged = (path: string) => service.sql<{ request_body: string; request_response: string }[]>`
  select request_body, request_response from api_logs where request_path = ${`/api/v1${path}`}`;

test('the API log keeps the names that were sent and answered', async () => {
  const org = await service.org();
  const { body } = await org.post('/customers', { customer: { external_id: 'ada', integration_customers: [] } });
  expect(body.customer).toHaveProperty('lago_id');
  const [made] = await logged('/customers');
  expect(JSON.parse(made!.request_response)).toEqual(body);

  await org.put('/organizations', { organization: { slug: '-', lago_note: 'x' } });
  const [refused] = await until(async () => {
    const rows = await logged('/organizations');
    return rows.length > 0 ? rows : undefined;
  });
  expect(JSON.parse(refused!.request_body)).toEqual({ organization: { slug: '-', lago_note: 'x' } });
});

test('the documentation shows only the configured prefix', async () => {
  const text = await (await fetch(`${service.url}/openapi.json`)).text();
  expect(text).toContain('lago_id');
  expect(text).not.toMatch(/"svc_|\{svc_/);
});

test('generated codes carry the prefix in lists, bodies, paths and queries and are found by it', async () => {
  const org = await service.org();
  const [entity] = (await org.get('/billing_entities')).body.billing_entities;
  const put = { country: 'FR', eu_tax_management: true };
  expect((await org.put(`/billing_entities/${entity.code}`, { billing_entity: put })).status).toBe(200);
  const { taxes } = (await org.get('/taxes?per_page=100')).body;
  expect(taxes.filter(({ code }: { code: string }) => !/^lago_eu_\w+$/.test(code))).toEqual([]);
  const { body } = await org.get('/taxes/lago_eu_reverse_charge');
  expect(body.tax.code).toBe('lago_eu_reverse_charge');
  const customer = { external_id: 'eu', tax_codes: ['lago_eu_de_standard'] };
  const made = await org.post('/customers', { customer });
  expect(made.body.customer.taxes.map(({ code }: { code: string }) => code)).toContain('lago_eu_de_standard');
  await org.post('/add_ons', {
    add_on: { name: 'A', code: 'a', amount_cents: 100, amount_currency: 'EUR', tax_codes: ['lago_eu_de_standard'] },
  });
  const fees = [{ add_on_code: 'a', units: 1 }];
  const invoice = { external_customer_id: 'eu', currency: 'EUR', fees };
  const billed = (await org.post('/invoices', { invoice })).body.invoice;
  expect(billed.applied_taxes[0].tax_code).toBe('lago_eu_de_standard');
  const csv = await fetch(`${service.url}/api/v1/ledger/entries?per_page=100`, {
    headers: { authorization: `Bearer ${org.organization.api_key}`, accept: 'text/csv' },
  });
  expect(await csv.text()).toMatch(/,lago_eu_de_standard\r\n/);
});

test('API log entries are read as objects, with the path parameters as they were sent', async () => {
  const org = await service.org();
  const sent = { tax: { name: 'T', code: 't', rate: '10' } };
  const { body } = await org.post('/taxes', sent);
  await org.delete('/taxes/t');
  const { api_logs } = (await org.get('/api_logs')).body;
  expect(api_logs.map((log: object) => log)).toMatchObject([
    { http_method: 'delete', request_body: { code: 't' } },
    { http_method: 'post', request_body: sent, request_response: body },
  ]);
  const one = await org.get(`/api_logs/${api_logs[1].request_id}`);
  expect(one.body.api_log.request_body).toEqual(sent);
});

test('an API log of a path with an identifier shows the prefixed name', async () => {
  const org = await service.org();
  const id = '019a0000-0000-7000-8000-000000000000';
  await org.put(`/wallets/${id}`, { wallet: { name: 'x' } });
  const [log] = await until(async () => {
    const { api_logs } = (await org.get('/api_logs')).body;
    return api_logs.length > 0 ? api_logs : undefined;
  });
  expect(log.request_body).toEqual({ lago_id: id, wallet: { name: 'x' } });
});

test('the rate of a coupon is a text, as it was sent', async () => {
  const org = await service.org();
  const coupon = { name: 'C', code: 'c', coupon_type: 'percentage', frequency: 'once', expiration: 'no_expiration' };
  const made = await org.post('/coupons', { coupon: { ...coupon, percentage_rate: '12.5' } });
  expect(made.body.coupon.percentage_rate).toBe('12.5');
  await org.post('/customers', { customer: { external_id: 'c' } });
  const applied = { external_customer_id: 'c', coupon_code: 'c' };
  const used = await org.post('/applied_coupons', { applied_coupon: applied });
  expect(used.body.applied_coupon.percentage_rate).toBe('12.5');
  expect((await org.get('/coupons')).body.coupons[0].percentage_rate).toBe('12.5');
});
