import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { columnValues } from '../../src/platform/db/values.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const probe: Operation = {
  name: 'probe',
  method: 'get',
  path: '/probes',
  permission: 'customer',
  summary: 'Probe',
  tag: 'probes',
  answer: z.object({ probe: z.object({ svc_id: z.string() }) }),
  kind: 'read',
  run: async (ctx) => ({ probe: { svc_id: ctx.organizationId } }),
};

const OPERATOR_TOKEN = 'operator-token-of-the-test-0123456789';

let service: TestService;
beforeAll(async () => {
  service = await startService({ operations: [probe], pools: ['writes'], settings: { OPERATOR_TOKEN } });
});
afterAll(() => service.stop());

test('a read answers with request id and rate headers', async () => {
  const org = await service.org();
  const answer = await org.get('/probes');
  expect(answer).toMatchObject({ status: 200, body: { probe: { svc_id: org.organization.organization_id } } });
  expect(answer.headers['x-ratelimit-limit']).toBe('100000');
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('a request without a key is refused with 401, an unknown path with 404', async () => {
  expect(await service.client('nope').get('/probes')).toMatchObject({
    status: 401,
    body: { status: 401, error: 'Unauthorized' },
  });
  expect(await service.client('nope').get('/nothing')).toMatchObject({
    status: 404,
    body: { code: 'object_not_found', resource: 'route' },
  });
});

test('several Authorization headers are refused with 401, by the operator routes too', async () => {
  const { organization } = await service.org();
  const [valid, operator] = [`Bearer ${organization.api_key}`, `Bearer ${OPERATOR_TOKEN}`];
  const statusOf = async (path: string, ...values: string[]) => {
    const headers = values.flatMap((value, index) => [index % 2 === 0 ? 'Authorization' : 'authorization', value]);
    const { statusCode, body } = await request(`${service.url}/api/v1${path}`, { headers });
    await body.dump();
    return statusCode;
  };
  for (const [path, own] of [
    ['/probes', valid],
    ['/operations/jobs', operator],
  ] as const) {
    expect(await statusOf(path, own)).toBe(200);
    for (const values of [[`${own}, ${own}`], [own, own], [own, 'Bearer nope'], ['Bearer nope', own], []])
      expect([values, await statusOf(path, ...values)]).toEqual([values, 401]);
  }
  expect(await statusOf('/probes', `bearer   ${organization.api_key} (the token is the second word)`)).toBe(200);
});

test.each(['OPTIONS', 'HEAD'])(
  '%s on a known path carries request id and rate headers like any other',
  async (method) => {
    const org = await service.org();
    const response = await fetch(`${service.url}/api/v1/probes`, {
      method,
      headers: { authorization: `Bearer ${org.organization.api_key}` },
    });
    expect(response.status).toBe(method === 'HEAD' ? 200 : 404);
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test('paths are case-sensitive', async () => {
  const org = await service.org();
  expect((await org.get('/probes')).status).toBe(200);
  expect((await org.get('/Probes')).body).toMatchObject({ status: 404, resource: 'route' });
});

test('a path that only begins like the base URL is outside of it', async () => {
  const response = await fetch(`${service.url}/api/v1x`);
  expect(response.status).toBe(404);
  expect(response.headers.get('x-ratelimit-limit')).toBeNull();
});

test('requests to unknown routes are counted in the metrics', async () => {
  await service.client('nope').get('/nothing');
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(
    /meterstone_http_requests_total\{operation="unknown_route",method="get",status="404"[^}]*\} [1-9]/,
  );
});

test('the metrics include those of the worker processes', async () => {
  await service.ingress.producer.add('api-log.write', { rows: [] });
  const text = await until(async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    return /meterstone_jobs_total\{[^}]*job="api-log.write"[^}]*\} [1-9]/.test(metrics) ? metrics : undefined;
  });
  expect(text).toMatch(/meterstone_job_seconds_count\{[^}]*process="writes"/);
  expect(text).toMatch(/meterstone_http_requests_total\{[^}]*process="ingress"/);
  expect(text.match(/^meterstone_queue_oldest_seconds\{[^}]*queue="writes"/gm)).toHaveLength(1);
});

test('/ready names queues without a worker', async () => {
  const answer = await until(async () => {
    const response = await fetch(`${service.url}/ready`);
    const body = (await response.json()) as { standing_queues: string[] };
    return body.standing_queues.includes('writes') ? undefined : { status: response.status, body };
  });
  expect(answer).toMatchObject({
    status: 503,
    body: { status: 'not ready', postgres: true, redis: true, schema: 'current' },
  });
  expect(answer.body.standing_queues).toContain('events');
});

test('/ready names tables that are older or newer than the program', async () => {
  const schema = async () => ((await (await fetch(`${service.url}/ready`)).json()) as { schema: string }).schema;
  await service.sql`insert into schema_migrations (name, checksum) values ('9999_future.sql', 'x')`;
  expect(await schema()).toBe('newer');
  const [first] = await service.sql`delete from schema_migrations where name like '0001%' returning name, checksum`;
  expect(await schema()).toBe('behind');
  await service.sql`delete from schema_migrations where name = '9999_future.sql'`;
  await service.sql`insert into schema_migrations ${service.sql(columnValues(first!))}`;
  expect(await schema()).toBe('current');
});

test('/ready ignores jobs that finished before the start', async () => {
  const former = { events: String(Date.now() - 15_000), aggregation: String(Date.now()) };
  await service.redis.hset(`${service.config.REDIS_PREFIX}:progress`, former);
  const body = (await (await fetch(`${service.url}/ready`)).json()) as { standing_queues: string[] };
  expect(body.standing_queues).toContain('events');
  expect(body.standing_queues).not.toContain('aggregation');
});
