import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permissionsOf } from '../../../src/areas/tenancy/api-keys/permissions-input.ts';
import { keyUsage } from '../../../src/jobs/sweep-rows/key-usage.ts';
import type { SweepDeps } from '../../../src/platform/periodic-job.ts';
import { keyUsageKey } from '../../../src/platform/redis/channels.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
});
afterAll(() => service.stop());

type Org = Awaited<ReturnType<TestService['org']>>;
const create = (org: Pick<Org, 'post'>, key: object) => org.post('/api_keys', { api_key: key });
const hours = (count: number) => Temporal.Now.instant().add({ hours: count }).toString({ smallestUnit: 'second' });
const status = async (value: string) => (await service.client(value).get('/organizations')).status;
/** Other processes hear of a change a moment later. */
const answers = (value: string, expected: number) => until(async () => (await status(value)) === expected || undefined);

describe('permissions of API keys', () => {
  test.each<[unknown, string[]]>([
    [{ customer: ['write', 'read', 'read'], fee: [] }, []],
    [null, ['value_is_mandatory']],
    [{}, ['value_is_mandatory']],
    [[], ['value_is_invalid']],
    ['all', ['value_is_invalid']],
    [{ customers: ['read'], constructor: [] }, ['contains forbidden keys: ["customers", "constructor"]']],
    [{ customer: ['admin'] }, ['contains forbidden values: ["admin"]']],
    [{ customer: 'read' }, ['contains forbidden values: ["read"]']],
  ])('permissions %j are stored as %j', (sent, codes) => {
    expect(permissionsOf(sent).codes).toEqual(codes);
  });
});

test('any key is shown to itself with its organization, without its value and the permission to read keys', async () => {
  const org = await service.org({ name: 'Current' });
  const expires_at = hours(1);
  const made = await create(org, { name: 'Shop', permissions: { customer: ['read'] }, expires_at });
  const { status, body, text } = await service.client(made.body.api_key.value).get('/api_keys/current');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      api_key: {
        svc_id: made.body.api_key.svc_id,
        name: 'Shop',
        last4: made.body.api_key.last4,
        permissions: { customer: ['read'] },
        expires_at,
        organization: {
          svc_id: org.organization.organization_id,
          name: 'Current',
          slug: expect.stringMatching(/./),
          sandbox: false,
        },
      },
    },
  });
  expect(text).not.toContain(made.body.api_key.value);
  const nobody = await countStatements(service, org.organization.organization_id, 'findCurrentApiKey', {
    now: '2024-01-01T00:00:00Z',
  }).catch((error: unknown) => error);
  expect(nobody).toMatchObject({ status: 404, body: { resource: 'api_key' } });
});

test('an API key is created, shown without its value, changed, listed and ended', async () => {
  const org = await service.org();
  const made = await create(org, {
    name: 'Shop',
    permissions: { customer: ['read', 'write'], organization: ['read'] },
  });
  expect(made.status).toBe(200);
  const { value, ...key } = made.body.api_key;
  expect(key).toEqual({
    svc_id: expect.any(String),
    svc_organization_id: org.organization.organization_id,
    name: 'Shop',
    last4: value.slice(-4),
    permissions: { customer: ['read', 'write'], organization: ['read'] },
    expires_at: null,
    last_used_at: null,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  expect(await status(value)).toBe(200);
  expect((await service.client(value).get('/plans')).body).toEqual({
    status: 403,
    error: 'Forbidden',
    code: 'read_action_not_allowed_for_plan',
  });
  expect((await org.get(`/api_keys/${key.svc_id}`)).body).toEqual({ api_key: key });
  expect((await org.get('/api_keys')).body).toMatchObject({ api_keys: [key, {}], meta: { total_count: 2 } });

  const changed = await org.put(`/api_keys/${key.svc_id}`, { api_key: { permissions: { plan: ['read'] } } });
  expect(changed.body.api_key).toMatchObject({ name: 'Shop', permissions: { plan: ['read'] } });
  await until(async () => (await service.client(value).get('/plans')).status === 200 || undefined);
  expect(await status(value)).toBe(403);

  const deleted = await org.delete(`/api_keys/${key.svc_id}`);
  expect(deleted.body.api_key.expires_at).toMatch(/Z$/);
  await answers(value, 401);
  expect((await org.get(`/api_keys/${key.svc_id}`)).status).toBe(404);
  expect((await org.get('/api_keys')).body.meta.total_count).toBe(1);
  for (const again of [org.delete, org.put])
    expect((await again(`/api_keys/${key.svc_id}`, { api_key: { name: 'x' } })).body.resource).toBe('api_key');
});

test('a rotated key is valid until the requested time, and its successor has its permissions', async () => {
  const org = await service.org();
  const permissions = { organization: ['read'] };
  const { api_key: old } = (await create(org, { name: 'Old', permissions })).body;
  const end = hours(2);
  const rotated = await org.post(`/api_keys/${old.svc_id}/rotate`, { api_key: { expires_at: end, name: 'New' } });
  expect(rotated.body.api_key).toMatchObject({ name: 'New', permissions, expires_at: null });
  expect([await status(old.value), await status(rotated.body.api_key.value)]).toEqual([200, 200]);
  expect((await org.get(`/api_keys/${old.svc_id}`)).body.api_key.expires_at).toBe(end);

  const { svc_id, value } = rotated.body.api_key;
  const atOnce = await org.post(`/api_keys/${svc_id}/rotate`);
  expect(atOnce.body.api_key).toMatchObject({ name: 'New', permissions });
  await answers(value, 401);
  expect(await status(atOnce.body.api_key.value)).toBe(200);
  const late = await org.post(`/api_keys/${old.svc_id}/rotate`, { api_key: { expires_at: '2020-01-01' } });
  expect(late.body.error_details).toEqual({ expires_at: ['invalid_date'] });
});

test('the value of a new key is returned again to a repeated request and appears in no log', async () => {
  const org = await service.org();
  const options = { headers: { 'idempotency-key': 'key-1' } };
  const body = { api_key: { name: 'Once' } };
  const [first, second] = [await org.post('/api_keys', body, options), await org.post('/api_keys', body, options)];
  expect(second.text).toBe(first.text);
  const { value } = first.body.api_key;
  const [found] = await service.sql<{ found: boolean }[]>`
    select exists (select from api_logs where position(${value} in request_response) > 0)
      or exists (select from activity_logs where position(${value} in activity_object::text) > 0)
      or exists (select from security_logs where position(${value} in resources::text) > 0)
      or exists (select from idempotency_keys where position(${value} in body) > 0) as found`;
  expect(found!.found).toBe(false);
});

test('a key cannot grant a permission that it lacks by creating, changing or rotating a key', async () => {
  const org = await service.org();
  const permissions = { api_key: ['read', 'write'], customer: ['read'] };
  const { api_key: limited } = (await create(org, { permissions })).body;
  const client = service.client(limited.value);
  const refused = (code: string) => ({ status: 403, error: 'Forbidden', code });
  expect((await create(client, { permissions: { customer: ['read', 'write'] } })).body).toEqual(
    refused('write_action_not_allowed_for_customer'),
  );
  expect((await create(client, { name: 'all by default' })).status).toBe(403);
  expect((await create(client, { permissions: { customer: ['read'] } })).status).toBe(200);
  const { api_key: equal } = (await create(org, { permissions: { customer: ['read'] } })).body;
  const path = `/api_keys/${equal.svc_id}`;
  expect((await client.put(path, { api_key: { permissions: { plan: ['write'] } } })).body).toEqual(
    refused('write_action_not_allowed_for_plan'),
  );
  expect((await client.put(path, { api_key: { permissions: { api_key: ['read'] } } })).status).toBe(200);
  const without = (await create(org, { permissions: { customer: ['read'] } })).body.api_key;
  expect((await service.client(without.value).get('/api_keys')).body.code).toBe('read_action_not_allowed_for_api_key');
  expect((await create(service.client(without.value), { name: 'x' })).body.code).toBe(
    'write_action_not_allowed_for_api_key',
  );
});

test('a key can neither change, rotate nor end a key with more permissions than its own', async () => {
  const org = await service.org();
  const weak = (await create(org, { permissions: { api_key: ['read', 'write'] } })).body.api_key;
  const client = service.client(weak.value);
  const [full] = (await org.get('/api_keys')).body.api_keys.slice(-1);
  const path = `/api_keys/${full.svc_id}`;
  const refused = await Promise.all([
    client.put(path, { api_key: { permissions: { api_key: ['read'] } } }),
    client.put(path, { api_key: { name: 'mine' } }),
    client.patch(path, { api_key: { name: 'mine' } }),
    client.post(`${path}/rotate`),
    client.delete(path),
  ]);
  for (const answer of refused)
    expect(answer.body).toEqual({ status: 403, error: 'Forbidden', code: 'read_action_not_allowed_for_activity_log' });
  expect((await org.get(path)).body.api_key).toEqual(full);
  expect((await org.put(`/api_keys/${weak.svc_id}`, { api_key: { permissions: { api_key: ['read'] } } })).status).toBe(
    200,
  );
});

test('an organization cannot lock itself out: the last key that can grant everything keeps its permissions', async () => {
  const org = await service.org();
  const [full] = (await org.get('/api_keys')).body.api_keys;
  const path = `/api_keys/${full.svc_id}`;
  const everything = full.permissions;
  await create(org, { name: 'lasting, with all but the keys' });
  await create(org, { name: 'all, for an hour', permissions: everything, expires_at: hours(1) });
  const fewer = { ...everything, plan: ['read'] };
  const withoutKeys = { ...everything, api_key: ['read'] };
  const locked = { base: ['last_non_expiring_api_key'] };
  for (const permissions of [fewer, withoutKeys, { api_key: ['read', 'write'] }])
    expect((await org.put(path, { api_key: { permissions } })).body.error_details).toEqual(locked);
  expect((await org.delete(path)).body.error_details).toEqual(locked);
  expect((await org.put(path, { api_key: { name: 'Main', permissions: everything } })).status).toBe(200);

  const heir = (await org.post(`${path}/rotate`)).body.api_key;
  const client = service.client(heir.value);
  expect((await client.delete(`/api_keys/${heir.svc_id}`)).body.error_details).toEqual(locked);
  const twin = (await create(client, { permissions: everything })).body.api_key;
  const reduced = await client.put(`/api_keys/${heir.svc_id}`, { api_key: { permissions: fewer } });
  expect(reduced.status).toBe(200);
  const last = await service.client(twin.value).delete(`/api_keys/${twin.svc_id}`);
  expect(last.body.error_details).toEqual(locked);
});

test('two keys that can grant everything cannot be weakened at the same time', async () => {
  const org = await service.org();
  const [first] = (await org.get('/api_keys')).body.api_keys;
  const second = (await create(org, { permissions: first.permissions })).body.api_key;
  await create(org, { name: 'a third without end' });
  const weaken = (id: string) => org.put(`/api_keys/${id}`, { api_key: { permissions: { api_key: ['read'] } } });
  const answers = await Promise.all([org.delete(`/api_keys/${second.svc_id}`), weaken(first.svc_id)]);
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
});

test('one key without expiry always remains, also when two are ended at the same time', async () => {
  const org = await service.org();
  const [first] = (await org.get('/api_keys')).body.api_keys;
  await create(org, { expires_at: hours(1) });
  const last = await org.delete(`/api_keys/${first.svc_id}`);
  expect(last.body.error_details).toEqual({ base: ['last_non_expiring_api_key'] });
  const { api_key: second } = (await create(org, { name: 'second' })).body;
  const { api_key: third } = (await create(org, { name: 'third' })).body;
  await org.delete(`/api_keys/${third.svc_id}`);
  const ended = await Promise.all([first, second].map(({ svc_id }) => org.delete(`/api_keys/${svc_id}`)));
  expect(ended.map((answer) => answer.status).sort()[0]).toBe(200);
  const lasting = await service.sql`
    select from api_keys where organization_id = ${org.organization.organization_id} and expires_at is null`;
  expect(lasting).toHaveLength(1);
});

test.each<[object, Record<string, string[]>]>([
  [{ permissions: {} }, { permissions: ['value_is_mandatory'] }],
  [{ permissions: { nothing: ['read'] } }, { permissions: ['contains forbidden keys: ["nothing"]'] }],
  [{ name: 'x'.repeat(256) }, { name: ['value_is_too_long'] }],
  [{ name: 'a\0b' }, { name: ['invalid_format'] }],
  [{ expires_at: 'soon' }, { expires_at: ['invalid_date'] }],
  [{ expires_at: '2020-01-01T00:00:00Z' }, { expires_at: ['invalid_date'] }],
])('an API key with %j is refused', async (key, details) => {
  const org = await service.org();
  expect((await create(org, key)).body.error_details).toEqual(details);
});

test('a key without its root is refused with 400, unknown keys and those of others with 404, and an end that was set is frozen', async () => {
  const [org, other] = [await service.org(), await service.org()];
  expect((await org.post('/api_keys', {})).status).toBe(400);
  const [foreign] = (await other.get('/api_keys')).body.api_keys;
  for (const id of [foreign.svc_id, 'x', '00000000-0000-7000-8000-000000000000']) {
    const answers = await Promise.all([
      org.get(`/api_keys/${id}`),
      org.put(`/api_keys/${id}`, { api_key: { name: 'mine' } }),
      org.delete(`/api_keys/${id}`),
      org.post(`/api_keys/${id}/rotate`),
    ]);
    for (const answer of answers)
      expect(answer.body).toEqual({ status: 404, error: 'Not Found', code: 'object_not_found', resource: 'api_key' });
  }
  const [mine] = (await org.get('/api_keys')).body.api_keys;
  const frozen = await org.put(`/api_keys/${mine.svc_id}`, { api_key: { expires_at: hours(1) } });
  expect(frozen.body.error_details).toEqual({ expires_at: ['value_is_frozen'] });
  expect((await org.put(`/api_keys/${mine.svc_id}`, { api_key: { expires_at: null, name: 'Main' } })).status).toBe(200);
});

test('each change of a key leaves a line in the security log and in the audit trail', async () => {
  const org = await service.org();
  const agent = { headers: { 'user-agent': 'console/1' } };
  const permissions = { customer: ['read'], plan: ['read'] };
  const key = (await org.post('/api_keys', { api_key: { name: 'A', permissions } }, agent)).body.api_key;
  await org.put(`/api_keys/${key.svc_id}`, { api_key: { name: 'B', permissions: { customer: ['read', 'write'] } } });
  const heir = (await org.post(`/api_keys/${key.svc_id}/rotate`)).body.api_key;
  await org.delete(`/api_keys/${heir.svc_id}`);
  const { security_logs: logs } = (await org.get('/security_logs?to_date=2999-01-01&log_types[]=api_key')).body;
  expect(logs.map((log: { log_event: string }) => log.log_event)).toEqual([
    'api_key.deleted',
    'api_key.rotated',
    'api_key.updated',
    'api_key.created',
  ]);
  expect(logs[3]).toMatchObject({
    log_type: 'api_key',
    user_email: null,
    device_info: { user_agent: 'console/1' },
    resources: {
      svc_id: key.svc_id,
      name: 'A',
      last4: key.last4,
      permissions: { deleted: [], added: ['customer:read', 'plan:read'] },
    },
  });
  expect(logs[2].resources).toMatchObject({
    name: { deleted: 'A', added: 'B' },
    permissions: { deleted: ['plan:read'], added: ['customer:write'] },
  });
  expect(logs[1].resources.last4).toEqual({ deleted: key.last4, added: heir.last4 });
  const trail = (await org.get('/activity_logs?resource_types[]=ApiKey')).body.activity_logs;
  expect(trail.map((log: { activity_type: string }) => log.activity_type)).toEqual([
    'api_key.deleted',
    'api_key.created',
    'api_key.updated',
    'api_key.created',
  ]);
  expect(trail[2].activity_object_changes.name).toEqual(['A', 'B']);
});

test('the last use of a key is copied to its row', async () => {
  const org = await service.org();
  const { config, sql, redis } = service;
  const [key] = (await org.get('/api_keys')).body.api_keys;
  await redis.hset(keyUsageKey(config.REDIS_PREFIX), key.svc_id, String(Date.UTC(2026, 0, 2)));
  await keyUsage.sweep({ config, sql, redis } as unknown as SweepDeps, Temporal.Now.instant());
  expect((await org.get(`/api_keys/${key.svc_id}`)).body.api_key.last_used_at).toBe('2026-01-02T00:00:00Z');
});

test('reads of API keys take at most two round trips', async () => {
  const org = await service.org();
  const { organization_id: id } = org.organization;
  const now = '2026-01-01T00:00:00Z';
  const list = await countStatements(service, id, 'findAllApiKeys', { now });
  expect(list.roundTrips).toBeLessThanOrEqual(2);
  const one = await countStatements(service, id, 'findApiKey', { now, svc_id: list.body.api_keys[0].svc_id });
  expect(one.roundTrips).toBe(1);
});
