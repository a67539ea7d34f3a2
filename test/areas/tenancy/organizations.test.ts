import { createHash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listOrganizations } from '../../../src/areas/tenancy/organizations/queries.ts';
import { rotateApiKey } from '../../../src/areas/tenancy/organizations/rotate-api-key.ts';
import { countStatements } from '../../support/count-statements.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
});
afterAll(() => service.stop());

type Org = Awaited<ReturnType<TestService['org']>>;
const change = (org: Org, organization: object) => org.put('/organizations', { organization });

test('an organization is shown with its default entity, its endpoints and whether it is a sandbox', async () => {
  const org = await service.org({ name: 'Acme', sandbox: true });
  const id = org.organization.organization_id;
  expect((await org.get('/organizations')).body.organization).toEqual({
    svc_id: id,
    name: 'Acme',
    slug: `acme-${id.slice(-12)}`,
    sandbox: true,
    default_currency: 'USD',
    created_at: expect.stringMatching(/Z$/),
    webhook_url: '',
    webhook_urls: [],
    country: null,
    address_line1: null,
    address_line2: null,
    state: null,
    zipcode: null,
    email: null,
    city: null,
    legal_name: null,
    legal_number: null,
    timezone: 'UTC',
    net_payment_term: 0,
    email_settings: [],
    document_numbering: 'per_customer',
    document_number_prefix: `ACM-${id.slice(-4).toUpperCase()}`,
    tax_identification_number: null,
    finalize_zero_amount_invoice: true,
    billing_configuration: { invoice_footer: null, invoice_grace_period: 0, document_locale: 'en' },
    events_store: 'postgres',
    taxes: [],
  });
});

test('a change of an organization also changes its default billing entity and keeps absent fields', async () => {
  const org = await service.org();
  await org.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20, applied_to_organization: true } });
  const sent = {
    country: 'FR',
    default_currency: 'EUR',
    address_line1: '1 Road',
    city: 'Paris',
    email: 'a@b.co',
    legal_name: 'Acme SA',
    net_payment_term: 30,
    timezone: 'Europe/Paris',
    document_number_prefix: 'ACME',
    finalize_zero_amount_invoice: false,
    email_settings: ['invoice.finalized', 'credit_note.created'],
  };
  const configuration = { invoice_footer: 'bye', invoice_grace_period: 2, document_locale: 'fr' };
  const changed = await change(org, {
    ...sent,
    name: 'Acme',
    slug: 'acme-sa',
    document_numbering: 'per_organization',
    billing_configuration: configuration,
  });
  expect(changed.body.organization).toMatchObject({
    ...sent,
    slug: 'acme-sa',
    document_numbering: 'per_organization',
    billing_configuration: configuration,
    taxes: [{ code: 'vat' }],
  });
  expect((await org.get('/billing_entities/acme')).body.billing_entity).toMatchObject({
    ...sent,
    ...configuration,
    document_numbering: 'per_billing_entity',
  });
  const cleared = await change(org, { city: null, timezone: null, document_numbering: 'per_customer' });
  expect(cleared.body.organization).toMatchObject({ city: null, timezone: 'UTC', country: 'FR', net_payment_term: 30 });
  expect((await org.get('/billing_entities/acme')).body.billing_entity).toMatchObject({
    city: null,
    timezone: 'UTC',
    document_numbering: 'per_customer',
    document_number_prefix: 'ACME',
  });
});

describe('refused changes of an organization', () => {
  let org: Org;
  beforeAll(async () => {
    org = await service.org();
    await change(await service.org(), { slug: 'taken' });
    await change(org, { country: 'FR' });
    await org.put('/billing_entities/acme', { billing_entity: { eu_tax_management: true } });
  });

  test.each([
    [{ name: 'Other' }, { name: ['value_is_frozen'] }],
    [{ slug: 'ab' }, { slug: ['value_is_too_short'] }],
    [{ slug: 'x'.repeat(41) }, { slug: ['value_is_too_long'] }],
    [{ slug: 'Acme' }, { slug: ['invalid_format'] }],
    [{ slug: '-acme' }, { slug: ['invalid_format'] }],
    [{ slug: 'api-keys' }, { slug: ['value_is_reserved'] }],
    [{ slug: '404' }, { slug: ['value_is_reserved'] }],
    [{ slug: null }, { slug: ['value_is_mandatory'] }],
    [{ slug: 'taken' }, { slug: ['value_already_exist'] }],
    [{ country: 'ZZ' }, { country: ['not_a_valid_country_code'] }],
    [{ default_currency: 'ZZZ' }, { default_currency: ['value_is_invalid'] }],
    [{ email: 'x' }, { email: ['invalid_email_format'] }],
    [{ timezone: 'x' }, { timezone: ['invalid_timezone'] }],
    [{ net_payment_term: -1 }, { net_payment_term: ['value_is_out_of_range'] }],
    [{ email_settings: ['x'] }, { email_settings: ['unsupported_value'] }],
    [{ document_numbering: 'per_billing_entity' }, { document_numbering: ['value_is_invalid'] }],
    [{ document_number_prefix: 'x'.repeat(11) }, { document_number_prefix: ['value_is_too_long'] }],
    [{ billing_configuration: { invoice_grace_period: -1 } }, { invoice_grace_period: ['value_is_out_of_range'] }],
    [{ billing_configuration: { invoice_footer: 'x'.repeat(601) } }, { invoice_footer: ['value_is_too_long'] }],
    [{ webhook_url: 'ftp://x.io' }, { webhook_url: ['url_is_invalid'] }],
    [
      { country: 'US', name: 'Other' },
      {
        name: ['value_is_frozen'],
        eu_tax_management: ['billing_entity_must_be_in_eu'],
      },
    ],
  ])('an organization with %o is refused with %o', async (sent, details) => {
    const before = (await org.get('/organizations')).body;
    expect((await change(org, sent)).body).toMatchObject({ status: 422, error_details: details });
    expect((await org.get('/organizations')).body).toEqual(before);
  });
});

test('the webhook URL of an organization creates the first endpoint, then moves it', async () => {
  const org = await service.org();
  await change(org, { webhook_url: '' });
  await change(org, { webhook_url: 'https://one.example/hook' });
  await org.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'https://a.example/hook' } });
  const moved = await change(org, { webhook_url: 'https://two.example/hook' });
  expect(moved.body.organization).toMatchObject({
    webhook_url: 'https://two.example/hook',
    webhook_urls: ['https://two.example/hook', 'https://a.example/hook'],
  });
  const taken = await change(org, { webhook_url: 'https://a.example/hook' });
  expect(taken.body.error_details).toEqual({ webhook_url: ['value_already_exist'] });
  const blank = await change(org, { webhook_url: null });
  expect(blank.body.error_details).toEqual({ webhook_url: ['value_is_mandatory'] });
});

describe('rotating an API key by the operator', () => {
  test('rotating a key creates one with the same permissions and ends the old one', async () => {
    const org = await service.org({ name: 'Rotated' });
    const { organization_id, api_key, hmac_key } = org.organization;
    await service.sql`
      update api_keys set permissions = '{"customer": ["read"]}',
        name = 'shop' where organization_id = ${organization_id}`;
    const rotated = await rotateApiKey(service.sql, { organizationId: organization_id }, service.config);
    expect(rotated).toEqual({ organization_id, name: 'Rotated', api_key: expect.any(String), hmac_key });
    expect((await service.client(api_key).get('/customers')).status).toBe(401);
    const client = service.client(rotated.api_key);
    expect((await client.get('/customers')).status).toBe(200);
    expect((await client.get('/taxes')).body.code).toBe('read_action_not_allowed_for_tax');
    const [line] = await service.sql`
      select log_event, resources, api_key_id from security_logs where organization_id = ${organization_id}`;
    expect(line).toMatchObject({
      log_event: 'api_key.rotated',
      resources: { name: 'shop', last4: { deleted: api_key.slice(-4), added: rotated.api_key.slice(-4) } },
      api_key_id: null,
    });
    const [row] = await service.sql`
      select name, last_four, value_digest from api_keys
        where organization_id = ${organization_id} and expires_at is null`;
    expect(row).toEqual({
      name: 'shop',
      last_four: rotated.api_key.slice(-4),
      value_digest: createHash('sha256').update(rotated.api_key).digest(),
    });
  });

  test('a rotated key may stay valid for a while, and its last characters then choose which one is meant', async () => {
    const { organization } = await service.org();
    const organizationId = organization.organization_id;
    const expiresAt = Temporal.Instant.from('2099-01-01T00:00:00Z');
    const second = await rotateApiKey(service.sql, { organizationId, expiresAt, name: 'second' }, service.config);
    expect((await service.client(organization.api_key).get('/customers')).status).toBe(200);
    await expect(rotateApiKey(service.sql, { organizationId }, service.config)).rejects.toThrow('last_four');
    const lastFour = organization.api_key.slice(-4);
    const third = await rotateApiKey(service.sql, { organizationId, lastFour }, service.config);
    const listed = await listOrganizations(service.sql, Temporal.Instant.from('2090-01-01T00:00:00Z'));
    expect(listed.find((each) => each.id === organizationId)!.keys).toEqual([
      second.api_key.slice(-4),
      third.api_key.slice(-4),
    ]);
  });

  test.each([
    [{ organizationId: 'nowhere' }, 'organization'],
    [{ organizationId: '01a1fe4e-4ffe-713d-969c-8c16ff3e06f2' }, 'organization'],
  ])('rotating a key of %o is refused', async (input, resource) => {
    await expect(rotateApiKey(service.sql, input)).rejects.toMatchObject({ status: 404, body: { resource } });
  });

  test('rotating a key with an end in the past, or an unknown key, is refused', async () => {
    const organizationId = (await service.org()).organization.organization_id;
    const expiresAt = Temporal.Instant.from('2020-01-01T00:00:00Z');
    await expect(rotateApiKey(service.sql, { organizationId, expiresAt }, service.config)).rejects.toThrow(
      'invalid_date',
    );
    await expect(rotateApiKey(service.sql, { organizationId, lastFour: '----' }, service.config)).rejects.toThrow(
      'api_key',
    );
  });
});

describe('settings of an organization', () => {
  const settings = (org: Org, sent: object) => org.put('/organizations/settings', { settings: sent });

  test('settings are shown with their effective values, changed one by one and written to the audit trail', async () => {
    const org = await service.org();
    const shown = {
      audit_logs_period: 30,
      wallet_limit: 6,
      hosted_page_wait_minutes: 0,
      deny_when_overdue: false,
      usage_policies: null,
      personal_properties: [],
      rate_limits: {
        events: 100000,
        events_bulk: 10,
        current_usage: 100000,
        access: 1000,
        budgets: 2000,
        default: 100000,
      },
      ai: {
        event_code: 'ai_usage',
        book_currency: 'USD',
        use_deployment_prices: true,
        cost_source: 'book',
        emit: 'call',
        margin_dimensions: [],
        subscription_keys: ['external_subscription_id'],
        cloud_event_types: {},
      },
    };
    expect((await org.get('/organizations/settings')).body).toEqual({ settings: shown });
    const changed = { ...shown, audit_logs_period: 400, usage_policies: { corrections: 'ignore', late_events: null } };
    const sent = {
      audit_logs_period: '400',
      usage_policies: { corrections: 'ignore' },
      rate_limits: { events: 100000 },
    };
    expect((await settings(org, sent)).body).toEqual({ settings: changed });
    const policies = { corrections: null, late_events: 'next_invoice' };
    const replaced = await settings(org, { usage_policies: { late_events: 'next_invoice' } });
    expect(replaced.body.settings.usage_policies).toEqual(policies);
    expect((await settings(org, { usage_policies: null })).body.settings.usage_policies).toBeNull();
    const trail = (await org.get('/activity_logs?activity_types[]=organization.updated')).body.activity_logs;
    expect(trail[2].activity_object_changes).toEqual({
      audit_logs_period: [30, 400],
      usage_policies: [null, changed.usage_policies],
    });
  });

  test.each<[object, Record<string, string[]>]>([
    [{ audit_logs_period: 0 }, { audit_logs_period: ['value_is_out_of_range'] }],
    [{ audit_logs_period: 401 }, { audit_logs_period: ['value_is_out_of_range'] }],
    [{ audit_logs_period: null }, { audit_logs_period: ['value_is_mandatory'] }],
    [{ wallet_limit: 101 }, { wallet_limit: ['value_is_out_of_range'] }],
    [{ wallet_limit: 'many' }, { wallet_limit: ['value_is_invalid'] }],
    [{ hosted_page_wait_minutes: 5 }, { hosted_page_wait_minutes: ['value_is_invalid'] }],
    [{ deny_when_overdue: 'sometimes' }, { deny_when_overdue: ['value_is_invalid'] }],
    [{ personal_properties: ['email'] }, { personal_properties: ['unsupported_value'] }],
    [{ usage_policies: { corrections: 'x' } }, { 'usage_policies.corrections': ['value_is_invalid'] }],
    [{ usage_policies: { late_events: 'never' } }, { 'usage_policies.late_events': ['value_is_invalid'] }],
    [{ rate_limits: { events: 5 } }, { rate_limits: ['value_is_frozen'] }],
    [{ ai: { emit: 'both' } }, { 'ai.emit': ['value_is_invalid'] }],
    [{ ai: { book_currency: 'XXY' } }, { 'ai.book_currency': ['value_is_invalid'] }],
    [{ ai: { margin_dimensions: ['a', 'b', 'c', 'd'] } }, { 'ai.margin_dimensions': ['value_is_too_long'] }],
    [{ ai: { cost_source: 'guess' } }, { 'ai.cost_source': ['value_is_invalid'] }],
    [{ ai: { event_code: '' } }, { 'ai.event_code': ['value_is_mandatory'] }],
  ])('a settings change with %j is refused', async (sent, details) => {
    const org = await service.org();
    expect((await settings(org, sent)).body.error_details).toEqual(details);
  });

  test('a customer may have as many wallets as the setting allows', async () => {
    const org = await service.org();
    await settings(org, { wallet_limit: 1 });
    await org.post('/customers', { customer: { external_id: 'ada', currency: 'EUR' } });
    const wallet = (code: string) =>
      org.post('/wallets', {
        wallet: { external_customer_id: 'ada', code, name: code, rate_amount: '1', currency: 'EUR' },
      });
    expect((await wallet('first')).status).toBe(200);
    expect((await wallet('second')).body.error_details).toEqual({ customer: ['wallet_limit_reached'] });
  });

  test('a setting limits the days for which logs are shown', async () => {
    const org = await service.org();
    await org.post('/customers', { customer: { external_id: 'ada' } });
    await service.sql`
      update activity_logs set created_at = created_at - interval '31 days'
      where organization_id = ${org.organization.organization_id}`;
    const count = async () => (await org.get('/activity_logs?resource_types[]=Customer')).body.meta.total_count;
    expect(await count()).toBe(0);
    await settings(org, { audit_logs_period: 32 });
    expect(await count()).toBe(1);
  });
});

describe('retention of an organization', () => {
  const defaults = {
    issued_documents: 3650,
    ledger: null,
    events_raw: null,
    api_logs: 30,
    activity_logs: 30,
    security_logs: 90,
    webhook_deliveries: 90,
    inbound_events: 90,
    webhook_events: 30,
    simulations: 30,
    dead_letters: 30,
    unmatched_events: 30,
    verifications: 400,
    budgets: 100,
    ai_usage_hours: 400,
    mails: 400,
    event_volumes: 400,
    wallet_days: 400,
    webhook_hours: 30,
  };
  const keep = (org: Org, retention: object) => org.put('/retention', { retention });

  test('retention is shown by class and can be changed where rows are deleted by it', async () => {
    const org = await service.org();
    expect((await org.get('/retention')).body).toEqual({ retention: defaults });
    const sent = { api_logs: 3650, verifications: 30, ledger: null, events_raw: 90 };
    expect((await keep(org, sent)).body).toEqual({ retention: { ...defaults, ...sent } });
    await org.put('/organizations/settings', { settings: { audit_logs_period: 7 } });
    expect((await org.get('/retention')).body.retention).toEqual({ ...defaults, ...sent, activity_logs: 7 });
    const trail = (await org.get('/activity_logs?activity_types[]=retention.updated')).body.activity_logs;
    expect(trail[0].activity_object_changes).toEqual({
      api_logs: [30, 3650],
      events_raw: [null, 90],
      verifications: [400, 30],
    });
  });

  test.each<[object, Record<string, string[]>]>([
    [
      { api_logs: 0, activity_logs: 3651 },
      { api_logs: ['value_is_out_of_range'], activity_logs: ['value_is_out_of_range'] },
    ],
    [{ security_logs: 6 }, { security_logs: ['value_is_out_of_range'] }],
    [{ webhook_deliveries: null }, { webhook_deliveries: ['value_is_mandatory'] }],
    [{ events_raw: 89 }, { events_raw: ['value_is_out_of_range'] }],
    [{ ledger: 3650 }, { ledger: ['unsupported_value'] }],
    [{ issued_documents: 4000 }, { issued_documents: ['unsupported_value'] }],
  ])('a retention change with %j is refused', async (sent, details) => {
    const org = await service.org();
    expect((await keep(org, sent)).body.error_details).toEqual(details);
  });
});

test('settings and retention require permissions, and reading them takes one round trip', async () => {
  const org = await service.org();
  const permissions = { organization: ['read'], customer: ['read'] };
  const { value } = (await org.post('/api_keys', { api_key: { permissions } })).body.api_key;
  const client = service.client(value);
  expect((await client.get('/organizations/settings')).status).toBe(200);
  const refused = await client.put('/organizations/settings', { settings: { wallet_limit: 7 } });
  expect(refused.body.code).toBe('write_action_not_allowed_for_organization');
  expect((await client.get('/retention')).body.code).toBe('read_action_not_allowed_for_retention');
  expect((await client.put('/retention', {})).body.code).toBe('write_action_not_allowed_for_retention');
  for (const operation of ['findOrganizationSettings', 'findRetention']) {
    const read = await countStatements(service, org.organization.organization_id, operation, {
      now: '2026-01-01T00:00:00Z',
    });
    expect(read.roundTrips).toBe(1);
  }
  const read = await countStatements(service, org.organization.organization_id, 'findOrganization', {
    now: '2026-01-01T00:00:00Z',
  });
  expect(read.roundTrips).toBeLessThanOrEqual(2);
});
