import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestClock } from '../../../src/areas/sandbox/test-clocks/queries.ts';
import { holdClock, lockClockCreation } from '../../../src/platform/clock/organization-clock.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { type Client, createClient } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const clockBody = (frozen_time: unknown) => ({ test_clock: { frozen_time } });
/** Delayed work of no effect: a step of a metric that is not there. */
const addTimer = (organizationId: string, dueAt: string) => service.sql`
  insert into after_steps (id, organization_id, job, payload, due_at, created_at, enqueued_at)
  values (gen_random_uuid(), ${organizationId}, 'delete-metric-events', jsonb_build_object('code', 'calls', 'billable_metric_id',
    gen_random_uuid(), 'before_event_id', gen_random_uuid()),
    ${dueAt}, now(), now())`;
const isReady = (client: Client) =>
  until(async () => {
    const { body } = await client.get('/test_clock');
    return body.test_clock.status === 'ready' ? body.test_clock : undefined;
  });

describe('test clocks', () => {
  test('a test clock freezes the time of a sandbox and shows it', async () => {
    const org = await service.org({ sandbox: true });
    const created = await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    expect(created.status).toBe(200);
    expect(created.body.test_clock).toEqual({
      status: 'ready',
      frozen_time: '2024-03-05T00:00:00Z',
      target_time: null,
      error: null,
      progress: { done: 0, total: 0, percent: 0 },
      steps_done: 0,
      advances_count: 0,
      created_at: expect.stringMatching(/Z$/),
    });
    const shown = { ...created.body.test_clock, next_billing_at: null };
    expect((await org.get('/test_clock')).body.test_clock).toEqual(shown);
  });

  test('a test clock says when a subscription is billed next', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const plan = { name: 'Basic', code: 'basic', interval: 'monthly', amount_cents: 0, amount_currency: 'USD' };
    await org.post('/plans', { plan: { ...plan, pay_in_advance: false } });
    await org.post('/customers', { customer: { external_id: 'acme' } });
    const subscription = { external_customer_id: 'acme', plan_code: 'basic', external_id: 'acme-1' };
    await org.post('/subscriptions', { subscription });
    expect((await org.get('/test_clock')).body.test_clock.next_billing_at).toBe('2024-04-01T00:00:00Z');
  });

  test('a new test clock moves the beginning of an organization without customers to its time', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const [row] = await service.sql`
      select o.created_at as organization, e.created_at as entity from organizations o
      join billing_entities e on e.id = o.id where o.id = ${org.organization.organization_id}`;
    expect(String(row?.organization)).toBe('2024-03-05T00:00:00Z');
    expect(String(row?.entity)).toBe('2024-03-05T00:00:00Z');
  });

  test.each([
    [{}, 'value_is_mandatory'],
    [{ frozen_time: null }, 'value_is_mandatory'],
    [{ frozen_time: '' }, 'value_is_mandatory'],
    [{ frozen_time: 'tomorrow' }, 'invalid_date'],
    [{ frozen_time: 17 }, 'invalid_date'],
    [{ frozen_time: '1999-12-31T23:59:59Z' }, 'value_is_out_of_range'],
    [{ frozen_time: '2100-01-01T00:00:00Z' }, 'value_is_out_of_range'],
  ])('a test clock is refused with %j: %s', async (test_clock, code) => {
    const org = await service.org({ sandbox: true });
    const answer = await org.post('/test_clock', { test_clock: { note: 'x', ...test_clock } });
    expect(answer.status).toBe(422);
    expect({ ...answer.body, error_places: undefined }).toEqual({
      status: 422,
      error: 'Unprocessable Entity',
      code: 'validation_errors',
      error_details: { frozen_time: [code] },
    });
  });

  test('a test clock starts no earlier than the newest record', async () => {
    const org = await service.org({ sandbox: true });
    await service.sql`
      insert into taxes (id, organization_id, code, name, rate, created_at, updated_at)
      values (gen_random_uuid(), ${org.organization.organization_id}, 'vat', 'VAT', 20, '2024-06-01T00:00:00Z',
        '2024-06-01T00:00:00Z')`;
    const early = await org.post('/test_clock', clockBody('2024-05-31T23:59:59Z'));
    expect(early.body.error_details).toEqual({ frozen_time: ['value_is_out_of_range'] });
    expect(early.body.error_places).toEqual([
      {
        path: 'test_clock.frozen_time',
        code: 'value_is_out_of_range',
        reason: 'from 2024-06-01T00:00:00Z to 2099-12-31T23:59:59Z',
      },
    ]);
    expect((await org.post('/test_clock', clockBody('2024-06-01T00:00:00Z'))).status).toBe(200);
  });

  test('an organization has at most one test clock', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const second = await org.post('/test_clock', clockBody('2024-03-06T00:00:00Z'));
    expect(second.status).toBe(422);
    expect(second.body.error_details).toEqual({ base: ['value_already_exist'] });
  });

  test('a new test clock waits for writes in progress with real time, and later writes wait for it', async () => {
    const org = await service.org({ sandbox: true });
    const id = org.organization.organization_id;
    const waiting = () =>
      until(async () => {
        const [row] = await service.sql<{ count: number }[]>`
          select count(*) from pg_locks join pg_database database on database.oid = pg_locks.database
          where locktype = 'advisory' and not granted and datname = current_database()`;
        return row!.count > 0;
      });
    let created: Promise<{ status: number }> | undefined;
    await service.sql.begin(async (tx) => {
      expect(await holdClock({ db: tx, organizationId: id })).toBeUndefined();
      created = org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
      await waiting();
      expect((await org.get('/test_clock')).status).toBe(404);
    });
    expect((await created!).status).toBe(200);

    const other = await service.org({ sandbox: true });
    const otherId = other.organization.organization_id;
    let customer: Promise<{ body: { customer: { created_at: string } } }> | undefined;
    await service.sql.begin(async (tx) => {
      await lockClockCreation({ db: tx, organizationId: otherId });
      customer = other.post('/customers', { customer: { external_id: 'c1' } });
      await waiting();
      await insertTestClock(
        { db: tx, organizationId: otherId },
        Temporal.Instant.from('2024-03-05T00:00:00Z'),
        realNow(),
      );
    });
    expect((await customer!).body.customer.created_at).toBe('2024-03-05T00:00:00Z');
  });

  test('a test clock that was not created is refused with 404', async () => {
    const org = await service.org({ sandbox: true });
    const missing = { status: 404, error: 'Not Found', code: 'object_not_found', resource: 'test_clock' };
    expect((await org.get('/test_clock')).body).toEqual(missing);
    expect((await org.get('/test_clock/timeline')).body).toEqual(missing);
    expect((await org.delete('/test_clock')).body).toEqual(missing);
    expect((await org.post('/test_clock/advance', clockBody('2024-03-05T00:00:00Z'))).body).toEqual(missing);
    expect((await org.post('/test_clock/retry')).body).toEqual(missing);
    expect((await org.post('/test_clock/cancel')).body).toEqual(missing);
  });

  test('an organization that is not a sandbox has no test-clock routes (TC5)', async () => {
    const org = await service.org();
    const refused = { status: 403, error: 'Forbidden', code: 'feature_unavailable' };
    for (const answer of [
      await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z')),
      await org.post('/test_clock', clockBody('nonsense')),
      await org.get('/test_clock'),
      await org.delete('/test_clock'),
      await org.post('/test_clock/advance', clockBody('2024-03-05T00:00:00Z')),
      await org.post('/test_clock/retry'),
      await org.post('/test_clock/cancel'),
      await org.get('/test_clock/timeline?from=nonsense'),
    ]) {
      expect(answer.body).toEqual(refused);
    }
  });

  test('a test clock does not go back, nor further than the longest span (TC5)', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    for (const at of ['2024-03-04T23:59:59Z', '2029-03-05T00:00:01Z']) {
      const answer = await org.post('/test_clock/advance', clockBody(at));
      expect(answer.status).toBe(422);
      expect(answer.body.error_details).toEqual({ frozen_time: ['value_is_out_of_range'] });
      expect(answer.body.error_places).toMatchObject([{ reason: 'from 2024-03-05T00:00:00Z to 2029-03-05T00:00:00Z' }]);
    }
    expect((await org.post('/test_clock/advance', clockBody(null))).body.error_details).toEqual({
      frozen_time: ['value_is_mandatory'],
    });
  });

  test('a test clock advanced to its present stays where it is', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const { status, body } = await org.post('/test_clock/advance', clockBody('2024-03-05T01:00:00+01:00'));
    expect(status).toBe(200);
    expect(body.test_clock).toMatchObject({ status: 'ready', advances_count: 0, frozen_time: '2024-03-05T00:00:00Z' });
  });

  test('a test clock arrives at once where nothing falls due', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const { body } = await org.post('/test_clock/advance', clockBody('2029-03-05T00:00:00Z'));
    expect(body.test_clock).toMatchObject({
      status: 'ready',
      advances_count: 1,
      frozen_time: '2029-03-05T00:00:00Z',
      target_time: null,
      progress: { done: 1826, total: 1826, percent: 100 },
      steps_done: 0,
    });
  });

  test('a worker moves a test clock to its target and announces the arrival', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    await addTimer(org.organization.organization_id, '2024-03-06T00:00:00Z');
    const answer = await org.post('/test_clock/advance', clockBody('2029-03-05T00:00:00Z'));
    expect(answer.status).toBe(200);
    expect(answer.body.test_clock).toMatchObject({
      status: 'advancing',
      frozen_time: '2024-03-05T00:00:00Z',
      target_time: '2029-03-05T00:00:00Z',
      progress: { done: 0, total: 1826, percent: 0 },
      advances_count: 1,
    });
    expect(await isReady(org)).toMatchObject({
      frozen_time: '2029-03-05T00:00:00Z',
      target_time: null,
      progress: { done: 1826, total: 1826, percent: 100 },
      steps_done: 1,
    });
    const { body } = await org.get('/test_clock/timeline');
    expect(body.timeline).toMatchObject([
      { sequence: 1, at: '2024-03-05T00:00:00Z', kind: 'clock', name: 'created' },
      { sequence: 2, at: '2029-03-05T00:00:00Z', kind: 'clock', name: 'advanced' },
    ]);
    expect(body.meta.total_count).toBe(2);
  });

  test('a deleted test clock is gone while its timeline stays, and a new one begins a new timeline', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const deleted = await org.delete('/test_clock');
    expect(deleted.status).toBe(200);
    expect(deleted.body.test_clock.frozen_time).toBe('2024-03-05T00:00:00Z');
    expect((await org.get('/test_clock')).status).toBe(404);
    const former = await org.get('/test_clock/timeline');
    expect(former.body.timeline.map((line: { name: string }) => line.name)).toEqual(['created', 'deleted']);
    await org.post('/test_clock', clockBody('2024-01-01T00:00:00Z'));
    const { body } = await org.get('/test_clock/timeline');
    expect(body.timeline).toMatchObject([{ sequence: 3, name: 'created', at: '2024-01-01T00:00:00Z' }]);
  });

  test('a test clock refuses requests that do not fit its state', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const refused = { status: 405, error: 'Method Not Allowed', code: 'invalid_status' };
    expect((await org.post('/test_clock/retry')).body).toEqual(refused);
    expect((await org.post('/test_clock/cancel')).body).toEqual(refused);
  });

  test('a test clock refuses other commands on itself while it advances', async () => {
    const org = await service.org({ sandbox: true });
    const id = org.organization.organization_id;
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    await service.sql`
      update test_clocks set status = 'advancing', target_time = '2024-04-05T00:00:00Z', started_from = frozen_time,
        lease_token = gen_random_uuid()
      where organization_id = ${id}`;
    const refused = { status: 405, error: 'Method Not Allowed', code: 'test_clock_advancing' };
    expect((await org.post('/test_clock/advance', clockBody('2024-05-05T00:00:00Z'))).body).toEqual(refused);
    expect((await org.delete('/test_clock')).body).toEqual(refused);
    expect((await org.post('/test_clock/retry')).body.code).toBe('invalid_status');
    expect((await org.post('/test_clock/cancel')).status).toBe(200);
  });

  test('a test clock advances although the nudge or the worker was lost', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    await service.sql`
      update test_clocks set status = 'advancing', target_time = '2024-04-05T00:00:00Z', started_from = frozen_time,
        advances_count = 1, lease_token = gen_random_uuid()
      where organization_id = ${org.organization.organization_id}`;
    await service.sql`
      insert into test_clock_leases (organization_id, token, until)
      values (${org.organization.organization_id}, gen_random_uuid(), now() - interval '1 second')`;
    expect(await isReady(org)).toMatchObject({ frozen_time: '2024-04-05T00:00:00Z', advances_count: 1 });
  });

  test('every other write is refused while a test clock advances, and nothing of it is stored', async () => {
    const org = await service.org({ sandbox: true });
    const id = org.organization.organization_id;
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    await service.sql`
      update test_clocks set status = 'advancing', target_time = '2024-04-05T00:00:00Z', started_from = frozen_time,
        lease_token = gen_random_uuid()
      where organization_id = ${id}`;
    const answer = await org.post('/customers', { customer: { external_id: 'c1' } });
    expect(answer.body).toEqual({ status: 405, error: 'Method Not Allowed', code: 'test_clock_advancing' });
    expect(await service.sql`select 1 from customers where organization_id = ${id}`).toHaveLength(0);
    // TC6, also in a batch.
    const event = { transaction_id: 't1', external_subscription_id: 's1', code: 'calls' };
    for (const refused of [
      await org.post('/events', { event }),
      await org.post('/events/batch', { events: [event, { ...event, transaction_id: 't2' }] }),
    ]) {
      expect(refused.body).toEqual({ status: 405, error: 'Method Not Allowed', code: 'test_clock_advancing' });
    }
    expect(await service.sql`select 1 from events where organization_id = ${id}`).toHaveLength(0);
    expect((await org.get('/customers')).status).toBe(200);
  });

  test('records get the time of the test clock and are announced with it, however many are written together', async () => {
    const org = await service.org({ sandbox: true });
    await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9/hook' } });
    await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => org.post('/customers', { customer: { external_id: `c${index}` } })),
    );
    expect(new Set(answers.map((answer) => answer.body.customer?.created_at))).toEqual(
      new Set(['2024-03-05T00:00:00Z']),
    );
    const { body } = await org.get('/test_clock/timeline?per_page=100&kinds[]=activity&resource_types[]=Customer');
    expect(body.timeline).toHaveLength(20);
    expect(body.timeline[0]).toMatchObject({
      at: '2024-03-05T00:00:00Z',
      name: 'customer.created',
      resource_type: 'Customer',
    });
    const one = await org.get('/test_clock/timeline?external_customer_id=c7&from=2024-03-05T00:00:00Z&to=2024-03-05');
    expect(one.body.timeline.map((line: { kind: string }) => line.kind).sort()).toEqual(['activity', 'webhook']);
    expect((await org.get('/test_clock/timeline?from=2024-03-06')).body.timeline).toEqual([]);
    expect((await org.get('/test_clock/timeline?to=soon')).body.error_details).toEqual({ to: ['invalid_date'] });
  });

  test('reading an advancing test clock is not rate-limited', async () => {
    const limited = await startService({ pools: ['writes'], settings: { RATE_LIMIT_DEFAULT: '3' } });
    try {
      const org = await limited.org({ sandbox: true });
      await org.post('/test_clock', clockBody('2024-03-05T00:00:00Z'));
      await limited.sql`
        update test_clocks set status = 'advancing', target_time = '2024-04-05T00:00:00Z', started_from = frozen_time
        where organization_id = ${org.organization.organization_id}`;
      const client = createClient(limited.url, org.organization.api_key);
      const answers = await Promise.all(Array.from({ length: 20 }, () => client.get('/test_clock')));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      for (const { headers } of answers)
        expect(headers).toMatchObject({
          'x-ratelimit-limit': '3',
          'x-ratelimit-remaining': '3',
          'x-ratelimit-reset': '1',
        });
    } finally {
      await limited.stop();
    }
  });
});
