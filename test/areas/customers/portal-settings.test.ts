import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

const DEFAULTS = {
  accent_color: '#2456c9',
  show: { usage: true, projection: true, entitlements: true, wallets: true },
  allow: { pay: true, top_up: false, payment_methods: false, billing_data: false, alerts: false },
  billing_data_fields: ['email', 'legal_name', 'address', 'phone'],
  embed_origins: [],
  support_url: null,
  terms_url: null,
  privacy_url: null,
  hide_product_name: true,
};

let service: TestService;
let acme: Org;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  acme = await service.org({ name: 'Acme' });
  await acme.post('/billing_entities', { billing_entity: { code: 'branch', name: 'Branch' } });
});
afterAll(() => service.stop());

const put = (portal: unknown, org: Org = acme, code = 'branch') =>
  org.put(`/billing_entities/${code}/portal`, { portal });
const shown = async (org: Org = acme, code = 'branch') => (await org.get(`/billing_entities/${code}/portal`)).body;

test('the settings of the portal have defaults until they are set', async () => {
  expect(await shown()).toEqual({ portal: DEFAULTS });
});

test('what is absent stays, null restores the default, each entity has its own', async () => {
  const first = await put({
    accent_color: ' #E91E63',
    allow: { top_up: true },
    embed_origins: ['https://App.example.com:443', 'https://app.example.com', 'https://a.example:8443'],
    support_url: 'https://example.com/help',
  });
  expect([first.status, first.body]).toEqual([
    200,
    {
      portal: {
        ...DEFAULTS,
        accent_color: '#e91e63',
        allow: { ...DEFAULTS.allow, top_up: true },
        embed_origins: ['https://app.example.com', 'https://a.example:8443'],
        support_url: 'https://example.com/help',
      },
    },
  ]);
  const second = await put({ accent_color: null, show: { usage: false }, allow: { pay: 'false' }, support_url: '' });
  const after = {
    portal: {
      ...first.body.portal,
      accent_color: '#2456c9',
      show: { ...DEFAULTS.show, usage: false },
      allow: { ...DEFAULTS.allow, pay: false, top_up: true },
      support_url: null,
    },
  };
  expect(second.body).toEqual(after);
  expect(await shown()).toEqual(after);
  expect(await shown(acme, 'acme')).toEqual({ portal: DEFAULTS });
  await put({ show: null, allow: null, embed_origins: null });
  expect(await shown()).toEqual({ portal: DEFAULTS });
});

test.each([
  ['accent_color', 'red', { accent_color: ['invalid_format'] }],
  ['accent_color', '#12345', { accent_color: ['invalid_format'] }],
  ['accent_color', 7, { accent_color: ['invalid_format'] }],
  ['accent_color', '#1234567', { accent_color: ['invalid_format'] }],
  ['show', 'all', { show: ['value_is_invalid'] }],
  ['show', { usage: 'yes' }, { 'show.usage': ['value_is_invalid'] }],
  ['allow', [], { allow: ['value_is_invalid'] }],
  ['allow', { pay: 2 }, { 'allow.pay': ['value_is_invalid'] }],
  ['billing_data_fields', ['email', 'iban'], { billing_data_fields: ['value_is_invalid'] }],
  ['billing_data_fields', 'email', { billing_data_fields: ['value_is_invalid'] }],
  ['embed_origins', ['http://x.example'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['http://localhost'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['https://x.example/'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['https://x.example/path'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['https://*.example'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ["https://x.example; script-src 'self'"], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['https://me:secret@x.example'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', ['x.example'], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', [null], { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', 'https://x.example', { embed_origins: ['url_is_invalid'] }],
  ['embed_origins', Array.from({ length: 11 }, (_, n) => `https://${n}.example`), { embed_origins: ['invalid_count'] }],
  ['support_url', 'javascript:alert(1)', { support_url: ['url_is_invalid'] }],
  ['terms_url', 'example.com', { terms_url: ['url_is_invalid'] }],
  ['privacy_url', 5, { privacy_url: ['url_is_invalid'] }],
  ['hide_product_name', 'maybe', { hide_product_name: ['value_is_invalid'] }],
])('%s %j is refused (CO32)', async (field, value, error_details) => {
  const { status, body } = await put({ [field]: value });
  expect([status, body.code, body.error_details]).toEqual([422, 'validation_errors', error_details]);
});

test('a sandbox may be framed by a page on the own machine', async () => {
  const sandbox = await service.org({ sandbox: true });
  const [{ code }] = (await sandbox.get('/billing_entities')).body.billing_entities;
  const { body } = await put({ embed_origins: ['http://localhost:5173'] }, sandbox, code);
  expect(body.portal.embed_origins).toEqual(['http://localhost:5173']);
});

test('an unknown entity and a missing root are refused; a change is in both logs', async () => {
  expect((await put({ allow: { pay: true } }, acme, 'nobody')).body).toMatchObject({
    code: 'object_not_found',
    resource: 'billing_entity',
  });
  expect((await acme.put('/billing_entities/branch/portal', {})).status).toBe(400);
  await put({ allow: { payment_methods: true } });
  const [activity] = await service.sql`
    select activity_object_changes as changes from activity_logs
    where organization_id = ${acme.organization.organization_id} and activity_type = 'billing_entities.updated'
    order by logged_at desc, id desc limit 1`;
  expect(activity!.changes.portal[1].allow.payment_methods).toBe(true);
  const [security] = await service.sql`
    select resources from security_logs
    where organization_id = ${acme.organization.organization_id} and log_event = 'billing_entity.updated'
    order by logged_at desc, id desc limit 1`;
  expect(security!.resources.allow.added.payment_methods).toBe(true);
});
