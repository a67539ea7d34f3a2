import { createHmac, hash } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClientAnswer } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// Requests that once cost seconds or failed inside: each is refused by name, before anything is done for it.
type Sent = Awaited<ReturnType<TestService['org']>>;

const SECRET = 'hush';

let service: TestService;
let org: Sent;
beforeAll(async () => {
  service = await startService();
  org = await service.org({ sandbox: true });
  await made('/customers', { customer: { external_id: 'somebody', currency: 'EUR' } });
  await made('/plans', {
    plan: { name: 'P', code: 'p', interval: 'monthly', pay_in_advance: true, amount_cents: 1, amount_currency: 'EUR' },
  });
  await made('/taxes', { tax: { name: 'T', code: 't', rate: '10' } });
  await made('/add_ons', { add_on: { name: 'A', code: 'a', amount_cents: 100, amount_currency: 'EUR' } });
  await made('/payment_providers', {
    payment_provider: { type: 'sandbox', code: 'sb', name: 'S', webhook_secret: SECRET },
  });
});
afterAll(() => service.stop());

const made = async (path: string, body: object): Promise<ClientAnswer['body']> => {
  const answer = await org.post(path, body);
  expect(answer, answer.text).toMatchObject({ status: 200 });
  return answer.body;
};

/** Hexadecimal text that no index can compress. */
const random = (characters: number): string =>
  Array.from({ length: Math.ceil(characters / 64) }, (_, n) => hash('sha256', `seed ${n}`))
    .join('')
    .slice(0, characters);
const DIGITS = `0.${random(17_000).replaceAll(/[a-f]/g, '7')}`;

const refused = (details: object) => ({
  status: 422,
  body: { status: 422, error: 'Unprocessable Entity', code: 'validation_errors', error_details: details },
});
const TOO_LARGE = { status: 413, body: { status: 413, error: 'Payload Too Large', code: 'payload_too_large' } };

describe('texts that an index holds', () => {
  const subscribe = (external_id: string) =>
    org.post('/subscriptions', { subscription: { external_customer_id: 'somebody', plan_code: 'p', external_id } });

  test.each([random(4000), random(2800), random(1001), '漢'.repeat(3000), '漢'.repeat(334)])(
    'an external id of a subscription may be as long as events may name it: case %#',
    async (externalId) => {
      expect(await subscribe(externalId)).toMatchObject(refused({ external_id: ['value_is_too_long'] }));
    },
  );

  test.each([random(1000), '漢'.repeat(333)])('a text of 1 000 bytes is accepted: case %#', async (externalId) => {
    expect((await subscribe(externalId)).status).toBe(200);
  });

  test.each([random(4000), '漢'.repeat(256)])(
    'the code of a previewed coupon may be as long as a stored one',
    async (code) => {
      const body = {
        plan_code: 'p',
        customer: { external_id: 'somebody' },
        coupons: [{ code, name: 'C', coupon_type: 'percentage', percentage_rate: '10' }],
      };
      expect(await org.post('/invoices/preview', body)).toMatchObject(
        refused({ 'coupons.0.code': ['value_is_too_long'] }),
      );
    },
  );
});

describe('dates with extreme years', () => {
  const YEARS = [
    '-000001-01-01T00:00:00Z',
    '0000-01-01',
    '0999-12-31',
    '9999-12-31T23:59:59Z',
    '+275760-09-13T00:00:00Z',
  ];

  test.each(YEARS)('a year that dates cannot be computed from is refused: %s', async (at) => {
    const preview = { plan_code: 'p', customer: { external_id: 'somebody' }, subscription_at: at };
    expect(await org.post('/invoices/preview', preview)).toMatchObject(refused({ subscription_at: ['invalid_date'] }));
    const { invoice } = await made('/invoices', {
      invoice: { external_customer_id: 'somebody', currency: 'EUR', fees: [{ add_on_code: 'a' }] },
    });
    const payment = { invoice_id: invoice.svc_id, amount_cents: 100, reference: 'r', paid_at: at };
    expect(await org.post('/payments', { payment })).toMatchObject(refused({ paid_at: ['invalid_date'] }));
  });

  test.each([...YEARS, '0000-01-01T00:00:00Z'])(
    'a year out of range in a document filter is ignored: %s',
    async (day) => {
      for (const path of [
        '/invoices',
        '/credit_notes',
        '/customers/somebody/invoices',
        '/customers/somebody/credit_notes',
      ])
        for (const filter of ['issuing_date_from', 'issuing_date_to'])
          expect(await org.get(`${path}?${filter}=${encodeURIComponent(day)}`)).toMatchObject({ status: 200 });
    },
  );

  test('a payment term is limited to a century, so that due dates can be written', async () => {
    const customer = { external_id: 'patient', net_payment_term: 36_526 };
    expect(await org.post('/customers', { customer })).toMatchObject(
      refused({ net_payment_term: ['value_is_out_of_range'] }),
    );
    await made('/customers', { customer: { ...customer, net_payment_term: 36_525, currency: 'EUR' } });
    const { invoice } = await made('/invoices', {
      invoice: { external_customer_id: 'patient', currency: 'EUR', fees: [{ add_on_code: 'a' }] },
    });
    expect(invoice.payment_due_date > '2100').toBe(true);
  });
});

describe('decimals of 17 000 digits', () => {
  const rule = { trigger: 'interval', interval: 'monthly', method: 'target' };

  test.each<[string, 'post' | 'put', string, object, object]>([
    ['a tax', 'post', '/taxes', { tax: { name: 'N', code: 'n', rate: DIGITS } }, { rate: ['value_is_too_long'] }],
    ['a changed tax', 'put', '/taxes/t', { tax: { rate: DIGITS } }, { rate: ['value_is_too_long'] }],
    [
      'a fee',
      'post',
      '/invoices',
      { invoice: { external_customer_id: 'somebody', currency: 'EUR', fees: [{ add_on_code: 'a', units: DIGITS }] } },
      { 'fees.0.units': ['value_is_too_long'] },
    ],
    [
      'a price',
      'post',
      '/plans',
      {
        plan: {
          name: 'Q',
          code: 'q',
          interval: 'monthly',
          pay_in_advance: false,
          amount_cents: 1,
          amount_currency: 'EUR',
          charges: [{ billable_metric_id: 'x', charge_model: 'standard', properties: { amount: DIGITS } }],
        },
      },
      { properties: ['value_is_too_long'] },
    ],
  ])('a decimal of 17 000 digits is refused: %s', async (_, method, path, body, details) => {
    expect(await org[method](path, body)).toMatchObject(refused(details));
  });

  test.each([
    ['17 000 digits', DIGITS, 'value_is_too_long'],
    ['65 digits', DIGITS.slice(0, 65), 'invalid_recurring_rule'],
  ])('a decimal of %s in a wallet rule is refused', async (_, target_ongoing_balance, code) => {
    const wallet = { external_customer_id: 'somebody', rate_amount: '1', currency: 'EUR' };
    const { svc_id } = (await made('/wallets', { wallet })).wallet;
    expect(
      await org.put(`/wallets/${svc_id}`, {
        wallet: { recurring_transaction_rules: [{ ...rule, target_ongoing_balance }] },
      }),
    ).toMatchObject(refused({ recurring_transaction_rules: [code] }));
  });

  test('a number of 17 000 digits is refused too', async () => {
    const raw = `{"tax":{"name":"N","code":"n","rate":${DIGITS}}}`;
    expect(await org.post('/taxes', undefined, { raw })).toMatchObject(refused({ rate: ['value_is_too_long'] }));
  });
});

describe('sizes of lists', () => {
  const metric = (values: string) =>
    `{"billable_metric":{"name":"M","code":"m","aggregation_type":"count_agg","filters":[{"key":"k","values":[${values}]}]}}`;
  const plan = (charges: string) => `{"plan":{"name":"a","code":"b","charges":[${charges}]}}`;

  test.each([
    ['filter values', '/billable_metrics', metric(`${'{},'.repeat(24_000)}{}`), 'values'],
    ['charges', '/plans', plan(`${'{},'.repeat(500)}{}`), 'charges'],
    ['charges', '/plans', plan(`${'{},'.repeat(24_000)}{}`), 'charges'],
    ['tax codes', '/customers', `{"customer":{"external_id":"q","tax_codes":[${'1,'.repeat(3900)}1]}}`, 'tax_codes'],
    ['filters of a charge', '/plans', plan(`{"filters":[${'{},'.repeat(500)}{}]}`), 'filters'],
    [
      'addresses',
      '/customers',
      `{"customer":{"external_id":"q","email":"${'a@example.com,'.repeat(20)}b@example.com"}}`,
      'email',
    ],
  ])('a list of too many %s is refused by its field', async (_, path, raw, field) => {
    const { status, body } = await org.post(path, undefined, { raw });
    expect(status).toBe(422);
    expect(body.error_details[field]).toEqual(['value_is_too_long']);
  });

  test('a list of 20 addresses is accepted', async () => {
    const email = Array.from({ length: 20 }, (_, n) => `a${n}@example.com`).join(',');
    await org.post(
      '/customers',
      { customer: { external_id: 'many', email } },
      { beyondContract: 'json.md "emails": several' },
    );
  });

  test.each([
    ['1.7 million charges', '/plans', plan(`${'{},'.repeat(1_699_999)}{}`)],
    [
      '2.4 million tax codes',
      '/customers',
      `{"customer":{"external_id":"q","tax_codes":[${'1,'.repeat(2_399_999)}1]}}`,
    ],
    ['200 000 filter values', '/billable_metrics', metric(`${'{},'.repeat(199_999)}{}`)],
    ['420 000 unknown keys', '/customers', `{"customer":{${Array.from({ length: 420_000 }, (_, n) => `"k${n}":1`)}}}`],
    ['1 001 unknown keys', '/customers', `{"customer":{${Array.from({ length: 1001 }, (_, n) => `"k${n}":1`)}}}`],
  ])('lists and objects beyond any real request are refused at the door: %s', async (_, path, raw) => {
    expect(await org.post(path, undefined, { raw })).toMatchObject(TOO_LARGE);
  });

  test.each([65, 250_000])('lists and objects nested %i deep are not JSON', async (levels) => {
    const raw = `{"customer":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const options = { raw, beyondContract: 'error-bodies.md: a body nested too deep to be written down' };
    expect(await org.post('/customers', undefined, options)).toMatchObject({ status: 400 });
  });
});

test('the name of a billing entity is one line because mails carry it in their header', async () => {
  const billing_entity = { name: 'Acme\r\nBcc: somebody@example.com', code: 'e' };
  expect(await org.post('/billing_entities', { billing_entity })).toMatchObject(refused({ name: ['invalid_format'] }));
});

test('a real card number is not written to any log', async () => {
  const answer = await org.post('/customers/somebody/payment_methods', {
    payment_method: { card_number: '4539 1488 0343 6467', payment_provider_code: 'sb' },
  });
  expect(answer).toMatchObject(refused({ card_number: ['value_is_invalid'] }));
  const card = await org.post('/customers/somebody/payment_methods', {
    payment_method: { card_number: '4242424242424242', payment_provider_code: 'sb' },
  });
  expect(card.status).not.toBe(500);
  // Eight digits, since an id may hold four of them.
  const rows = await service.sql`
    select from api_logs
    where request_body::text ~ '4539 ?1488|4242 ?4242' or request_response::text ~ '4539 ?1488'`;
  expect(rows).toHaveLength(0);
});

describe('signed provider events of any size', () => {
  const tell = async (body: string | Buffer, code = 'sb') => {
    const { organization_id } = org.organization;
    const { statusCode } = await request(
      `${service.url}/webhooks/sandbox/${organization_id}?code=${encodeURIComponent(code)}`,
      {
        method: 'POST',
        body,
        headers: { 'x-sandbox-signature': createHmac('sha256', SECRET).update(body).digest('hex') },
      },
    );
    return statusCode;
  };
  const payloadOf = async (type: string) =>
    (await org.get(`/inbound_events?types[]=${type}`)).body.inbound_events.map(
      ({ provider_event_id }: { provider_event_id: string }) => provider_event_id,
    );

  test.each([
    ['null', '{"id":"e1","type":"null","data":"\\u0000"}'],
    ['half', '{"id":"e2","type":"half","data":"\\ud800"}'],
    ['deep', `{"id":"e3","type":"deep","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    [
      'long',
      JSON.stringify({ id: random(5000), type: 'long', provider_payment_id: random(5000), status: 'succeeded' }),
    ],
    ['many', `{"id":"e5","type":"many","data":[${'1,'.repeat(200_000)}1]}`],
    ['members', `{"id":"e6","type":"members",${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`)}}`],
    ['twice', '{"id":"e7","type":"odd","type":"twice"}'],
    ['bytes', Buffer.from('{"id":"e8","type":"bytes","data":"\xff\xc0"}', 'latin1')],
    ['not_understood', '{"id":"e9"'],
  ])('a signed provider event is stored and handled whatever it holds (type %s)', async (type, body) => {
    expect(await tell(body)).toBe(200);
    expect(await payloadOf(type)).toHaveLength(1);
    await until(
      async () =>
        (await org.get(`/inbound_events?types[]=${type}&statuses[]=succeeded`)).body.inbound_events.length === 1,
    );
  });

  test('a provider event for a connection with an impossible id is refused', async () => {
    expect(await tell('{"id":"e4","type":"t"}', 'a\0b')).toBe(400);
  });
});
