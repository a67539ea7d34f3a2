import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let metric: string;

beforeAll(async () => {
  service = await startService();
  client = await service.org();
  const made = await client.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'sum_agg', field_name: 'n' },
  });
  metric = made.body.billable_metric.svc_id;
  await client.post('/customers', { customer: { external_id: 'ada', currency: 'EUR' } });
  await client.post('/plans', { plan: plan({ code: 'first' }) });
  await client.post('/subscriptions', {
    subscription: { external_customer_id: 'ada', external_id: 's', plan_code: 'first' },
  });
});
afterAll(() => service.stop());

const plan = (fields: object = {}) => ({
  name: 'P',
  code: 'p',
  interval: 'monthly',
  amount_cents: 0,
  amount_currency: 'EUR',
  pay_in_advance: false,
  ...fields,
});
const charge = (fields: object = {}) => ({
  billable_metric_id: metric,
  charge_model: 'percentage',
  properties: { rate: '1' },
  ...fields,
});
/** Places of an answer, each as `path: code`, and its details. */
const refused = async (
  answer: Promise<{ status: number; body: { error_details: object; error_places?: Place[] } }>,
) => {
  const { status, body } = await answer;
  expect(status).toBe(422);
  return { details: body.error_details, places: (body.error_places ?? []).map(({ path, code }) => `${path}: ${code}`) };
};
interface Place {
  path: string;
  code: string;
  allowed?: unknown[];
}

const INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'];

describe('error places found by a schema', () => {
  test('an error code has its place and the accepted values', async () => {
    const { body } = await client.post('/plans', { plan: plan({ interval: 'month' }) });
    expect(body.error_details).toEqual({ interval: ['value_is_invalid'] });
    expect(body.error_places).toEqual([{ path: 'plan.interval', code: 'value_is_invalid', allowed: INTERVALS }]);
  });

  test.each<[string, object, string]>([
    ['/plans', { plan: { charges: [{ charge_model: 'free' }] } }, 'custom'],
    ['/billable_metrics', { billable_metric: { aggregation_type: 'free' } }, 'custom_agg'],
    ['/payment_providers', { payment_provider: { type: 'free' } }, 'cashfree'],
    ['/events/corrections', { correction: { kind: 'free' } }, 'replace_range'],
  ])('lists no value of %s that is refused all the same: %j', async (path, body, refusedWord) => {
    const places = (await client.post(path, body)).body.error_places as Place[];
    const { allowed, path: at } = places.find((place) => place.allowed && /(model|type|kind)$/.test(place.path))!;
    expect(allowed!.length).toBeGreaterThan(1);
    expect(allowed).not.toContain(refusedWord);
    // Named it is refused too, by a code or status of its own.
    const named = JSON.parse(JSON.stringify(body).replace('free', refusedWord));
    const { status, text } = await client.post(path, named);
    expect(status, text).not.toBe(200);
    for (const word of allowed!) {
      const taken = await client.post(path, JSON.parse(JSON.stringify(body).replace('free', String(word))));
      const about = (taken.body.error_places ?? []).filter((place: Place) => place.path === at);
      expect(about, String(word)).toEqual([]);
    }
  });

  test.each([undefined, null, ''])(
    'a mandatory word or flag that is %j is reported as missing, not as unknown',
    async (value) => {
      const { body } = await client.post('/plans', { plan: plan({ interval: value, pay_in_advance: value }) });
      expect(body.error_details).toEqual({ interval: ['value_is_invalid'], pay_in_advance: ['value_is_invalid'] });
      expect(body.error_places).toEqual([
        { path: 'plan.interval', code: 'value_is_mandatory', allowed: INTERVALS },
        { path: 'plan.pay_in_advance', code: 'value_is_mandatory', allowed: [true, false] },
      ]);
    },
  );

  test('an error in a list has its index although its field stands for all elements', async () => {
    const charges = [
      charge(),
      charge({ charge_model: 'free' }),
      charge({ filters: [{ values: { a: ['b', 1, {}] } }] }),
    ];
    expect(await refused(client.post('/plans', { plan: plan({ charges }) }))).toEqual({
      details: { charge_model: ['value_is_invalid'], values: ['value_is_invalid'] },
      places: [
        'plan.charges[1].charge_model: value_is_invalid',
        'plan.charges[2].filters[0].values.a[2]: value_is_invalid',
      ],
    });
  });

  test('an error has its full place although the field drops the name of the object', async () => {
    const customer = {
      external_id: 'x',
      billing_configuration: { invoice_grace_period: -1, document_locale: 'xx' },
      shipping_address: { country: 'Atlantis' },
      metadata: [
        { key: 'a', value: 'b' },
        { key: '', value: 'c' },
      ],
    };
    expect(await refused(client.post('/customers', { customer }))).toEqual({
      details: {
        invoice_grace_period: ['value_is_out_of_range'],
        document_locale: ['not_a_valid_language_code'],
        shipping_country: ['not_a_valid_country_code'],
        key: ['value_is_mandatory'],
      },
      places: [
        'customer.shipping_address.country: not_a_valid_country_code',
        'customer.billing_configuration.invoice_grace_period: value_is_out_of_range',
        'customer.billing_configuration.document_locale: not_a_valid_language_code',
        'customer.metadata[1].key: value_is_mandatory',
      ],
    });
  });

  test('an error of a language lists those that documents are written in', async () => {
    const allowed = ['de', 'en', 'es', 'fr', 'it', 'nb', 'pt-BR', 'sv', 'zh-TW'];
    const code = 'not_a_valid_language_code';
    const configuration = { billing_configuration: { document_locale: 'tlh' } };
    const customer = await client.post('/customers', { customer: { external_id: 'x', ...configuration } });
    expect(customer.body.error_places).toEqual([
      { path: 'customer.billing_configuration.document_locale', code, allowed },
    ]);
    const entity = await client.post('/billing_entities', {
      billing_entity: { code: 'x', name: 'X', ...configuration },
    });
    expect(entity.body.error_places).toEqual([
      { path: 'billing_entity.billing_configuration.document_locale', code, allowed },
    ]);
    const organization = await client.put('/organizations', { organization: configuration });
    expect(organization.body.error_places).toEqual([
      { path: 'organization.billing_configuration.document_locale', code, allowed },
    ]);
  });

  test('an error of a web address says why', async () => {
    const { body } = await client.post('/customers', { customer: { external_id: 'x', url: 'www.example.com' } });
    expect(body.error_places).toEqual([
      { path: 'customer.url', code: 'url_is_invalid', reason: 'not an http or https URL with a host' },
    ]);
  });

  test('an error of a query names the parameter and its accepted words', async () => {
    const { body } = await client.get('/invoices?status=lost&payment_statuses[]=succeeded&payment_statuses[]=x');
    expect(body.error_places).toContainEqual({
      path: 'query.status',
      code: 'value_is_invalid',
      allowed: expect.arrayContaining(['draft', 'finalized']),
    });
    for (const { path } of body.error_places) expect(path).toMatch(/^query\.(status|payment_statuses)/);
  });

  test('error places are given for at most a hundred places', async () => {
    const charges = Array.from({ length: 400 }, () => charge({ charge_model: 'free' }));
    const { body } = await client.post('/plans', { plan: plan({ charges }) });
    expect(body.error_places).toHaveLength(100);
  });

  test('errors of currencies and countries list no values because there are too many', async () => {
    const { body } = await client.post('/plans', { plan: plan({ amount_currency: 'EURO' }) });
    expect(body.error_places).toEqual([{ path: 'plan.amount_currency', code: 'value_is_invalid' }]);
  });
});

describe('error places found by a rule', () => {
  test('an error of a charge has the index of the charge, its filter and its property', async () => {
    const bad = { rate: '1', free_units_per_events: 'many' };
    const charges = [
      charge(),
      charge(),
      charge(),
      charge(),
      charge({ properties: bad }),
      charge({ filters: [{ values: { region: ['eu'] }, properties: { rate: 'x' } }] }),
    ];
    expect(await refused(client.post('/plans', { plan: plan({ charges }) }))).toEqual({
      details: {
        properties: ['invalid_free_units_per_events', 'invalid_rate'],
        billable_metric_filter: ['relation_must_exist'],
        values: ['value_is_invalid'],
      },
      places: [
        'plan.charges[4].properties.free_units_per_events: invalid_free_units_per_events',
        'plan.charges[5].filters[0]: relation_must_exist',
        'plan.charges[5].filters[0].values: value_is_invalid',
        'plan.charges[5].filters[0].properties.rate: invalid_rate',
      ],
    });
  });

  test('an error has its place in overrides and in fixed charges', async () => {
    const fixed = [{ add_on_code: 'none', charge_model: 'standard' }, { charge_model: 'standard' }];
    const { places } = await refused(client.post('/plans', { plan: plan({ fixed_charges: fixed.slice(1) }) }));
    expect(places).toEqual(['plan.fixed_charges[0]: value_is_mandatory']);
    const subscription = { plan_overrides: { minimum_commitment: { invoice_display_name: 'x' } } };
    expect(await refused(client.put('/subscriptions/s', { subscription }))).toEqual({
      details: { 'plan_overrides.minimum_commitment.amount_cents': ['value_is_mandatory'] },
      places: ['subscription.plan_overrides.minimum_commitment.amount_cents: value_is_mandatory'],
    });
  });

  test('an error place is found by the name of its field', async () => {
    expect(await refused(client.post('/plans', { plan: plan({ code: 'first' }) }))).toEqual({
      details: { code: ['value_already_exist'] },
      places: ['plan.code: value_already_exist'],
    });
  });

  test('an error place is the list when several of its elements have the field', async () => {
    const item = (from_datetime: string) => ({ add_on_code: 'setup', unit_amount_cents: 1, from_datetime });
    await client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 1, amount_currency: 'EUR' },
    });
    const invoice = { external_customer_id: 'ada', currency: 'EUR', fees: [item('2024-01-01'), item('2024-01-02')] };
    const { details, places } = await refused(client.post('/invoices', { invoice }));
    expect(details).toEqual({ boundaries: ['values_are_invalid'] });
    expect(places).toEqual([]);
  });

  test('a replayed refusal has the same error places', async () => {
    const headers = { 'idempotency-key': 'places' };
    const body = { plan: plan({ code: 'first' }) };
    const first = await client.post('/plans', body, { headers });
    const again = await client.post('/plans', body, { headers });
    expect(first.body.error_places).toEqual([{ path: 'plan.code', code: 'value_already_exist' }]);
    expect([again.text, again.headers['x-svc-replayed']]).toEqual([first.text, 'true']);
  });

  test('errors of many records have the index of each', async () => {
    const good = { alert_type: 'current_usage_amount', code: 'a', thresholds: [{ code: 'w', value: '1' }] };
    const alerts = [good, { ...good, code: 'b', alert_type: 'weather' }, { alert_type: 'current_usage_amount' }];
    const { body } = await client.post('/subscriptions/s/alerts', { alerts });
    expect(Object.keys(body.error_details)).toEqual(['1', '2']);
    expect(body.error_places[0]).toMatchObject({
      path: 'alerts[1].alert_type',
      code: 'invalid_type',
      allowed: expect.arrayContaining(['current_usage_amount']),
    });
    expect(body.error_places.map(({ path }: Place) => path)).toContain('alerts[2].thresholds');
  });

  test('an error of the request as a whole has no place', async () => {
    const { body } = await client.post('/subscriptions/s/alerts', { alerts: [] });
    expect(body.error_places).toEqual([{ path: 'alerts', code: 'no_alerts' }]);
    const none = await client.get('/analytics/usage?months=999999');
    expect(none.body.error_places ?? []).toEqual(none.status === 422 ? expect.anything() : []);
  });
});

describe('error places of events', () => {
  const event = (fields: object = {}) => ({
    transaction_id: 't',
    external_subscription_id: 's',
    code: 'calls',
    ...fields,
  });

  test.each([{}, { headers: { 'idempotency-key': 'of-an-event' } }])(
    'an event alone has its error places: %j',
    async (options) => {
      const { body } = await client.post('/events', { event: event({ code: '', timestamp: 'x' }) }, options);
      expect(body.error_places).toEqual([
        { path: 'event.timestamp', code: 'invalid_format' },
        { path: 'event.code', code: 'value_is_mandatory' },
      ]);
    },
  );

  test('events of a batch have error places by their index, also when the database finds the error', async () => {
    const events = [event({ transaction_id: 'a' }), event({ transaction_id: '' })];
    expect(await refused(client.post('/events/batch', { events }))).toEqual({
      details: { 1: { transaction_id: ['value_is_mandatory'] } },
      places: ['events[1].transaction_id: value_is_mandatory'],
    });
    await client.post('/events', { event: event({ transaction_id: 'taken', properties: { n: 1 } }) });
    for (const headers of [{}, { 'idempotency-key': 'of-a-batch' }] as Record<string, string>[]) {
      const twice = [event({ transaction_id: 'b' }), event({ transaction_id: 'taken', properties: { n: 2 } })];
      expect(await refused(client.post('/events/batch', { events: twice }, { headers }))).toEqual({
        details: { 1: { transaction_id: ['value_already_exist'] } },
        places: ['events[1].transaction_id: value_already_exist'],
      });
    }
  });

  test('events of a tolerant batch and of bulk have error places beside their details', async () => {
    const events = [event({ transaction_id: 'c' }), event({ code: null })];
    const tolerant = await client.post('/events/batch?mode=tolerant', { events });
    expect(tolerant.body.results[1]).toEqual({
      index: 1,
      transaction_id: 't',
      status: 'rejected',
      error_details: { code: ['value_is_mandatory'] },
      error_places: [{ path: 'events[1].code', code: 'value_is_mandatory' }],
    });
    const raw = [JSON.stringify(event({ transaction_id: 'd' })), 'no', JSON.stringify(event({ code: '' }))].join('\n');
    const bulk = await client.post('/events/bulk', undefined, {
      raw,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(bulk.body.bulk.errors).toEqual([
      { line: 2, transaction_id: null, error_details: { line: ['invalid_json'] } },
      {
        line: 3,
        transaction_id: 't',
        error_details: { code: ['value_is_mandatory'] },
        error_places: [{ path: 'code', code: 'value_is_mandatory' }],
      },
    ]);
  });
});

test('a body that is wrong as a whole is reported under the name of its field', async () => {
  await client.post('/features', { feature: { code: 'seats', name: 'Seats' } });
  const { body } = await client.put('/features/seats/usage_limits', { usage_limits: true });
  expect(body.error_details).toEqual({ usage_limits: ['value_is_invalid'] });
  expect(body.error_places).toEqual([{ path: 'usage_limits', code: 'value_is_invalid' }]);
});

test('an unknown filter is refused by its name in a sandbox', async () => {
  const sandbox = await service.org({ sandbox: true });
  const { body } = await sandbox.get('/payment_receipts?external_customer_id=acme&a[b]=1');
  expect(body.error_places).toEqual([
    { path: 'query.external_customer_id', code: 'value_must_be_blank' },
    { path: 'query.a', code: 'value_must_be_blank' },
  ]);
});

test('the API log of a refused write equals its answer', async () => {
  const { headers, body } = await client.post('/plans', { plan: plan({ code: 'first', name: 'logged' }) });
  const [row] = await service.sql<{ request_response: unknown }[]>`
    select request_response from api_logs where request_id = ${String(headers['x-request-id'])}`;
  const logged = row!.request_response;
  expect(typeof logged === 'string' ? JSON.parse(logged) : logged).toEqual(body);
});

test('answers without a validation error have no error places', async () => {
  for (const answer of [await client.get('/plans/none'), await client.post('/plans', {}), await client.get('/plans')])
    expect(answer.body).not.toHaveProperty('error_places');
});
