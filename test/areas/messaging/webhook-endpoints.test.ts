import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WEBHOOK_TYPES } from '../../../src/areas/messaging/webhook-endpoints/event-types.ts';
import { disableWebhookEndpoint } from '../../../src/areas/messaging/webhook-endpoints/writes.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { endpointSecretPlace } from '../../../src/platform/secrets/secret-places.ts';
import { openText } from '../../../src/platform/secrets/secrets.ts';
import { type HookReceiver, openHookReceiver } from '../../support/hook-receiver.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
const receivers: HookReceiver[] = [];

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'webhooks'] });
});
afterAll(() => service.stop());
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

const create = (fields: object) => ({ webhook_endpoint: { webhook_url: 'https://hooks.example/a', ...fields } });
const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

test('a webhook endpoint is created, shown, listed by URL, changed and removed', async () => {
  const org = await service.org();
  const made = await org.post('/webhook_endpoints', create({ name: 'Main' }));
  expect(made.status).toBe(200);
  const { secret, ...endpoint } = made.body.webhook_endpoint;
  expect(endpoint).toEqual({
    svc_id: expect.any(String),
    svc_organization_id: org.organization.organization_id,
    webhook_url: 'https://hooks.example/a',
    signature_algo: 'jwt',
    name: 'Main',
    event_types: null,
    status: 'enabled',
    disabled_at: null,
    disabled_reason: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect((await org.get(`/webhook_endpoints/${endpoint.svc_id}`)).body).toEqual({ webhook_endpoint: endpoint });

  const other = await org.post(
    '/webhook_endpoints',
    create({ webhook_url: 'http://a.example:8080/', signature_algo: 'hmac' }),
  );
  const list = await org.get('/webhook_endpoints?per_page=1');
  expect(list.body.webhook_endpoints.map((each: { webhook_url: string }) => each.webhook_url)).toEqual([
    'http://a.example:8080/',
  ]);
  expect(list.body.meta).toEqual({ current_page: 1, next_page: 2, prev_page: null, total_pages: 2, total_count: 2 });
  expect(list.text).not.toContain('whsec_');

  const path = `/webhook_endpoints/${endpoint.svc_id}`;
  const renamed = await org.put(path, { webhook_endpoint: { name: null } });
  expect(renamed.body.webhook_endpoint).toEqual({ ...endpoint, name: null });
  const moved = await org.patch(path, {
    webhook_endpoint: {
      webhook_url: ' https://hooks.example/b ',
      signature_algo: 'hmac',
      event_types: ['Invoice.Created ', '', 'invoice.created'],
    },
  });
  expect(moved.body.webhook_endpoint).toEqual({
    ...endpoint,
    name: null,
    webhook_url: 'https://hooks.example/b',
    signature_algo: 'hmac',
    event_types: ['invoice.created'],
  });
  const taken = await org.put(path, { webhook_endpoint: { webhook_url: other.body.webhook_endpoint.webhook_url } });
  expect(taken).toMatchObject({ status: 422, body: { error_details: { webhook_url: ['value_already_exist'] } } });

  expect((await org.delete(path)).body.webhook_endpoint.svc_id).toBe(endpoint.svc_id);
  const lines = await service.sql<{ log_event: string; resources: object }[]>`
    select log_event, resources from security_logs
    where organization_id = ${org.organization.organization_id} and resources ->> 'svc_id' = ${endpoint.svc_id}
    order by id`;
  expect(lines).toEqual([
    { log_event: 'webhook_endpoint.created', resources: endpoint },
    {
      log_event: 'webhook_endpoint.updated',
      resources: {
        svc_id: endpoint.svc_id,
        webhook_url: endpoint.webhook_url,
        name: { deleted: 'Main', added: null },
      },
    },
    {
      log_event: 'webhook_endpoint.updated',
      resources: {
        svc_id: endpoint.svc_id,
        webhook_url: { deleted: 'https://hooks.example/a', added: 'https://hooks.example/b' },
        signature_algo: { deleted: 'jwt', added: 'hmac' },
        event_types: { deleted: null, added: ['invoice.created'] },
      },
    },
    {
      log_event: 'webhook_endpoint.deleted',
      resources: {
        ...endpoint,
        name: null,
        webhook_url: 'https://hooks.example/b',
        signature_algo: 'hmac',
        event_types: ['invoice.created'],
      },
    },
  ]);
  for (const answer of [
    await org.get(path),
    await org.delete(path),
    await org.put(path, { webhook_endpoint: { name: 'x' } }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { code: 'object_not_found', resource: 'webhook_endpoint' } });
});

test('the URL of an endpoint is stored in normalized form, so that one receiver is one endpoint', async () => {
  const org = await service.org();
  const made = await org.post('/webhook_endpoints', create({ webhook_url: 'https://Hooks.exam\r\nple./a\t?b=1' }));
  expect(made.body.webhook_endpoint.webhook_url).toBe('https://hooks.example/a?b=1');
  const again = await org.post('/webhook_endpoints', create({ webhook_url: 'https://hooks.example:443/a?b=1' }));
  expect(again).toMatchObject({ status: 422, body: { error_details: { webhook_url: ['value_already_exist'] } } });
});

test.each([
  [{ webhook_url: undefined, name: 'Main' }, { webhook_url: ['value_is_mandatory'] }],
  [{ webhook_url: null }, { webhook_url: ['value_is_mandatory'] }],
  [{ webhook_url: '  ' }, { webhook_url: ['value_is_mandatory'] }],
  [{ webhook_url: 'hooks.example' }, { webhook_url: ['url_is_invalid'] }],
  [{ webhook_url: 'ftp://hooks.example' }, { webhook_url: ['url_is_invalid'] }],
  [{ webhook_url: 'https://me:secret@hooks.example' }, { webhook_url: ['url_is_invalid'] }],
  [{ webhook_url: 'https://hooks.example:22' }, { webhook_url: ['url_is_invalid'] }],
  [{ webhook_url: `https://hooks.example/${'x'.repeat(3000)}` }, { webhook_url: ['url_is_invalid'] }],
  [{ signature_algo: 'rsa' }, { signature_algo: ['value_is_invalid'] }],
  [{ event_types: 'invoice.created' }, { event_types: ['must_be_array'] }],
  [{ event_types: { a: 1 } }, { event_types: ['must_be_array'] }],
  [
    { event_types: ['invoice.created', 'invoice.gone', 'x'] },
    { event_types: ['contains invalid types: ["invoice.gone", "x"]'] },
  ],
  [{ event_types: ['*', 'invoice.created'] }, { event_types: ['contains invalid types: ["*"]'] }],
  [{ event_types: ['webhook.test'] }, { event_types: ['contains invalid types: ["webhook.test"]'] }],
  [{ event_types: [7] }, { event_types: ['contains invalid types: [7]'] }],
  [
    { webhook_url: 'x', signature_algo: 'rsa', event_types: 1 },
    { webhook_url: ['url_is_invalid'], signature_algo: ['value_is_invalid'], event_types: ['must_be_array'] },
  ],
])('a webhook endpoint is refused: input %#', async (fields, details) => {
  const org = await service.org();
  const answer = await org.post('/webhook_endpoints', create(fields));
  expect(answer).toMatchObject({ status: 422, body: { code: 'validation_errors', error_details: details } });
});

test.each([
  ['hooks.example', 'not an http or https URL'],
  ['https://me:secret@hooks.example', 'credentials in the URL'],
  ['https://hooks.example:22', 'port 22'],
  [`https://hooks.example/${'x'.repeat(3000)}`, 'the URL is too long'],
])('a refused endpoint address says why', async (webhook_url, reason) => {
  const org = await service.org();
  const { body } = await org.post('/webhook_endpoints', create({ webhook_url }));
  expect(body.error_places).toEqual([{ path: 'webhook_endpoint.webhook_url', code: 'url_is_invalid', reason }]);
});

test.each([
  [null, null],
  [['*'], null],
  [[], []],
  [[' '], []],
  [['invoice.add_on_added'], ['invoice.add_on_added']],
  [['credit_note.provider_refund_failure'], ['credit_note.provider_refund_failure']],
  [
    ['audit.failed', 'wallet_hold.expired'],
    ['audit.failed', 'wallet_hold.expired'],
  ],
  [[...WEBHOOK_TYPES], [...WEBHOOK_TYPES]],
])('an endpoint chooses its event types: case %#', async (event_types, kept) => {
  const org = await service.org();
  const answer = await org.post('/webhook_endpoints', create({ event_types }));
  expect(answer.body.webhook_endpoint.event_types).toEqual(kept);
});

test('the contract has 76 event types', () => {
  expect(new Set(WEBHOOK_TYPES).size).toBe(76);
});

test('the same endpoint URL is refused twice in one organization and accepted in another', async () => {
  const [one, other] = [await service.org(), await service.org()];
  expect((await one.post('/webhook_endpoints', create({}))).status).toBe(200);
  expect((await one.post('/webhook_endpoints', create({}))).body.error_details).toEqual({
    webhook_url: ['value_already_exist'],
  });
  expect((await other.post('/webhook_endpoints', create({}))).status).toBe(200);
});

test('of twenty endpoints created at the same time ten are accepted', async () => {
  const org = await service.org();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      org.post('/webhook_endpoints', create({ webhook_url: `https://hooks.example/${index}` })),
    ),
  );
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(10);
  for (const answer of answers.filter(({ status }) => status !== 200))
    expect(answer).toMatchObject({ status: 422, body: { error_details: { base: ['exceeded_limit'] } } });
});

test('a rotated endpoint secret is shown once, and the former one stays valid for the overlap', async () => {
  const org = await service.org();
  const made = (await org.post('/webhook_endpoints', create({}))).body.webhook_endpoint;
  const path = `/webhook_endpoints/${made.svc_id}/rotate_secret`;
  const rotated = await org.post(path);
  expect(rotated.status).toBe(200);
  expect(rotated.body.webhook_endpoint.secret).not.toBe(made.secret);
  const stored = async () => {
    const [row] = await service.sql<{ former_secret: string; hours: number }[]>`
      select former_secret, round(extract(epoch from former_secret_expires_at - clock_timestamp()) / 3600)::int as hours
      from webhook_endpoints where id = ${made.svc_id}`;
    const deployment = { db: service.sql, config: service.config };
    return {
      hours: row!.hours,
      former_secret: await openText(deployment, row!.former_secret, endpointSecretPlace(made.svc_id)),
    };
  };
  expect(await stored()).toEqual({ former_secret: made.secret, hours: 24 });
  await org.post(path, { expires_in_hours: 168 });
  expect(await stored()).toEqual({ former_secret: rotated.body.webhook_endpoint.secret, hours: 168 });
  for (const expires_in_hours of [-1, 169, 'soon'])
    expect((await org.post(path, { expires_in_hours })).status).toBe(422);
  expect((await org.post(`/webhook_endpoints/${UNKNOWN}/rotate_secret`)).body.resource).toBe('webhook_endpoint');
});

test('an endpoint can be disabled and enabled by its owner', async () => {
  const org = await service.org();
  const made = (await org.post('/webhook_endpoints', create({}))).body.webhook_endpoint;
  const path = `/webhook_endpoints/${made.svc_id}`;
  const off = (await org.put(path, { webhook_endpoint: { enabled: false } })).body.webhook_endpoint;
  expect(off).toMatchObject({ status: 'disabled', disabled_reason: 'manual', disabled_at: expect.any(String) });
  const on = (await org.put(path, { webhook_endpoint: { enabled: true } })).body.webhook_endpoint;
  expect(on).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null });
});

test('an endpoint that is disabled for its failures owes a mail and is recorded in the security log', async () => {
  const org = await service.org();
  const organizationId = org.organization.organization_id;
  await org.put('/organizations', { organization: { email: 'ops@acme.test' } });
  const made = (await org.post('/webhook_endpoints', create({}))).body.webhook_endpoint;
  const disabled = { organizationId, id: made.svc_id, reason: 'failing', at: realNow() };
  expect(await disableWebhookEndpoint(service.sql, disabled)).toBe(true);
  expect(await disableWebhookEndpoint(service.sql, disabled)).toBe(false);
  const { security_logs: logs } = (await org.get('/security_logs?to_date=2999-01-01&log_types[]=webhook_endpoint'))
    .body;
  expect(logs.map((log: { resources: object }) => log.resources)[0]).toEqual({
    svc_id: made.svc_id,
    webhook_url: made.webhook_url,
    status: { deleted: 'enabled', added: 'disabled' },
    disabled_reason: { deleted: null, added: 'failing' },
  });
  expect(logs).toHaveLength(2);

  const owed = await service.sql<{ payload: object }[]>`
    select payload from after_steps where organization_id = ${organizationId}`;
  expect(owed).toMatchObject([{ payload: { template: 'endpoint_disabled', resource_id: made.svc_id } }]);
});

test('a test event goes to its endpoint alone with one attempt, and the answer shows the outcome', async () => {
  const org = await service.org();
  const hooks = await openHookReceiver();
  receivers.push(hooks);
  const made = (await org.post('/webhook_endpoints', create({ webhook_url: `${hooks.url}/a`, event_types: [] }))).body;
  await org.post('/webhook_endpoints', create({ webhook_url: `${hooks.url}/b` }));
  const path = `/webhook_endpoints/${made.webhook_endpoint.svc_id}/test`;
  const good = await org.post(path);
  expect(good).toMatchObject({
    status: 200,
    body: {
      webhook: {
        svc_webhook_endpoint_id: made.webhook_endpoint.svc_id,
        webhook_type: 'webhook.test',
        object_type: 'webhook_endpoint',
        status: 'succeeded',
        http_status: 200,
        response: 'answered 200',
        retries: 0,
      },
    },
  });
  expect(hooks.hooks.map((hook) => hook.path)).toEqual(['/a']);
  expect(JSON.parse(hooks.hooks[0]!.body)).toEqual(good.body.webhook.payload);
  expect(hooks.hooks[0]!.body).not.toContain('whsec_');
  hooks.react(500);
  await org.put(`/webhook_endpoints/${made.webhook_endpoint.svc_id}`, { webhook_endpoint: { enabled: false } });
  expect((await org.post(path)).body.webhook).toMatchObject({ status: 'failed', http_status: 500, retries: 1 });
  expect(hooks.hooks).toHaveLength(2);
});

test.each([
  'http://127.0.0.1/',
  'http://localhost:3000/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::ffff:127.0.0.1]/',
  'http://169.254.169.254/latest',
  'http://10.0.0.1/',
  'http://[fd00::1]/',
  'http://localhost./',
  'http://foo.localhost/',
  'http://x.internal/',
  'http://loc\nalhost/',
])('an endpoint with %j is refused when it is saved where private networks are closed', async (webhook_url) => {
  closed ??= startService({ pools: ['writes'], settings: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' } });
  const org = await (await closed).org();
  const reason = expect.stringMatching(/(is|that is) not public; .*WEBHOOK_ALLOW_PRIVATE_NETWORKS=true/);
  const refused = {
    status: 422,
    body: {
      error_details: { webhook_url: ['url_is_invalid'] },
      error_places: [{ path: 'webhook_endpoint.webhook_url', code: 'url_is_invalid', reason }],
    },
  };
  expect(await org.post('/webhook_endpoints', create({ webhook_url }))).toMatchObject(refused);
  const made = (await org.post('/webhook_endpoints', create({ webhook_url: 'https://8.8.8.8/' }))).body
    .webhook_endpoint;
  const path = `/webhook_endpoints/${made.svc_id}`;
  expect(await org.put(path, { webhook_endpoint: { webhook_url } })).toMatchObject(refused);
  expect((await org.get(path)).body.webhook_endpoint.webhook_url).toBe('https://8.8.8.8/');
});

let closed: Promise<TestService> | undefined;
afterAll(async () => {
  await (await closed)?.stop();
});
