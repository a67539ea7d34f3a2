import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { ok } from '../support/words.ts';

// RT1 of other-routes.md#records: every record of its table from a fresh organization, over HTTP alone.
const OPERATOR = 'the operator of this service';
let service: TestService;
let story: Story;
let client: Client;

beforeAll(async () => {
  service = await startService({ settings: { OPERATOR_TOKEN: OPERATOR } });
  story = await openStory(service, '2026-03-01T00:00:00Z');
  ({ client } = story);
  await ok(client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'cards', name: 'Cards' } }));
  await story.customer({
    billing_configuration: { payment_provider: 'stripe', payment_provider_code: 'cards', sync_with_provider: true },
  });
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1000, amount_currency: 'USD' } }),
  );
});
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
type Shown = any;

const resourceOf = async (path: string): Promise<unknown> => {
  const { status, body } = await client.get(path);
  return status === 404 && body.resource;
};
const oneOff = async (): Promise<Shown> => {
  const fees = [{ add_on_code: 'setup', units: 3 }];
  return (await ok(client.post('/invoices', { invoice: { external_customer_id: 'acme', currency: 'USD', fees } })))
    .invoice;
};

const callsOf = (invoice: Shown): Shown => invoice.fees.find((fee: Shown) => fee.item.code === 'calls');

/** The usual verbs: of each record how it is made and what is changed of it. */
test.each<[collection: string, record: string, key: 'code' | 'svc_id', made: object, changed: object]>([
  ['pricing_units', 'pricing_unit', 'code', { code: 'cr', name: 'Credit', short_name: 'CR' }, { name: 'Credits' }],
  [
    'invoice_custom_sections',
    'invoice_custom_section',
    'code',
    { code: 'terms', name: 'Terms' },
    { details: 'Net 30' },
  ],
  ['api_keys', 'api_key', 'svc_id', { name: 'Shop', permissions: { customer: ['read'] } }, { name: 'Store' }],
  ['webhook_endpoints', 'webhook_endpoint', 'svc_id', { webhook_url: 'https://a.example/' }, { name: 'Main' }],
])('%s are created, read, changed, listed and removed', async (collection, record, key, made, changed) => {
  const { [record]: first } = await ok(client.post(`/${collection}`, { [record]: made }));
  const path = `/${collection}/${first[key]}`;
  expect(first).toMatchObject(made);
  expect((await ok(client.get(path)))[record]).toMatchObject(made);
  expect((await ok(client.put(path, { [record]: changed })))[record]).toMatchObject({ ...made, ...changed });
  const listed = await ok(client.get(`/${collection}?per_page=100`));
  expect(listed[collection].filter((each: Shown) => each[key] === first[key])).toMatchObject([{ ...made, ...changed }]);
  expect(listed.meta.total_count).toBeGreaterThan(0);
  expect((await ok(client.delete(path)))[record]).toMatchObject({ [key]: first[key] });
  const gone = await ok(client.get(`/${collection}?per_page=100`));
  const left = gone[collection].filter((each: Shown) => each[key] === first[key]);
  expect(left).toEqual([]);
  expect(await resourceOf(path)).toBe(record);
});

test('an API key is rotated and cannot grant what it lacks', async () => {
  const { api_key: key } = await ok(
    client.post('/api_keys', { api_key: { name: 'Clerk', permissions: { api_key: ['read', 'write'] } } }),
  );
  const { api_key: heir } = await ok(client.post(`/api_keys/${key.svc_id}/rotate`, { api_key: { name: 'Heir' } }));
  expect(heir).toMatchObject({ name: 'Heir', permissions: key.permissions, value: expect.any(String) });
  const refused = await service
    .client(heir.value)
    .post('/api_keys', { api_key: { permissions: { invoice: ['read'] } } });
  expect(refused.status).toBe(403);
  expect((await service.client(key.value).get('/api_keys')).status).toBe(401);
});

test('the HMAC key of webhooks is read and rotated', async () => {
  const { webhook } = await ok(client.get('/webhooks/hmac_key'));
  expect(webhook).toEqual({ hmac_key: expect.any(String), former_expires_at: null });
  const { webhook: rotated } = await ok(client.post('/webhooks/hmac_key/rotate', { expires_in_hours: 2 }));
  expect(rotated.hmac_key).not.toBe(webhook.hmac_key);
  expect(await ok(client.get('/webhooks/hmac_key'))).toEqual({ webhook: rotated });
});

test('settings of an organization are read and changed one by one', async () => {
  const { settings } = await ok(client.get('/organizations/settings'));
  expect(settings).toMatchObject({ wallet_limit: 6, deny_when_overdue: false, personal_properties: [] });
  const changed = (await ok(client.put('/organizations/settings', { settings: { wallet_limit: 7 } }))).settings;
  expect(changed).toEqual({ ...settings, wallet_limit: 7 });
});

test('a billing entity is archived and restored', async () => {
  await ok(client.post('/billing_entities', { billing_entity: { code: 'branch', name: 'Branch' } }));
  await ok(client.post('/billing_entities/branch/archive'));
  const chosen = { customer: { external_id: 'new', billing_entity_code: 'branch' } };
  expect((await client.post('/customers', chosen)).body).toMatchObject({ status: 404, resource: 'billing_entity' });
  await ok(client.post('/billing_entities/branch/restore'));
  expect((await ok(client.post('/customers', chosen))).customer.billing_entity_code).toBe('branch');
  const [entity] = (await ok(client.get('/billing_entities'))).billing_entities;
  expect((await client.post(`/billing_entities/${entity.code}/archive`)).body).toMatchObject({
    status: 405,
    code: 'not_deletable',
  });
});

test('a quote is created, its version changed, read and listed', async () => {
  const { quote } = await ok(
    client.post('/quotes', { quote: { external_customer_id: 'acme', order_type: 'one_off', content: 'First' } }),
  );
  const path = `/quote_versions/${quote.current_version.svc_id}`;
  await ok(client.put(path, { quote_version: { content: 'Second' } }));
  expect((await ok(client.get(path))).quote_version).toMatchObject({ content: 'Second', status: 'draft' });
  expect((await ok(client.get('/quotes'))).quotes).toMatchObject([{ svc_id: quote.svc_id }]);
  expect((await ok(client.post(`${path}/void`))).quote_version.status).toBe('voided');
});

test('payment methods, provider events and deliveries are created by what happens, read, retried and removed', async () => {
  await until(
    async () => (await client.get('/customers/acme')).body.customer.billing_configuration.provider_customer_id,
  );
  const cards = '/customers/acme/payment_methods';
  const { payment_method: card } = await ok(
    client.post(cards, { payment_method: { card_number: '4000000000003220' } }),
  );
  expect((await ok(client.get(cards))).payment_methods).toMatchObject([{ svc_id: card.svc_id }]);
  const { webhook_endpoint: endpoint } = await ok(
    client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:1024/' } }),
  );
  const invoice = await oneOff();
  const asked = await until(async () =>
    (await client.get(`/payments?invoice_id=${invoice.svc_id}`)).body.payments?.find(
      (each: Shown) => each.next_action?.type,
    ),
  );
  await ok(client.post(`/sandbox/payments/${asked.svc_id}/confirm`, { outcome: 'succeeded' }));
  const event = await until(
    async () =>
      (await client.get('/inbound_events?payment_provider_code=cards&statuses[]=succeeded')).body.inbound_events[0],
  );
  expect((await ok(client.get(`/inbound_events/${event.svc_id}`))).inbound_event).toMatchObject({
    svc_id: event.svc_id,
  });
  expect((await client.post(`/inbound_events/${event.svc_id}/retry`)).body).toMatchObject({
    status: 405,
    code: 'invalid_status',
  });
  const deliveries = `/webhook_endpoints/${endpoint.svc_id}/webhooks`;
  const { svc_id: deliveryId } = await until(async () => (await client.get(deliveries)).body.webhooks[0]);
  expect((await ok(client.get(`/webhooks/${deliveryId}`))).webhook.svc_webhook_endpoint_id).toBe(endpoint.svc_id);
  expect((await ok(client.post(`/webhooks/${deliveryId}/retry`))).webhook.status).toBe('pending');
  await ok(client.delete(`/webhook_endpoints/${endpoint.svc_id}`));
  expect(await resourceOf(`/webhooks/${deliveryId}`)).toBe('webhook');
  await ok(client.delete(`${cards}/${card.svc_id}`));
  expect((await ok(client.get(cards))).payment_methods).toEqual([]);
});

test('fees of a draft are adjusted, drafts finalized, and an invoice is regenerated, written off, reversed and balanced', async () => {
  const unit = { code: 'tokens', name: 'Tokens', short_name: 'TOK' };
  await ok(client.post('/pricing_units', { pricing_unit: unit }));
  const metric = { name: 'Calls', code: 'calls', aggregation_type: 'count_agg' };
  const { billable_metric } = await ok(client.post('/billable_metrics', { billable_metric: metric }));
  const charge = {
    billable_metric_id: billable_metric.svc_id,
    charge_model: 'standard',
    properties: { amount: '10' },
    applied_pricing_unit: { code: 'tokens', conversion_rate: '0.5' },
  };
  await story.plan({ amount_cents: 0, charges: [charge] });
  const grace = { invoice_grace_period: 3 };
  await ok(
    client.post('/customers', { customer: { external_id: 'late', currency: 'USD', billing_configuration: grace } }),
  );
  expect((await story.subscribe({ external_customer_id: 'late' })).status).toBe(200);
  for (const transaction_id of ['a', 'b', 'c'])
    await ok(client.post('/events', { event: { transaction_id, external_subscription_id: 'sub', code: 'calls' } }));
  await story.advanceTo('2026-04-01T01:00:00Z');
  const [draft] = await story.invoices(1, 'late');
  // 3 calls of 10 tokens at 0.50.
  expect(draft).toMatchObject({ status: 'draft', fees_amount_cents: 1500 });
  const adjusted = { fee_id: callsOf(draft).svc_id, units: '5' };
  const fees = `/invoices/${draft.svc_id}/adjusted_fees`;
  expect((await ok(client.post(`${fees}/preview`, { adjusted_fee: adjusted }))).fee.units).toBe('5.0');
  expect((await ok(client.post(fees, { adjusted_fee: adjusted }))).fee.units).toBe('5.0');
  expect((await ok(client.delete(`${fees}/${adjusted.fee_id}`))).fee.units).toBe('3.0');

  await ok(client.post('/invoices/finalize_all', { external_customer_id: 'late' }));
  const issued = await until(async () => {
    const { invoice } = (await client.get(`/invoices/${draft.svc_id}`)).body;
    return invoice.status === 'finalized' && invoice;
  });
  await ok(client.post('/invoices/retry_all'));
  await ok(client.post(`/invoices/${draft.svc_id}/void`));
  const { invoice: anew } = await ok(
    client.post(`/invoices/${draft.svc_id}/regenerate`, { invoice: { fees: [{ id: callsOf(issued).svc_id }] } }),
  );
  expect(anew).toMatchObject({ fees_amount_cents: 1500, status: 'finalized' });
  const dueOf = async () => {
    const { customer_balance } = await ok(client.get('/customers/late/balance'));
    return customer_balance.currencies.map((each: Shown) => [each.currency, each.due_amount_cents]);
  };
  expect(await dueOf()).toEqual([['USD', 1500]]);
  await ok(client.post(`/invoices/${anew.svc_id}/write_off`, { write_off: { reason: 'insolvent' } }));
  expect(await dueOf()).toEqual([['USD', 0]]);
  await ok(client.post(`/invoices/${anew.svc_id}/write_off/reverse`));
  expect(await dueOf()).toEqual([['USD', 1500]]);
});

test('a VAT number is checked, read and checked again', async () => {
  const other = (await openStory(service, '2026-03-01T00:00:00Z')).client;
  const [entity] = (await ok(other.get('/billing_entities'))).billing_entities;
  const union = { country: 'FR', eu_tax_management: true };
  await ok(other.put(`/billing_entities/${entity.code}`, { billing_entity: union }));
  await ok(other.post('/customers', { customer: { external_id: 'none', country: 'DE' } }));
  expect((await other.get('/customers/none/vies_check')).body).toMatchObject({ status: 404, resource: 'vies_check' });
  await ok(
    other.post('/customers', {
      customer: { external_id: 'it', country: 'IT', tax_identification_number: 'IT00743110157' },
    }),
  );
  const read = async () => (await ok(other.get('/customers/it/vies_check'))).vies_check;
  await until(async () => (await read()).status === 'valid');
  await ok(other.post('/customers/it/vies_check'));
  const checked = await until(async () => {
    const check = await read();
    return check.status === 'valid' && check;
  });
  expect(checked).toMatchObject({ valid: true, last_error: null, next_attempt_at: null });
});

test('the operator sees periodic jobs and runs one', async () => {
  const operator = service.client(OPERATOR);
  const { jobs } = await ok(operator.get('/operations/jobs'));
  expect(jobs.map(({ name }: Shown) => name)).toContain('clean-idempotency');
  const { job } = await ok(operator.post('/operations/jobs/clean-idempotency/run'));
  expect(job).toMatchObject({ name: 'clean-idempotency', last_run: { status: expect.any(String) } });
  expect((await client.get('/operations/jobs')).status).toBe(401);
});

test('the audit trail has every change that the organization made to these records', async () => {
  const { activity_logs: logs } = await ok(client.get('/activity_logs?per_page=1000'));
  const types = new Set(logs.map(({ activity_type }: Shown) => activity_type));
  for (const name of ['pricing_unit', 'invoice_custom_section', 'api_key'])
    for (const action of ['created', 'updated', 'deleted']) expect(types).toContain(`${name}.${action}`);
  for (const type of ['billing_entities.updated', 'organization.updated', 'quote.updated', 'invoice.regenerated'])
    expect(types).toContain(type);
});
