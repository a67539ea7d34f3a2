import type { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { startService, type TestService } from '../support/service.ts';

// other-routes.md#records "health of the deployment".
const TOKEN = 'an operator of this service';
let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['billing'], settings: { OPERATOR_TOKEN: TOKEN } });
});
afterAll(() => service.stop());

const health = async (query = '', token = TOKEN) => {
  const response = await fetch(`${service.url}/api/v1/operations/health${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  // biome-ignore lint/suspicious/noExplicitAny: an answer that is looked into
  return { status: response.status, body: (await response.json()) as any };
};

test('the operator sees stores, processes, queues and organizations, and nobody else does', async () => {
  const { organization } = await service.org({ name: 'Acme' });
  await service.sql`
    insert into event_volumes (organization_id, minute, code, lane, stored, unmatched, replayed, rejected)
    select ${organization.organization_id}, date_trunc('minute', now()) - m * interval '1 minute', 'calls', 0, 2, 0, 0, 0
    from generate_series(0, 90, 30) m`;
  const { status, body } = await health();
  expect(status).toBe(200);
  expect(body.health).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+/),
    postgres: { version: expect.any(String), connections: expect.any(Number), size_bytes: expect.any(Number) },
    redis: { version: expect.any(String), used_memory_bytes: expect.any(Number), policy: expect.any(String) },
    late_jobs: [],
  });
  expect(body.health.queues.length).toBeGreaterThan(5);
  expect(body.health.organizations).toEqual([
    { svc_id: organization.organization_id, name: 'Acme', sandbox: false, events_last_hour: 4, open_findings: 0 },
  ]);
  expect((await health('', 'another')).status).toBe(401);
});

test('a pool that was there within the hour stays in sight, without processes', async () => {
  const saidAt = (at: Temporal.Instant) =>
    JSON.stringify({
      name: 'finalizer',
      copy: 'gone-1',
      connections: 1,
      clockAheadMs: 0,
      saidAtMs: at.epochMilliseconds,
    });
  const key = `${service.config.REDIS_PREFIX}:processes`;
  const poolsNow = async () => (await health()).body.health.pools as { name: string }[];
  const before = await poolsNow();
  expect(before.length).toBeGreaterThan(0);
  for (const pool of before)
    expect(pool).toMatchObject({ processes: 1, last_seen_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  const seen = realNow().round({ smallestUnit: 'second', roundingMode: 'floor' }).subtract({ minutes: 20 });
  await service.redis.hset(key, 'gone', saidAt(seen));
  expect((await poolsNow()).find(({ name }) => name === 'finalizer')).toEqual({
    name: 'finalizer',
    processes: 0,
    last_seen_at: seen.toString(),
  });
  await service.redis.hset(key, 'gone', saidAt(seen.subtract({ minutes: 41 })));
  expect((await poolsNow()).map(({ name }) => name)).not.toContain('finalizer');
});

test('a job is late whose tick is missing, whose run failed, or that works for more than an hour', async () => {
  const tick = (job: string, hoursAgo: number, end: { finished: boolean; error?: string }) => {
    const at = realNow().subtract({ hours: hoursAgo });
    return service.sql`
      insert into schedule_ticks (job, tick_at, claimed_at, finished_at, error)
      values (${job}, ${at}, ${at}, ${end.finished ? at : null}, ${end.error ?? null})`;
  };
  await tick('bill', 3, { finished: true });
  await tick('finalize', 0, { finished: true, error: 'no space left' });
  await tick('overdue', 2, { finished: false });
  await tick('clean-idempotency', 0, { finished: true });
  const { health: shown } = (await health()).body;
  const reasons = Object.fromEntries(
    shown.late_jobs.map((job: { name: string; reason: string }) => [job.name, job.reason]),
  );
  expect(reasons).toEqual({ bill: 'missed', finalize: 'failed', overdue: 'slow' });
});

test('organizations are listed fifty a page', async () => {
  for (let index = 0; index < 51; index += 1) await service.org({ name: `Org ${String(index).padStart(2, '0')}` });
  const first = await health();
  expect(first.body.health.organizations).toHaveLength(50);
  expect(first.body.meta).toEqual({ current_page: 1, next_page: 2 });
  const second = await health('?page=2');
  expect(second.body.health.organizations.map(({ name }: { name: string }) => name)).toEqual(['Org 49', 'Org 50']);
  expect(second.body.meta.next_page).toBeNull();
  expect((await health('?page=0')).body.error_details).toEqual({ page: ['value_is_out_of_range'] });
});
