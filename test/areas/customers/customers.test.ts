import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkSecret } from '../../../src/platform/keys/deployment-keys.ts';
import type { Client, RequestOptions } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let acme: Org;

beforeAll(async () => {
  service = await startService({ pools: ['writes', 'billing'] });
  acme = await service.org({ name: 'Acme' });
});
afterAll(() => service.stop());

const upsert = (customer: object, client: Client = acme, options: RequestOptions = {}) =>
  client.post('/customers', { customer }, options);
const upserted = async (customer: object, client: Client = acme, options: RequestOptions = {}) => {
  const answer = await upsert(customer, client, options);
  expect(answer.body).toHaveProperty('customer');
  return answer.body.customer;
};

test('a new customer has every field of the contract, with a number and slug of its organization', async () => {
  const org = await service.org({ name: 'Acme' });
  const prefix = `ACM-${org.organization.organization_id.slice(-4).toUpperCase()}`;

  const first = await upsert({ external_id: 'c1' }, org);
  expect(first.status).toBe(200);
  expect(first.body.customer).toEqual({
    svc_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    sequential_id: 1,
    slug: `${prefix}-001`,
    external_id: 'c1',
    billing_entity_code: 'acme',
    account_type: 'customer',
    customer_type: null,
    name: null,
    firstname: null,
    lastname: null,
    legal_name: null,
    legal_number: null,
    tax_identification_number: null,
    email: null,
    phone: null,
    url: null,
    logo_url: null,
    address_line1: null,
    address_line2: null,
    city: null,
    state: null,
    zipcode: null,
    country: null,
    shipping_address: {
      address_line1: null,
      address_line2: null,
      city: null,
      state: null,
      zipcode: null,
      country: null,
    },
    currency: null,
    timezone: null,
    applicable_timezone: 'UTC',
    net_payment_term: null,
    finalize_zero_amount_invoice: 'inherit',
    skip_invoice_custom_sections: false,
    external_salesforce_id: null,
    billing_configuration: {
      subscription_invoice_issuing_date_anchor: null,
      subscription_invoice_issuing_date_adjustment: null,
    },
    metadata: [],
    integration_customers: [],
    taxes: [],
    applicable_invoice_custom_sections: [],
    error_details: [],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  expect((await upserted({ external_id: 'c2' }, org)).slug).toBe(`${prefix}-002`);
});

test('every field of a customer that is sent is stored and shown', async () => {
  const sent = {
    external_id: 'full',
    account_type: 'partner',
    customer_type: 'company',
    name: 'Gavin Belson',
    firstname: 'Gavin',
    lastname: 'Belson',
    legal_name: 'Hooli Inc.',
    legal_number: '049',
    tax_identification_number: 'EU123',
    email: 'a@hooli.com,b@hooli.com',
    phone: '+1 555',
    url: 'https://hooli.com',
    logo_url: 'https://hooli.com/logo.png',
    address_line1: '1 Road',
    address_line2: 'Door 2',
    city: 'Paris',
    state: 'IDF',
    zipcode: '75018',
    country: 'FR',
    shipping_address: {
      address_line1: '3 Street',
      address_line2: null,
      city: 'Lyon',
      state: null,
      zipcode: '69000',
      country: 'FR',
    },
    currency: 'EUR',
    timezone: 'Europe/Paris',
    net_payment_term: 0,
    finalize_zero_amount_invoice: 'skip',
    skip_invoice_custom_sections: true,
    external_salesforce_id: 'sf1',
    billing_configuration: {
      invoice_grace_period: 3,
      subscription_invoice_issuing_date_anchor: 'current_period_end',
      subscription_invoice_issuing_date_adjustment: 'keep_anchor',
      document_locale: 'pt-BR',
      payment_provider: 'gocardless',
      payment_provider_code: 'gc-1',
      provider_payment_methods: ['card', 'link'],
    },
    metadata: [{ key: 'plan', value: 'gold', display_in_invoice: true }],
  };
  const customer = await upserted(sent);
  expect(customer).toMatchObject({ ...sent, applicable_timezone: 'Europe/Paris' });
  expect(customer.metadata[0]).toEqual({
    svc_id: expect.any(String),
    key: 'plan',
    value: 'gold',
    display_in_invoice: true,
    created_at: expect.stringMatching(/Z$/),
  });
  expect((await acme.get('/customers/full')).body.customer).toEqual(customer);
});

test.each([
  [{ country: 'xk' }, { country: 'XK' }],
  [{ country: ' fr ' }, { country: 'FR' }],
  [
    { city: '  ', state: '' },
    { city: null, state: null },
  ],
  [{ name: 'A\u0000B' }, { name: 'AB' }],
  [{ email: ' a@b.co , c–d@e.org\u200b' }, { email: 'a@b.co,c-d@e.org' }],
  [{ email: '' }, { email: null }],
  [{ timezone: 'europe/paris' }, { timezone: 'Europe/Paris' }],
  [{ net_payment_term: '30' }, { net_payment_term: 30 }],
  [{ legal_number: 12 }, { legal_number: '12' }],
  [{ finalize_zero_amount_invoice: null }, { finalize_zero_amount_invoice: 'inherit' }],
  [{ skip_invoice_custom_sections: 'true' }, { skip_invoice_custom_sections: true }],
  [{ currency: 'KWD' }, { currency: 'KWD' }],
  [{ invoice_custom_section_codes: ['unknown'], unknown_field: 1 }, { applicable_invoice_custom_sections: [] }],
  [{ integration_customers: [] }, { integration_customers: [] }],
  [{ url: ' https://Hooli.xyz/\r\nabout\t' }, { url: 'https://Hooli.xyz/about' }],
])('a customer field sent as %o is stored as %o', async (sent, shown) => {
  const options = { beyondContract: 'json.md: texts, numbers and nulls are taken in other forms' };
  expect(await upserted({ external_id: 'spelling', ...sent }, acme, options)).toMatchObject(shown);
  expect((await acme.get('/customers/spelling')).body.customer).toMatchObject(shown);
});

test.each([
  [{ external_id: '' }, { external_id: ['value_is_mandatory'] }],
  [{ external_id: null }, { external_id: ['value_is_mandatory'] }],
  [{ external_id: 'x'.repeat(256) }, { external_id: ['value_is_too_long'] }],
  [{ external_id: 'a\u0000' }, { external_id: ['invalid_format'] }],
  [{ external_id: {} }, { external_id: ['value_is_invalid'] }],
  [{ name: 'x'.repeat(256) }, { name: ['value_is_too_long'] }],
  [{ name: [] }, { name: ['value_is_invalid'] }],
  [{ account_type: 'reseller' }, { account_type: ['value_is_invalid'] }],
  [{ customer_type: 'state' }, { customer_type: ['value_is_invalid'] }],
  [{ country: 'ZZ' }, { country: ['not_a_valid_country_code'] }],
  [{ shipping_address: { country: 'ZZ' } }, { shipping_country: ['not_a_valid_country_code'] }],
  [{ shipping_address: 'x' }, { shipping_address: ['value_is_invalid'] }],
  [{ currency: 'eur' }, { currency: ['value_is_invalid'] }],
  [{ currency: 'XXX' }, { currency: ['value_is_invalid'] }],
  [{ email: 'a@b' }, { email: ['invalid_email_format'] }],
  [{ email: 'a@b.co,' }, { email: ['invalid_email_format'] }],
  [{ url: 'hooli.com' }, { url: ['url_is_invalid'] }],
  [{ logo_url: 'ftp://hooli.com' }, { logo_url: ['url_is_invalid'] }],
  [{ timezone: 'Mars/Olympus' }, { timezone: ['invalid_timezone'] }],
  [{ timezone: '+02:00' }, { timezone: ['invalid_timezone'] }],
  [{ net_payment_term: -1 }, { net_payment_term: ['value_is_out_of_range'] }],
  [{ net_payment_term: 'soon' }, { net_payment_term: ['value_is_invalid'] }],
  [{ net_payment_term: 3_000_000_000 }, { net_payment_term: ['value_is_out_of_range'] }],
  [{ finalize_zero_amount_invoice: 'never' }, { finalize_zero_amount_invoice: ['invalid_value'] }],
  [{ billing_configuration: { invoice_grace_period: -1 } }, { invoice_grace_period: ['value_is_out_of_range'] }],
  [{ billing_configuration: { document_locale: 'tlh' } }, { document_locale: ['not_a_valid_language_code'] }],
  [
    { billing_configuration: { subscription_invoice_issuing_date_anchor: 'x' } },
    { subscription_invoice_issuing_date_anchor: ['value_is_invalid'] },
  ],
  [{ billing_configuration: { payment_provider: 'paypal' } }, { payment_provider: ['value_is_invalid'] }],
  [
    { billing_configuration: { provider_payment_methods: ['cash'] } },
    { provider_payment_methods: ['value_is_invalid'] },
  ],
  [
    { billing_configuration: { provider_payment_methods: ['link'] } },
    { provider_payment_methods: ['value_is_invalid'] },
  ],
  [
    { billing_configuration: { provider_payment_methods: ['card', 'customer_balance'] } },
    { provider_payment_methods: ['value_is_invalid'] },
  ],
  [{ billing_configuration: { provider_payment_methods: [] } }, { provider_payment_methods: ['value_is_mandatory'] }],
  [
    { billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } },
    { base: ['payment_provider_not_found'] },
  ],
  [
    { billing_configuration: { payment_provider: 'stripe', provider_customer_id: 'cus_1' } },
    { base: ['payment_provider_not_found'] },
  ],
  [{ metadata: [{ value: 'v' }] }, { key: ['value_is_mandatory'] }],
  [{ metadata: [{ key: 'k'.repeat(21), value: 'v' }] }, { key: ['value_is_too_long'] }],
  [{ metadata: [{ key: 'k', value: ' ' }] }, { value: ['value_is_mandatory'] }],
  [{ metadata: [{ key: 'k', value: 'v'.repeat(101) }] }, { value: ['value_is_too_long'] }],
  [
    {
      metadata: [
        { key: 'k', value: '1' },
        { key: 'k', value: '2' },
      ],
    },
    { key: ['value_already_exist'] },
  ],
  [{ metadata: ['1', '2', '3', '4', '5', '6'].map((key) => ({ key, value: 'v' })) }, { metadata: ['invalid_count'] }],
  [{ metadata: 'x' }, { metadata: ['value_is_invalid'] }],
  [{ metadata: 'a text that is no list' }, { metadata: ['value_is_invalid'] }],
  [
    { integration_customers: [{ integration_type: 'xero' }, { integration_type: 'xero' }] },
    { integration_customers: ['invalid_count_per_integration_type'] },
  ],
  [
    { integration_customers: [{ integration_type: 'xero', integration_code: 'x' }] },
    { integration_customers: ['integration_not_found'] },
  ],
  [
    { integration_customers: [{ integration_type: 'anrok' }, { integration_type: 'avalara' }] },
    { type: ['tax_integration_exists'] },
  ],
  [
    { account_type: 'partner', integration_customers: [{ integration_type: 'anrok' }] },
    { integration_customers: ['value_must_be_blank'] },
  ],
  [
    { skip_invoice_custom_sections: true, invoice_custom_section_codes: ['a'] },
    { invoice_custom_sections: ['skip_sections_and_selected_ids_sent_together'] },
  ],
  [{ tax_codes: 'vat' }, { tax_codes: ['value_is_invalid'] }],
  [
    { email: 'x', currency: 'x', net_payment_term: -1, shipping_address: { country: 'x' } },
    {
      email: ['invalid_email_format'],
      currency: ['value_is_invalid'],
      net_payment_term: ['value_is_out_of_range'],
      shipping_country: ['not_a_valid_country_code'],
    },
  ],
])('a customer with %o is refused with %o', async (sent, details) => {
  const answer = await upsert({ external_id: 'refused', ...sent });
  expect(answer.status).toBe(422);
  expect({ ...answer.body, error_places: undefined }).toEqual({
    status: 422,
    error: 'Unprocessable Entity',
    code: 'validation_errors',
    error_details: details,
  });
  expect((await acme.get('/customers/refused')).status).toBe(404);
});

test.each([
  [{ billing_entity_code: 'nowhere' }, 'billing_entity'],
  [{ tax_codes: ['nothing'] }, 'tax'],
])('a customer with %o names something unknown and is refused', async (sent, resource) => {
  const answer = await upsert({ external_id: 'unknown', ...sent });
  expect(answer.body).toEqual({ status: 404, error: 'Not Found', code: 'object_not_found', resource });
  expect((await acme.get('/customers/unknown')).status).toBe(404);
});

test('a number in metadata is stored as its exact text', async () => {
  const raw = '{"customer":{"external_id":"exact","metadata":[{"key":"k","value":9007199254740993}]}}';
  const { body } = await acme.post('/customers', undefined, { raw, headers: { 'content-type': 'application/json' } });
  expect(body.customer.metadata).toMatchObject([{ key: 'k', value: '9007199254740993' }]);
});

describe('updating a customer', () => {
  test('an update changes only the fields sent: absent stays, null clears, a partial shipping address sets its parts', async () => {
    const before = await upserted({
      external_id: 'update',
      name: 'Before',
      email: 'a@b.co',
      net_payment_term: 5,
      shipping_address: { city: 'Lyon', country: 'FR' },
      billing_configuration: { invoice_grace_period: 3, document_locale: 'fr' },
    });
    const clears = { beyondContract: 'json.md "absent vs null": null clears' };
    const change = {
      external_id: 'update',
      email: null,
      shipping_address: { city: 'Nice' },
      billing_configuration: { document_locale: null },
    };
    const after = await upserted(change, acme, clears);
    expect(after).toMatchObject({
      svc_id: before.svc_id,
      slug: before.slug,
      name: 'Before',
      email: null,
      net_payment_term: 5,
      shipping_address: { city: 'Nice', country: 'FR' },
    });
    expect(after.billing_configuration.invoice_grace_period).toBe(3);
    expect(after.billing_configuration).not.toHaveProperty('document_locale');
    const none = { external_id: 'update', shipping_address: null, net_payment_term: null };
    const cleared = await upserted(none, acme, clears);
    expect(cleared.shipping_address).toMatchObject({ city: null, country: null });
    expect(cleared.net_payment_term).toBeNull();
  });

  test('an update replaces metadata: named entries change, new ones are added, the rest is removed; two may swap keys', async () => {
    const [a, b] = (
      await upserted({
        external_id: 'meta',
        metadata: [
          { key: 'a', value: '1' },
          { key: 'b', value: '2' },
        ],
      })
    ).metadata;
    const swapped = await upserted({
      external_id: 'meta',
      metadata: [
        { id: a.svc_id, key: 'b', value: '1' },
        { svc_id: b.svc_id, key: 'a', value: '2' },
        { key: 'c', value: '3' },
      ],
    });
    expect(swapped.metadata).toMatchObject([
      { svc_id: a.svc_id, key: 'b', value: '1', created_at: a.created_at },
      { svc_id: b.svc_id, key: 'a', value: '2' },
      { key: 'c', value: '3' },
    ]);
    expect((await upserted({ external_id: 'meta', name: 'kept' })).metadata).toHaveLength(3);
    const one = await upserted({ external_id: 'meta', metadata: [{ id: b.svc_id, key: 'a', value: '9' }] });
    expect(one.metadata).toMatchObject([{ svc_id: b.svc_id, key: 'a', value: '9' }]);
    expect((await upserted({ external_id: 'meta', metadata: [] })).metadata).toEqual([]);
  });

  test('an update replaces the taxes of a customer', async () => {
    await acme.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20 } });
    await acme.post('/taxes', { tax: { name: 'City', code: 'city', rate: '1.5' } });
    const taxed = await upserted({ external_id: 'taxed', tax_codes: ['vat', 'city', 'vat'] });
    expect(taxed.taxes.map((tax: { code: string }) => tax.code)).toEqual(['vat', 'city']);
    expect((await upserted({ external_id: 'taxed', name: 'kept' })).taxes).toHaveLength(2);
    expect((await upserted({ external_id: 'taxed', tax_codes: ['city'] })).taxes).toMatchObject([
      { code: 'city', rate: 1.5 },
    ]);
    const listed = await acme.get('/customers?external_id=taxed');
    expect(listed.body.customers[0].taxes).toMatchObject([{ code: 'city' }]);
    expect((await upserted({ external_id: 'taxed', tax_codes: [] })).taxes).toEqual([]);
  });

  test('a customer moves to another billing entity, and an archived one keeps its customers', async () => {
    const org = await service.org();
    await org.post('/billing_entities', { billing_entity: { code: 'eu', name: 'EU', timezone: 'Europe/Rome' } });
    const moved = await upserted({ external_id: 'm', billing_entity_code: 'eu' }, org);
    expect(moved).toMatchObject({ billing_entity_code: 'eu', applicable_timezone: 'Europe/Rome' });
    await service.sql`
      update billing_entities set archived_at = created_at
      where organization_id = ${org.organization.organization_id} and code = 'eu'`;
    expect((await upserted({ external_id: 'm', billing_entity_code: 'eu' }, org)).billing_entity_code).toBe('eu');
    const refused = await upsert({ external_id: 'n', billing_entity_code: 'eu' }, org);
    expect(refused.body).toMatchObject({ status: 404, resource: 'billing_entity' });
    const listed = await org.get('/customers?billing_entity_codes[]=eu');
    expect(listed.body.meta.total_count).toBe(1);
  });

  test('an update stores a payment provider without a link, and null removes it', async () => {
    const named = await upserted({
      external_id: 'paying',
      billing_configuration: { payment_provider: 'stripe', payment_provider_code: 'main' },
    });
    expect(named.billing_configuration).toMatchObject({
      payment_provider: 'stripe',
      payment_provider_code: 'main',
      provider_payment_methods: ['card'],
    });
    const again = await upsert({ external_id: 'paying', billing_configuration: { sync_with_provider: true } });
    expect(again.body.error_details).toEqual({ base: ['payment_provider_not_found'] });
    const forgotten = await upserted({ external_id: 'paying', billing_configuration: { payment_provider: null } });
    expect(forgotten.billing_configuration).not.toHaveProperty('payment_provider');
    expect(forgotten.billing_configuration).not.toHaveProperty('payment_provider_code');
  });

  test('an update may change the account type until something was billed', async () => {
    const customer = await upserted({ external_id: 'partner' });
    expect((await upserted({ external_id: 'partner', account_type: 'partner' })).account_type).toBe('partner');
    await service.sql`
      insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, currency,
        timezone,
        issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
      select gen_random_uuid(), organization_id, billing_entity_id, id, 'one_off', 'draft', 'EUR', 'UTC', '2024-01-10',
        '2024-01-10', '2024-01-10', 0, created_at, created_at
      from customers where id = ${customer.svc_id}`;
    const refused = await upsert({ external_id: 'partner', account_type: 'customer' });
    expect(refused.body.error_details).toEqual({ account_type: ['value_is_frozen'] });
    expect((await upsert({ external_id: 'partner', account_type: 'partner' })).status).toBe(200);
  });

  test('a new payment term moves the due days of drafts; new taxes flag drafts for a refresh', async () => {
    const customer = await upserted({ external_id: 'drafts' });
    await service.sql`
      insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, currency,
        timezone,
        issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
      select gen_random_uuid(), organization_id, billing_entity_id, id, 'one_off', status, 'EUR', 'UTC', '2024-01-10',
        '2024-01-10', '2024-01-10', 0, created_at, created_at
      from customers, unnest(array['draft', 'finalized']) as status where id = ${customer.svc_id}`;
    const drafts = () => service.sql`
      select status, payment_due_date::text as due, net_payment_term as term, ready_to_be_refreshed as flagged
      from invoices where customer_id = ${customer.svc_id} order by status`;

    await upserted({ external_id: 'drafts', net_payment_term: 30 });
    expect(await drafts()).toMatchObject([
      { status: 'draft', due: '2024-02-09', term: 30, flagged: false },
      { status: 'finalized', due: '2024-01-10', term: 0 },
    ]);
    await upserted({ external_id: 'drafts', net_payment_term: null, tax_codes: [] });
    expect(await drafts()).toMatchObject([
      { status: 'draft', due: '2024-01-10', term: 0, flagged: true },
      { status: 'finalized', flagged: false },
    ]);
  });
});

test('fifty upserts of one external id at the same time create one customer with the next number', async () => {
  const org = await service.org();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => upsert({ external_id: 'race', name: `n${index}` }, org)),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(new Set(answers.map((answer) => answer.body.customer.svc_id)).size).toBe(1);
  expect((await org.get('/customers')).body.meta.total_count).toBe(1);
  expect((await upserted({ external_id: 'next' }, org)).sequential_id).toBe(2);
  const types = await service.sql<{ type: string; count: number }[]>`
    select webhook_type as type, count(*) from webhook_events
    where organization_id = ${org.organization.organization_id} and payload like '%"race"%' group by 1 order by 1`;
  expect([...types]).toEqual([
    { type: 'customer.created', count: 1 },
    { type: 'customer.updated', count: 49 },
  ]);
});

test('a created and an updated customer leave an audit line and an event, a deleted one only a line', async () => {
  const org = await service.org();
  const created = await upserted({ external_id: 'log', name: 'A' }, org);
  await upserted({ external_id: 'log', name: 'B' }, org);
  await org.delete('/customers/log');
  const lines = await service.sql`
    select activity_type, resource_type, resource_id, external_customer_id, activity_object, activity_object_changes
    from activity_logs where organization_id = ${org.organization.organization_id} order by logged_at, id`;
  expect(lines).toMatchObject([
    {
      activity_type: 'customer.created',
      resource_type: 'Customer',
      resource_id: created.svc_id,
      external_customer_id: 'log',
      activity_object: {
        external_id: 'log',
        taxes: [],
        integration_customers: [],
        applicable_invoice_custom_sections: [],
      },
      activity_object_changes: {},
    },
    { activity_type: 'customer.updated', activity_object_changes: { name: ['A', 'B'] } },
    { activity_type: 'customer.deleted', activity_object_changes: {} },
  ]);
  const events = await service.sql<{ payload: string }[]>`
    select payload from webhook_events where organization_id = ${org.organization.organization_id} order by position`;
  expect(events.map(({ payload }) => JSON.parse(payload))).toMatchObject([
    { webhook_type: 'customer.created', object_type: 'customer', customer: { name: 'A', integration_customers: [] } },
    { webhook_type: 'customer.updated', customer: { name: 'B' } },
  ]);
});

describe('a deleted customer', () => {
  test('a deleted customer is not found by any read, its external id is free and its number is not used again', async () => {
    const org = await service.org();
    const customer = await upserted({ external_id: 'gone' }, org);
    const deleted = await org.delete('/customers/gone');
    expect(deleted.status).toBe(200);
    expect(deleted.body.customer).toMatchObject({ svc_id: customer.svc_id, external_id: 'gone' });
    for (const path of ['/customers/gone', '/customers/gone/portal_url']) {
      expect((await org.get(path)).body).toMatchObject({ status: 404, resource: 'customer' });
    }
    expect((await org.delete('/customers/gone')).status).toBe(404);
    expect((await org.get('/customers')).body.customers).toEqual([]);
    const again = await upserted({ external_id: 'gone' }, org);
    expect(again.svc_id).not.toBe(customer.svc_id);
    expect(again.sequential_id).toBe(2);
  });
});

test('deleting a customer ends its active subscriptions and cancels its pending ones', async () => {
  const org = await service.org();
  const { organization_id } = org.organization;
  const customer = await upserted({ external_id: 'leaving' }, org);
  await service.sql`
    with plan as (
      insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
        created_at, updated_at)
      select gen_random_uuid(), id, 'p', 'P', 'monthly', false, 0, 'EUR', created_at, created_at
      from organizations where id = ${organization_id} returning id, created_at
    )
    insert into subscriptions (id, organization_id, customer_id, plan_id, external_id, status, on_termination_invoice,
      subscription_at, started_at, created_at, updated_at)
    select gen_random_uuid(), ${organization_id}::uuid, ${customer.svc_id}::uuid, plan.id, status, status, 'skip',
      created_at,
      created_at, created_at, created_at
    from plan, unnest(array['active', 'pending', 'canceled']) as status`;
  await org.delete('/customers/leaving');
  await until(async () => {
    const rows = await service.sql`
      select external_id, status from subscriptions where organization_id = ${organization_id} order by external_id`;
    expect(rows).toMatchObject([
      { external_id: 'active', status: 'terminated' },
      { external_id: 'canceled', status: 'canceled' },
      { external_id: 'pending', status: 'canceled' },
    ]);
    return true;
  });
});

describe('links for customers', () => {
  test('the portal token names its customer, expires after 12 hours and is signed', async () => {
    const { svc_id } = await upserted({ external_id: 'portal' });
    const before = Math.floor(Date.now() / 1000);
    const { portal_url } = (await acme.get('/customers/portal/portal_url')).body.customer;
    const [, token] = /^http:\/\/127\.0\.0\.1:\d+\/customer-portal\/([\w-]+\.[\w-]+)$/.exec(portal_url)!;
    const [payload, signature] = token!.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
    expect(claims).toEqual({ sub: svc_id, exp: expect.any(Number), aud: 'portal' });
    expect(claims.exp - before).toBeGreaterThanOrEqual(12 * 3600);
    expect(claims.exp - before).toBeLessThan(12 * 3600 + 60);
    const secret = await linkSecret({ db: service.sql, config: service.config });
    expect(signature).toBe(createHmac('sha256', secret).update(payload!).digest('base64url'));
  });

  test('a key that may not write customers gets a portal link for reading, and so does who asks for one', async () => {
    await upserted({ external_id: 'portal' });
    const scopeBy = async (client: Pick<Client, 'get'>, query = '') => {
      const { portal_url } = (await client.get(`/customers/portal/portal_url${query}`)).body.customer;
      return JSON.parse(Buffer.from(portal_url.split('/').at(-1).split('.')[0], 'base64url').toString()).scope;
    };
    const keyWith = async (customer: string[]) => {
      const { api_key } = (await acme.post('/api_keys', { api_key: { permissions: { customer } } })).body;
      return service.client(api_key.value);
    };
    expect(await scopeBy(await keyWith(['read']))).toBe('read');
    expect(await scopeBy(await keyWith(['read', 'write']))).toBeUndefined();
    expect(await scopeBy(acme)).toBeUndefined();
    expect(await scopeBy(acme, '?scope=read')).toBe('read');
    expect((await acme.get('/customers/portal/portal_url?scope=all')).body.error_details).toEqual({
      scope: ['value_is_invalid'],
    });
  });

  test('a checkout link is refused without a linked provider', async () => {
    await upserted({ external_id: 'checkout' });
    const answer = await acme.post('/customers/checkout/checkout_url');
    expect(answer.body).toMatchObject({ status: 422, error_details: { base: ['no_linked_payment_provider'] } });
    expect((await acme.post('/customers/nobody/checkout_url')).body).toMatchObject({
      status: 404,
      resource: 'customer',
    });
  });
});

describe('the list of customers', () => {
  let org: Org;
  beforeAll(async () => {
    org = await service.org();
    const customers = [
      { external_id: 'ant', name: 'Ant 100% Ltd', country: 'FR', state: 'IDF', zipcode: '1', currency: 'EUR' },
      { external_id: 'bee', firstname: 'Beatrix', email: 'queen@hive.io', customer_type: 'company', country: 'DE' },
      { external_id: 'cat', lastname: 'Felis', legal_name: 'Feline SA', account_type: 'partner', currency: 'USD' },
      { external_id: 'dog_1', tax_identification_number: 'FR1', customer_type: 'individual', zipcode: '2' },
      { external_id: 'elk', metadata: [{ key: 'tier', value: 'gold' }] },
      { external_id: 'fox', metadata: [{ key: 'tier', value: 'tin' }] },
    ];
    for (const customer of customers) await upserted(customer, org);
  });

  const found = async (query: string) => {
    const { body } = await org.get(`/customers?${query}`);
    return body.customers.map((customer: { external_id: string }) => customer.external_id);
  };

  test.each([
    ['', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['search_term=%20ANT%20', ['ant']],
    ['search_term=100%25', ['ant']],
    ['search_term=_', ['dog_1']],
    ['search_term=beatrix', ['bee']],
    ['search_term=hive', ['bee']],
    ['search_term=feli', ['cat']],
    ['search_term=%00', []],
    ['external_id=bee&search_term=ant', ['bee']],
    ['account_type[]=partner', ['cat']],
    ['account_type=partner', ['cat']],
    ['account_type[]=partner&account_type[]=customer', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['customer_type=company', ['bee']],
    ['has_customer_type=true', ['dog_1', 'bee']],
    ['has_customer_type=0', ['fox', 'elk', 'cat', 'ant']],
    ['has_customer_type=maybe', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['billing_entity_codes[]=acme', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['countries[]=fr&countries[]=DE', ['bee', 'ant']],
    ['states[]=IDF', ['ant']],
    ['zipcodes[]=1&zipcodes[]=2', ['dog_1', 'ant']],
    ['currencies[]=USD', ['cat']],
    ['has_tax_identification_number=true', ['dog_1']],
    ['metadata[tier]=gold', ['elk']],
    ['metadata[tier]=', ['dog_1', 'cat', 'bee', 'ant']],
    ['metadata[tier]=gold&metadata[other]=', ['elk']],
    ['metadata[%00]=gold', []],
    ['unknown=1&metadata=x', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['page=2&per_page=4', ['bee', 'ant']],
    ['page=0&per_page=-1', ['fox', 'elk', 'dog_1', 'cat', 'bee', 'ant']],
    ['page=9&per_page=4', []],
  ])('customers are listed with ?%s', async (query, externalIds) => {
    expect(await found(query)).toEqual(externalIds);
  });

  test('customers are listed in pages', async () => {
    const { body } = await org.get('/customers?page=2&per_page=4');
    expect(body.meta).toEqual({ current_page: 2, next_page: null, prev_page: 1, total_pages: 2, total_count: 6 });
    expect(body.customers[0]).not.toHaveProperty('error_details');
  });

  test.each([
    ['account_type[]=x', { account_type: ['value_is_invalid'] }],
    ['customer_type=x', { customer_type: ['value_is_invalid'] }],
    ['currencies[]=x', { currencies: ['value_is_invalid'] }],
    ['countries[]=x', { countries: ['value_is_invalid'] }],
  ])('a list of customers with ?%s is refused', async (query, details) => {
    expect((await org.get(`/customers?${query}`)).body).toMatchObject({ status: 422, error_details: details });
  });

  test('a list of customers of an unknown billing entity is refused', async () => {
    const answer = await org.get('/customers?billing_entity_codes[]=acme&billing_entity_codes[]=x');
    expect(answer.body).toMatchObject({ status: 404, resource: 'billing_entity' });
  });
});

test('organizations do not see each other’s customers', async () => {
  const other = await service.org({ name: 'Other' });
  await upserted({ external_id: 'secret', name: 'Mine' });
  expect((await other.get('/customers/secret')).status).toBe(404);
  expect((await other.delete('/customers/secret')).status).toBe(404);
  expect((await other.get('/customers?search_term=secret')).body.customers).toEqual([]);
  expect((await upserted({ external_id: 'secret' }, other)).name).toBeNull();
  expect((await acme.get('/customers/secret')).body.customer.name).toBe('Mine');
});

test('external ids may hold any character', async () => {
  for (const external_id of ['a.b c', 'ü/€', '50% #?&']) {
    const { svc_id } = await upserted({ external_id });
    expect((await acme.get(`/customers/${encodeURIComponent(external_id)}`)).body.customer?.svc_id).toBe(svc_id);
  }
});
