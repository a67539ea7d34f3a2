import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/client.ts';
import { startService, type TestService } from '../../support/service.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

const PNG = `data:image/png;base64,${Buffer.from('\x89PNG').toString('base64')}`;

let service: TestService;
let acme: Org;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  acme = await service.org({ name: 'Acme' });
});
afterAll(() => service.stop());

const made = async (entity: object, org: Org = acme, options: RequestOptions = {}) => {
  const answer = await org.post('/billing_entities', { billing_entity: entity }, options);
  expect(answer.body).toHaveProperty('billing_entity');
  return answer.body.billing_entity;
};
const change = (code: string, entity: object, org: Org = acme, options: RequestOptions = {}) =>
  org.put(`/billing_entities/${code}`, { billing_entity: entity }, options);

test('a new organization has its default billing entity with the same id', async () => {
  const org = await service.org({ name: 'Big Corp' });
  const { body } = await org.get('/billing_entities');
  expect(body).toEqual({
    billing_entities: [
      expect.objectContaining({
        svc_id: org.organization.organization_id,
        code: 'big_corp',
        name: 'Big Corp',
        is_default: true,
      }),
    ],
  });
});

test('a new billing entity has every field of the contract', async () => {
  const entity = await made({ code: 'new', name: 'Newcomer' });
  expect(entity).toEqual({
    svc_id: expect.any(String),
    code: 'new',
    name: 'Newcomer',
    default_currency: 'USD',
    country: null,
    address_line1: null,
    address_line2: null,
    city: null,
    state: null,
    zipcode: null,
    phone: null,
    email: null,
    legal_name: null,
    legal_number: null,
    tax_identification_number: null,
    timezone: 'UTC',
    net_payment_term: 0,
    email_settings: [],
    document_numbering: 'per_customer',
    document_number_prefix: `NEW-${entity.svc_id.slice(-4).toUpperCase()}`,
    finalize_zero_amount_invoice: true,
    invoice_footer: null,
    invoice_grace_period: 0,
    subscription_invoice_issuing_date_anchor: 'next_period_start',
    subscription_invoice_issuing_date_adjustment: 'align_with_finalization_date',
    document_locale: 'en',
    einvoicing: false,
    eu_tax_management: false,
    logo_url: null,
    is_default: false,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  expect((await acme.get('/billing_entities/new')).body.billing_entity).toEqual({
    ...entity,
    taxes: [],
    selected_invoice_custom_sections: [],
  });
});

test('every field of a billing entity that is sent is stored, and null restores the default', async () => {
  const sent = {
    name: 'Full',
    default_currency: 'EUR',
    country: 'FR',
    address_line1: '1',
    address_line2: '2',
    city: 'Paris',
    state: 'IDF',
    zipcode: '75',
    phone: '+33',
    email: 'a@b.co',
    legal_name: 'Full SA',
    legal_number: '1',
    tax_identification_number: 'FR1',
    timezone: 'Europe/Paris',
    net_payment_term: 30,
    email_settings: ['invoice.finalized'],
    document_numbering: 'per_billing_entity',
    document_number_prefix: 'FULL',
    finalize_zero_amount_invoice: false,
    einvoicing: false,
    eu_tax_management: true,
  };
  const configuration = {
    invoice_footer: 'bye',
    invoice_grace_period: 3,
    subscription_invoice_issuing_date_anchor: 'current_period_end',
    subscription_invoice_issuing_date_adjustment: 'keep_anchor',
    document_locale: 'fr',
  };
  const full = { ...sent, ...configuration, logo_url: PNG };
  expect(await made({ code: 'full', ...sent, logo: PNG, billing_configuration: configuration })).toMatchObject(full);
  expect((await change('full', { phone: '+44' })).body.billing_entity).toMatchObject({ ...full, phone: '+44' });
  const nothing = {
    country: null,
    einvoicing: null,
    eu_tax_management: null,
    timezone: null,
    default_currency: null,
    net_payment_term: null,
    email_settings: null,
    document_number_prefix: null,
    logo: '',
    billing_configuration: { invoice_footer: null, invoice_grace_period: null, document_locale: null },
  };
  const cleared = await change('full', nothing, acme, { beyondContract: 'json.md "absent vs null": null clears' });
  expect(cleared.body.billing_entity).toMatchObject({
    country: null,
    einvoicing: false,
    eu_tax_management: false,
    timezone: 'UTC',
    default_currency: 'USD',
    net_payment_term: 0,
    email_settings: [],
    logo_url: null,
    invoice_footer: null,
    invoice_grace_period: 0,
    document_locale: 'en',
    subscription_invoice_issuing_date_anchor: 'current_period_end',
  });
  expect(cleared.body.billing_entity.document_number_prefix).toMatch(/^FUL-/);
});

test('currency, country and prefix of a billing entity are upper-cased', async () => {
  const given = { code: 'case', name: 'C', default_currency: 'eur', country: 'de', document_number_prefix: 'c-1' };
  const entity = await made(given, acme, { beyondContract: 'json.md "countries": upper-cased on input' });
  expect(entity).toMatchObject({ default_currency: 'EUR', country: 'DE', document_number_prefix: 'C-1' });
});

const wrong: [object, object][] = [
  [{ name: '' }, { name: ['value_is_mandatory'] }],
  [{ country: 'ZZ' }, { country: ['not_a_valid_country_code'] }],
  [{ default_currency: 'XXX' }, { default_currency: ['value_is_invalid'] }],
  [{ billing_configuration: { document_locale: 'x' } }, { document_locale: ['not_a_valid_language_code'] }],
  [{ email: 'x' }, { email: ['invalid_email_format'] }],
  [{ timezone: 'x' }, { timezone: ['invalid_timezone'] }],
  [{ billing_configuration: { invoice_footer: 'x'.repeat(601) } }, { invoice_footer: ['value_is_too_long'] }],
  [{ document_number_prefix: '' }, { document_number_prefix: ['value_is_too_short'] }],
  [{ document_number_prefix: 'x'.repeat(11) }, { document_number_prefix: ['value_is_too_long'] }],
  [{ billing_configuration: { invoice_grace_period: -1 } }, { invoice_grace_period: ['value_is_out_of_range'] }],
  [{ net_payment_term: -1 }, { net_payment_term: ['value_is_out_of_range'] }],
  [{ logo: 'data:image/gif;base64,AAAA' }, { logo: ['invalid_content_type'] }],
  [{ logo: `data:image/png;base64,${'A'.repeat(1_100_000)}` }, { logo: ['invalid_size'] }],
  [{ email_settings: ['invoice.paid'] }, { email_settings: ['unsupported_value'] }],
  [{ email_settings: 'invoice.finalized' }, { email_settings: ['unsupported_value'] }],
  [{ billing_configuration: 'x' }, { billing_configuration: ['value_is_invalid'] }],
  [{ einvoicing: true }, { einvoicing: ['country_must_be_present'] }],
  [{ einvoicing: true, country: 'IT' }, { einvoicing: ['country_not_supported'] }],
  [{ e_document_profile: 'ubl' }, { e_document_profile: ['value_is_invalid'] }],
  [{ e_invoicing: { legal_scheme: 'SIREN' } }, { 'e_invoicing.legal_scheme': ['invalid_format'] }],
  [{ e_invoicing: { legal_scheme: '9999' } }, { 'e_invoicing.legal_scheme': ['value_is_invalid'] }],
  [{ e_invoicing: { endpoint_scheme: '1' } }, { 'e_invoicing.endpoint_scheme': ['value_is_invalid'] }],
  [
    { e_invoicing: { buyer_reference: '04011000-12345-04', leitweg_id: true } },
    { 'e_invoicing.buyer_reference': ['invalid_format'] },
  ],
  [{ eu_tax_management: true }, { eu_tax_management: ['billing_entity_must_be_in_eu'] }],
  [{ eu_tax_management: true, country: 'GB' }, { eu_tax_management: ['billing_entity_must_be_in_eu'] }],
  [{ document_numbering: 'per_organization' }, { document_numbering: ['value_is_invalid'] }],
  [
    { billing_configuration: { subscription_invoice_issuing_date_anchor: 'x' } },
    { subscription_invoice_issuing_date_anchor: ['value_is_invalid'] },
  ],
  [
    { billing_configuration: { subscription_invoice_issuing_date_adjustment: 'x' } },
    { subscription_invoice_issuing_date_adjustment: ['value_is_invalid'] },
  ],
  [
    { email: 'x', timezone: 'x' },
    { email: ['invalid_email_format'], timezone: ['invalid_timezone'] },
  ],
];

test.each([
  ...wrong,
  [{ code: '' }, { code: ['value_is_mandatory'] }],
  [{ code: 'acme' }, { code: ['value_already_exist'] }],
])('a new billing entity with %o is refused with %o', async (sent, details) => {
  const answer = await acme.post('/billing_entities', { billing_entity: { code: 'refused', name: 'R', ...sent } });
  expect(answer.body).toMatchObject({ status: 422, error_details: details });
  expect((await acme.get('/billing_entities/refused')).status).toBe(404);
});

test.each([...wrong, [{ code: 'other' }, { code: ['value_is_frozen'] }]])(
  'a change of a billing entity to %o is refused with %o',
  async (sent, details) => {
    const before = (await acme.get('/billing_entities/acme')).body;
    expect((await change('acme', sent)).body).toMatchObject({ status: 422, error_details: details });
    expect((await acme.get('/billing_entities/acme')).body).toEqual(before);
  },
);

describe('changing a billing entity', () => {
  test('PATCH changes a billing entity like PUT, and its stored code may be sent again', async () => {
    await made({ code: 'patched', name: 'P' });
    const answer = await acme.patch('/billing_entities/patched', { billing_entity: { code: 'patched', name: 'Q' } });
    expect(answer.body.billing_entity.name).toBe('Q');
  });

  test('a change of an unknown billing entity is refused with 404', async () => {
    const missing = { status: 404, error: 'Not Found', code: 'object_not_found', resource: 'billing_entity' };
    expect((await change('nowhere', { name: 'x' })).body).toEqual(missing);
    expect((await acme.get('/billing_entities/nowhere')).body).toEqual(missing);
  });

  test('a change to a country outside the Union is refused while its taxes are managed', async () => {
    await made({ code: 'french', name: 'F', country: 'FR', eu_tax_management: true });
    expect((await change('french', { country: 'US' })).body.error_details).toEqual({
      eu_tax_management: ['billing_entity_must_be_in_eu'],
    });
    expect((await change('french', { country: 'US', eu_tax_management: false })).status).toBe(200);
  });

  test('taxes of a billing entity are replaced, whatever the case of their codes', async () => {
    await acme.post('/taxes', { tax: { name: 'VAT', code: 'Vat', rate: 20 } });
    await made({ code: 'taxed', name: 'T' });
    const taxed = await change('taxed', { tax_codes: ['vAT'] });
    expect(taxed.body.billing_entity.taxes).toMatchObject([
      { code: 'Vat', applied_to_billing_entities_codes: ['taxed'] },
    ]);
    expect((await change('taxed', { name: 'U' })).body.billing_entity.taxes).toHaveLength(1);
    expect((await change('taxed', { tax_codes: ['no'] })).body).toMatchObject({ status: 404, resource: 'tax' });
    expect((await change('taxed', { tax_codes: [] })).body.billing_entity.taxes).toEqual([]);
  });

  test('a new payment term moves the due days of drafts of customers without their own', async () => {
    const org = await service.org();
    for (const customer of [{ external_id: 'plain' }, { external_id: 'own', net_payment_term: 5 }])
      await org.post('/customers', { customer });
    await service.sql`
      insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, currency,
        timezone,
        issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
      select gen_random_uuid(), organization_id, billing_entity_id, id, 'one_off', 'draft', 'EUR', 'UTC', '2024-01-10',
        '2024-01-10', '2024-01-10', 0, created_at, created_at
      from customers where organization_id = ${org.organization.organization_id}`;
    await change('acme', { net_payment_term: 30 }, org);
    const rows = await service.sql`
      select external_id, payment_due_date::text as due, invoices.net_payment_term as term
      from invoices join customers on customers.id = invoices.customer_id
      where invoices.organization_id = ${org.organization.organization_id} order by external_id`;
    expect(rows).toMatchObject([
      { external_id: 'own', due: '2024-01-10', term: 0 },
      { external_id: 'plain', due: '2024-02-09', term: 30 },
    ]);
  });

  test('numbering per entity continues from the count of numbered invoices', async () => {
    const org = await service.org();
    const { organization_id } = org.organization;
    await org.post('/customers', { customer: { external_id: 'c' } });
    await service.sql`
      insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, self_billed,
        number,
        currency, timezone, issuing_date, expected_finalization_date, payment_due_date, net_payment_term, finalized_at,
        created_at, updated_at)
      select gen_random_uuid(), organization_id, billing_entity_id, id, 'one_off', row.status, row.self_billed,
        row.number,
        'EUR', 'UTC', '2024-01-10', '2024-01-10', '2024-01-10', 0, created_at + row.later * interval '1 hour',
        created_at,
        created_at
      from customers, (values ('finalized', false, 'A-1', 1), ('voided', false, 'A-2', 2), ('finalized', true, 'A-3',
        3),
        ('draft', false, null, 4)) as row (status, self_billed, number, later)
      where organization_id = ${organization_id}`;
    await change('acme', { document_numbering: 'per_billing_entity' }, org);
    const numbered = await service.sql`
      select number, billing_entity_sequential_id as sequence from invoices
      where organization_id = ${organization_id} and billing_entity_sequential_id is not null`;
    expect(numbered).toMatchObject([{ number: 'A-2', sequence: 2 }]);
    const [entity] = await service.sql`select invoices_sequence from billing_entities where id = ${organization_id}`;
    expect(entity).toEqual({ invoices_sequence: 2 });
  });

  test('creating and changing billing entities leaves audit lines under their plural names', async () => {
    const org = await service.org();
    await made({ code: 'log', name: 'L' }, org);
    await change('log', { name: 'M' }, org);
    const lines = await service.sql`
      select activity_type, resource_type, activity_object_changes, activity_object -> 'taxes' as taxes,
        external_customer_id
      from activity_logs where organization_id = ${org.organization.organization_id} order by logged_at, id`;
    expect(lines).toMatchObject([
      {
        activity_type: 'billing_entities.created',
        resource_type: 'BillingEntity',
        taxes: [],
        external_customer_id: null,
      },
      { activity_type: 'billing_entities.updated', activity_object_changes: { name: ['L', 'M'] } },
    ]);
  });
});

test('billing entities are listed oldest first and only in their organization', async () => {
  const org = await service.org({ name: 'Zed' });
  await made({ code: 'b', name: 'B' }, org);
  await made({ code: 'a', name: 'A' }, org);
  const codes = (await org.get('/billing_entities')).body.billing_entities.map(
    (entity: { code: string }) => entity.code,
  );
  expect(codes).toEqual(['zed', 'b', 'a']);
  expect((await acme.get('/billing_entities/zed')).status).toBe(404);
});

test('an archived billing entity keeps its customers and cannot be chosen until it is restored', async () => {
  const own = await service.org();
  const [byDefault] = (await own.get('/billing_entities')).body.billing_entities;
  expect((await own.post(`/billing_entities/${byDefault.code}/archive`)).body).toMatchObject({
    status: 405,
    code: 'not_deletable',
  });
  await own.post('/billing_entities', { billing_entity: { code: 'second', name: 'Second' } });
  const put = (external_id: string) =>
    own.post('/customers', { customer: { external_id, billing_entity_code: 'second' } });
  expect((await put('before')).status).toBe(200);
  expect((await own.post('/billing_entities/second/archive')).status).toBe(200);
  expect((await own.post('/billing_entities/second/archive')).status).toBe(200);
  expect((await put('before')).body.customer.billing_entity_code).toBe('second');
  expect((await put('after')).body).toMatchObject({ status: 404, resource: 'billing_entity' });
  expect((await own.post('/billing_entities/second/restore')).status).toBe(200);
  expect((await put('after')).status).toBe(200);
  const { activity_logs: logs } = (await own.get('/activity_logs?activity_types[]=billing_entities.updated')).body;
  const times = logs
    .map((log: { activity_object_changes: { archived_at: unknown } }) => log.activity_object_changes.archived_at)
    .reverse();
  expect(times).toEqual([
    [null, expect.any(String)],
    [expect.any(String), null],
  ]);
  expect((await own.post('/billing_entities/none/archive')).body.resource).toBe('billing_entity');
});

// Rule: docs/rules/e-documents.md "facts".
test('facts for electronic documents are merged key by key and shown while they are set', async () => {
  const code = 'documents';
  await acme.post('/billing_entities', { billing_entity: { name: 'Documents', code, country: 'DE' } });
  const change = async (fields: object) => {
    const { status, body, text } = await acme.put(`/billing_entities/${code}`, { billing_entity: fields });
    expect(status, text).toBe(200);
    return body.billing_entity;
  };
  expect(await change({ name: 'Documents' })).not.toHaveProperty('e_invoicing');
  expect(
    await change({
      einvoicing: true,
      e_document_profile: 'xrechnung_ubl',
      e_invoicing: { contact_name: 'Office', tax_registration: '30/123/45678', buyer_reference: null },
      bank_accounts: [{ iban: 'de89 3704 0044 0532 0130 00', currency: 'EUR' }],
    }),
  ).toMatchObject({
    einvoicing: true,
    e_document_profile: 'xrechnung_ubl',
    e_invoicing: { contact_name: 'Office', tax_registration: '30/123/45678' },
    bank_accounts: [{ iban: 'DE89370400440532013000', bic: null, holder: null, currency: 'EUR' }],
  });
  const merged = await change({ e_invoicing: { tax_registration: null, endpoint_id: '4012345000009' } });
  expect(merged.e_invoicing).toEqual({ contact_name: 'Office', endpoint_id: '4012345000009' });
  const cleared = await change({ e_invoicing: null, bank_accounts: [], e_document_profile: null });
  for (const key of ['e_invoicing', 'bank_accounts', 'e_document_profile']) expect(cleared).not.toHaveProperty(key);
});
