import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkAccess } from '../../../src/areas/usage/access/check-access.ts';
import type { Context } from '../../../src/platform/context.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { connectImpatiently } from '../../../src/platform/redis/connect.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';

const NOW = '2026-03-09T10:00:00Z';
let service: TestService;
let story: Story;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A customer in Berlin whose plan grants 1000 calls a period, with 999 used, and a wallet of 50.00. */
beforeEach(async () => {
  story = await openStory(service, NOW);
  const post = async (path: string, body: object) => {
    const { status, text, body: answer } = await story.client.post(path, body);
    if (status !== 200) throw new Error(text);
    return answer;
  };
  await story.customer({ timezone: 'Europe/Berlin' });
  const { billable_metric } = await post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'api_calls', aggregation_type: 'sum_agg', field_name: 'n' },
  });
  await post('/features', {
    feature: {
      code: 'api',
      privileges: [
        { code: 'max_calls', value_type: 'integer' },
        { code: 'per_day', value_type: 'integer' },
        { code: 'max', value_type: 'integer' },
        { code: 'sso', value_type: 'boolean' },
      ],
    },
  });
  await story.client.put('/features/api/usage_limits', {
    usage_limits: [
      { privilege_code: 'max_calls', billable_metric_code: 'api_calls', period: 'billing_period' },
      { privilege_code: 'per_day', billable_metric_code: 'api_calls', period: 'day' },
    ],
  });
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id: billable_metric.svc_id, charge_model: 'standard', properties: { amount: '0.01' } }],
  });
  await post('/plans/plan/entitlements', { entitlements: { api: { max_calls: 1000, max: 10, sso: false } } });
  await story.subscribe({ subscription_at: '2026-03-01T00:00:00Z' });
  await post('/events/batch', { events: [use('a', 990, '2026-03-05T10:30:00Z'), use('b', 9, '2026-03-09T09:00:00Z')] });
});

const use = (transaction_id: string, n: number, at: string) => ({
  transaction_id,
  external_subscription_id: 'sub',
  code: 'api_calls',
  timestamp: Date.parse(at) / 1000,
  properties: { n },
});
const check = async (fields: object, query = '') => {
  const { status, text, body } = await story.client.post(`/access/check${query}`, {
    access: { external_subscription_id: 'sub', ...fields },
  });
  if (status !== 200) throw new Error(text);
  return body.access;
};
const reasons = async (fields: object) => (await check(fields)).reasons;

// access-check.md, AC1.
test('with a usage limit of 1000 and 999 used, 1 is left', async () => {
  expect(await check({ feature_code: 'api' })).toEqual({
    allowed: true,
    reasons: [],
    entitlement: { feature_code: 'api', granted: true, privileges: { max_calls: 1000, max: 10, sso: false } },
    usage: [
      {
        billable_metric_code: 'api_calls',
        period: 'billing_period',
        limit: '1000.0',
        used: '999.0',
        requested: '1.0',
        remaining: '1.0',
        resets_at: '2026-03-31T22:00:00Z',
      },
    ],
    wallet: null,
    svc_hold_id: null,
    source: 'database',
    as_of: '2026-03-09T10:00:00.000Z',
  });
  for (const query of ['', '?exact=true']) {
    const two = await check({ feature_code: 'api', units: 2 }, query);
    expect([two.allowed, two.reasons]).toEqual([false, ['usage_limit_reached']]);
  }
  expect(await reasons({ feature_code: 'api', units: '1.000001' })).toEqual(['usage_limit_reached']);
  await story.client.post('/events', { event: use('c', 1, '2026-03-09T09:30:00Z') });
  expect(await reasons({ feature_code: 'api' })).toEqual(['usage_limit_reached']);
  expect(await reasons({ feature_code: 'api', units: 0 })).toEqual([]);
});

test('a daily limit counts from the grant of its privilege, in the customer’s time zone', async () => {
  await story.client.patch('/subscriptions/sub/entitlements', {
    entitlements: { api: { per_day: 9, max_calls: 5000 } },
  });
  const { allowed, usage } = await check({ feature_code: 'api' });
  expect(allowed).toBe(false);
  expect(usage.map((each: { used: string }) => each.used)).toEqual(['999.0', '9.0']);
  expect(usage[1]).toMatchObject({ period: 'day', remaining: '0.0', resets_at: '2026-03-09T23:00:00Z' });
  await story.advanceTo('2026-03-09T23:00:00Z');
  expect(await reasons({ feature_code: 'api' })).toEqual([]);
});

// access-check.md, AC3.
test('a privilege overridden to 25 over the plan’s 10 allows 20', async () => {
  const max = (value: unknown) => reasons({ feature_code: 'api', privilege_code: 'max', value });
  expect(await max(20)).toEqual(['privilege_value_not_allowed']);
  await story.client.patch('/subscriptions/sub/entitlements', { entitlements: { api: { max: 25 } } });
  expect(await max(20)).toEqual([]);
  expect(await max(26)).toEqual(['privilege_value_not_allowed']);
  expect(await reasons({ feature_code: 'api', privilege_code: 'sso' })).toEqual(['privilege_value_not_allowed']);
  expect(await reasons({ feature_code: 'api', privilege_code: 'per_day' })).toEqual(['privilege_not_granted']);
  expect(await reasons({ feature_code: 'none', privilege_code: 'x' })).toEqual(['feature_not_granted']);
  await story.client.delete('/subscriptions/sub/entitlements/api');
  const gone = await check({ feature_code: 'api' });
  expect(gone).toMatchObject({
    reasons: ['feature_not_granted'],
    entitlement: { granted: false, privileges: {} },
    usage: [],
  });
});

test('held credits of a wallet are not available', async () => {
  expect(await check({ amount_cents: 1 })).toMatchObject({
    allowed: false,
    reasons: ['wallet_not_found'],
    entitlement: null,
    usage: null,
  });
  const ids = [];
  for (const [code, credits] of [
    ['one', '50'],
    ['two', '10'],
  ]) {
    const made = await story.client.post('/wallets', {
      wallet: { external_customer_id: 'acme', code, rate_amount: '1', currency: 'USD', granted_credits: credits },
    });
    ids.push(made.body.wallet.svc_id);
  }
  await until(async () => (await check({ amount_cents: 0 })).wallet.balance_cents === 6000);
  await story.client.post(`/wallets/${ids[0]}/holds`, { hold: { amount_cents: 300 } });
  expect((await check({ wallet_code: 'one', amount_cents: 4700 })).wallet).toEqual({
    wallet_code: 'one',
    currency: 'USD',
    balance_cents: 5000,
    ongoing_balance_cents: 5000,
    held_cents: 300,
    available_cents: 4700,
    requested_cents: 4700,
  });
  expect(await reasons({ wallet_code: 'one', amount_cents: 4701 })).toEqual(['wallet_insufficient']);
  expect((await check({ amount_cents: 4701 })).wallet).toMatchObject({ wallet_code: null, available_cents: 5700 });
  expect(await reasons({ wallet_code: 'none' })).toEqual(['wallet_not_found']);
  expect(await reasons({ amount_cents: 5701, feature_code: 'none' })).toEqual([
    'feature_not_granted',
    'wallet_insufficient',
  ]);
});

describe('access checks with a hold', () => {
  const wallet = async (code: string, granted_credits: string, priority: number) => {
    const made = await story.client.post('/wallets', {
      wallet: { external_customer_id: 'acme', code, priority, rate_amount: '1', currency: 'USD', granted_credits },
    });
    const id: string = made.body.wallet.svc_id;
    await until(async () => (await story.client.get(`/wallets/${id}`)).body.wallet.balance_cents > 0);
    return id;
  };
  const holds = async (id: string) => (await story.client.get(`/wallets/${id}/holds`)).body;

  test('an access check opens a hold in the first wallet that covers it, and none when anything denies access', async () => {
    const small = await wallet('small', '5', 1);
    const large = await wallet('large', '20', 2);
    const held = await check({
      feature_code: 'api',
      amount_cents: 600,
      hold: { expires_in_seconds: 60, reference: 'r' },
    });
    expect(held).toMatchObject({ allowed: true, source: 'database', wallet: { available_cents: 2500, held_cents: 0 } });
    const { holds: opened } = await holds(large);
    expect(opened).toMatchObject([
      {
        svc_id: held.svc_hold_id,
        status: 'open',
        amount_cents: 600,
        reference: 'r',
        external_subscription_id: 'sub',
        expires_at: '2026-03-09T10:01:00Z',
      },
    ]);
    expect((await check({ amount_cents: 1900 })).wallet).toMatchObject({ held_cents: 600, available_cents: 1900 });
    // Together they have it, none alone.
    expect(await check({ amount_cents: 1900, hold: {} })).toMatchObject({
      allowed: false,
      reasons: ['wallet_insufficient'],
      svc_hold_id: null,
    });
    expect(await reasons({ feature_code: 'api', units: 2, amount_cents: 1, hold: {} })).toEqual([
      'usage_limit_reached',
    ]);
    expect(await reasons({ external_subscription_id: 'none', amount_cents: 1, hold: {} })).toEqual([
      'subscription_not_active',
    ]);
    expect(await reasons({ wallet_code: 'none', amount_cents: 1, hold: {} })).toEqual(['wallet_not_found']);
    expect((await check({ wallet_code: 'small', amount_cents: 500, hold: null })).svc_hold_id).toBeNull();
    expect([(await holds(small)).meta.total_count, (await holds(large)).meta.total_count]).toEqual([0, 1]);
    await story.advanceTo('2026-03-09T10:02:00Z');
    expect((await check({ amount_cents: 1 })).wallet).toMatchObject({ held_cents: 0, available_cents: 2500 });
  });

  test('of fifty access checks on a wallet for ten, ten hold credits, and a repeated request holds once', async () => {
    const id = await wallet('one', '10', 1);
    const answers = await Promise.all(Array.from({ length: 50 }, () => check({ amount_cents: 100, hold: {} })));
    expect(new Set(answers.flatMap((answer) => answer.svc_hold_id ?? [])).size).toBe(10);
    expect(answers.filter(({ reasons }) => reasons[0] === 'wallet_insufficient')).toHaveLength(40);
    const [first] = (await holds(id)).holds;
    await story.client.post(`/wallets/${id}/holds/${first.svc_id}/release`);
    const access = { external_subscription_id: 'sub', amount_cents: 50, hold: {} };
    const once = () => story.client.post('/access/check', { access }, { headers: { 'Idempotency-Key': 'once' } });
    const repeated = await Promise.all([once(), once(), once()]);
    expect(new Set(repeated.map(({ text }) => text)).size).toBe(1);
    expect((await check({ amount_cents: 0 })).wallet).toMatchObject({ held_cents: 950, available_cents: 50 });
  });
});

test('customers with an overdue invoice are denied access where the organization says so', async () => {
  const settings = (deny_when_overdue: boolean) =>
    story.client.put('/organizations/settings', { settings: { deny_when_overdue } });
  await service.sql`update customers set net_payment_term = 0 where organization_id = ${story.organizationId}`;
  await story.client.post('/add_ons', {
    add_on: { name: 'Setup', code: 'setup', amount_cents: 100, amount_currency: 'USD' },
  });
  const invoice = { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] };
  const made = await story.client.post('/invoices', { invoice });
  await story.advanceTo('2026-03-12T00:00:00Z');
  expect((await story.client.get(`/invoices/${made.body.invoice.svc_id}`)).body.invoice.payment_overdue).toBe(true);
  expect(await reasons({})).toEqual([]);
  expect((await settings(true)).body.settings.deny_when_overdue).toBe(true);
  for (const fields of [{}, { feature_code: 'api' }]) expect(await reasons(fields)).toEqual(['overdue']);
  expect((await check({}, '?exact=true')).reasons).toEqual(['overdue']);
  await story.client.put(`/invoices/${made.body.invoice.svc_id}`, { invoice: { payment_status: 'succeeded' } });
  expect(await reasons({})).toEqual([]);
});

test('a weighted sum of a recurring metric carries over into the limit of the next period', async () => {
  await story.client.post('/billable_metrics', {
    billable_metric: {
      name: 'Seats',
      code: 'seats',
      aggregation_type: 'weighted_sum_agg',
      weighted_interval: 'seconds',
      field_name: 'n',
      recurring: true,
    },
  });
  await story.client.put('/features/api/usage_limits', {
    usage_limits: [
      { privilege_code: 'max_calls', billable_metric_code: 'seats', period: 'billing_period' },
      { privilege_code: 'max', billable_metric_code: 'seats', period: 'day' },
    ],
  });
  const seats = (transaction_id: string, n: number, at: string) =>
    story.client.post('/events', { event: { ...use(transaction_id, n, at), code: 'seats' } });
  const used = async () => (await check({ feature_code: 'api' })).usage.map((each: { used: string }) => each.used);
  await seats('s1', 10, '2026-02-28T23:00:00Z'); // the first moment of March in Berlin
  // March has 743 hours there, of 31 days of 24 (aggregation.md#weighted-sum).
  expect(await used()).toEqual(['9.97311827956989247312', '10.0']);
  await seats('s2', 10, '2026-03-09T11:00:00Z'); // noon: half of the day is left
  expect((await used())[1]).toBe('15.0');
  await story.advanceTo('2026-04-15T10:00:00Z');
  expect(await used()).toEqual(['20.0', '20.0']);
});

describe('answers of access checks', () => {
  test('an access check also answers for records that do not exist or belong to others', async () => {
    const unknown = {
      allowed: false,
      reasons: ['subscription_not_active'],
      entitlement: null,
      usage: null,
      wallet: null,
    };
    expect(await check({ external_subscription_id: 'none', feature_code: 'api', amount_cents: 1 })).toMatchObject(
      unknown,
    );
    const other = await service.org();
    const answer = await other.post('/access/check', { access: { external_subscription_id: 'sub' } });
    expect(answer.body.access).toMatchObject(unknown);
    await story.client.delete('/subscriptions/sub');
    expect(await check({ feature_code: 'api' })).toMatchObject(unknown);
  });

  test.each<[object, object]>([
    [{ external_subscription_id: null }, { external_subscription_id: ['value_is_mandatory'] }],
    [{ privilege_code: 'max' }, { feature_code: ['value_is_mandatory'] }],
    [{ feature_code: 'api', value: 1 }, { privilege_code: ['value_is_mandatory'] }],
    [{ feature_code: 'api', privilege_code: 'max', value: [1] }, { value: ['value_is_invalid'] }],
    [{ units: -1 }, { units: ['value_is_out_of_range'] }],
    [{ units: 'x' }, { units: ['value_is_invalid'] }],
    [{ amount_cents: -1 }, { amount_cents: ['value_is_out_of_range'] }],
    [{ amount_cents: 1.5 }, { amount_cents: ['value_is_invalid'] }],
    [{ hold: { expires_in_seconds: 5 } }, { amount_cents: ['value_is_mandatory'] }],
    [{ amount_cents: 0, hold: {} }, { amount_cents: ['value_is_mandatory'] }],
    [{ amount_cents: 1, hold: { expires_in_seconds: 0 } }, { 'hold.expires_in_seconds': ['value_is_out_of_range'] }],
    [
      { amount_cents: 1, hold: { expires_in_seconds: 86401 } },
      { 'hold.expires_in_seconds': ['value_is_out_of_range'] },
    ],
    [{ amount_cents: 1, hold: { reference: 'x'.repeat(256) } }, { 'hold.reference': ['value_is_too_long'] }],
  ])('an access check answers 422 only for malformed input: %j', async (fields, error_details) => {
    const answer = await story.client.post('/access/check', { access: { external_subscription_id: 'sub', ...fields } });
    expect(answer.body).toMatchObject({ status: 422, error_details });
  });
});

test('an access check has its own rate category and takes at most six statements, none when a counter answers', async () => {
  const { headers } = await story.client.post('/access/check', { access: { external_subscription_id: 'sub' } });
  expect(headers['x-ratelimit-limit']).toBe('1000');

  let count = 0;
  const sql = connectDatabase(service.config.DATABASE_URL, { connections: 1, onStatement: () => (count += 1) });
  try {
    await sql`select 1`; // the driver's own first statements
    count = 0;
    const ctx = { organizationId: story.organizationId, db: sql, now: () => Temporal.Instant.from(NOW) } as unknown;
    const body = { external_subscription_id: 'sub', feature_code: 'api', units: '1', amount_cents: 1 };
    await checkAccess(ctx as Context, { body } as Parameters<typeof checkAccess>[1]);
    expect(count).toBeLessThanOrEqual(6);

    const kept = { ...(ctx as Context), redis: service.redis, config: service.config };
    const answer = () => checkAccess(kept, { body } as Parameters<typeof checkAccess>[1]);
    await until(async () => (await answer()).access.source === 'counter');
    count = 0;
    expect((await answer()).access).toMatchObject({ source: 'counter', usage: [{ used: '999.0' }] });
    expect(count).toBe(0);

    const away = connectImpatiently('redis://127.0.0.1:1', 'nowhere', 50);
    const { access } = await checkAccess({ ...kept, redis: away }, { body } as Parameters<typeof checkAccess>[1]);
    expect(access).toMatchObject({ source: 'database', usage: [{ used: '999.0' }] });
    away.disconnect();
  } finally {
    await sql.end();
  }
});
