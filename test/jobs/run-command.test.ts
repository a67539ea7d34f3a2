import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { idempotencyOf } from '../../src/ingress/idempotency-key.ts';
import { operations } from '../../src/operations.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Operation } from '../../src/platform/operation.ts';
import { refuse } from '../../src/platform/refusal.ts';
import { withOperations } from '../support/added-operations.ts';
import { type Client, createClient } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const Note = z.object({
  text: z.string('value_is_mandatory'),
  amount: z.number().optional(),
  sleep_seconds: z.number().optional(),
});

let losses = 1;

/** A command that leaves a row, an audit line, an outgoing event and a refusal behind, at will. */
const write: Operation = {
  name: 'writeNote',
  method: 'post',
  path: '/notes/:place',
  permission: 'customer',
  summary: 'Writes a note',
  tag: 'notes',
  root: 'note',
  body: Note,
  answer: z.object({}),
  kind: 'command',
  run: async (ctx, { place, body }) => {
    await ctx.db`insert into notes (organization_id, place, text) values (${ctx.organizationId}, ${place},
      ${body.text})`;
    if (body.sleep_seconds) await ctx.db`select pg_sleep(${body.sleep_seconds})`;
    if (body.text === 'forbidden words') throw refuse.invalid({ text: ['value_is_reserved'] });
    if (body.text === 'lost once' && losses-- > 0) throw Object.assign(new Error('gone'), { code: '57P01' });
    if (body.text === 'defect') throw new Error('a belief was wrong');
    ctx.record({
      activity: { type: 'note.created', resourceType: 'Note', resourceId: randomUUID(), object: { text: body.text } },
    });
    return { note: { z: 1, text: body.text, a: 2 } };
  },
};

let service: TestService;
let org: Awaited<ReturnType<TestService['org']>>;
let second: Client;

withOperations(write);
beforeAll(async () => {
  service = await startService({ operations: [...operations, write], pools: ['writes'] });
  await service.sql`create table notes (organization_id uuid, place text, text text)`;
  org = await service.org();
  second = await service.org();
});
afterAll(() => service.stop());

const notes = async (place: string) => (await service.sql`select text from notes where place = ${place}`).length;
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

test('a command runs in a worker and answers the waiting request', async () => {
  const answer = await org.post('/notes/plain', { note: { text: 'hello' } });
  expect(answer).toMatchObject({ status: 200, text: '{"note":{"z":1,"text":"hello","a":2}}' });
  expect(answer.headers['x-svc-replayed']).toBeUndefined();
  expect(await notes('plain')).toBe(1);
});

test('a repeated request with the same key gets the first answer, byte for byte (ID1)', async () => {
  const first = await org.post('/notes/id1', { note: { text: 'once' } }, keyed('k1'));
  const again = await org.post('/notes/id1', { note: { text: 'once' } }, keyed('k1'));
  expect(again.status).toBe(200);
  expect(again.text).toBe(first.text);
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(again.headers['x-svc-original-request-id']).toBe(first.headers['x-request-id']);
  expect(await notes('id1')).toBe(1);
});

test('50 concurrent twins have one effect and 50 equal answers (ID2)', async () => {
  const twins = await Promise.all(
    Array.from({ length: 50 }, () => org.post('/notes/id2', { note: { text: 'twin', sleep_seconds: 1 } }, keyed('k2'))),
  );
  expect(new Set(twins.map((twin) => `${twin.status} ${twin.text}`)).size).toBe(1);
  expect(twins.filter((twin) => twin.headers['x-svc-replayed'] === 'true')).toHaveLength(49);
  expect(await notes('id2')).toBe(1);
});

test('the same key with another body is refused and changes nothing (ID3)', async () => {
  await org.post('/notes/id3', { note: { text: 'one' } }, keyed('k3'));
  expect(await org.post('/notes/id3', { note: { text: 'two' } }, keyed('k3'))).toMatchObject({
    status: 422,
    body: { error_details: { idempotency_key: ['value_already_exist'] } },
  });
  expect(await notes('id3')).toBe(1);
});

test('a refusal by the command is stored; its changes are not (ID4)', async () => {
  const first = await org.post('/notes/id4', { note: { text: 'forbidden words' } }, keyed('k4'));
  const again = await org.post('/notes/id4', { note: { text: 'forbidden words' } }, keyed('k4'));
  expect(first).toMatchObject({ status: 422, body: { error_details: { text: ['value_is_reserved'] } } });
  expect(again.text).toBe(first.text);
  expect(again.headers['x-svc-replayed']).toBe('true');
  expect(await notes('id4')).toBe(0);
});

test('the same Idempotency-Key in another organization or on another path is independent (ID7)', async () => {
  await org.post('/notes/id7', { note: { text: 'x' } }, keyed('k7'));
  const other = await org.post('/notes/id7-other', { note: { text: 'x' } }, keyed('k7'));
  const { body } = await org.post('/customers', { customer: { external_id: 'id7' } }, keyed('k7'));
  expect(body.customer.external_id).toBe('id7');
  const metric = { billable_metric: { name: 'x', code: 'id7', aggregation_type: 'count_agg' } };
  expect((await org.post('/billable_metrics', metric, keyed('k7'))).status).toBe(200);
  const foreign = await second.post('/notes/id7', { note: { text: 'x' } }, keyed('k7'));
  expect(other.headers['x-svc-replayed']).toBeUndefined();
  expect(foreign.headers['x-svc-replayed']).toBeUndefined();
  expect(await notes('id7')).toBe(2);
});

test('bodies with numbers of equal value have one fingerprint (ID8)', async () => {
  await org.post('/notes/id8', undefined, { ...keyed('k8'), raw: '{"note":{"text":"x","amount":100}}' });
  const again = await org.post('/notes/id8', undefined, {
    ...keyed('k8'),
    raw: '{"note":{"amount":1.0e2,"text":"x"}}',
  });
  expect(again).toMatchObject({ status: 200, headers: { 'x-svc-replayed': 'true' } });
});

test('an Idempotency-Key is free again 24 hours after its commit (ID9)', async () => {
  await org.post('/notes/id9', { note: { text: 'x' } }, keyed('k9'));
  await service.sql`update idempotency_keys set created_at = created_at - interval '24 hours 1 second',
    expires_at = expires_at - interval '24 hours 1 second'`;
  const again = await org.post('/notes/id9', { note: { text: 'x' } }, keyed('k9'));
  expect(again.headers['x-svc-replayed']).toBeUndefined();
  expect(await notes('id9')).toBe(2);
});

test.each([['ключ'], ['with blank'], ['x'.repeat(256)]])('the Idempotency-Key %s is refused', async (key) => {
  const answer = await org.post(
    '/notes/bad-key',
    { note: { text: 'x' } },
    { headers: { 'idempotency-key': Buffer.from(key).toString('latin1') } },
  );
  expect(answer).toMatchObject({ status: 422, body: { error_details: { idempotency_key: ['invalid_format'] } } });
});

test('a job that is delivered twice runs once', async () => {
  const answer = await org.post('/notes/twice', { note: { text: 'x' } });
  const [row] = await service.sql<
    { id: string; api_key_id: string }[]
  >`select id, api_key_id from api_logs where request_path = '/api/v1/notes/twice'`;
  await service.ingress.producer.add('command.run', {
    v: 1,
    from: 'nobody',
    cid: row!.id,
    at: Date.now(),
    operation: 'writeNote',
    organization_id: org.organization.organization_id,
    sandbox: false,
    api_key_id: row!.api_key_id,
    request_id: String(answer.headers['x-request-id']),
    input: { place: 'twice', body: { text: 'x' } },
    idempotency: null,
    request: { method: 'post', origin: 'x', path: '/api/v1/notes/twice', client: null, parameters: null },
  });
  await org.post('/notes/after', { note: { text: 'x' } });
  await until(
    async () => (await service.ingress.producer.queue('writes').getJobCountByTypes('waiting', 'active')) === 0,
  );
  expect(await notes('twice')).toBe(1);
});

test('a command whose worker died after the commit is replayed to the retry (ID5)', async () => {
  const { organization_id } = org.organization;
  const [key] = await service.sql<{ id: string }[]>`select id from api_keys where organization_id = ${organization_id}`;
  const body = { note: { text: 'x' } };
  const idempotency = idempotencyOf({
    header: 'k5',
    organizationId: organization_id,
    method: 'post',
    path: '/api/v1/notes/died-after',
    query: {},
    body,
  });
  await service.ingress.producer.add('command.run', {
    v: 1,
    from: 'nobody',
    cid: newId(),
    at: Date.now(),
    operation: 'writeNote',
    organization_id,
    sandbox: false,
    api_key_id: key!.id,
    request_id: 'first-try',
    input: { place: 'died-after', body: body.note },
    idempotency,
    request: { method: 'post', origin: 'x', path: '/api/v1/notes/died-after', client: null, parameters: null },
  });
  await until(async () => (await notes('died-after')) === 1);
  const retry = await org.post('/notes/died-after', body, keyed('k5'));
  expect(retry).toMatchObject({ status: 200, body: { note: { text: 'x' } } });
  expect(retry.headers).toMatchObject({ 'x-svc-replayed': 'true', 'x-svc-original-request-id': 'first-try' });
  expect(await notes('died-after')).toBe(1);
});

test('a command whose worker died before the commit runs again, once (ID6)', async () => {
  const answer = await org.post('/notes/died-before', { note: { text: 'lost once' } }, keyed('k6'));
  expect(answer).toMatchObject({ status: 200, body: { note: { text: 'lost once' } } });
  const retry = await org.post('/notes/died-before', { note: { text: 'lost once' } }, keyed('k6'));
  expect(retry.headers['x-svc-replayed']).toBe('true');
  expect(await notes('died-before')).toBe(1);
});

test('a defect answers 500 and leaves no trace of the command', async () => {
  const answer = await org.post('/notes/defect', { note: { text: 'defect' } });
  expect(answer).toMatchObject({ status: 500, body: { status: 500, error: 'Internal Server Error' } });
  expect(answer.headers['x-request-id']).toBeDefined();
  expect(await notes('defect')).toBe(0);
});

test('the API log has one row for each command, including those refused by the ingress', async () => {
  await org.post(
    '/notes/logged',
    { note: { text: 'logged' } },
    { headers: { 'x-request-id': 'my-request-1', 'user-agent': 'tests' } },
  );
  await org.post('/notes/logged', { note: {} }, { headers: { 'x-request-id': 'my-request-2' } });
  const rows = await until(async () => {
    const found = await service.sql`
      select request_id, client, http_method, http_status, request_path, request_body, request_response from api_logs
      where request_id like 'my-request-%' order by request_id`;
    return found.length === 2 ? [...found] : undefined;
  });
  expect(rows[0]).toMatchObject({
    client: 'tests',
    http_method: 'post',
    http_status: 200,
    request_path: '/api/v1/notes/logged',
    request_body: '{"place":"logged","note":{"text":"logged"}}',
    request_response: '{"note":{"z":1,"text":"logged","a":2}}',
  });
  expect(rows[1]).toMatchObject({ http_status: 400 });
});

test('the API log includes repeated requests', async () => {
  const repeat = (text: string, id: string) =>
    org.post('/notes/repeated', { note: { text } }, { headers: { ...keyed('k-log').headers, 'x-request-id': id } });
  for (const [text, id] of [
    ['x', 'repeat-1'],
    ['x', 'repeat-2'],
    ['y', 'repeat-3'],
  ] as const)
    await repeat(text, id);
  const rows = await service.sql`
    select request_id, http_status from api_logs where request_id like 'repeat-%' order by request_id`;
  expect([...rows]).toEqual([
    { request_id: 'repeat-1', http_status: 200 },
    { request_id: 'repeat-2', http_status: 200 },
    { request_id: 'repeat-3', http_status: 422 },
  ]);
});

test('an answer that reveals a secret is stored sealed and replayed in plain text', async () => {
  const body = { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9999/hook' } };
  const first = await org.post('/webhook_endpoints', body, keyed('k-secret'));
  expect(first.body.webhook_endpoint.secret).toMatch(/^whsec_/);
  const [row] = await service.sql<{ body: string }[]>`select body from idempotency_keys where body like 'v2:test:%'`;
  expect(row!.body).not.toContain('whsec_');
  expect((await org.post('/webhook_endpoints', body, keyed('k-secret'))).text).toBe(first.text);
});

test('a request cannot name an organization other than that of its key', async () => {
  const stranger = createClient(service.url, 'no-key');
  expect((await stranger.post('/notes/x', { note: { text: 'x' } })).status).toBe(401);
});
