import { afterAll, beforeAll, expect, test } from 'vitest';
import { schedule } from '../../src/schedule.ts';
import { EVERY_POOL, startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TOKEN = 'an operator of this service';
let service: TestService;
let closed: TestService;

beforeAll(async () => {
  [service, closed] = await Promise.all([
    startService({ pools: EVERY_POOL, settings: { OPERATOR_TOKEN: TOKEN } }),
    startService({ pools: [] }),
  ]);
});
afterAll(() => Promise.all([service.stop(), closed.stop()]));

const call = async (
  method: 'GET' | 'POST',
  path: string,
  { token = TOKEN, at = service }: { token?: string; at?: TestService } = {},
) => {
  const response = await fetch(`${at.url}/api/v1/operations/jobs${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
};

// other-routes.md#records "periodic jobs".
test('the operator sees every job of the schedule with its ticks and every queue with what waits', async () => {
  const { status, body } = await call('GET', '');
  expect(status).toBe(200);
  const names = body.jobs.map((job: { name: string }) => job.name);
  expect(names).toEqual(expect.arrayContaining(['bill', 'row-sweeper', 'expire-holds', 'audit-full']));
  expect(new Set(names).size).toBe(names.length);
  const job = (name: string) => body.jobs.find((each: { name: string }) => each.name === name);
  expect(job('bill')).toMatchObject({ clock: 'business', schedule: 'hourly at :10' });
  expect(job('bill').next_tick_at).toMatch(/T\d\d:10:00Z$/);
  expect(job('audit-full')).toMatchObject({ clock: 'real', schedule: 'daily at 03:30 UTC' });
  expect(job('expire-holds').schedule).toBe('every 60 seconds');
  const billing = body.queues.find(({ name }: { name: string }) => name === 'billing');
  const { oldest_waiting_at, ...counts } = billing;
  expect(counts).toEqual({
    name: 'billing',
    depth: expect.any(Number),
    active: expect.any(Number),
    delayed: expect.any(Number),
    failed: 0,
  });
  expect(oldest_waiting_at === null || typeof oldest_waiting_at === 'string').toBe(true);
});

test('every periodic job that a start catches up ends without an error', async () => {
  const caughtUp = schedule(service.config).filter(({ catchUp }) => catchUp === 'latest');
  const runs = await until(async () => {
    const { body } = await call('GET', '');
    const lastRuns = caughtUp.map(({ job }) => body.jobs.find(({ name }: { name: string }) => name === job).last_run);
    return lastRuns.every((run) => run?.finished_at) ? lastRuns : undefined;
  });
  expect(runs.map(({ error }) => error)).toEqual(caughtUp.map(() => null));
});

test('the operator may run a periodic job at once', async () => {
  const started = await call('POST', '/clean-idempotency/run');
  expect(started.status).toBe(200);
  const { tick_at } = started.body.job.last_run;
  const done = await until(async () => {
    const { body } = await call('GET', '');
    const { last_run } = body.jobs.find(({ name }: { name: string }) => name === 'clean-idempotency');
    return last_run.tick_at === tick_at && last_run.status === 'done' ? last_run : undefined;
  });
  expect(done).toMatchObject({ error: null, finished_at: expect.any(String), duration_ms: expect.any(Number) });
  expect(await call('POST', '/none/run')).toMatchObject({
    status: 404,
    body: { status: 404, error: 'Not Found', code: 'object_not_found', resource: 'job' },
  });
});

test('operator routes refuse a wrong token, an API key, and any call where no token is set', async () => {
  const { organization } = await service.org();
  for (const token of ['', 'another operator', organization.api_key])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/bill/run'],
    ] as const) {
      const refused = await call(method, path, { token });
      expect([refused.status, refused.body]).toEqual([401, { status: 401, error: 'Unauthorized' }]);
      expect(refused.headers.get('x-ratelimit-limit')).toBe('100000');
    }
  for (const token of [TOKEN, 'undefined', '']) {
    const unknown = await call('GET', '', { token, at: closed });
    expect([unknown.status, unknown.body]).toMatchObject([404, { resource: 'route' }]);
  }
});
