import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pollPayment } from '../../../src/areas/payments/collect-payments/charge-over-network.ts';
import { retryProviderEvents } from '../../../src/areas/payments/collect-payments/retry-provider-events.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import type { OrganizationId } from '../../../src/platform/ids.ts';
import { customProvider } from '../../../src/platform/payments/custom/driver.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { type FakeCustom, fakeCustom } from '../../support/fakes/custom.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// A provider of anybody behind our protocol: provider-connections.md#custom-provider.
let service: TestService;
let provider: FakeCustom;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  service = await startService();
  provider = await fakeCustom(service.url);
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await provider.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

const CAPABILITIES = [
  'customers',
  'setup_page',
  'off_session_charge',
  'payment_page',
  'refund',
  'partial_refund',
  'read',
];

const connect = (fields: object = {}) =>
  client.post('/payment_providers', {
    payment_provider: {
      type: 'custom',
      code: 'acme-pay',
      name: 'Acme Pay',
      endpoint_url: provider.url,
      live: false,
      capabilities: CAPABILITIES,
      ...fields,
    },
  });

let connection: Loose;
beforeEach(async () => {
  provider.posts.length = 0;
  client = await service.org();
  const made = await ok(connect());
  connection = made.payment_provider;
  provider.adopt(connection.shared_secret);
  await ok(client.post('/payment_providers/acme-pay/check', {}));
  await until(
    async () => (await ok(client.get('/payment_providers/acme-pay'))).payment_provider.status === 'connected',
  );
});

/** A customer that is made at the provider and has attached `method` there. */
async function customerWith(method: string): Promise<string> {
  const billing = { payment_provider: 'custom', payment_provider_code: 'acme-pay', sync_with_provider: true };
  const options = { beyondContract: 'provider-connections.md#custom-provider: input payment_provider "custom"' };
  await ok(
    client.post(
      '/customers',
      { customer: { external_id: 'acme', currency: 'EUR', billing_configuration: billing } },
      options,
    ),
  );
  const there = await until(async () => {
    const { customer } = await ok(client.get('/customers/acme'));
    return customer.billing_configuration.provider_customer_id as string | undefined;
  });
  const attached = { id: method, provider_customer_id: there, type: 'card', details: { last4: '4242' } };
  expect(await provider.tell('method.attached', attached)).toBe(200);
  await until(async () => (await ok(client.get('/customers/acme/payment_methods'))).payment_methods[0]);
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'EUR' } }),
  );
  return there;
}

const invoice = async (fields: object = {}): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency: 'EUR', fees: [{ add_on_code: 'setup' }], ...fields },
      }),
    )
  ).invoice;
const payments = async (made: Loose): Promise<Loose[]> =>
  (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments;
const payment = (made: Loose, status: string) =>
  until(async () => (await payments(made)).find((each) => each.payment_status === status));
const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const charges = () => provider.posts.filter(({ type }) => type === 'charge.create');

test('a connection shows its secret once, what it can do and that it moves no real money', async () => {
  expect(connection).toMatchObject({
    type: 'custom',
    emulates: 'moneyhash',
    live: false,
    capabilities: CAPABILITIES,
    settings: { endpoint_url: provider.url, live: false, capabilities: CAPABILITIES },
  });
  expect(connection.shared_secret).toMatch(/^whsec_/);
  const { payment_provider: later } = await ok(client.get('/payment_providers/acme-pay'));
  expect(later).not.toHaveProperty('shared_secret');
  expect(later.shared_secret_last4).toBe(connection.shared_secret.slice(-4));
  const rows = await service.sql`select row_to_json(p)::text as text from payment_providers p`;
  expect(JSON.stringify(rows)).not.toContain(connection.shared_secret);
});

test.each([
  ['without address', { endpoint_url: undefined }, { endpoint_url: ['value_is_mandatory'] }],
  ['whose address is no URL', { endpoint_url: 'acme' }, { endpoint_url: ['url_is_invalid'] }],
  ['with a capability that nobody has', { capabilities: ['authorize'] }, { 'capabilities.0': ['value_is_invalid'] }],
  ['whose secret nobody could sign with', { shared_secret: 'simple' }, { shared_secret: ['value_is_invalid'] }],
  ['with a secret of another type', { secret_key: 'sk_test_1' }, { secret_key: ['value_is_invalid'] }],
])('a custom connection %s is refused', async (_, fields, details) => {
  const refused = await connect({ code: 'other', ...fields });
  expect([refused.status, refused.body.error_details]).toEqual([422, details]);
});

test('a sandbox connects no custom provider that moves real money', async () => {
  client = await service.org({ sandbox: true });
  expect((await connect({ live: true })).body.error_details).toEqual({ live: ['live_key_in_sandbox'] });
});

test('an operation is signed by Standard Webhooks and says what is to be done, for whom', async () => {
  const there = await customerWith('pm_ok');
  const made = await invoice();
  const paid = await payment(made, 'succeeded');
  const [charge] = charges();
  expect(charge).toEqual({
    type: 'charge.create',
    id: `payment-${paid.svc_id}`,
    connection: 'acme-pay',
    live: false,
    data: {
      amount: 1200,
      currency: 'EUR',
      exponent: 2,
      provider_customer_id: there,
      provider_method_id: 'pm_ok',
      description: made.number,
      metadata: { payment_id: paid.svc_id, payable_type: 'Invoice', payable_id: made.svc_id },
    },
  });
  expect(paid).toMatchObject({ payment_provider_type: 'moneyhash', payment_provider_code: 'acme-pay' });
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
});

// Golden case FI25: the answer is lost after the charge, or it comes later by an event.
describe('FI25', () => {
  test('a charge whose answer was lost is sent again with its id and is one charge', async () => {
    await customerWith('pm_ok');
    provider.loseNext('charge.create');
    const made = await invoice();
    await payment(made, 'succeeded');
    expect(new Set(charges().map(({ id }) => id)).size).toBe(1);
    expect(charges().length).toBeGreaterThan(1);
    expect([...provider.payments.values()].length).toBe(1);
    expect((await payments(made)).length).toBe(1);
  });

  test('a charge that was only accepted (202) is paid by its event, with the amount that was charged', async () => {
    await customerWith('pm_late');
    const made = await invoice();
    const paid = await payment(made, 'succeeded');
    expect(paid).toMatchObject({ amount_cents: 1200, amount_currency: 'EUR', status: 'succeeded' });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });
});

test.each([
  ['429 with a wait', { status: 429, headers: { 'retry-after': '1' } }],
  ['500', { status: 500 }],
  ['200 with a body of another shape', { status: 200, body: { status: 'done' } }],
  ['200 for a payment without an id', { status: 200, body: { status: 'succeeded' } }],
])('after %s nobody knows, and the same id is sent again', async (_, answer) => {
  await customerWith('pm_ok');
  provider.answerNext('charge.create', answer);
  const made = await invoice();
  await payment(made, 'succeeded');
  expect(charges().length).toBe(2);
  expect(new Set(charges().map(({ id }) => id)).size).toBe(1);
});

test('a charge waits however often the provider has had too many calls, and uses no attempt for it', async () => {
  await customerWith('pm_ok');
  // More than the queue has attempts.
  for (let refused = 0; refused < 9; refused += 1)
    provider.answerNext('charge.create', { status: 429, headers: { 'retry-after': '0' } });
  const made = await invoice();
  await payment(made, 'succeeded');
  expect(new Set(charges().map(({ id }) => id)).size).toBe(1);
  expect(provider.payments.size).toBe(1);
});

describe('credentials that a provider does not accept', () => {
  const unsigned = { status: 401 };

  test('a new secret that it refuses does not replace the one that works', async () => {
    provider.answerNext('check', unsigned);
    const shared_secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const refused = await client.put('/payment_providers/acme-pay', { payment_provider: { shared_secret } });
    expect([refused.status, refused.body.code]).toEqual([422, 'third_party_error']);
    expect((await ok(client.get('/payment_providers/acme-pay'))).payment_provider).toMatchObject({
      status: 'connected',
      shared_secret_last4: connection.shared_secret.slice(-4),
    });
    await ok(client.post('/payment_providers/acme-pay/check', {}));
  });

  test('three calls in a row make the connection fail, and one that is accepted ends that', async () => {
    await customerWith('pm_ok');
    for (let refused = 0; refused < 3; refused += 1) provider.answerNext('charge.create', unsigned);
    const made = await invoice();
    const status = async () => (await ok(client.get('/payment_providers/acme-pay'))).payment_provider.status;
    await until(async () => (await status()) === 'failing' || undefined);
    await payment(made, 'succeeded');
    expect(await status()).toBe('connected');
    expect(new Set(charges().map(({ id }) => id)).size).toBe(1);
  });

  test('who waits for a page learns it', async () => {
    await customerWith('pm_ok');
    provider.answerNext('setup_page.create', { status: 403 });
    const { status, body } = await client.post('/customers/acme/checkout_url', {});
    expect([status, body.error]).toEqual([401, 'acme-pay does not accept the credentials (403).']);
  });
});

test('a customer who is linked by its id brings its methods, and its open invoice is charged', async () => {
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'EUR' } }),
  );
  const upsert = (fields: object) =>
    ok(
      client.post(
        '/customers',
        {
          customer: {
            external_id: 'acme',
            currency: 'EUR',
            billing_configuration: { payment_provider: 'custom', payment_provider_code: 'acme-pay', ...fields },
          },
        },
        { beyondContract: 'provider-connections.md#custom-provider: input payment_provider "custom"' },
      ),
    );
  await upsert({});
  const made = await invoice();
  await upsert({ provider_customer_id: 'cus_there' });
  await payment(made, 'succeeded');
  expect((await ok(client.get('/customers/acme/payment_methods'))).payment_methods).toMatchObject([
    { provider_method_id: 'pm_ok', is_default: true },
  ]);
});

test('a customer who would pay by transfer cannot be linked to one that appears as Stripe', async () => {
  await ok(connect({ code: 'like-stripe', emulates: 'stripe' }));
  await ok(client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR' } }));
  const by = (kinds: string[], link: object = {}) =>
    client.post('/customers', {
      customer: { external_id: 'acme', billing_configuration: { ...link, provider_payment_methods: kinds } },
    });
  const link = { payment_provider: 'stripe', payment_provider_code: 'like-stripe', provider_customer_id: 'cus_9' };
  const refusal = { status: 422, body: { error_details: { provider_payment_methods: ['unsupported_value'] } } };
  expect(await by(['customer_balance'], link)).toMatchObject(refusal);
  await ok(by(['card'], link));
  expect(await by(['customer_balance'])).toMatchObject(refusal);
  const { customer } = await ok(client.get('/customers/acme'));
  expect(customer.billing_configuration).toMatchObject({
    provider_customer_id: 'cus_9',
    provider_payment_methods: ['card'],
  });
});

test.each([
  ['without pages', { capabilities: ['customers', 'off_session_charge'] }, false],
  ['that takes no dollars', { currencies: ['EUR'] }, false],
  ['with pages', {}, true],
])('a customer who would pay from a wallet of coins at a custom connection %s', async (_, fields, isTaken) => {
  await ok(connect({ code: 'like-stripe', emulates: 'stripe', ...fields }));
  const link = { payment_provider: 'stripe', payment_provider_code: 'like-stripe', provider_customer_id: 'cus_9' };
  for (const kinds of [['crypto'], ['card', 'crypto']]) {
    const customer = { external_id: kinds.join(), billing_configuration: { ...link, provider_payment_methods: kinds } };
    const answer = await client.post('/customers', { customer });
    const refusal = { status: 422, body: { error_details: { provider_payment_methods: ['unsupported_value'] } } };
    expect(answer).toMatchObject(isTaken ? { status: 200 } : refusal);
  }
});

test('an answer with characters that cannot be stored is stored without them', async () => {
  await customerWith('pm_ok');
  const error = { code: 'card\u0000declined', message: `No\u0000 \ud800 ${'m'.repeat(2000)}` };
  provider.answerNext('charge.create', { status: 422, body: { error } });
  const made = await invoice();
  const { provider_error: stored } = await payment(made, 'failed');
  expect(stored.error_code).toBe('carddeclined');
  expect(stored.message).toBe(`No \ufffd ${'m'.repeat(2000)}`.slice(0, 1000));
  expect(charges().length).toBe(1);
});

test('a refusal (422) fails the payment with the code and the message of the provider', async () => {
  await customerWith('pm_declined');
  const made = await invoice();
  await payment(made, 'failed');
  expect(await read(made)).toMatchObject({ payment_status: 'failed' });
  const [row] = await service.sql`select error from payments where payable_id = ${made.svc_id}`;
  expect(row!.error).toEqual({ code: 'card_declined', message: 'The card was declined.' });
  expect(charges().length).toBe(1);
});

test('a conflict (409) stops: nothing is sent again, and the payment stays open with the reason', async () => {
  await customerWith('pm_ok');
  provider.answerNext('charge.create', { status: 409 });
  const made = await invoice();
  await until(async () => {
    const [row] = await service.sql<{ error: Loose }[]>`
      select error from payments where payable_id = ${made.svc_id} and error is not null`;
    return row?.error.code === 'idempotency_conflict';
  });
  expect((await payments(made)).map(({ payment_status }) => payment_status)).toEqual(['pending']);
  expect(charges().length).toBe(1);
});

const OTHER_MONEY: [string, { amount?: number; currency?: string }, string][] = [
  ['another amount', { amount: 1199, currency: 'EUR' }, 'amount_differs'],
  ['another currency', { amount: 1200, currency: 'usd' }, 'currency_differs'],
  ['another amount and no currency', { amount: 500 }, 'amount_differs'],
  ['another currency and no amount', { currency: 'USD' }, 'currency_differs'],
];

/** What a drift keeps of what the provider said: nothing of what it left out. */
const theirsOf = (status: string, { amount, currency }: { amount?: number; currency?: string }) => ({
  status,
  ...(amount === undefined ? {} : { amount_cents: amount }),
  ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
});

test.each(OTHER_MONEY)(
  'a charge that is answered with %s is under way until a person has looked, and is not sent again',
  async (_, money, kind) => {
    await customerWith('pm_ok');
    provider.answerNext('charge.create', { status: 200, body: { id: 'pay_odd', status: 'succeeded', ...money } });
    const made = await invoice();
    const drift = await until(async () => (await ok(client.get('/provider_drifts'))).provider_drifts[0]);
    expect(drift).toMatchObject({ kind, ours: { amount_cents: 1200 } });
    expect(drift.theirs).toEqual(theirsOf('succeeded', money));
    expect(await payment(made, 'processing')).toMatchObject({ provider_payment_id: 'pay_odd' });
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    expect(charges().length).toBe(1);
  },
);

test('a charge that was answered with other money ends once a person has looked and says so', async () => {
  await customerWith('pm_ok');
  const odd = { id: 'pay_odd', status: 'succeeded', amount: 1199, currency: 'EUR' };
  provider.payments.set('pay_odd', odd);
  provider.answerNext('charge.create', { status: 200, body: odd });
  const made = await invoice();
  const first = await payment(made, 'processing');
  const drift = await until(async () => (await ok(client.get('/provider_drifts'))).provider_drifts[0]);
  const retry = () => client.post(`/invoices/${made.svc_id}/retry_payment`, {});
  const set = (payment_status: string) => ok(client.put(`/invoices/${made.svc_id}`, { invoice: { payment_status } }));
  const stateOf = async () => (await payments(made)).find(({ svc_id }) => svc_id === first.svc_id)!.payment_status;
  await set('failed');
  expect(await stateOf()).toBe('processing');
  expect((await retry()).body.code).toBe('payment_processor_is_currently_handling_payment');
  await set('pending');
  const resolve = { drift: { action: 'resolve', note: 'It was sent back' } };
  await ok(client.post(`/provider_drifts/${drift.svc_id}/repair`, resolve));
  expect(await stateOf()).toBe('processing');
  await set('failed');
  expect(await stateOf()).toBe('failed');
  // What became of it there is read once more, which says nothing new.
  await until(async () => {
    const [row] = await service.sql`select cancel_owed_at from payments where id = ${first.svc_id}`;
    return row!.cancel_owed_at === null;
  });
  expect((await ok(client.get('/provider_drifts?statuses[]=open'))).provider_drifts).toEqual([]);
  expect((await retry()).status).toBe(200);
  expect(await payment(made, 'succeeded')).toMatchObject({ amount_cents: 1200 });
  expect(new Set(charges().map(({ id }) => id)).size).toBe(2);
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
});

test('a charge of unknown outcome is charged again only after a person has looked', async () => {
  await customerWith('pm_ok');
  provider.answerNext('charge.create', { status: 409 });
  const made = await invoice();
  await until(async () => (await payments(made))[0]?.provider_error?.error_code === 'idempotency_conflict');
  const page = await client.post(`/invoices/${made.svc_id}/payment_url`, {});
  expect(page.body.error_details).toEqual({ base: ['invalid_invoice_status_or_payment_status'] });
  const retry = () => client.post(`/invoices/${made.svc_id}/retry_payment`, {});
  expect((await retry()).body.code).toBe('payment_processor_is_currently_handling_payment');
  await ok(client.put(`/invoices/${made.svc_id}`, { invoice: { payment_status: 'failed' } }));
  expect((await retry()).status).toBe(200);
  await payment(made, 'succeeded');
  expect(new Set(charges().map(({ id }) => id)).size).toBe(2);
});

test('a charge without an answer whose id is forgotten by now is left to a person', async () => {
  await customerWith('pm_ok');
  for (let sent = 0; sent < 3; sent += 1) provider.answerNext('charge.create', { status: 500 });
  const made = await invoice();
  await until(async () => charges().length > 0);
  await service.sql`update payments set charged_at = charged_at - interval '24 hours' where payable_id = ${made.svc_id}`;
  await until(async () => (await payments(made))[0]?.provider_error?.error_code === 'outcome_unknown');
  expect((await payments(made)).map(({ payment_status }) => payment_status)).toEqual(['pending']);
  expect(provider.payments.size).toBe(0);
});

test('an amount that was too small is charged again as another payment with an id of its own', async () => {
  await customerWith('pm_ok');
  provider.answerNext('charge.create', { status: 200, body: { status: 'amount_too_small' } });
  const made = await invoice();
  await until(async () => (await payments(made))[0]?.provider_error ?? undefined);
  await ok(client.post(`/invoices/${made.svc_id}/retry_payment`, {}));
  await payment(made, 'succeeded');
  expect(new Set(charges().map(({ id }) => id)).size).toBe(2);
  expect((await payments(made)).map(({ payment_status }) => payment_status).sort()).toEqual(['failed', 'succeeded']);
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
});

test('a currency that the provider does not list is refused before any call', async () => {
  await ok(client.put('/payment_providers/acme-pay', { payment_provider: { currencies: ['USD'] } }));
  await customerWith('pm_ok');
  const made = await invoice();
  await payment(made, 'failed');
  expect(charges()).toEqual([]);
  const page = await client.post(`/invoices/${made.svc_id}/payment_url`, {});
  expect(page.body.error_details).toEqual({ currency: ['unsupported_value'] });
});

test('a part of a payment is refunded once, though the answer was lost', async () => {
  await customerWith('pm_ok');
  const made = await invoice();
  await payment(made, 'succeeded');
  provider.loseNext('refund.create');
  const { fees } = await read(made);
  const { credit_note: note } = await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: made.svc_id,
        reason: 'other',
        refund_amount_cents: 500,
        items: [{ fee_id: fees[0].svc_id, amount_cents: 500 }],
      },
    }),
  );
  await until(
    async () => (await ok(client.get(`/credit_notes/${note.svc_id}`))).credit_note.refund_status === 'succeeded',
  );
  expect([...provider.refunds.values()].map(({ amount }) => amount)).toEqual([500]);
});

test('money that was taken back makes the invoice due again', async () => {
  await customerWith('pm_ok');
  const made = await invoice();
  const paid = await payment(made, 'succeeded');
  await provider.tell('payment.updated', { id: paid.provider_payment_id, status: 'failed', reversed: true });
  await payment(made, 'failed');
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
});

test('a request of 12.00 whose payment was taken back can be paid again', async () => {
  await customerWith('pm_ok');
  await service.sql`update payment_methods set is_default = false, deleted_at = now()`;
  const made = await invoice();
  await service.sql`update invoices set payment_overdue = true where id = ${made.svc_id}`;
  const { payment_request: asked } = await ok(
    client.post('/payment_requests', {
      payment_request: { external_customer_id: 'acme', svc_invoice_ids: [made.svc_id] },
    }),
  );
  const metadata = { payable_type: 'PaymentRequest', payable_id: asked.svc_id };
  const told = { id: 'pay_asked', amount: 1200, currency: 'EUR', metadata };
  await provider.tell('payment.updated', { ...told, status: 'succeeded' });
  await payment(made, 'succeeded');
  await provider.tell('payment.updated', { ...told, status: 'failed', reversed: true });
  await payment(made, 'failed');
  const page = { id: 'page_2', url: 'https://pay.example.com/page_2' };
  provider.answerNext('payment_page.create', { status: 200, body: page });
  const { payment_request_payment_details: shown } = await ok(
    client.post(`/payment_requests/${asked.svc_id}/payment_url`, {}),
  );
  expect(shown.payment_url).toBe(page.url);
  expect(provider.posts.find(({ type }) => type === 'payment_page.create')!.data).toMatchObject({ amount: 1200 });
});

const handled = () =>
  until(async () => {
    const { inbound_events: told } = await ok(client.get('/inbound_events'));
    return told.every(({ status }: Loose) => status === 'succeeded') || undefined;
  });

test.each([
  ['is told', ['reversed', 'succeeded', 'reversed']],
  ['comes before the report of it', ['reversed', 'succeeded']],
])('money that was taken back does not come in again when its success %s late', async (name, order) => {
  await customerWith(name === 'is told' ? 'pm_ok' : 'pm_late');
  if (name !== 'is told') provider.answerNext('charge.create', { status: 202, body: { id: 'pay_early' } });
  const made = await invoice();
  const paid = await payment(made, name === 'is told' ? 'succeeded' : 'processing');
  const id = paid.provider_payment_id;
  for (const told of order) {
    const status = told === 'reversed' ? { status: 'failed', reversed: true } : { status: 'succeeded' };
    await provider.tell('payment.updated', { id, amount: 1200, currency: 'EUR', ...status });
    await handled();
  }
  expect(await payment(made, 'failed')).toMatchObject({ status: 'failed' });
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  const [booked] = await service.sql<{ due: number }[]>`
    select sum(case side when 'debit' then amount_cents else -amount_cents end)::int as due from ledger_entries
    where organization_id = ${client.organization.organization_id} and account_code = 'receivable'`;
  expect(booked!.due).toBe(1200);
});

test.each(OTHER_MONEY)('an event that tells of %s settles nothing', async (_, money, kind) => {
  await customerWith('pm_late');
  provider.answerNext('charge.create', { status: 202, body: { id: 'pay_1' } });
  const made = await invoice();
  await payment(made, 'processing');
  await provider.tell('payment.updated', { id: 'pay_1', status: 'succeeded', ...money });
  const drift = await until(async () => (await ok(client.get('/provider_drifts'))).provider_drifts[0]);
  expect(drift).toMatchObject({ kind, ours: { amount_cents: 1200 } });
  expect(drift.theirs).toEqual(theirsOf('succeeded', money));
  expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
});

describe('inbound events', () => {
  const path = () => new URL(connection.inbound_url);
  const post = async (headers: Record<string, string>, body: string, { pathname, search } = path()) => {
    const answer = await request(`${service.url}${pathname}${search}`, { method: 'POST', headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  const body = () => JSON.stringify({ id: randomUUID(), type: 'method.detached', data: { id: 'pm_1' } });
  const signed = (text: string, at: Date) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.trunc(at.getTime() / 1000)),
    'webhook-signature': new Webhook(connection.shared_secret).sign('evt_1', at, text),
  });

  test('one signed by the library of Standard Webhooks is taken', async () => {
    const text = body();
    expect(await post(signed(text, new Date(Date.now())), text)).toBe(200);
  });

  test.each([
    ['of another body', (text: string) => signed(`${text} `, new Date(Date.now()))],
    ['older than five minutes', (text: string) => signed(text, new Date(Date.now() - 301_000))],
    ['that is missing', (): Record<string, string> => ({})],
  ])('one with a signature %s is refused', async (_, headers) => {
    const text = body();
    expect(await post(headers(text), text)).toBe(400);
  });

  // Two connections with one secret, and a payment of the first one under way.
  describe('with one secret of two connections', () => {
    const told = (metadata: object = {}) =>
      JSON.stringify({
        id: randomUUID(),
        type: 'payment.updated',
        data: { id: 'pay_6', status: 'succeeded', amount: 1200, currency: 'EUR', metadata },
      });
    const send = (text: string, url?: URL) => post(signed(text, new Date()), text, url);
    const handledBy = (by: Client) =>
      until(async () => {
        const { inbound_events: events } = await ok(by.get('/inbound_events?payment_provider_code=other'));
        return events.find(({ status }: Loose) => status === 'succeeded');
      });
    const another = (by: Client = client, fields: object = {}): Promise<Loose> =>
      ok(
        by.post('/payment_providers', {
          payment_provider: {
            type: 'custom',
            code: 'other',
            name: 'Other',
            endpoint_url: `${provider.url}other`,
            live: false,
            capabilities: CAPABILITIES,
            shared_secret: connection.shared_secret,
            ...fields,
          },
        }),
      ).then(({ payment_provider }) => payment_provider);

    let made: Loose;
    beforeEach(async () => {
      await customerWith('pm_late');
      provider.answerNext('charge.create', { status: 202, body: { id: 'pay_6' } });
      made = await invoice();
      await payment(made, 'processing');
    });

    test('an event is of the one whose address it comes to, and refused where the address names none', async () => {
      const { inbound_url: url } = await another();
      expect(await send(told(), new URL(url.split('?')[0]))).toBe(400);
      expect(await send(told(), new URL(url))).toBe(200);
      await handledBy(client);
      await payment(made, 'processing');
      expect(await send(told())).toBe(200);
      await payment(made, 'succeeded');
    });

    test('an event of another organization finds nothing of this one', async () => {
      const stranger = await service.org();
      const { inbound_url: url } = await another(stranger);
      const { svc_id: id } = await payment(made, 'processing');
      const names = { payment_id: id, payable_type: 'Invoice', payable_id: made.svc_id };
      expect(await send(told(names), new URL(url))).toBe(200);
      await handledBy(stranger);
      await payment(made, 'processing');
      expect((await ok(stranger.get('/payments'))).payments).toEqual([]);
      expect((await ok(stranger.get('/provider_drifts'))).provider_drifts).toEqual([]);
    });

    test('an event reaches a payment of the former connection, which was made again at another address', async () => {
      await ok(client.delete('/payment_providers/acme-pay'));
      await another(client, { code: 'acme-pay' });
      expect(await send(told())).toBe(200);
      expect(await payment(made, 'succeeded')).toMatchObject({ payment_provider_code: 'acme-pay' });
      expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    });
  });
});

describe('events that do not fit', () => {
  const event = async (status: string) =>
    until(async () => {
      const [told] = (await ok(client.get('/inbound_events?types[]=payment.updated'))).inbound_events;
      return told?.status === status ? told : undefined;
    });

  async function begun(): Promise<Loose> {
    await customerWith('pm_late');
    provider.answerNext('charge.create', { status: 202, body: { id: 'pay_3' } });
    const made = await invoice();
    await payment(made, 'processing');
    return made;
  }

  test('a success is not lost for a part of its event that is only shown', async () => {
    const made = await begun();
    const metadata = { attempt: 2, note: null };
    const data = { id: 'pay_3', status: 'succeeded', amount: 1200, currency: 'EUR', metadata, error: 'none' };
    await provider.tell('payment.updated', data);
    await payment(made, 'succeeded');
  });

  test('an event without what it has to say stays open with the reason', async () => {
    const made = await begun();
    await provider.tell('payment.updated', { id: 'pay_3', status: 'succeeded', amount: '12.00', currency: 'EUR' });
    expect((await event('failed')).error).toContain('event_malformed');
    expect(await payment(made, 'processing')).toBeDefined();
  });
});

test('a cancellation that was only accepted is not sent again and again', async () => {
  await ok(
    client.put('/payment_providers/acme-pay', { payment_provider: { capabilities: [...CAPABILITIES, 'cancel'] } }),
  );
  await customerWith('pm_late');
  provider.answerNext('charge.create', { status: 202, body: { id: 'pay_4' } });
  const made = await invoice();
  await payment(made, 'processing');
  provider.answerNext('payment.cancel', { status: 202, body: { id: 'pay_4' } });
  provider.answerNext('payment.read', { status: 200, body: { id: 'pay_4', status: 'failed' } });
  await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
  const open = () => service.sql`select from payments where payable_id = ${made.svc_id} and cancel_owed_at is not null`;
  await until(async () => (await open()).length === 0);
  expect(provider.posts.filter(({ type }) => type === 'payment.cancel')).toHaveLength(1);
});

test('a payment whose state is only accepted (202) when it is asked for is in progress until its event', async () => {
  await customerWith('pm_late');
  provider.answerNext('charge.create', { status: 202, body: { id: 'pay_5' } });
  const made = await invoice();
  const { svc_id: id } = await payment(made, 'processing');
  const accepted = { status: 202, body: { id: 'pay_5' } };
  provider.answerNext('payment.read', accepted);
  const { organization_id } = client.organization;
  await pollPayment(runtime, { organization_id: organization_id as OrganizationId, payment_id: id });
  provider.answerNext('payment.read', accepted);
  const { provider_reconciliation: asked } = await ok(client.post('/provider_reconciliations', {}));
  const run = await until(async () => {
    const { provider_reconciliation: now } = await ok(client.get(`/provider_reconciliations/${asked.svc_id}`));
    return now.finished_at === null ? undefined : now;
  });
  // The double has told of the method by an event only, so its list of methods lacks it.
  expect([run.status, run.counts]).toMatchObject(['succeeded', { unreadable: 0 }]);
  expect(run.counts.drifts).toEqual({ method_missing_there: 1 });
  expect(provider.posts.filter(({ type }) => type === 'payment.read')).toHaveLength(2);
  expect(await payments(made)).toMatchObject([{ payment_status: 'processing', provider_payment_id: 'pay_5' }]);
  await provider.tell('payment.updated', { id: 'pay_5', status: 'succeeded', amount: 1200, currency: 'EUR' });
  await payment(made, 'succeeded');
});

test('a refund whose state is only accepted (202) when it is asked for is pending', async () => {
  const asked = { endpointUrl: provider.url, secret: provider.secret, connection: 'acme-pay', isLive: false };
  const driver = customProvider({ ...asked, inboundUrl: '' }, {}, service.config);
  provider.answerNext('refund.read', { status: 202, body: { id: 're_5' } });
  expect(await driver.readRefund('re_5')).toEqual({ status: 'pending' });
});

test('a payment of a provider that can neither cancel nor be read waits for its event', async () => {
  const capabilities = ['customers', 'off_session_charge'];
  await ok(client.put('/payment_providers/acme-pay', { payment_provider: { capabilities } }));
  await customerWith('pm_late');
  provider.answerNext('charge.create', { status: 202, body: { id: 'pay_2' } });
  const made = await invoice();
  await payment(made, 'processing');
  await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
  const open = () => service.sql`select from payments where payable_id = ${made.svc_id} and cancel_owed_at is not null`;
  await until(async () => (await open()).length === 0);
  await provider.tell('payment.updated', { id: 'pay_2', status: 'succeeded', amount: 1200, currency: 'EUR' });
  await payment(made, 'succeeded');
  const types = new Set(provider.posts.map(({ type }) => type));
  for (const type of ['payment.cancel', 'payment.read', 'setup_page.create']) expect(types).not.toContain(type);
});

describe('a charge that nobody confirms', () => {
  let made: Loose;
  let waiting: Loose;

  async function sentAway(capabilities: string[]): Promise<void> {
    await ok(client.put('/payment_providers/acme-pay', { payment_provider: { capabilities } }));
    await customerWith('pm_ok');
    const there = { id: 'pay_7', status: 'processing', amount: 1200, currency: 'EUR' };
    provider.payments.set(there.id, there);
    const next_action = { type: 'redirect', url: 'https://acme-pay.test/confirm' };
    provider.answerNext('charge.create', { status: 200, body: { ...there, next_action } });
    made = await invoice();
    waiting = await payment(made, 'processing');
    expect(waiting.next_action).toEqual(next_action);
    provider.posts.length = 0;
  }
  /** As if the charge had been sent 73 hours ago, and asked about so long ago; what is asked now. */
  async function sweep(lookedHoursAgo = 2): Promise<string[]> {
    await service.sql`
      update payments set charged_at = now() - interval '73 hours', updated_at = now() - interval '2 hours',
        looked_at = now() - ${lookedHoursAgo} * interval '1 hour'
      where id = ${waiting.svc_id}`;
    provider.posts.length = 0;
    await retryProviderEvents.sweep(runtime, realNow());
    const queue = runtime.producer.queue('payments');
    await until(async () => {
      const jobs = await queue.getJobs(['active', 'wait', 'prioritized', 'delayed']);
      return jobs.every((job) => job?.data.payment_id !== waiting.svc_id);
    });
    return provider.posts.map(({ type }) => type).filter((type) => type.startsWith('payment.'));
  }

  test('ends after three days, there first', async () => {
    await sentAway([...CAPABILITIES, 'cancel']);
    expect(await sweep()).toEqual(['payment.read', 'payment.cancel', 'payment.read']);
    const provider_error = { error_code: 'customer_action_expired' };
    expect(await payment(made, 'failed')).toMatchObject({ provider_error, next_action: {} });
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_due_amount_cents: 1200 });
    const paid = { id: 'pay_7', status: 'succeeded', amount: 1200, currency: 'EUR' };
    expect(await provider.tell('payment.updated', { ...paid, metadata: { payment_id: waiting.svc_id } })).toBe(200);
    expect(await payment(made, 'succeeded')).toMatchObject({ svc_id: waiting.svc_id });
  });

  test('stays under way where the provider may still take it, and is asked about once a day', async () => {
    await sentAway([...CAPABILITIES, 'cancel']);
    const refused = { status: 422, body: { error: { code: 'not_cancelable', message: 'The customer is at it.' } } };
    provider.answerNext('payment.cancel', refused);
    expect(await sweep()).toEqual(['payment.read', 'payment.cancel', 'payment.read']);
    expect(await payment(made, 'processing')).toMatchObject({ next_action: waiting.next_action });
    const hours = async (chargedAgo: number, lookedAgo: number) => {
      await service.sql`
        update payments set charged_at = now() - ${chargedAgo} * interval '1 hour',
          updated_at = now() - interval '2 hours', looked_at = now() - ${lookedAgo} * interval '1 hour'
        where id = ${waiting.svc_id}`;
      await retryProviderEvents.sweep(runtime, realNow());
      const rows = await service.sql`
        select from payments where id = ${waiting.svc_id} and looked_at > now() - interval '1 minute'`;
      return rows.length;
    };
    expect([await hours(100, 23), await hours(100, 25)]).toEqual([0, 1]);
  });

  test('stays under way at a provider that cannot cancel', async () => {
    await sentAway(CAPABILITIES);
    expect(await sweep()).toEqual(['payment.read']);
    expect(await payment(made, 'processing')).toMatchObject({ next_action: waiting.next_action });
  });
});
