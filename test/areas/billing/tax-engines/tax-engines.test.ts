import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retryTaxes } from '../../../../src/areas/billing/tax-engines/retry-taxes.ts';
import { emptyRetiredSecrets } from '../../../../src/areas/customers/integrations/writes.ts';
import { realNow } from '../../../../src/platform/clock/real-clock.ts';
import { createProducer } from '../../../../src/platform/queue/producer.ts';
import type { Client } from '../../../support/client.ts';
import { ANROK_KEY, type FakeAnrok, fakeAnrok, SECOND_KEY } from '../../../support/fakes/anrok.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok, type Shown } from '../../../support/words.ts';

// Taxes by Anrok, against a double of its interface: tax-engines.md, integrations.md.
let anrok: FakeAnrok;
let service: TestService;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  anrok = await fakeAnrok();
  service = await startService({ settings: { ANROK_API_URL: anrok.url } });
});
afterAll(async () => {
  await service.stop();
  await anrok.close();
});

const DENVER = { country: 'US', state: 'CO', city: 'Denver', zipcode: '80204' };

beforeEach(async () => {
  anrok.mood = 'well';
  anrok.key = ANROK_KEY;
  anrok.records.clear();
  anrok.filed.clear();
  anrok.calls.length = 0;
  anrok.products.clear();
  anrok.products.add('setup');
  anrok.refusal = undefined;
  anrok.forbids = () => false;
  client = await service.org();
  await ok(
    client.post('/integrations', {
      integration: { type: 'anrok', code: 'main', name: 'Main', api_key: ANROK_KEY },
    }),
  );
  await connection('connected');
  await customer(DENVER);
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 15000, amount_currency: 'USD' } }),
  );
});

const connection = (status: string) =>
  until(async () => {
    const { integration } = await ok(client.get('/integrations/main'));
    return integration.status === status ? integration : undefined;
  });
const customer = async (fields: object): Promise<Shown> =>
  (
    await ok(
      client.post('/customers', {
        customer: {
          external_id: 'acme',
          name: 'Acme',
          currency: 'USD',
          integration_customers: [{ integration_type: 'anrok', integration_code: 'main', sync_with_provider: true }],
          ...fields,
        },
      }),
    )
  ).customer;
const oneOff = async (...cents: number[]): Promise<Shown> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: {
          external_customer_id: 'acme',
          currency: 'USD',
          fees: cents.map((unit_amount_cents) => ({ add_on_code: 'setup', unit_amount_cents, units: 1 })),
        },
      }),
    )
  ).invoice;
const shown = async (id: string): Promise<Shown> => (await ok(client.get(`/invoices/${id}`))).invoice;
const inStatus = ({ svc_id }: Shown, status: string): Promise<Shown> =>
  until(async () => {
    const invoice = await shown(svc_id);
    return invoice.status === status ? invoice : undefined;
  });
const hooks = async (type: string): Promise<Shown[]> => {
  const rows = await service.sql<{ payload: string }[]>`
    select payload from webhook_events where organization_id = ${client.organization.organization_id}
      and webhook_type = ${type} order by id`;
  return rows.map(({ payload }) => JSON.parse(payload));
};
const questions = () => service.sql<{ kind: string; status: string; attempts: number }[]>`
  select kind, status, attempts from tax_documents
  where organization_id = ${client.organization.organization_id} order by id`;
/** What is due is asked again, as if so many minutes had passed since it was asked first. */
const minutesLater = async (minutes: number): Promise<void> => {
  const organizationId = client.organization.organization_id;
  await service.sql`
    update tax_documents set asked_at = now() - ${`${minutes} minutes`}::interval, next_attempt_at = now()
    where organization_id = ${organizationId} and status = 'pending'`;
  const { items: due } = await retryTaxes.select(service.sql, realNow(), 'real-time', { limit: 100 });
  const producer = createProducer(service.redis, service.config.REDIS_PREFIX);
  for (const { organization_id, item } of due)
    await producer.add('tax.ask', { organization_id, ...(item as { tax_document_id: never }) });
  await producer.close();
};
const attempted = (times: number) =>
  until(async () => ((await questions()).some(({ attempts }) => attempts >= times) ? true : undefined));

describe('finalization (tax-engines.md#when-an-engine-is-asked)', () => {
  test('a fee of 15000 is taxed 722 as the engine collects it, and recorded once (FI26)', async () => {
    const made = await oneOff(15000);
    expect(made).toMatchObject({ status: 'pending', taxes_amount_cents: 0 });
    const invoice = await inStatus(made, 'finalized');
    expect(invoice).toMatchObject({
      taxes_amount_cents: 722,
      total_amount_cents: 15722,
      applied_taxes: [
        {
          svc_tax_id: null,
          tax_code: 'denver_local_tax',
          tax_name: 'Denver (local) Tax',
          tax_rate: 4.81,
          amount_cents: 722,
          fees_amount_cents: 15000,
        },
      ],
    });
    expect(invoice.fees[0]).toMatchObject({ taxes_amount_cents: 722, taxes_rate: 4.81 });
    expect([...anrok.records.keys()]).toEqual([`svc:${made.svc_id}`]);
    expect(await hooks('invoice.one_off_created')).toHaveLength(1);
    const { verification } = await ok(client.post(`/invoices/${made.svc_id}/verify`, {}));
    expect(verification).toMatchObject({ status: 'equal', differences: [] });
  });

  test('three lines of 3333 in New York are taxed 888 together (FI31), and the explanation shows the answer', async () => {
    await customer({ country: 'US', state: 'NY' });
    const invoice = await inStatus(await oneOff(3333, 3333, 3333), 'finalized');
    expect(invoice.fees.map((fee: Shown) => fee.taxes_amount_cents)).toEqual([296, 296, 296]);
    expect(invoice).toMatchObject({ taxes_amount_cents: 888, total_amount_cents: 10887 });
    const { explanation } = await ok(client.get(`/fees/${invoice.fees[0].svc_id}/explanation`));
    const step = explanation.steps.find(({ code }: Shown) => code === 'tax_provider');
    expect(step).toMatchObject({ output: '296' });
  });

  test('8.25 % on 80 % of 10000 keeps its taxable base of 8000 (FI27)', async () => {
    await customer({ country: 'US', state: 'TX' });
    const invoice = await inStatus(await oneOff(10000), 'finalized');
    expect(invoice).toMatchObject({ taxes_amount_cents: 660, total_amount_cents: 10660 });
    const [row] = await service.sql`
      select tax.taxable_base_amount_cents, (select base_rate::text from fee_applied_taxes
        where fee_id = ${invoice.fees[0].svc_id}) as base_rate
      from invoice_applied_taxes tax where invoice_id = ${invoice.svc_id}`;
    expect(row).toEqual({ taxable_base_amount_cents: 8000, base_rate: '0.8000' });
  });

  test('an unknown product fails the invoice with the reason; a mapping finalizes it (FI30)', async () => {
    anrok.products.clear();
    anrok.products.add('saas');
    const made = await oneOff(15000);
    const failed = await inStatus(made, 'failed');
    expect(failed.error_details).toMatchObject([
      { error_code: 'tax_error', details: { tax_error: 'productExternalIdUnknown' } },
    ]);
    expect(await hooks('customer.tax_provider_error')).toMatchObject([
      {
        object_type: 'tax_provider_customer_error',
        tax_provider_customer_error: {
          external_customer_id: 'acme',
          tax_provider: 'anrock',
          tax_provider_code: 'main',
          provider_error: { error_code: 'productExternalIdUnknown' },
        },
      },
    ]);
    await ok(
      client.put('/integrations/main/mappings', {
        mappings: [{ resource_type: 'add_on', resource_code: 'setup', external_id: 'saas' }],
      }),
    );
    const invoice = await inStatus(made, 'finalized');
    expect(invoice).toMatchObject({ taxes_amount_cents: 722, error_details: [] });
  });

  test('a retry by hand asks again', async () => {
    anrok.products.clear();
    const made = await oneOff(15000);
    await inStatus(made, 'failed');
    anrok.products.add('setup');
    expect((await ok(client.post(`/invoices/${made.svc_id}/retry`, {}))).invoice.status).toBe('pending');
    await inStatus(made, 'finalized');
  });

  test('a better address asks again by itself', async () => {
    await customer({ country: null, state: null });
    const made = await oneOff(15000);
    await inStatus(made, 'failed');
    await customer(DENVER);
    expect(await inStatus(made, 'finalized')).toMatchObject({ taxes_amount_cents: 722 });
  });

  test('an engine that is away for 40 minutes leaves one record and one invoice (FI29)', async () => {
    anrok.mood = 'away';
    const made = await oneOff(15000);
    await attempted(1);
    expect((await shown(made.svc_id)).status).toBe('pending');
    await minutesLater(5);
    await attempted(2);
    expect((await shown(made.svc_id)).status).toBe('pending');
    expect(await hooks('customer.tax_provider_error')).toEqual([]);
    await minutesLater(15);
    expect((await inStatus(made, 'failed')).error_details).toMatchObject([{ error_code: 'tax_error' }]);
    await minutesLater(30);
    await attempted(4);
    expect(await hooks('customer.tax_provider_error')).toHaveLength(1);
    anrok.mood = 'well';
    await minutesLater(60);
    expect(await inStatus(made, 'finalized')).toMatchObject({ taxes_amount_cents: 722, error_details: [] });
    expect([...anrok.records.keys()]).toEqual([`svc:${made.svc_id}`]);
    expect(await hooks('invoice.one_off_created')).toHaveLength(1);
  });

  test('an answer that is lost after the record was made leaves one record and one invoice', async () => {
    anrok.mood = 'lost';
    const made = await oneOff(15000);
    await attempted(1);
    expect(anrok.records.size).toBe(1);
    anrok.mood = 'well';
    await minutesLater(1);
    await inStatus(made, 'finalized');
    expect([...anrok.records.keys()]).toEqual([`svc:${made.svc_id}`]);
    const records = anrok.calls.filter(({ path }) => path === 'createOrUpdate');
    const sent = records.map(({ body }) => JSON.stringify(body));
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
  });

  test('an invoice of nothing is not sent', async () => {
    const invoice = await inStatus(await oneOff(0), 'finalized');
    expect(invoice.total_amount_cents).toBe(0);
    expect(anrok.records.size).toBe(0);
  });

  test('an invoice that waits when the connection ends takes our own rates', async () => {
    await ok(client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20, applied_to_organization: true } }));
    anrok.products.clear();
    const made = await oneOff(15000);
    await inStatus(made, 'failed');
    await ok(client.delete('/integrations/main'));
    expect(await inStatus(made, 'finalized')).toMatchObject({ taxes_amount_cents: 3000 });
  });
});

describe('what is given back (tax-engines.md#when-an-engine-is-asked)', () => {
  const note = (invoice: Shown, amount_cents: number, credit: number) =>
    ok(
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: invoice.svc_id,
          credit_amount_cents: credit,
          items: [{ fee_id: invoice.fees[0].svc_id, amount_cents }],
        },
      }),
    );

  test('a note of half the fee gives back 361 and is recorded with a negative line; so is the second (FI26)', async () => {
    const invoice = await inStatus(await oneOff(15000), 'finalized');
    const first = (await note(invoice, 7500, 7861)).credit_note;
    expect(first).toMatchObject({ taxes_amount_cents: 361, precise_taxes_amount_cents: '360.75' });
    const second = (await note(invoice, 7500, 7861)).credit_note;
    expect(second.taxes_amount_cents).toBe(361);
    await until(async () => (anrok.records.size === 3 ? true : undefined));
    const recorded = anrok.records.get(`svc:note:${first.svc_id}`)!;
    expect(recorded.body.lineItems).toMatchObject([{ productExternalId: 'setup', amount: -7500 }]);
  });

  test('a void is taken back there; what was filed is negated', async () => {
    const [open, filed] = [
      await inStatus(await oneOff(15000), 'finalized'),
      await inStatus(await oneOff(15000), 'finalized'),
    ];
    anrok.filed.add(`svc:${filed.svc_id}`);
    for (const { svc_id } of [open, filed]) await ok(client.post(`/invoices/${svc_id}/void`, {}));
    await until(async () => anrok.records.get(`svc:${open.svc_id}`)?.voided || undefined);
    const negation = await until(async () => anrok.records.get(`svc:${filed.svc_id}:void`));
    expect(negation.negates).toBe(`svc:${filed.svc_id}`);
  });
});

describe('connections (integrations.md#status)', () => {
  test('a wrong key is refused before anything is stored', async () => {
    const integration = { type: 'anrok', code: 'other', name: 'Other', api_key: 'wrong' };
    const answer = await client.post('/integrations', { integration });
    expect([answer.status, answer.body.code, answer.body.error_details]).toEqual([
      422,
      'third_party_error',
      { third_party: 'anrok', thirdparty_error: 'Unauthorized' },
    ]);
    expect((await client.get('/integrations/other')).status).toBe(404);
    expect((await client.put('/integrations/main', { integration: { api_key: 'wrong' } })).status).toBe(422);
    await connection('connected');
  });

  test('a connection is stored while the engine is out of reach', async () => {
    anrok.mood = 'away';
    const integration = { type: 'anrok', code: 'other', name: 'Other', api_key: SECOND_KEY };
    expect((await ok(client.post('/integrations', { integration }))).integration.status).toBe('unverified');
  });

  test('names with U+0000 are stored without it, in an answer and in a refusal', async () => {
    anrok.mood = 'odd';
    anrok.odd = (found) => JSON.parse(JSON.stringify(found).replaceAll('Denver', 'Den\\u0000ver'));
    const invoice = await inStatus(await oneOff(15000), 'finalized');
    expect(invoice.applied_taxes).toMatchObject([{ tax_name: 'Denver (local) Tax', amount_cents: 722 }]);
    anrok.refusal = { type: 'odd\0Type' };
    const { error_details } = await inStatus(await oneOff(15000), 'failed');
    expect(error_details).toMatchObject([{ details: { tax_error: 'oddType' } }]);
  });

  test.each([
    ['one call', [15000], 2],
    ['three calls, which make the connection fail,', [15000, 15001, 15002], 7],
  ])(
    'a key that may not do %s asks nothing again and again, while other calls are refused',
    async (_case, nets, most) => {
      anrok.forbids = ({ lineItems }) => lineItems?.[0].amount >= 15000;
      anrok.refusal = { type: 'customerAddressCouldNotResolve' };
      for (const net of nets) await inStatus(await oneOff(net), 'failed');
      await inStatus(await oneOff(5000), 'failed');
      // Long enough for ten more calls.
      await new Promise((done) => setTimeout(done, 1500));
      expect(anrok.calls.filter(({ path }) => path === 'createOrUpdate').length).toBeLessThanOrEqual(most);
    },
  );

  test('a key that stops working makes a connection failing, which is announced; calls are listed', async () => {
    anrok.key = 'another';
    await ok(client.post('/integrations/main/check', {}));
    expect(await connection('failing')).toMatchObject({
      last_error: 'Unauthorized',
      api_key_last4: 'good',
      live: true,
    });
    expect(await hooks('integration.provider_error')).toMatchObject([
      { provider_error: { provider: 'anrok', provider_code: 'main', provider_error: { error_code: 'unauthorized' } } },
    ]);
    const { integration_calls: calls } = await ok(client.get('/integrations/main/calls?per_page=1'));
    expect(calls[0]).toMatchObject({
      operation: 'check',
      http_status: 401,
      error: 'unauthorized',
      body: '"Unauthorized"',
    });
    anrok.key = ANROK_KEY;
    await ok(client.post('/integrations/main/check', {}));
    expect(await connection('connected')).toMatchObject({ last_error: null });
  });

  test('a body that a failure repeats is listed without numbers of cards and accounts', async () => {
    anrok.refusal = {
      type: 'productExternalIdUnknown',
      iban: 'DE89370400440532013000',
      note: 'card 4242 4242 4242 4242',
    };
    await inStatus(await oneOff(15000), 'failed');
    const { integration_calls: calls } = await ok(client.get('/integrations/main/calls'));
    const { body } = calls.find(({ operation }: Shown) => operation === 'record');
    expect(JSON.parse(body)).toEqual({
      type: 'productExternalIdUnknown',
      iban: '[…3000]',
      note: 'card [card …4242]',
    });
  });

  test('a new key asks again about everything that the old one was refused for', async () => {
    anrok.key = 'renewed';
    const made = await oneOff(15000);
    expect((await inStatus(made, 'failed')).error_details).toMatchObject([{ details: { tax_error: 'unauthorized' } }]);
    await ok(client.put('/integrations/main', { integration: { api_key: 'renewed' } }));
    await inStatus(made, 'finalized');
  });

  test('a call that was refused for its key is repeated by itself', async () => {
    anrok.key = 'another';
    const made = await oneOff(15000);
    await inStatus(made, 'failed');
    anrok.key = ANROK_KEY;
    await minutesLater(1);
    await inStatus(made, 'finalized');
  });

  test('an answer that breaks what follows from it is shown, listed and asked for again', async () => {
    // The total of the invoice would be more than cents can be counted to.
    anrok.mood = 'odd';
    anrok.odd = (found) => ({
      ...found,
      lineItems: found.lineItems.map((line: Shown) => ({ ...line, taxAmountToCollect: Number.MAX_SAFE_INTEGER })),
    });
    const made = await oneOff(15000);
    await attempted(1);
    const { integration_calls: calls } = await ok(client.get('/integrations/main/calls?per_page=1'));
    expect(calls).toMatchObject([{ operation: 'record', error: 'unreadable_answer' }]);
    anrok.mood = 'well';
    await minutesLater(1);
    await inStatus(made, 'finalized');
  });

  test('the secrets of a connection that was deleted 30 days ago are emptied', async () => {
    await ok(client.delete('/integrations/main'));
    const secrets = async () => {
      const [row] = await service.sql<{ secrets: object }[]>`
        select secrets from integrations where organization_id = ${client.organization.organization_id}`;
      return Object.keys(row!.secrets);
    };
    await emptyRetiredSecrets(service.sql, realNow().add({ hours: 24 * 29 }), 100);
    expect(await secrets()).toEqual(['api_key']);
    await emptyRetiredSecrets(service.sql, realNow().add({ hours: 24 * 30 + 1 }), 100);
    expect(await secrets()).toEqual([]);
  });
});

describe('links of customers (customers.md#integrations)', () => {
  const saved = (fields: object) => client.post('/customers', { customer: { external_id: 'acme', ...fields } });
  const errors = async (fields: object) => {
    const { status, body } = await saved(fields);
    return [status, body.error_details];
  };

  test('two tax engines that are named by their codes alone are refused', async () => {
    const integration = { type: 'anrok', code: 'other', name: 'Other', api_key: SECOND_KEY };
    await ok(client.post('/integrations', { integration }));
    const both = ['main', 'other'].map((integration_code) => ({ integration_code, sync_with_provider: true }));
    expect(await errors({ integration_customers: both })).toEqual([422, { type: ['tax_integration_exists'] }]);
  });

  test('a customer that becomes a partner must give up its link', async () => {
    await ok(
      saved({ external_id: 'ally', integration_customers: [{ integration_code: 'main', sync_with_provider: true }] }),
    );
    const partner = { external_id: 'ally', account_type: 'partner' };
    expect(await errors(partner)).toEqual([422, { integration_customers: ['value_must_be_blank'] }]);
    expect((await saved({ ...partner, integration_customers: [] })).status).toBe(200);
  });
});
