import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweepVatChecks } from '../../../../src/areas/customers/check-vat-numbers/jobs.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import { reactions } from '../../../../src/reactions.ts';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Automatic taxes of the Union: eu-taxes.md, golden-money.md, 11 to 17. The register is a fake that says what it is
// told.
let service: TestService;
let register: { url: string; asked: object[]; say(answer: object, status?: number): void; server: Server };
let org: Client & { organization: { organization_id: string } };

const VALID = { valid: true, countryCode: 'IT', vatNumber: '00743110157', name: 'Rossi', address: 'Roma' };
const TEN_PERCENT = { coupon_type: 'percentage', percentage_rate: '10', expiration: 'no_expiration' };
const trouble = (error: string) => ({ actionSucceed: false, errorWrappers: [{ error }] });

async function openRegister() {
  let [answer, status]: [object, number] = [VALID, 200];
  const asked: object[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      asked.push(JSON.parse(body));
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const say = (next: object, code = 200) => {
    [answer, status] = [next, code];
  };
  return { url: `http://127.0.0.1:${port}/check`, asked, say, server };
}

beforeAll(async () => {
  register = await openRegister();
  service = await startService({ settings: { VAT_REGISTER_URL: register.url } });
});
afterAll(async () => {
  await service.stop();
  register.server.close();
});

beforeEach(async () => {
  register.say(VALID);
  register.asked.length = 0;
  org = await service.org();
  const [entity] = (await org.get('/billing_entities')).body.billing_entities;
  const put = { country: 'FR', eu_tax_management: true };
  const answer = await org.put(`/billing_entities/${entity.code}`, { billing_entity: put });
  expect(answer.status, answer.text).toBe(200);
});

const save = async (fields: object): Promise<string[]> => {
  const { status, text, body } = await org.post('/customers', { customer: { external_id: 'c', ...fields } });
  expect(status, text).toBe(200);
  return codesOf(body.customer);
};
const codesOf = ({ taxes }: { taxes: { code: string }[] }) => taxes.map(({ code }) => code);
const held = async () => codesOf((await org.get('/customers/c')).body.customer);
const holds = (...codes: string[]) => until(async () => (String(await held()) === String(codes) ? codes : undefined));
const check = async () => {
  const [row] = await service.sql`
    select status, attempts, last_error, next_attempt_at from vies_checks
    where organization_id = ${org.organization.organization_id}`;
  return row;
};
const hooks = async () => {
  const rows = await service.sql`
    select payload from webhook_events where organization_id = ${org.organization.organization_id}
      and webhook_type = 'customer.vies_check' order by id`;
  return rows.map(({ payload }) => JSON.parse(payload).customer.vies_check);
};
const addOn = async () => {
  await org.post('/add_ons', {
    add_on: { name: 'A', code: 'a', amount_cents: 10000, amount_currency: 'EUR' },
  });
};
const invoice = async () => {
  const fees = [{ add_on_code: 'a', units: 1 }];
  return (await org.post('/invoices', { invoice: { external_customer_id: 'c', currency: 'EUR', fees } })).body.invoice;
};
/** Another look at what is due, as it will be in so many minutes. */
const lookAgain = async (minutes: number) => {
  await service.sql`
    update vies_checks set next_attempt_at = next_attempt_at - ${`${minutes} minutes`}::interval
    where organization_id = ${org.organization.organization_id}`;
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  const log = createLog({ level: 'silent', process: 'test' });
  await sweepVatChecks(
    { sql: service.sql, redis: service.redis, producer, config: service.config, reactions, log },
    realNow(),
  );
  await producer.close();
};

test('managed EU taxes are created and marked when an entity of the Union switches them on', async () => {
  const { body } = await org.get('/taxes?per_page=100');
  expect(body.meta.total_count).toBe(47);
  const made = await service.sql`
    select distinct auto_generated from taxes where organization_id = ${org.organization.organization_id}`;
  expect(made.map(({ auto_generated }) => auto_generated)).toEqual([true]);
  const other = await service.org();
  const [entity] = (await other.get('/billing_entities')).body.billing_entities;
  const refused = await other.put(`/billing_entities/${entity.code}`, {
    billing_entity: { country: 'US', eu_tax_management: true },
  });
  expect(refused.body.error_details).toEqual({ eu_tax_management: ['billing_entity_must_be_in_eu'] });
});

test.each([
  ['a customer outside the Union is exempt (golden case 11)', { country: 'US' }, 'svc_eu_tax_exempt'],
  ['a private customer in Italy (golden case 12)', { country: 'IT' }, 'svc_eu_it_standard'],
  [
    'a customer on the Canary Islands (golden case 15)',
    { country: 'ES', zipcode: '35001', tax_identification_number: 'ESX9999999X' },
    'svc_eu_es_exception_canary_islands',
  ],
  ['a customer without country', {}, 'svc_eu_fr_standard'],
  ['a customer with a malformed number', { country: 'IT', tax_identification_number: 'IT123' }, 'svc_eu_it_standard'],
])('a customer’s EU tax is chosen at once: %s', async (_name, fields, code) => {
  expect(await save(fields)).toEqual([code]);
  expect(await held()).toEqual([code]);
  expect(register.asked).toEqual([]);
});

test('a valid VAT number is reverse-charged once the register answers; without it the standard rate returns (golden cases 13, 17)', async () => {
  expect(await save({ country: 'IT', tax_identification_number: 'IT 00743110157' })).toEqual([]);
  await holds('svc_eu_reverse_charge');
  expect(register.asked).toEqual([{ countryCode: 'IT', vatNumber: '00743110157' }]);
  expect(await check()).toMatchObject({ status: 'valid', attempts: 1, next_attempt_at: null });
  expect(await hooks()).toEqual([
    {
      valid: true,
      valid_format: true,
      country_code: 'IT',
      vat_number: '00743110157',
      name: 'Rossi',
      address: 'Roma',
      request_date: null,
    },
  ]);
  expect((await org.get('/customers/c/vies_check')).body).toEqual({
    vies_check: { status: 'valid', valid: true, attempts: 1, last_error: null, next_attempt_at: null },
  });
  expect(await save({ name: 'Other' })).toEqual(['svc_eu_reverse_charge']);
  expect(register.asked).toHaveLength(1);
  expect(await save({ tax_identification_number: null })).toEqual(['svc_eu_it_standard']);
  expect(await check()).toBeUndefined();
  expect((await org.post('/customers/c/vies_check', {})).body).toMatchObject({ status: 404, resource: 'vies_check' });
});

test('a valid number of the own country pays its standard rate, and taxes that were sent stay beside it (golden case 14)', async () => {
  await org.post('/taxes', { tax: { name: 'City', code: 'city', rate: '1' } });
  expect(await save({ country: 'FR', tax_identification_number: 'FR83404833048', tax_codes: ['city'] })).toEqual([
    'city',
  ]);
  await until(async () => ((await held()).length === 2 ? true : undefined));
  expect((await held()).sort()).toEqual(['city', 'svc_eu_fr_standard']);
});

test('a VAT number that does not exist gets the standard rate', async () => {
  register.say({ valid: false });
  await save({ country: 'IT', tax_identification_number: 'IT00743110157' });
  await holds('svc_eu_it_standard');
  expect(await hooks()).toEqual([{ valid: false, valid_format: true }]);
  register.say(VALID);
  const again = await org.post('/customers/c/vies_check', {});
  expect(again.body.vies_check).toMatchObject({ status: 'pending', valid: null });
  await holds('svc_eu_reverse_charge');
});

test('a new standard rate is billed from its day on, and a tax that a person changed stays', async () => {
  const story = await openStory(service, '2025-06-20T08:00:00Z');
  const [entity] = (await story.client.get('/billing_entities')).body.billing_entities;
  const put = { country: 'EE', timezone: 'Europe/Tallinn', eu_tax_management: true };
  expect((await story.client.put(`/billing_entities/${entity.code}`, { billing_entity: put })).status).toBe(200);
  await story.customer({ country: 'EE' });
  await story.plan({ amount_cents: 1000 });
  await story.subscribe();
  const rate = async () => (await story.client.get('/taxes/svc_eu_ee_standard')).body.tax.rate;
  await story.advanceTo('2025-06-30T20:30:00Z');
  expect(await rate()).toBe(22);
  await story.advanceTo('2025-07-01T04:00:00Z');
  expect(await rate()).toBe(24);
  const [invoice] = await story.invoices(1);
  expect(invoice).toMatchObject({ fees_amount_cents: 367, taxes_amount_cents: 88 });
  await story.client.put('/taxes/svc_eu_ee_standard', { tax: { rate: 23 } });
  await story.advanceTo('2025-07-03T04:00:00Z');
  expect(await rate()).toBe(23);
});

test('moving to an entity without managed taxes removes EU taxes and keeps others', async () => {
  await org.post('/taxes', { tax: { name: 'City', code: 'city', rate: '1' } });
  await save({ country: 'IT', tax_codes: ['city'] });
  await org.post('/billing_entities', { billing_entity: { name: 'Second', code: 'second' } });
  expect(await save({ billing_entity_code: 'second' })).toEqual(['city']);
});

describe('while the VAT register cannot be reached', () => {
  beforeEach(async () => {
    await addOn();
    register.say(trouble('MS_UNAVAILABLE'), 500);
    await save({ country: 'IT', tax_identification_number: 'IT00743110157' });
    await until(async () => ((await check())?.attempts === 1 ? true : undefined));
  });

  test('invoices wait for the register and go on with the taxes of its answer (golden case 16)', async () => {
    expect(await check()).toMatchObject({ status: 'pending', last_error: 'member_state_unavailable' });
    const minutes = ((await check())!.next_attempt_at.epochMilliseconds - realNow().epochMilliseconds) / 60_000;
    expect(Math.round(minutes)).toBe(5);
    expect(await hooks()).toEqual([{ valid: false, valid_format: true, error: 'MS_UNAVAILABLE' }]);
    const waiting = await invoice();
    expect(waiting).toMatchObject({
      status: 'pending',
      fees_amount_cents: 10000,
      taxes_amount_cents: 0,
      applied_taxes: [],
      number: expect.stringMatching(/-DRAFT$/),
    });
    register.say(VALID);
    await lookAgain(5);
    await holds('svc_eu_reverse_charge');
    const done = await until(async () => {
      const { invoice: read } = (await org.get(`/invoices/${waiting.svc_id}`)).body;
      return read.status === 'finalized' ? read : undefined;
    });
    expect(done).toMatchObject({
      total_amount_cents: 10000,
      applied_taxes: [{ tax_code: 'svc_eu_reverse_charge', amount_cents: 0 }],
      fees: [{ taxes_rate: 0 }],
      number: expect.stringMatching(/-001$/),
    });
  });

  test('the invoice of a plan in advance waits with its coupon applied and is one invoice in the end (golden case 16)', async () => {
    const plan = { name: 'P', code: 'p', interval: 'monthly', amount_cents: 10000, amount_currency: 'EUR' };
    await org.post('/plans', { plan: { ...plan, pay_in_advance: true } });
    await org.post('/coupons', {
      coupon: { name: 'K', code: 'k', ...TEN_PERCENT, frequency: 'recurring', frequency_duration: 2 },
    });
    await org.post('/applied_coupons', { applied_coupon: { external_customer_id: 'c', coupon_code: 'k' } });
    await org.post('/subscriptions', {
      subscription: { external_customer_id: 'c', external_id: 's', plan_code: 'p', billing_time: 'anniversary' },
    });
    const waiting = await until(async () => (await org.get('/customers/c/invoices')).body.invoices[0]);
    expect(waiting).toMatchObject({
      status: 'pending',
      coupons_amount_cents: 1000,
      sub_total_excluding_taxes_amount_cents: 9000,
      taxes_amount_cents: 0,
    });
    expect((await org.put(`/invoices/${waiting.svc_id}/finalize`)).status).not.toBe(200);
    register.say({ valid: false });
    await lookAgain(5);
    const done = await until(async () => {
      const { invoice: read } = (await org.get(`/invoices/${waiting.svc_id}`)).body;
      return read.status === 'finalized' ? read : undefined;
    });
    expect(done).toMatchObject({
      taxes_amount_cents: 1980,
      total_amount_cents: 10980,
      fees: [{ taxes_amount_cents: 1980, precise_coupons_amount_cents: '1000.0' }],
      applied_taxes: [{ tax_code: 'svc_eu_it_standard', fees_amount_cents: 9000 }],
      credits: [{ amount_cents: 1000 }],
    });
    const { applied_coupons } = (await org.get('/customers/c/applied_coupons')).body;
    expect(applied_coupons).toMatchObject([{ frequency_duration_remaining: 1, credits: [{ amount_cents: 1000 }] }]);
    const lines = await service.sql`
      select account_code, side, amount_cents from ledger_entries
      where organization_id = ${org.organization.organization_id} order by account_code`;
    expect(lines.map(({ account_code, side, amount_cents }) => [account_code, side, amount_cents])).toEqual([
      ['coupons', 'debit', 1000],
      ['receivable', 'debit', 10980],
      ['revenue.subscription', 'credit', 10000],
      ['tax_payable', 'credit', 1980],
    ]);
  });

  test('removing the VAT number lets waiting invoices go on at once', async () => {
    const waiting = await invoice();
    await save({ tax_identification_number: null });
    const done = await until(async () => {
      const { invoice: read } = (await org.get(`/invoices/${waiting.svc_id}`)).body;
      return read.status === 'finalized' ? read : undefined;
    });
    expect(done).toMatchObject({ taxes_amount_cents: 2200, total_amount_cents: 12200 });
  });

  test('the register is asked again, each time after a longer pause', async () => {
    await lookAgain(5);
    await until(async () => ((await check())?.attempts === 2 ? true : undefined));
    register.say({ userError: 'GLOBAL_MAX_CONCURRENT_REQ' });
    await lookAgain(5);
    await until(async () => ((await check())?.attempts === 3 ? true : undefined));
    expect(await check()).toMatchObject({ status: 'pending', last_error: 'rate_limit' });
    const minutes = ((await check())!.next_attempt_at.epochMilliseconds - realNow().epochMilliseconds) / 60_000;
    expect(Math.round(minutes)).toBe(10);
    register.say({ userError: 'constructor' });
    await lookAgain(10);
    await until(async () => ((await check())?.attempts === 4 ? true : undefined));
    expect(await check()).toMatchObject({ status: 'pending', last_error: 'unknown' });
  });
});

test('a sandbox does not reach the register: its double knows numbers whose check digits fit', async () => {
  org = await service.org({ sandbox: true });
  const [entity] = (await org.get('/billing_entities')).body.billing_entities;
  await org.put(`/billing_entities/${entity.code}`, { billing_entity: { country: 'FR', eu_tax_management: true } });
  await save({ country: 'IT', tax_identification_number: 'IT00743110157' });
  await holds('svc_eu_reverse_charge');
  await save({ tax_identification_number: 'IT00743110158' });
  await holds('svc_eu_it_standard');
  expect(register.asked).toEqual([]);
});
