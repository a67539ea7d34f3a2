import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  findTaxesByCodes,
  listTaxesOfBillingEntities,
  listTaxesOfCustomers,
  listTaxesOfPlans,
} from '../../../src/areas/catalog/taxes/queries.ts';
import { replacePlanTaxes } from '../../../src/areas/catalog/taxes/writes.ts';
import { startService, type TestService } from '../../support/service.ts';

type Org = Awaited<ReturnType<TestService['org']>>;

let service: TestService;
let acme: Org;

beforeAll(async () => {
  service = await startService({ pools: ['writes'] });
  acme = await service.org({ name: 'Acme' });
});
afterAll(() => service.stop());

const made = async (tax: object, org: Org = acme) => {
  const answer = await org.post('/taxes', { tax });
  expect(answer.status).toBe(200);
  return answer.body.tax;
};

/** One draft and one finalized invoice for a customer. */
const invoice = (customerId: string) => service.sql`
  insert into invoices (id, organization_id, billing_entity_id, customer_id, invoice_type, status, currency, timezone,
    issuing_date, expected_finalization_date, payment_due_date, net_payment_term, created_at, updated_at)
  select gen_random_uuid(), organization_id, billing_entity_id, id, 'one_off', status, 'EUR', 'UTC', '2024-01-10',
    '2024-01-10', '2024-01-10', 0, created_at, created_at
  from customers, unnest(array['draft', 'finalized']) as status where id = ${customerId}`;

/** External ids of customers with a draft marked for a new computation; unmarks them. */
const flagged = async (org: Org): Promise<string[]> => {
  const rows = await service.sql<{ external_id: string; status: string }[]>`
    with marked as (
      update invoices set ready_to_be_refreshed = false
      where organization_id = ${org.organization.organization_id} and ready_to_be_refreshed
        returning customer_id, status
    )
    select external_id, marked.status from marked join customers on customers.id = marked.customer_id order by 1`;
  expect(rows.every((row) => row.status === 'draft')).toBe(true);
  return rows.map((row) => row.external_id);
};

test('a tax has every field of the contract and the deprecated counters', async () => {
  const tax = await made({ name: 'VAT', code: 'vat', rate: '20.0', description: 'standard' });
  expect(tax).toEqual({
    svc_id: expect.any(String),
    name: 'VAT',
    code: 'vat',
    description: 'standard',
    rate: 20,
    applied_to_organization: false,
    applied_to_billing_entities_codes: [],
    add_ons_count: 0,
    customers_count: 0,
    plans_count: 0,
    charges_count: 0,
    commitments_count: 0,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  });
  expect((await acme.get('/taxes/vat')).body.tax).toEqual(tax);
});

test.each([
  [20, 20],
  ['5.5', 5.5],
  [0, 0],
  ['0.0000000001', 1e-10],
  [125, 125],
])('a rate sent as %s is %s percent', async (rate, shown) => {
  const { code } = await made({ name: 'R', code: `r-${rate}`, rate });
  expect((await acme.get(`/taxes/${code}`)).body.tax.rate).toBe(shown);
});

test.each([
  [{ name: ' ' }, { name: ['value_is_mandatory'] }],
  [{ code: null }, { code: ['value_is_mandatory'] }],
  [{ code: 'x'.repeat(256) }, { code: ['value_is_too_long'] }],
  [{ rate: null }, { rate: ['value_is_mandatory'] }],
  [{ rate: '' }, { rate: ['value_is_mandatory'] }],
  [{ rate: 'much' }, { rate: ['value_is_invalid'] }],
  [{ rate: -0.1 }, { rate: ['value_is_out_of_range'] }],
  [{ rate: '1e30' }, { rate: ['value_is_out_of_range'] }],
  [{ rate: [] }, { rate: ['value_is_invalid'] }],
  [{ description: 'a\u0000' }, { description: ['invalid_format'] }],
  [{ applied_to_organization: 'perhaps' }, { applied_to_organization: ['value_is_invalid'] }],
  [{ exemption_code: 'because' }, { exemption_code: ['invalid_format'] }],
  [{ exemption_code: 'VATEX-EU-999' }, { exemption_code: ['value_is_invalid'] }],
  [{ code: 'taken' }, { code: ['value_already_exist'] }],
  [
    { name: '', code: '', rate: '' },
    { name: ['value_is_mandatory'], code: ['value_is_mandatory'], rate: ['value_is_mandatory'] },
  ],
])('a tax with %o is refused with %o', async (sent, details) => {
  await acme.post('/taxes', { tax: { name: 'Taken', code: 'taken', rate: 1 } });
  const answer = await acme.post('/taxes', { tax: { name: 'N', code: 'refused', rate: 1, ...sent } });
  expect(answer.body).toMatchObject({ status: 422, code: 'validation_errors', error_details: details });
  expect((await acme.get('/taxes/refused')).status).toBe(404);
});

test('a tax without its root key is refused with 400, an unknown one with 404', async () => {
  expect((await acme.post('/taxes', {})).body).toEqual({
    status: 400,
    error: 'BadRequest: param is missing or the value is empty or invalid: tax',
  });
  for (const call of [acme.get('/taxes/no'), acme.put('/taxes/no', { tax: { name: 'x' } }), acme.delete('/taxes/no')]) {
    expect((await call).body).toEqual({ status: 404, error: 'Not Found', code: 'object_not_found', resource: 'tax' });
  }
});

describe('updating a tax', () => {
  test.each(['put', 'patch'] as const)(
    'updating a tax by %s changes only the fields sent, the code too',
    async (method) => {
      await made({ name: 'A', code: `a-${method}`, rate: 10, description: 'd' });
      const changed = await acme[method](`/taxes/a-${method}`, { tax: { rate: '12.5', code: `b-${method}` } });
      expect(changed.body.tax).toMatchObject({ name: 'A', code: `b-${method}`, rate: 12.5, description: 'd' });
      const cleared = await acme[method](`/taxes/b-${method}`, { tax: { description: null } });
      expect(cleared.body.tax.description).toBeNull();
      expect((await acme.get(`/taxes/a-${method}`)).status).toBe(404);
    },
  );

  test('a tax cannot be given a taken code, nor null for a mandatory field', async () => {
    await made({ name: 'A', code: 'one', rate: 10 });
    await made({ name: 'A', code: 'two', rate: 10 });
    const taken = await acme.put('/taxes/two', { tax: { code: 'one', name: 'not stored' } });
    expect(taken.body.error_details).toEqual({ code: ['value_already_exist'] });
    const blank = await acme.put('/taxes/two', { tax: { name: null, rate: null } });
    expect(blank.body.error_details).toEqual({ name: ['value_is_mandatory'], rate: ['value_is_mandatory'] });
    expect((await acme.get('/taxes/two')).body.tax.name).toBe('A');
  });

  test('an update makes a tax apply to the whole organization or to it no longer', async () => {
    const org = await service.org();
    await made({ name: 'A', code: 'a', rate: 10, applied_to_organization: true }, org);
    const applied = (await org.get('/taxes/a')).body.tax;
    expect(applied).toMatchObject({ applied_to_organization: true, applied_to_billing_entities_codes: ['acme'] });
    const kept = await org.put('/taxes/a', { tax: { name: 'B' } });
    expect(kept.body.tax.applied_to_organization).toBe(true);
    const entity = await org.get('/billing_entities/acme');
    expect(entity.body.billing_entity.taxes).toMatchObject([{ code: 'a' }]);
    const taken = await org.put('/taxes/a', { tax: { applied_to_organization: false } });
    expect(taken.body.tax).toMatchObject({ applied_to_organization: false, applied_to_billing_entities_codes: [] });
  });
});

test('of twenty creations of one tax code at the same time one succeeds', async () => {
  const org = await service.org();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => org.post('/taxes', { tax: { name: 'R', code: 'race', rate: 1 } })),
  );
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  const others = answers.filter((answer) => answer.status !== 200);
  for (const { body } of others)
    expect(body).toMatchObject({ status: 422, error_details: { code: ['value_already_exist'] } });
});

test('taxes are listed by name, the newest first among equals, in pages', async () => {
  const org = await service.org();
  expect((await org.get('/taxes')).body).toEqual({
    taxes: [],
    meta: { current_page: 0, next_page: null, prev_page: null, total_pages: 0, total_count: 0 },
  });
  for (const [name, code] of [
    ['B', 'b'],
    ['A', 'a1'],
    ['A', 'a2'],
  ])
    await made({ name, code, rate: 1 }, org);
  const { body } = await org.get('/taxes?per_page=2');
  expect(body.taxes.map((tax: { code: string }) => tax.code)).toEqual(['a2', 'a1']);
  expect(body.meta).toEqual({ current_page: 1, next_page: 2, prev_page: null, total_pages: 2, total_count: 3 });
  expect((await acme.get('/taxes/a1')).status).toBe(404);
});

describe('drafts affected by a tax', () => {
  test('a changed tax flags the drafts of customers that have it, and of customers without taxes whose entity has it', async () => {
    const org = await service.org();
    await made({ name: 'Own', code: 'own', rate: 1 }, org);
    await org.post('/billing_entities', { billing_entity: { code: 'eu', name: 'EU' } });
    for (const customer of [
      { external_id: 'own', tax_codes: ['own'] },
      { external_id: 'plain' },
      { external_id: 'elsewhere', billing_entity_code: 'eu' },
    ])
      await invoice((await org.post('/customers', { customer })).body.customer.svc_id);

    await made({ name: 'Entity', code: 'entity', rate: 1, applied_to_organization: true }, org);
    expect(await flagged(org)).toEqual(['plain']);
    await org.put('/taxes/own', { tax: { rate: 2 } });
    expect(await flagged(org)).toEqual(['own']);
    await org.put('/taxes/entity', { tax: { rate: 2 } });
    expect(await flagged(org)).toEqual(['plain']);
    await org.put('/taxes/entity', { tax: { applied_to_organization: false } });
    expect(await flagged(org)).toEqual(['plain']);
    await org.put('/taxes/entity', { tax: { rate: 3 } });
    expect(await flagged(org)).toEqual([]);
    await org.put('/billing_entities/eu', { billing_entity: { tax_codes: ['ENTITY'] } });
    expect(await flagged(org)).toEqual(['elsewhere']);
    await org.delete('/taxes/entity');
    expect(await flagged(org)).toEqual(['elsewhere']);
    await org.delete('/taxes/own');
    expect(await flagged(org)).toEqual(['own']);
  });
});

test('deleting a tax changes only what is not final, and frees its code', async () => {
  const org = await service.org();
  const organizationId = org.organization.organization_id;
  const tax = await made({ name: 'A', code: 'a', rate: 10, applied_to_organization: true }, org);
  const customer = (await org.post('/customers', { customer: { external_id: 'c', tax_codes: ['a'] } })).body.customer;
  await invoice(customer.svc_id);
  await service.sql`
    insert into invoice_applied_taxes (id, organization_id, invoice_id, tax_id, tax_code, tax_name, tax_rate,
      amount_cents,
      amount_currency, fees_amount_cents, created_at)
    select gen_random_uuid(), organization_id, id, ${tax.svc_id}, 'a', 'A', 10, 1, 'EUR', 10, created_at
    from invoices where organization_id = ${organizationId}`;

  const deleted = await org.delete('/taxes/a');
  expect(deleted.body.tax).toEqual(tax);
  expect((await org.get('/taxes/a')).status).toBe(404);
  expect((await org.get('/customers/c')).body.customer.taxes).toEqual([]);
  expect((await org.get('/billing_entities/acme')).body.billing_entity.taxes).toEqual([]);
  const kept = await service.sql`
    select status from invoice_applied_taxes applied join invoices on invoices.id = applied.invoice_id
    where applied.organization_id = ${organizationId}`;
  expect(kept).toMatchObject([{ status: 'finalized' }]);
  await made({ name: 'A', code: 'a', rate: 11 }, org);
});

describe('taxes as other rooms read them', () => {
  test('taxes are found by code and by the record they apply to', async () => {
    const org = await service.org();
    const organizationId = org.organization.organization_id;
    const [a, b] = [
      await made({ name: 'A', code: 'A', rate: 1 }, org),
      await made({ name: 'B', code: 'b', rate: 2 }, org),
    ];
    const codes = (rows: { code: string }[]) => rows.map((row) => row.code);

    expect(codes(await findTaxesByCodes({ db: service.sql, organizationId }, ['b', 'A', 'b']))).toEqual(['A', 'b']);
    expect(await findTaxesByCodes({ db: service.sql, organizationId }, [])).toEqual([]);
    await expect(findTaxesByCodes({ db: service.sql, organizationId }, ['a'])).rejects.toThrow('"resource":"tax"');
    expect(
      codes(await findTaxesByCodes({ db: service.sql, organizationId }, ['a', 'B'], { ignoreCase: true })),
    ).toEqual(['A', 'b']);

    const { customer } = (await org.post('/customers', { customer: { external_id: 'c', tax_codes: ['b'] } })).body;
    expect(await listTaxesOfCustomers({ db: service.sql, organizationId }, [customer.svc_id])).toMatchObject([
      { code: 'b', customer_id: customer.svc_id },
    ]);
    expect(
      await listTaxesOfCustomers({ db: service.sql, organizationId: acme.organization.organization_id }, [
        customer.svc_id,
      ]),
    ).toEqual([]);
    expect(await listTaxesOfBillingEntities({ db: service.sql, organizationId }, [customer.svc_id])).toEqual([]);

    const [plan] = await service.sql<{ id: string }[]>`
      insert into plans (id, organization_id, code, name, interval, pay_in_advance, amount_cents, amount_currency,
        created_at, updated_at)
      select gen_random_uuid(), id, 'p', 'P', 'monthly', false, 0, 'EUR', created_at, created_at
      from organizations where id = ${organizationId} returning id`;
    await replacePlanTaxes({ db: service.sql, organizationId }, plan!.id, [a.svc_id, b.svc_id]);
    expect(codes(await listTaxesOfPlans({ db: service.sql, organizationId }, [plan!.id]))).toEqual(['A', 'b']);
    await replacePlanTaxes({ db: service.sql, organizationId }, plan!.id, [b.svc_id]);
    expect(codes(await listTaxesOfPlans({ db: service.sql, organizationId }, [plan!.id]))).toEqual(['b']);
    await replacePlanTaxes({ db: service.sql, organizationId }, plan!.id, []);
    expect(await listTaxesOfPlans({ db: service.sql, organizationId }, [plan!.id])).toEqual([]);
  });
});
