import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  latencyClassOf,
  latencyQuantileMs,
  successRate,
} from '../../../src/areas/messaging/webhook-endpoints/health-figures.ts';
import { retention } from '../../../src/areas/tenancy/retain-rows/delete-by-class.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { scratchDeps } from '../../jobs/advance-clock/scratch.ts';
import { countStatements } from '../../support/count-statements.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

// webhooks.md#health.
type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let hooks: HookReceiver;
let org: Org;
let endpointId: string;

beforeAll(async () => {
  hooks = await openHookReceiver();
  service = await startService({ pools: ['writes', 'webhooks'], settings: { WEBHOOK_RETRY_SCHEDULE: '0' } });
  org = await service.org({ sandbox: true });
  const { body } = await org.post('/webhook_endpoints', {
    webhook_endpoint: { webhook_url: hooks.url, signature_algo: 'hmac' },
  });
  endpointId = body.webhook_endpoint.svc_id;
});
afterAll(async () => {
  await service.stop();
  await hooks.close();
});

const health = async (query = '') =>
  (await org.get(`/webhook_endpoints/${endpointId}/health${query}`)).body.health as Record<string, unknown> & {
    points: { hour: string; succeeded: number; failed: number }[];
  };

test.each([
  [987, 13, '0.9870'],
  [2, 1, '0.6667'],
  [0, 0, null],
  [9999, 1, '0.9999'],
  [99999, 1, '1.0000'],
])('%i acknowledged and %i failed deliveries are a rate of %s (CO17)', (succeeded, failed, rate) => {
  expect(successRate({ succeeded, failed })).toBe(rate);
});

test('the class of an attempt ends at 5 ms and at each doubling of it, and the last one is open', () => {
  expect([0, 5, 6, 10, 11, 81_920, 81_921, 500_000].map(latencyClassOf)).toEqual([0, 0, 1, 1, 2, 14, 15, 15]);
});

test('a quantile is the end of the class that reaches it', () => {
  const counts = (classes: Record<number, number>) => Array.from({ length: 16 }, (_, index) => classes[index] ?? 0);
  expect(latencyQuantileMs(counts({}), 0.5)).toBeNull();
  expect(latencyQuantileMs(counts({ 0: 98, 4: 2 }), 0.95)).toBe(5);
  expect(latencyQuantileMs(counts({ 0: 94, 4: 6 }), 0.95)).toBe(80);
  expect(latencyQuantileMs(counts({ 15: 1 }), 0.5)).toBe(81_920);
});

test('each delivery counts once when it has ended, with the time that its attempts took', async () => {
  expect(await health()).toMatchObject({ succeeded: 0, failed: 0, pending: 0, success_rate: null, p50_ms: null });
  hooks.react(200);
  for (const external_id of ['c1', 'c2']) await org.post('/customers', { customer: { external_id } });
  await until(async () => (await health()).succeeded === 2 || undefined);
  // Both attempts of the third are refused.
  hooks.react(500, 500);
  await org.post('/customers', { customer: { external_id: 'c3' } });
  await until(async () => (await health()).failed === 1 || undefined);
  const shown = await health('?hours=2');
  expect(shown).toMatchObject({ succeeded: 2, failed: 1, pending: 0, success_rate: '0.6667' });
  expect(shown.p50_ms).toBeGreaterThanOrEqual(5);
  expect(shown.points).toHaveLength(2);
  expect(shown.points.reduce((sum, point) => sum + point.succeeded, 0)).toBe(2);
  const [sums] = await service.sql<{ attempts: number }[]>`
    select sum(attempts)::integer as attempts from webhook_hours cross join unnest(latency) attempts
    where webhook_endpoint_id = ${endpointId}`;
  expect(sums!.attempts).toBe(4);
});

test('hours beyond 168, and endpoints of others, are refused', async () => {
  for (const hours of ['0', '169', 'x'])
    expect((await org.get(`/webhook_endpoints/${endpointId}/health?hours=${hours}`)).body.error_details).toEqual({
      hours: ['value_is_out_of_range'],
    });
  const stranger = await service.org();
  expect((await stranger.get(`/webhook_endpoints/${endpointId}/health`)).status).toBe(404);
});

test('a week of hours in all lanes is read in three statements', async () => {
  await service.sql`
    insert into webhook_hours (organization_id, webhook_endpoint_id, hour, lane, succeeded, failed, latency)
    select ${org.organization.organization_id}, ${endpointId}, date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC'
        - hours * interval '1 hour', lane, 1, 0, array_fill(1, array[16])
    from generate_series(1, 167) hours, generate_series(0, 7) lane
    on conflict do nothing`;
  const asked = await countStatements(service, org.organization.organization_id, 'findWebhookEndpointHealth', {
    now: realNow().toString(),
    svc_id: endpointId,
    query: { hours: '168' },
  });
  expect(asked.statements).toHaveLength(3);
  expect(asked.body.health.points).toHaveLength(168);
  expect(asked.body.health.points[5]).toMatchObject({ succeeded: 8, failed: 0 });
});

test('sums older than 30 days go, and all of them with their endpoint', async () => {
  const hoursOf = async () =>
    (await service.sql`select from webhook_hours where webhook_endpoint_id = ${endpointId}`).length;
  await service.sql`
    insert into webhook_hours (organization_id, webhook_endpoint_id, hour, lane, succeeded, failed, latency)
    values (${org.organization.organization_id}, ${endpointId}, now() - interval '31 days', 0, 1, 0, array_fill(0, array[16]))`;
  const before = await hoursOf();
  await retention.sweep(scratchDeps(service.sql) as unknown as SweepDeps, realNow());
  expect(await hoursOf()).toBe(before - 1);
  await org.delete(`/webhook_endpoints/${endpointId}`);
  expect(await hoursOf()).toBe(0);
});
