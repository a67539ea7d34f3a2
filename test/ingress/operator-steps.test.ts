import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { realNow } from '../../src/platform/clock/real-clock.ts';
import { json } from '../../src/platform/db/values.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TOKEN = 'an operator of this service';
let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['billing'], settings: { OPERATOR_TOKEN: TOKEN } });
});
afterAll(() => service.stop());
beforeEach(() => service.sql`truncate after_steps`);

const call = async (method: 'GET' | 'POST', path: string, token = TOKEN) => {
  const response = await fetch(`${service.url}/api/v1/operations/steps${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: await response.json() };
};

/** A step that gave up: the books can be audited at any time, so that running it again is seen to work. */
async function failedStep(organizationId: string, job = 'audit-books') {
  const id = randomUUID();
  const runId = randomUUID();
  await service.sql`
    insert into audit_runs (id, organization_id, mode, status, created_at, started_at)
    values (${runId}, ${organizationId}, 'manual', 'running', ${realNow()}, ${realNow()})`;
  await service.sql`
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at, attempts, failed_at, error)
    values (${id}, ${organizationId}, ${job}, ${json({ run_id: runId, checks: ['A23'] })}, ${realNow()}, ${realNow()},
      8, ${realNow()},
      'connection lost')`;
  return id;
}

test('a step that failed for good is shown, counted and run again by the operator', async () => {
  const { organization } = await service.org();
  const id = await failedStep(organization.organization_id);
  const shown = await call('GET', '?state=failed');
  expect(shown.status).toBe(200);
  expect(shown.body.counts).toMatchObject([{ job: 'audit-books', state: 'failed', count: 1 }]);
  expect(shown.body.steps).toMatchObject([
    { id, organization_id: organization.organization_id, attempts: 8, error: 'connection lost', state: 'failed' },
  ]);
  expect(shown.body.steps[0]).not.toHaveProperty('payload');
  expect((await call('GET', '?state=unknown')).body.steps).toEqual([]);
  expect((await call('GET', '?job=bill-subscriptions')).body.steps).toEqual([]);
  expect(await call('POST', `/${id}/run`)).toEqual({ status: 200, body: { steps: [{ id }] } });
  await until(async () => (await service.sql`select from after_steps where id = ${id}`).length === 0 || undefined);
  expect(await call('POST', `/${id}/run`)).toMatchObject({ status: 404, body: { resource: 'step' } });
});

test('all failed steps of a name are run again together, and those of other names are not', async () => {
  const { organization } = await service.org();
  const first = await failedStep(organization.organization_id, 'nobody-knows-1');
  const second = await failedStep(organization.organization_id, 'nobody-knows-1');
  await failedStep(organization.organization_id, 'nobody-knows-2');
  const { body } = await call('POST', '/run?job=nobody-knows-1');
  expect(body.steps.map((step: { id: string }) => step.id).sort()).toEqual([first, second].sort());
  expect((await call('GET', '?state=failed')).body.steps).toMatchObject([{ job: 'nobody-knows-2' }]);
  const unknown = await until(async () => {
    const { steps } = (await call('GET', '?state=unknown')).body;
    return steps.length === 2 ? steps : undefined;
  });
  expect(unknown).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(/meterstone_after_steps\{job="nobody-knows-1",state="unknown",.*\} 2/);
  expect(metrics).toMatch(/meterstone_after_steps\{job="nobody-knows-2",state="failed",.*\} 1/);
});

test('a step whose payload does not fit waits with its error, is counted, and runs once it fits', async () => {
  const { organization } = await service.org();
  const id = await failedStep(organization.organization_id);
  await service.sql`update after_steps set payload = payload || '{"checks": "A23"}' where id = ${id}`;
  expect((await call('POST', `/${id}/run`)).status).toBe(200);
  const [step] = await until(async () => {
    const { steps } = (await call('GET', '?state=unknown')).body;
    return steps.length === 1 ? steps : undefined;
  });
  expect(step).toMatchObject({
    id,
    attempts: 0,
    error: 'payload of audit-books not understood: checks: invalid_type',
  });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toMatch(/meterstone_after_steps\{job="audit-books",state="unknown",.*\} 1/);
  // What a release that reads it would find: it is offered again, and done.
  await service.sql`update after_steps set payload = payload || '{"checks": ["A23"]}' where id = ${id}`;
  await until(async () => (await service.sql`select from after_steps where id = ${id}`).length === 0 || undefined);
});

test('malformed ids are unknown steps, malformed states are refused, and nothing is shown without the token', async () => {
  expect(await call('POST', '/none/run')).toMatchObject({ status: 404, body: { resource: 'step' } });
  expect(await call('POST', `/${randomUUID()}/run`)).toMatchObject({ status: 404 });
  expect(await call('GET', '?state=asleep')).toMatchObject({
    status: 422,
    body: { error_details: { state: ['value_is_invalid'] } },
  });
  expect((await call('GET', '', 'somebody else')).status).toBe(401);
});
