import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../src/platform/operation.ts';
import { startService, type TestService } from '../support/service.ts';

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

let service: TestService;
beforeAll(async () => {
  service = await startService({ operations: [probe], pools: ['writes'] });
});
afterAll(() => service.stop());

test('a read answers with request id and rate headers', async () => {
  const org = await service.org();
  const answer = await org.get('/probes');
  expect(answer).toMatchObject({ status: 200, body: { probe: { svc_id: org.organization.organization_id } } });
  expect(answer.headers['x-ratelimit-limit']).toBe('100000');
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('no key is 401, an unknown path 404', async () => {
  expect(await service.client('nope').get('/probes')).toMatchObject({
    status: 401,
    body: { status: 401, error: 'Unauthorized' },
  });
  expect(await service.client('nope').get('/nothing')).toMatchObject({
    status: 404,
    body: { code: 'object_not_found', resource: 'route' },
  });
});
