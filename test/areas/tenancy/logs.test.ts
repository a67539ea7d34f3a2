import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathPatterns } from '../../../src/areas/tenancy/api-logs/filters.ts';
import { newId } from '../../../src/platform/ids.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
});
afterAll(() => service.stop());

type Org = Awaited<ReturnType<TestService['org']>>;
const idOf = (org: Org) => org.organization.organization_id;
const NOBODY = '00000000-0000-7000-8000-000000000000';
const notFound = (resource: string) => ({ status: 404, error: 'Not Found', code: 'object_not_found', resource });

const types = async (org: Org, query: string) =>
  (await org.get(`/activity_logs?${query}`)).body.activity_logs.map(
    (log: { activity_type: string }) => log.activity_type,
  );
const paths = async (org: Org, query: string) =>
  (await org.get(`/api_logs?${query}`)).body.api_logs.map((log: { request_path: string }) => log.request_path);

describe('activity logs', () => {
  test('an activity log holds the record after the action and what an update changed', async () => {
    const org = await service.org();
    await org.post('/coupons', {
      coupon: {
        name: 'Ten',
        code: 'ten',
        coupon_type: 'fixed_amount',
        amount_cents: 1000,
        amount_currency: 'EUR',
        frequency: 'once',
        expiration: 'no_expiration',
      },
    });
    await org.put('/coupons/ten', { coupon: { name: 'Tenner' } });
    const { activity_logs: logs, meta } = (await org.get('/activity_logs')).body;
    expect(meta).toEqual({ current_page: 1, next_page: null, prev_page: null, total_pages: 1, total_count: 2 });
    expect(logs[0]).toEqual({
      activity_id: expect.any(String),
      activity_type: 'coupon.updated',
      activity_source: 'api',
      activity_object: expect.objectContaining({ code: 'ten', name: 'Tenner' }),
      activity_object_changes: { name: ['Ten', 'Tenner'] },
      user_email: null,
      resource_id: logs[0].activity_object.svc_id,
      resource_type: 'Coupon',
      external_customer_id: null,
      external_subscription_id: null,
      organization_id: idOf(org),
      logged_at: expect.stringMatching(/:\d\dZ$/),
      created_at: expect.stringMatching(/:\d\dZ$/),
    });
    expect(logs[1]).toMatchObject({ activity_type: 'coupon.created', activity_object_changes: {} });
    expect((await org.get(`/activity_logs/${logs[0].activity_id}`)).body).toEqual({ activity_log: logs[0] });
  });

  test('each filter of activity logs selects what it names', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', { test_clock: { frozen_time: '2024-02-01T10:00:00Z' } });
    await org.post('/customers', { customer: { external_id: 'ada', name: 'Ada' } });
    await org.put('/taxes/none', { tax: { name: 'refused' } });
    const day = '2024-02-01';
    const [{ resource_id: id }] = (await org.get('/activity_logs')).body.activity_logs;
    const found = ['customer.created'];
    for (const [query, expected] of [
      ['', found],
      [`from_date=${day}&to_date=${day}`, found],
      ['from_date=2024-02-01T10:00:00Z&to_date=2024-02-01T10:00:00Z', found],
      ['from_date=2024-02-02', []],
      ['to_date=9999-12-31', found],
      ['to_date=2024-01-31', []],
      ['activity_types[]=customer.created&activity_types[]=plan.created', found],
      ['activity_types=customer.created', found],
      ['activity_types[]=customer.updated', []],
      ['activity_sources[]=api', found],
      ['activity_sources[]=system', []],
      ['activity_sources[]=nobody', []],
      ['user_emails[]=a@b.co', []],
      ['external_customer_id=ada', found],
      ['external_customer_id=bob', []],
      ['external_subscription_id=ada', []],
      [`resource_ids[]=${id}&resource_ids[]=${NOBODY}`, found],
      ['resource_ids[]=nonsense', []],
      ['resource_types[]=Customer', found],
      ['resource_types[]=Plan', []],
      ['page=2', []],
    ] as [string, string[]][])
      expect([query, await types(org, query)]).toEqual([query, expected]);
    for (const field of ['from_date', 'to_date'])
      expect((await org.get(`/activity_logs?${field}=soon`)).body.error_details).toEqual({ [field]: ['invalid_date'] });
  });

  test('activity logs leave out long lists: fees above 25, charges above 50', async () => {
    const org = await service.org();
    await org.post('/customers', { customer: { external_id: 'ada', currency: 'EUR' } });
    await org.post('/add_ons', { add_on: { name: 'A', code: 'a', amount_cents: 1, amount_currency: 'EUR' } });
    const metric = { name: 'M', code: 'm', aggregation_type: 'count_agg' };
    const { billable_metric } = (await org.post('/billable_metrics', { billable_metric: metric })).body;
    for (const count of [25, 26]) {
      const fees = Array.from({ length: count }, () => ({ add_on_code: 'a' }));
      const made = await org.post('/invoices', { invoice: { external_customer_id: 'ada', currency: 'EUR', fees } });
      expect(made.status, made.text).toBe(200);
    }
    for (const count of [50, 51]) {
      const charge = {
        billable_metric_id: billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '1' },
      };
      const plan = { code: `p${count}`, name: 'P', interval: 'monthly', amount_cents: 0, amount_currency: 'EUR' };
      const charges = Array.from({ length: count }, () => charge);
      const made = await org.post('/plans', { plan: { ...plan, pay_in_advance: false, charges } });
      expect(made.status, made.text).toBe(200);
    }
    const lengths = async (type: string, list: string) => {
      const { activity_logs: logs } = (await org.get(`/activity_logs?activity_types[]=${type}`)).body;
      return logs.map((log: { activity_object: Record<string, unknown[]> }) => log.activity_object[list]?.length);
    };
    expect(await lengths('invoice.one_off_created', 'fees')).toEqual([undefined, 25]);
    expect(await lengths('plan.created', 'charges')).toEqual([undefined, 50]);
  });

  test('activity logs of features are also found under their short name', async () => {
    const org = await service.org();
    const now = Temporal.Now.instant();
    await service.sql`
      insert into activity_logs (id, organization_id, activity_type, activity_source, resource_id, resource_type,
        logged_at, created_at)
      values (${newId()}, ${idOf(org)}, 'feature.created', 'api', ${newId()}, 'Entitlement::Feature', ${now}, ${now})`;
    expect(await types(org, 'resource_types[]=Feature')).toEqual(['feature.created']);
    expect(await types(org, 'resource_types[]=Entitlement::Feature')).toEqual(['feature.created']);
  });

  test('activity logs of others, unknown ones and those older than the period are not found', async () => {
    const [org, other] = [await service.org(), await service.org()];
    await other.post('/customers', { customer: { external_id: 'ada' } });
    const [foreign] = (await other.get('/activity_logs')).body.activity_logs;
    for (const id of [foreign.activity_id, NOBODY, 'x'])
      expect((await org.get(`/activity_logs/${id}`)).body).toEqual(notFound('activity_log'));
    expect((await org.get('/activity_logs')).body.meta.total_count).toBe(0);

    await service.sql`
      update activity_logs set created_at = created_at - interval '31 days' where organization_id = ${idOf(other)}`;
    expect((await other.get('/activity_logs')).body.activity_logs).toEqual([]);
    expect((await other.get(`/activity_logs/${foreign.activity_id}`)).status).toBe(404);
  });
});

describe('API logs', () => {
  test('a write is logged with its answer and without secrets; reads are not logged', async () => {
    const org = await service.org();
    const sent = { webhook_endpoint: { webhook_url: 'https://example.com/hook', name: 'Mine' } };
    const made = await org.post('/webhook_endpoints?trace=1', sent, { headers: { 'user-agent': 'shop/2' } });
    await org.get('/webhook_endpoints');
    const { api_logs: logs } = (await org.get('/api_logs')).body;
    expect(logs).toHaveLength(1);
    const [log] = logs;
    expect(log).toEqual({
      request_id: made.headers['x-request-id'],
      api_version: 'v1',
      client: 'shop/2',
      http_method: 'post',
      http_status: 200,
      request_origin: service.url,
      request_path: '/api/v1/webhook_endpoints',
      request_body: JSON.stringify({ trace: '1', ...sent }),
      request_response: expect.stringContaining('"secret":"[FILTERED]"'),
      logged_at: expect.stringMatching(/:\d\dZ$/),
      created_at: expect.stringMatching(/:\d\dZ$/),
    });
    expect((await org.get(`/api_logs/${log.request_id}`)).body).toEqual({ api_log: log });
  });

  test('a long body is cut between two characters in the API log, and the write succeeds', async () => {
    const org = await service.org();
    for (const start of ['x', 'xx']) {
      const sent = { customer: { external_id: 'ada', unheard: `${start}${'😀'.repeat(40_000)}` } };
      expect((await org.post('/customers', sent)).status).toBe(200);
      const [log] = (await org.get('/api_logs')).body.api_logs;
      const kept = log.request_body.slice(0, -'[TRUNCATED]'.length);
      expect(log.request_body.endsWith('😀[TRUNCATED]')).toBe(true);
      expect(JSON.stringify(sent).startsWith(kept)).toBe(true);
    }
  });

  test('every write of a known caller is logged except events and requests without an answer', async () => {
    const org = await service.org();
    const stranger = service.client('nobody');
    const { value } = (await org.post('/api_keys', { api_key: { permissions: { customer: ['read'] } } })).body.api_key;
    await stranger.post('/customers', { customer: { external_id: 'ada' } });
    await org.post('/unknown', {});
    await org.post('/events', {});
    await org.post('/events/estimate_fees', { event: { external_subscription_id: 's', code: 'c' } });
    await org.get('/customers');
    await service.client(value).post('/customers', { customer: { external_id: 'ada' } });
    await org.post('/plans', undefined, { raw: '{' });
    await org.post('/billable_metrics/evaluate_expression', { expression: 'round(1.5)', event: { code: 'c' } });
    await org.post('/billable_metrics/evaluate_expression', { expression: '(', event: { code: 'c' } });
    const logged = await until(async () => {
      const { api_logs: logs } = (await org.get('/api_logs')).body;
      return logs.length < 5 ? undefined : logs;
    });
    const shown = logged.map((log: Record<string, unknown>) => `${log.http_status} ${log.request_path}`);
    expect(shown.sort()).toEqual([
      '200 /api/v1/api_keys',
      '200 /api/v1/billable_metrics/evaluate_expression',
      '400 /api/v1/plans',
      '403 /api/v1/customers',
      '422 /api/v1/billable_metrics/evaluate_expression',
    ]);
  });

  test('each filter of API logs selects what it names', async () => {
    const org = await service.org();
    await org.post('/customers', { customer: { external_id: 'ada' } });
    await org.put('/plans/none', { plan: { name: 'x' } });
    await org.post('/plans', {});
    await org.patch('/taxes/none', { tax: { name: 'x' } });
    await org.delete('/customers/ada', undefined, { headers: { 'user-agent': 'cleaner' } });
    // Rows of requests that the ingress refused come in batches.
    await until(async () => (await org.get('/api_logs')).body.meta.total_count === 5 || undefined);
    const [customers, ada, plans, plan, tax] = ['customers', 'customers/ada', 'plans', 'plans/none', 'taxes/none'].map(
      (path) => `/api/v1/${path}`,
    );
    const today = Temporal.Now.plainDateISO('UTC');
    for (const [query, expected] of [
      ['http_methods[]=post', [customers, plans]],
      ['http_methods[]=put&http_methods[]=delete', [ada, plan, tax]],
      ['http_methods[]=get', []],
      ['http_statuses[]=succeeded', [customers, ada]],
      ['http_statuses[]=failed', [plans, plan, tax]],
      ['http_statuses[]=400&http_statuses[]=succeeded', [customers, ada, plans]],
      ['http_statuses[]=404', [plan, tax]],
      ['http_statuses=200', [customers, ada]],
      ['api_version=v1', [customers, ada, plans, plan, tax]],
      ['api_version=v2', []],
      ['request_paths=/customers', [customers, ada]],
      ['request_paths=plans/', [plans, plan]],
      ['request_paths=/api/v1/plans', [plans, plan]],
      ['request_paths=/plan', []],
      ['request_paths=/*/none', [plan, tax]],
      ['request_paths=/p*', [plans, plan]],
      ['request_paths[]=/taxes&request_paths[]=/customers/ada', [tax, ada]],
      ['clients[]=cleaner', [ada]],
      [
        `from_date=${today.subtract({ days: 1 })}&to_date=${today.add({ days: 1 })}`,
        [customers, ada, plans, plan, tax],
      ],
      [`to_date=${today.subtract({ days: 2 })}`, []],
    ] as [string, string[]][])
      expect([query, (await paths(org, query)).sort()]).toEqual([query, [...expected].sort()]);
    for (const [field, value, code] of [
      ['from_date', '2024-13-01', 'invalid_date'],
      ['to_date', 'now', 'invalid_date'],
      ['http_statuses[]', '99', 'value_is_invalid'],
      ['http_statuses[]', 'constructor', 'value_is_invalid'],
    ] as const)
      expect((await org.get(`/api_logs?${field}=${value}`)).body.error_details).toEqual({
        [field.replace('[]', '')]: [code],
      });
  });

  test.each([
    ['/plans', ['/api/v1/plans', '/api/v1/plans/%']],
    ['plans', ['/api/v1/plans', '/api/v1/plans/%']],
    ['/api/v1/plans/', ['/api/v1/plans', '/api/v1/plans/%']],
    ['/', ['/api/v1', '/api/v1/%']],
    ['/api/v1', ['/api/v1', '/api/v1/%']],
    ['/a_b%', ['/api/v1/a\\_b\\%', '/api/v1/a\\_b\\%/%']],
    ['/customers/*/wallets', ['/api/v1/customers/%/wallets']],
    ['*wallets', ['/%wallets']],
  ])('the API log is filtered by path: %s', (filter, patterns) => {
    expect(pathPatterns(filter)).toEqual(patterns);
  });

  test('API logs of others, unknown ones and old ones are not found, and of a repeated id the newest is shown', async () => {
    const [org, other] = [await service.org(), await service.org()];
    const mine = '6e1f3c1e-7d7a-4c56-9d0f-2b4f6a8c1e21';
    const headers = { 'x-request-id': mine };
    await org.post('/customers', { customer: { external_id: 'ada' } }, { headers });
    await org.delete('/customers/ada', undefined, { headers });
    expect((await org.get(`/api_logs/${mine}`)).body.api_log.http_method).toBe('delete');
    for (const id of [mine, NOBODY]) expect((await other.get(`/api_logs/${id}`)).body).toEqual(notFound('api_log'));
    await service.sql`
      update api_logs set created_at = created_at - interval '31 days' where organization_id = ${idOf(org)}`;
    expect((await org.get(`/api_logs/${mine}`)).status).toBe(404);
    expect((await org.get('/api_logs')).body.meta.total_count).toBe(0);
  });
});

describe('security logs', () => {
  test('each filter of security logs selects what it names, and to_date is mandatory', async () => {
    const org = await service.org();
    await org.post('/api_keys', { api_key: { name: 'A' } });
    const [row] = await service.sql<{ api_key_id: string }[]>`
      select api_key_id from security_logs where organization_id = ${idOf(org)}`;
    const until2999 = 'to_date=2999-12-31';
    for (const [query, count] of [
      ['', 1],
      ['&from_date=2024-01-01', 1],
      ['&from_date=2999-01-01', 0],
      ['&log_types[]=api_key', 1],
      ['&log_types[]=user', 0],
      ['&log_events[]=api_key.created', 1],
      ['&log_events[]=api_key.deleted', 0],
      [`&api_key_ids[]=${row!.api_key_id}`, 1],
      [`&api_key_ids[]=${NOBODY}`, 0],
      ['&api_key_ids[]=x', 0],
      ['&user_ids[]=x', 0],
    ] as [string, number][])
      expect([query, (await org.get(`/security_logs?${until2999}${query}`)).body.meta.total_count]).toEqual([
        query,
        count,
      ]);
    expect((await org.get('/security_logs')).body.error_details).toEqual({ to_date: ['value_is_mandatory'] });
    expect((await org.get('/security_logs?to_date=2999-02-30')).body.error_details).toEqual({
      to_date: ['invalid_date'],
    });
    const [log] = (await org.get(`/security_logs?${until2999}`)).body.security_logs;
    expect((await org.get(`/security_logs/${log.log_id}`)).body).toEqual({ security_log: log });
    const other = await service.org();
    for (const id of [log.log_id, 'x'])
      expect((await other.get(`/security_logs/${id}`)).body).toEqual(notFound('security_log'));
  });
});

test('a key without the permission reads no log', async () => {
  const org = await service.org();
  const { value } = (await org.post('/api_keys', { api_key: { permissions: { customer: ['read'] } } })).body.api_key;
  const client = service.client(value);
  for (const [path, resource] of [
    ['/activity_logs', 'activity_log'],
    [`/activity_logs/${NOBODY}`, 'activity_log'],
    ['/api_logs', 'api_log'],
    [`/api_logs/${NOBODY}`, 'api_log'],
    ['/security_logs', 'security_log'],
    [`/security_logs/${NOBODY}`, 'security_log'],
  ])
    expect((await client.get(path!)).body).toEqual({
      status: 403,
      error: 'Forbidden',
      code: `read_action_not_allowed_for_${resource}`,
    });
});

test('reads of logs take at most three round trips', async () => {
  const org = await service.org();
  const now = '2026-01-01T00:00:00Z';
  for (const [operation, input] of [
    ['findAllActivityLogs', {}],
    ['findAllApiLogs', { query: { http_statuses: 'failed', request_paths: '/plans' } }],
    ['findAllSecurityLogs', { query: { to_date: '2999-01-01' } }],
  ] as [string, object][])
    expect((await countStatements(service, idOf(org), operation, { now, ...input })).roundTrips).toBeLessThanOrEqual(3);
});

test('endpoints, connections and billing entities leave lines in the security log without their secrets', async () => {
  const org = await service.org({ sandbox: true });
  const endpoint = { webhook_url: 'https://example.com/hook', signature_algo: 'hmac' };
  const made = (await org.post('/webhook_endpoints', { webhook_endpoint: endpoint })).body.webhook_endpoint;
  const path = `/webhook_endpoints/${made.svc_id}`;
  await org.put(path, { webhook_endpoint: { name: 'Mine' } });
  const { secret } = (await org.post(`${path}/rotate_secret`)).body.webhook_endpoint;
  await org.delete(path);
  await org.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'cards', name: 'Cards' } });
  await org.put('/payment_providers/cards', { payment_provider: { name: 'All cards' } });
  await org.delete('/payment_providers/cards');
  await org.post('/billing_entities', { billing_entity: { code: 'fr', name: 'France' } });
  await org.put('/billing_entities/fr', { billing_entity: { name: 'France SA' } });
  const { security_logs: logs } = (await org.get('/security_logs?to_date=2999-01-01')).body;
  expect(logs.map((log: { log_event: string }) => log.log_event).reverse()).toEqual([
    'webhook_endpoint.created',
    'webhook_endpoint.updated',
    'webhook_endpoint.updated',
    'webhook_endpoint.deleted',
    'integration.created',
    'integration.updated',
    'integration.deleted',
    'billing_entity.created',
    'billing_entity.updated',
  ]);
  const resources = logs.map((log: { resources: object }) => log.resources).reverse();
  expect(resources[0]).toMatchObject({ svc_id: made.svc_id, ...endpoint });
  expect(resources[1]).toEqual({
    svc_id: made.svc_id,
    webhook_url: endpoint.webhook_url,
    name: { deleted: null, added: 'Mine' },
  });
  expect(resources[2]).toEqual({ svc_id: made.svc_id, webhook_url: endpoint.webhook_url });
  expect(resources[5]).toMatchObject({ code: 'cards', name: { deleted: 'Cards', added: 'All cards' } });
  expect(resources[8]).toMatchObject({ code: 'fr', name: { deleted: 'France', added: 'France SA' } });
  expect(JSON.stringify(logs)).not.toContain(secret);
  expect(JSON.stringify(logs)).not.toContain(made.secret);
});

test('records beyond the contract appear in the audit trail too', async () => {
  const org = await service.org({ sandbox: true });
  await org.post('/pricing_units', { pricing_unit: { code: 'cr', name: 'Credit', short_name: 'CR' } });
  await org.put('/pricing_units/cr', { pricing_unit: { name: 'Credits' } });
  await org.delete('/pricing_units/cr');
  await org.post('/invoice_custom_sections', { invoice_custom_section: { code: 's', name: 'S' } });
  await org.put('/invoice_custom_sections/s', { invoice_custom_section: { name: 'T' } });
  await org.delete('/invoice_custom_sections/s');
  await org.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'cards', name: 'Cards' } });
  expect((await types(org, '')).reverse()).toEqual([
    'pricing_unit.created',
    'pricing_unit.updated',
    'pricing_unit.deleted',
    'invoice_custom_section.created',
    'invoice_custom_section.updated',
    'invoice_custom_section.deleted',
    'payment_provider.created',
  ]);
});
