import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Stripe from 'stripe';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkProviders } from '../../../src/areas/payments/collect-payments/check-providers.ts';
import { cleanSecrets } from '../../../src/areas/payments/collect-payments/clean-secrets.ts';
import { retryProviderEvents } from '../../../src/areas/payments/collect-payments/retry-provider-events.ts';
import { mountInboundEvents } from '../../../src/ingress/inbound-events.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { connectDatabase } from '../../../src/platform/db/connect.ts';
import { isUuid } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { isSignedByStripe } from '../../../src/platform/payments/stripe/signature.ts';
import { openRuntime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import { violationsOf } from '../../contract/check-webhook.ts';
import type { Client } from '../../support/client.ts';
import {
  FAKE_KEY,
  FAKE_RESTRICTED_KEY,
  type FakeStripe,
  fakeStripe,
  REFUSED_EMAIL,
} from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Payments at Stripe, against a fake of its HTTP API: payments.md#providers, payments.md#automatic-payment,
// payments.md#payment-url, provider-connections.md#routes, provider-connections.md#inbound-events.
let service: TestService;
let stripe: FakeStripe;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
});
afterAll(async () => {
  await service.stop();
  await stripe.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

const connect = (fields: object = {}) =>
  client.post('/payment_providers', {
    payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: FAKE_KEY, ...fields },
  });
const statusLog = async () =>
  (
    await service.sql<{ status: object }[]>`
      select resources -> 'status' as status from security_logs
      where organization_id = ${client.organization.organization_id} and resources ? 'status' order by id`
  ).map(({ status }) => status);
const connection = (status: string) =>
  until(async () => {
    const { payment_provider: now } = await ok(client.get('/payment_providers/main'));
    return now.status === status ? now : undefined;
  });

/** The connection, once its address for events is registered at Stripe. */
const registered = () =>
  until(async () => {
    const rows = await service.sql`
      select from payment_providers where organization_id = ${client.organization.organization_id}
        and deleted_at is null and inbound_owed_at is null and inbound_endpoint_id is not null`;
    return rows[0];
  });

beforeEach(async () => {
  client = await service.org();
  await ok(connect());
  await registered();
  await ok(
    client.post('/customers', {
      customer: {
        external_id: 'acme',
        currency: 'USD',
        billing_configuration: { payment_provider: 'stripe', payment_provider_code: 'main', sync_with_provider: true },
      },
    }),
  );
  await ok(
    client.post('/add_ons', {
      add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' },
    }),
  );
});

const providerCustomer = () =>
  until(async () => {
    const { customer } = await ok(client.get('/customers/acme'));
    return customer.billing_configuration.provider_customer_id as string | undefined;
  });

async function tell(type: string, object: object, id?: string): Promise<number> {
  const { body, signature, path } = stripe.event(type, object, id);
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'stripe-signature': signature, 'content-type': 'application/json' },
    body,
  });
  await answer.body.dump();
  return answer.statusCode;
}

/** A method that the customer stored on Stripe's page. */
async function store(method: string): Promise<void> {
  const customer = await providerCustomer();
  const setup = { id: `seti_${method}`, customer, payment_method: method, payment_method_types: ['card'] };
  expect(await tell('setup_intent.succeeded', setup)).toBe(200);
  await until(async () => (await ok(client.get('/customers/acme/payment_methods'))).payment_methods[0]);
}

const invoice = async (cents = 1200): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: {
          external_customer_id: 'acme',
          currency: 'USD',
          fees: [{ add_on_code: 'setup', unit_amount_cents: cents, units: 1 }],
        },
      }),
    )
  ).invoice;
const payment = (made: Loose, status: string): Promise<Loose> =>
  until(async () => {
    const { payments } = await ok(client.get(`/payments?invoice_id=${made.svc_id}`));
    return payments.find((each: Loose) => each.payment_status === status);
  }, 60_000);
const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;

describe('provider connections', () => {
  test('a key that Stripe refuses connects nothing, and the caller has its text (FI15)', async () => {
    client = await service.org();
    const refused = await connect({ secret_key: 'sk_test_wrong_9876' });
    expect([refused.status, refused.body.code, refused.body.error_details]).toEqual([
      422,
      'third_party_error',
      { third_party: 'stripe', thirdparty_error: 'Invalid API Key provided.' },
    ]);
    expect((await ok(client.get('/payment_providers'))).payment_providers).toEqual([]);
  });

  test('a restricted key is refused with the name of the right that it lacks', async () => {
    client = await service.org();
    const { body } = await connect({ secret_key: FAKE_RESTRICTED_KEY });
    expect(body.error_details.thirdparty_error).toMatch(/key '\[key\]' does not have .* 'rak_webhook_endpoints'/);
  });

  test('a key that Stripe accepts is connected in the answer, and is never shown itself', async () => {
    client = await service.org();
    const { payment_provider: made } = await ok(connect());
    expect(made).toMatchObject({ status: 'connected', live: false, last_error: null });
    expect(JSON.stringify(made)).not.toContain(FAKE_KEY);
  });

  test('a new key that Stripe refuses leaves the stored one', async () => {
    const refused = await client.put('/payment_providers/main', { payment_provider: { secret_key: 'sk_test_no' } });
    expect(refused).toMatchObject({ status: 422, body: { code: 'third_party_error' } });
    expect((await ok(client.get('/payment_providers/main'))).payment_provider).toMatchObject({
      status: 'connected',
      secret_key_last4: FAKE_KEY.slice(-4),
    });
    await ok(client.post('/payment_providers/main/check'));
  });

  test('a connection whose provider is away is stored as unverified, and checked until it is known', async () => {
    client = await service.org();
    stripe.isDown = true;
    expect((await ok(connect())).payment_provider).toMatchObject({ status: 'unverified', last_error: null });
    stripe.isDown = false;
    await service.sql`
      update payment_providers set updated_at = now() - interval '6 minutes'
      where organization_id = ${client.organization.organization_id}`;
    const runtime = openRuntime(service.config, 'test');
    try {
      await checkProviders.sweep(runtime, realNow());
    } finally {
      await runtime.close();
    }
    await connection('connected');
    await registered();
  });

  test('a refused check makes a connection fail, with a line in the security log and a notification', async () => {
    stripe.revoked.add(FAKE_KEY);
    try {
      expect(await client.post('/payment_providers/main/check')).toMatchObject({
        status: 422,
        body: { error_details: { thirdparty_error: 'Invalid API Key provided.' } },
      });
    } finally {
      stripe.revoked.clear();
    }
    expect((await ok(client.get('/payment_providers/main'))).payment_provider).toMatchObject({
      status: 'failing',
      last_error: 'Invalid API Key provided.',
    });
    expect(await statusLog()).toEqual([{ deleted: 'connected', added: 'failing' }]);
    const [told] = await service.sql<{ payload: string }[]>`
      select payload from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type = 'payment_provider.error'`;
    expect(violationsOf(JSON.parse(told!.payload))).toEqual([]);
    expect((await ok(client.post('/payment_providers/main/check'))).payment_provider.status).toBe('connected');
    expect(await statusLog()).toEqual([
      { deleted: 'connected', added: 'failing' },
      { deleted: 'failing', added: 'connected' },
    ]);
  });

  test('three calls in a row that are refused for the key make a connection fail, and one that is not ends that', async () => {
    await providerCustomer();
    const add = (name: string) =>
      ok(
        client.post('/customers', {
          customer: {
            external_id: name,
            billing_configuration: {
              payment_provider: 'stripe',
              payment_provider_code: 'main',
              sync_with_provider: true,
            },
          },
        }),
      );
    const status = async () => (await ok(client.get('/payment_providers/main'))).payment_provider.status;
    const refusedCalls = (calls: number) =>
      until(async () => {
        const [row] = await service.sql<{ refused_calls: number }[]>`
          select refused_calls from payment_providers
          where organization_id = ${client.organization.organization_id}`;
        return row!.refused_calls === calls || undefined;
      });
    stripe.revoked.add(FAKE_KEY);
    try {
      for (const [index, name] of ['a', 'b', 'c'].entries()) {
        expect(await status()).toBe('connected');
        await add(name);
        await refusedCalls(index + 1);
      }
      await connection('failing');
    } finally {
      stripe.revoked.clear();
    }
    await add('d');
    await connection('connected');
    await refusedCalls(0);
  });

  test('a customer is created at Stripe and gets a page to store a card', async () => {
    expect(await providerCustomer()).toMatch(/^cus_/);
    const { customer } = await ok(client.post('/customers/acme/checkout_url'));
    expect(customer.checkout_url).toMatch(/^https:\/\/pay\.test\/cs_/);
  });

  test('an answer that was asked to wait contains the id of the customer at Stripe', async () => {
    const configuration = { payment_provider: 'stripe', payment_provider_code: 'main', sync_with_provider: true };
    const upsert = async (external_id: string, billing_configuration: object) =>
      (await ok(client.post('/customers', { customer: { external_id, billing_configuration } }))).customer
        .billing_configuration.provider_customer_id;
    expect(await upsert('waited for', { ...configuration, sync: true })).toMatch(/^cus_/);
  });

  test('a customer is saved at once when Stripe refuses it, or is away', async () => {
    const configuration = {
      payment_provider: 'stripe',
      payment_provider_code: 'main',
      sync_with_provider: true,
      sync: true,
    };
    const add = (external_id: string, fields: object = {}) =>
      ok(client.post('/customers', { customer: { external_id, billing_configuration: configuration, ...fields } }));
    const errors = () => service.sql`
      select from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type = 'customer.payment_provider_error'`;
    const refused = await add('refused', { email: REFUSED_EMAIL });
    expect(refused.customer.billing_configuration).not.toHaveProperty('provider_customer_id');
    expect(await errors()).toHaveLength(1);
    stripe.isDown = true;
    try {
      const waiting = await add('waiting');
      expect(waiting.customer.billing_configuration).not.toHaveProperty('provider_customer_id');
    } finally {
      stripe.isDown = false;
    }
    await until(async () => {
      const { customer } = await ok(client.get('/customers/waiting'));
      return customer.billing_configuration.provider_customer_id as string | undefined;
    });
    expect(await errors()).toHaveLength(1);
  });

  test('a new page is made when customers have to agree to other terms', async () => {
    await providerCustomer();
    const made = await invoice();
    const page = async () =>
      (await ok(client.post(`/invoices/${made.svc_id}/payment_url`))).invoice_payment_details.payment_url;
    const change = (fields: object) => ok(client.put('/payment_providers/main', { payment_provider: fields }));
    const first = await page();
    await change({ name: 'Other', require_terms_of_service_consent: false });
    expect(await page()).toBe(first);
    await change({ require_terms_of_service_consent: true });
    const second = await page();
    expect(second).not.toBe(first);
    const session = first.split('/').at(-1);
    await until(async () => stripe.requests.includes(`POST /v1/checkout/sessions/${session}/expire`) || undefined);
    await change({ require_terms_of_service_consent: true });
    expect(await page()).toBe(second);
  });

  test('a customer whom Stripe refuses is announced and not linked', async () => {
    await ok(
      client.post('/customers', {
        customer: {
          external_id: 'refused',
          email: REFUSED_EMAIL,
          billing_configuration: {
            payment_provider: 'stripe',
            payment_provider_code: 'main',
            sync_with_provider: true,
          },
        },
      }),
    );
    const told = await until(async () => {
      const [row] = await service.sql<{ payload: string }[]>`
        select payload from webhook_events where organization_id = ${client.organization.organization_id}
          and webhook_type = 'customer.payment_provider_error'`;
      return row && JSON.parse(row.payload);
    });
    expect(violationsOf(told)).toEqual([]);
    expect(told.payment_provider_customer_error).toMatchObject({
      external_customer_id: 'refused',
      payment_provider: 'stripe',
      payment_provider_code: 'main',
      provider_error: { message: 'Invalid email address.', error_code: 'email_invalid' },
    });
    const { customer } = await ok(client.get('/customers/refused'));
    expect(customer.billing_configuration).not.toHaveProperty('provider_customer_id');
  });
});

test('no number of a card that an event holds is stored (FI20)', async () => {
  const intent = { id: 'pi_foreign', note: '4242 4242 4242 4242', order: '1234567890123456', client_secret: 'pi_s' };
  expect(await tell('payment_intent.succeeded', intent, 'evt_card')).toBe(200);
  const [stored] = await service.sql<{ payload: Loose }[]>`
    select payload from inbound_events where provider_event_id = 'evt_card'`;
  expect(stored!.payload.data.object).toEqual({
    id: 'pi_foreign',
    note: '[card …4242]',
    order: '1234567890123456',
    client_secret: '[redacted]',
  });
  expect(await service.sql`select from api_logs where request_path like '/webhooks/%'`).toHaveLength(0);
});

describe('customers who exist at Stripe', () => {
  const card = (id: string, last4: string) => ({
    id,
    object: 'payment_method',
    type: 'card',
    card: { brand: 'visa', last4, exp_month: 1, exp_year: 2031 },
  });
  const link = (fields: object) =>
    ok(
      client.post('/customers', {
        customer: {
          external_id: 'linked',
          currency: 'USD',
          billing_configuration: { payment_provider: 'stripe', payment_provider_code: 'main', ...fields },
        },
      }),
    );
  const methods = async (): Promise<Loose[]> =>
    (await ok(client.get('/customers/linked/payment_methods'))).payment_methods;

  test('a linked customer brings its methods and default, and an open invoice is charged once (FI17)', async () => {
    const id = `cus_${client.organization.organization_id.slice(-8)}`;
    stripe.customers.set(id, {
      fields: { invoice_settings: { default_payment_method: 'pm_ok' } },
      methods: [card('pm_ok', '4242'), card('pm_other', '4444')],
    });
    await link({});
    const { invoice: open } = await ok(
      client.post('/invoices', {
        invoice: {
          external_customer_id: 'linked',
          currency: 'USD',
          fees: [{ add_on_code: 'setup', unit_amount_cents: 1200, units: 1 }],
        },
      }),
    );
    await link({ provider_customer_id: id });
    const paid = await payment(open, 'succeeded');
    expect(stripe.intents.filter(({ metadata }) => metadata.payable_id === open.svc_id)).toHaveLength(1);
    expect(stripe.intents.find(({ id: intent }) => intent === paid.provider_payment_id).payment_method).toBe('pm_ok');
    const stored = await methods();
    expect(stored).toHaveLength(2);
    expect(stored.find(({ is_default }) => is_default)).toMatchObject({ provider_method_id: 'pm_ok' });
    const [told] = await service.sql<{ payload: string }[]>`
      select payload from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type = 'customer.payment_methods_imported'`;
    expect(JSON.parse(told!.payload).payment_methods_import).toMatchObject({ imported: 2, removed: 0 });
  });

  const importNow = () => client.post('/customers/linked/payment_methods/import');
  const named = () => {
    const id = `cus_${client.organization.organization_id.slice(-8)}`;
    stripe.customers.set(id, { fields: {}, methods: [card('pm_ok', '4242'), card('pm_other', '4444')] });
    return id;
  };

  test('methods are read again when somebody asks for it', async () => {
    const id = named();
    await link({ provider_customer_id: id });
    await until(async () => (await methods()).length === 2 || undefined);
    stripe.customers.get(id)!.methods = [card('pm_new', '1111'), card('pm_ok', '4242')];
    const answer = await ok(importNow());
    expect(answer).toMatchObject({ imported: 1, removed: 1 });
    const there = answer.payment_methods.map((each: Loose) => [each.provider_method_id, each.is_default]);
    expect(there.sort()).toEqual([
      ['pm_new', true],
      ['pm_ok', false],
    ]);
    expect(await methods()).toHaveLength(2);
  });

  test('an import by hand names what Stripe refuses, and what it cannot be done for', async () => {
    await link({});
    expect((await importNow()).body.error_details).toEqual({ base: ['no_linked_payment_provider'] });
    await link({ provider_customer_id: 'cus_nobody' });
    const missing = await importNow();
    expect([missing.status, missing.body.error_details.code]).toEqual([422, 'resource_missing']);
    stripe.isDown = true;
    try {
      const away = await importNow();
      expect([away.status, away.body.error_details.code]).toEqual([422, 'provider_unreachable']);
    } finally {
      stripe.isDown = false;
    }
    expect((await client.post('/customers/nobody/payment_methods/import')).status).toBe(404);
  });

  test('a method that a page attaches is known by its own kind, stays the default and pays what waited', async () => {
    const id = named();
    await link({ provider_customer_id: id });
    await until(async () => (await methods()).length === 2 || undefined);
    const there = stripe.customers.get(id)!;
    there.fields = { invoice_settings: { default_payment_method: 'pm_other' } };
    there.methods.unshift({ id: 'pm_debit', type: 'sepa_debit', sepa_debit: { last4: '3000' } });
    await ok(
      client.post('/customers', {
        customer: {
          external_id: 'linked',
          billing_configuration: { provider_payment_methods: ['card', 'sepa_debit'] },
        },
      }),
    );
    const setup = { customer: id, payment_method: 'pm_debit', payment_method_types: ['card', 'sepa_debit'] };
    expect(await tell('setup_intent.succeeded', { id: 'seti_debit', ...setup })).toBe(200);
    const [stored] = await until(async () => {
      const rows = await service.sql<Loose[]>`
        select method_type, details, is_default from payment_methods where provider_method_id = 'pm_debit'`;
      return rows[0]?.method_type === 'sepa_debit' ? rows : undefined;
    });
    expect(stored).toMatchObject({ is_default: true, details: { last4: '3000' } });
  });

  test('a customer who does not exist at Stripe is announced and stays linked', async () => {
    await link({ provider_customer_id: 'cus_nobody' });
    const told = await until(async () => {
      const [row] = await service.sql<{ payload: string }[]>`
        select payload from webhook_events where organization_id = ${client.organization.organization_id}
          and webhook_type = 'customer.payment_provider_error'`;
      return row && JSON.parse(row.payload);
    });
    expect(told.payment_provider_customer_error.provider_error.error_code).toBe('resource_missing');
    const { customer } = await ok(client.get('/customers/linked'));
    expect(customer.billing_configuration.provider_customer_id).toBe('cus_nobody');
    expect(await methods()).toEqual([]);
  });
});

describe('a provider that has had too many calls', () => {
  test('a charge waits as long as Stripe says, is made once, and no payment fails for it', async () => {
    await store('pm_ok');
    stripe.throttle(3);
    const made = await invoice();
    const paid = await payment(made, 'succeeded');
    expect(stripe.intents.filter(({ metadata }) => metadata.payment_id === paid.svc_id)).toHaveLength(1);
    const failures = await service.sql`
      select from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type in ('invoice.payment_failure', 'payment_provider.error')`;
    expect(failures).toHaveLength(0);
  });

  test('who connects, or waits for a page, learns when to try again', async () => {
    await providerCustomer();
    stripe.throttle(1);
    const page = await client.post('/customers/acme/checkout_url');
    expect(page).toMatchObject({
      status: 429,
      body: {
        error: 'Too Many Provider Requests',
        code: 'too_many_provider_requests',
        error_details: { provider_name: 'stripe', message: 'stripe has had too many calls' },
      },
    });
    expect(page.headers['retry-after']).toBe('1');
    client = await service.org();
    stripe.throttle(3); // one for each part of the check
    const refused = await connect();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    expect((await ok(client.get('/payment_providers'))).payment_providers).toEqual([]);
  });

  test('a page that is refused for the key is 401 with the text of the provider', async () => {
    await providerCustomer();
    stripe.revoked.add(FAKE_KEY);
    try {
      const { status, body } = await client.post('/customers/acme/checkout_url');
      expect([status, body]).toEqual([401, { status: 401, error: 'Invalid API Key provided.' }]);
    } finally {
      stripe.revoked.clear();
    }
  });
});

describe('charges over the network', () => {
  test('a stored card pays a final invoice', async () => {
    await store('pm_ok');
    const made = await invoice();
    expect(await payment(made, 'succeeded')).toMatchObject({
      status: 'succeeded',
      amount_cents: 1200,
      payment_provider_type: 'stripe',
      payment_provider_code: 'main',
      provider_payment_id: expect.stringMatching(/^pi_/),
    });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_due_amount_cents: 0 });
  });

  test('a declined card fails the payment of the invoice', async () => {
    await store('pm_declined');
    const made = await invoice();
    expect(await payment(made, 'failed')).toMatchObject({ status: 'requires_payment_method' });
    expect((await read(made)).payment_status).toBe('failed');
  });

  test.each(['pm_breaks', 'pm_down'])('%s: the charge is sent again with its key and made once', async (method) => {
    await store(method);
    const made = await invoice();
    const paid = await payment(made, 'succeeded');
    expect(stripe.intents.filter(({ metadata }) => metadata.payment_id === paid.svc_id)).toHaveLength(1);
    expect((await read(made)).total_paid_amount_cents).toBe(1200);
  });

  test('a payment below the smallest amount of the provider stays pending and may be tried again', async () => {
    await store('pm_ok');
    const made = await invoice(49);
    await until(async () => {
      const [row] = await service.sql`
        select from payments where payable_id = ${made.svc_id} and error->>'code' = 'amount_too_small'`;
      return row;
    });
    expect(await payment(made, 'pending')).toBeDefined();
    expect((await read(made)).payment_status).toBe('pending');
  });

  test('a slow payment ends by its event, and repeated or late events change nothing (PP5)', async () => {
    await store('pm_slow');
    const made = await invoice();
    const slow = await payment(made, 'processing');
    const intent = stripe.intents.find(({ id }) => id === slow.provider_payment_id);
    const early = { ...intent, status: 'requires_payment_method' };
    stripe.set(intent, 'succeeded');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => tell('payment_intent.succeeded', intent, `evt_${slow.svc_id}`)),
    );
    expect(answers).toEqual(Array(10).fill(200));
    await payment(made, 'succeeded');
    // Out of order: what came before is told after.
    expect(await tell('payment_intent.payment_failed', early)).toBe(200);
    await until(async () => {
      const open = await service.sql`select from inbound_events where status <> 'succeeded'`;
      return open.length === 0 || undefined;
    });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect((await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments).toHaveLength(1);
    const stored = await service.sql`
      select from inbound_events where provider_event_id = ${`evt_${slow.svc_id}`}`;
    expect(stored).toHaveLength(1);
    expect((await ok(client.get(`/payment_receipts?invoice_id=${made.svc_id}`))).meta.total_count).toBe(1);
  });

  test('a card of a customer in India is charged once its customer has confirmed it', async () => {
    await ok(client.post('/customers', { customer: { external_id: 'acme', country: 'IN' } }));
    await store('pm_india');
    const made = await invoice();
    const waiting = await payment(made, 'processing');
    const back = waiting.next_action.redirect_to_url.return_url;
    expect(back).toContain('/pay/');
    expect(back.endsWith('?returned')).toBe(true);
    const page = await request(`${service.url}${new URL(back).pathname}`);
    expect(await page.body.text()).toContain(waiting.next_action.redirect_to_url.url);
    const intent = stripe.intents.find(({ id }) => id === waiting.provider_payment_id);
    stripe.set(intent, 'succeeded');
    expect(await tell('payment_intent.succeeded', intent)).toBe(200);
    expect(await payment(made, 'succeeded')).toMatchObject({ svc_id: waiting.svc_id, next_action: {} });
    expect(stripe.intents.filter(({ metadata }) => metadata.payable_id === made.svc_id)).toHaveLength(1);
    const types = await service.sql<{ webhook_type: string }[]>`
      select webhook_type from webhook_events
      where organization_id = ${client.organization.organization_id} and webhook_type like 'payment.%'`;
    expect(types.map(({ webhook_type: type }) => type)).toContain('payment.requires_action');
  });

  describe('a confirmation that nobody gives', () => {
    let made: Loose;
    let waiting: Loose;
    let intent: Loose;
    beforeEach(async () => {
      await ok(client.post('/customers', { customer: { external_id: 'acme', country: 'IN' } }));
      await store('pm_india');
      made = await invoice();
      waiting = await payment(made, 'processing');
      intent = stripe.intents.find(({ id }) => id === waiting.provider_payment_id);
    });
    /** As if the charge had been sent so long ago, and was last asked about two hours ago. */
    const age = async (hours: number) => {
      await service.sql`
        update payments set charged_at = now() - ${hours} * interval '1 hour',
          updated_at = now() - interval '2 hours', looked_at = now() - interval '2 hours'
        where id = ${waiting.svc_id}`;
      const runtime = openRuntime(service.config, 'test', undefined, { reactions });
      await retryProviderEvents.sweep(runtime, realNow());
      await runtime.close();
    };
    const cancels = () => stripe.requests.filter((each) => each === `POST /v1/payment_intents/${intent.id}/cancel`);

    test('ends the charge after three days, there first; a success that is told later is taken', async () => {
      await age(71);
      await until(() => stripe.requests.includes(`GET /v1/payment_intents/${intent.id}`));
      expect([cancels(), intent.status]).toEqual([[], 'requires_action']);
      await age(73);
      const provider_error = { error_code: 'customer_action_expired' };
      expect(await payment(made, 'failed')).toMatchObject({ status: 'canceled', provider_error, next_action: {} });
      expect([cancels().length, intent.status]).toEqual([1, 'canceled']);
      expect(await read(made)).toMatchObject({ payment_status: 'failed', total_due_amount_cents: 1200 });
      stripe.set(intent, 'succeeded');
      expect(await tell('payment_intent.succeeded', intent)).toBe(200);
      expect(await payment(made, 'succeeded')).toMatchObject({ svc_id: waiting.svc_id });
      expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    });

    test('is no reason to cancel where its customer has given it, though the event was lost', async () => {
      Object.assign(intent, { status: 'processing', next_action: null });
      await age(73);
      const onItsWay = await until(async () => {
        const now = await payment(made, 'processing');
        return now.status === 'processing' && now;
      });
      expect([onItsWay.next_action, cancels()]).toEqual([{}, []]);
      stripe.set(intent, 'succeeded');
      await age(73);
      await payment(made, 'succeeded');
      expect(cancels()).toEqual([]);
    });

    test('is asked for again where its customer has failed it there', async () => {
      const last_payment_error = { code: 'payment_intent_authentication_failure', message: 'Not authenticated.' };
      Object.assign(intent, { status: 'requires_payment_method', next_action: null, last_payment_error });
      await age(73);
      const { code: error_code, message } = last_payment_error;
      expect(await payment(made, 'failed')).toMatchObject({ provider_error: { error_code, message } });
      expect(cancels()).toEqual([]);
    });
  });

  test('the same card elsewhere is charged without its customer, and declined', async () => {
    await store('pm_india');
    const made = await invoice();
    expect(await payment(made, 'failed')).toMatchObject({
      provider_error: { error_code: 'authentication_required' },
      next_action: {},
    });
  });

  test('a lost dispute is noted on the invoice', async () => {
    await store('pm_ok');
    const made = await invoice();
    const paid = await payment(made, 'succeeded');
    await tell('charge.dispute.closed', { id: 'dp_1', payment_intent: paid.provider_payment_id, status: 'lost' });
    await until(async () => (await read(made)).payment_dispute_lost_at ?? undefined);
  });

  test('money that a hosted page collects is a payment of its invoice (LG12)', async () => {
    await providerCustomer();
    const made = await invoice();
    const { invoice_payment_details: details } = await ok(client.post(`/invoices/${made.svc_id}/payment_url`));
    expect(details.payment_url).toMatch(/^https:\/\/pay\.test\/cs_/);
    const again = await ok(client.post(`/invoices/${made.svc_id}/payment_url`));
    expect(again.invoice_payment_details.payment_url).toBe(details.payment_url);
    const intent = {
      id: `pi_page_${made.svc_id}`,
      status: 'succeeded',
      amount_received: 1500,
      currency: 'usd',
      metadata: { payable_type: 'Invoice', payable_id: made.svc_id },
    };
    await tell('payment_intent.succeeded', intent);
    expect(await payment(made, 'succeeded')).toMatchObject({ amount_cents: 1500, provider_payment_id: intent.id });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    const session = details.payment_url.split('/').at(-1);
    await until(async () => stripe.requests.includes(`POST /v1/checkout/sessions/${session}/expire`) || undefined);
    const booked = await service.sql`
      select entry.account_code as account, entry.amount_cents as amount from ledger_entries entry
      join ledger_transactions booked on booked.id = entry.transaction_id and booked.rule = 'payment_succeeded'
      where entry.organization_id = ${client.organization.organization_id} order by entry.position`;
    expect(booked).toEqual([
      { account: 'cash', amount: 1500 },
      { account: 'receivable', amount: 1200 },
      { account: 'unapplied_receipts', amount: 300 },
    ]);
  });
});

describe('invoices that are voided while being paid', () => {
  const voided = async (made: Loose) => ok(client.post(`/invoices/${made.svc_id}/void`));
  const isOwed = async (id: string) =>
    (await service.sql`select from payments where id = ${id} and cancel_owed_at is not null`).length > 0;

  test('the payment of a voided invoice is canceled at the provider, and no failure is announced', async () => {
    await store('pm_slow');
    const made = await invoice();
    const slow = await payment(made, 'processing');
    await voided(made);
    expect(await payment(made, 'failed')).toMatchObject({ status: 'canceled' });
    await until(async () => !(await isOwed(slow.svc_id)) || undefined);
    const intent = stripe.intents.find(({ id }) => id === slow.provider_payment_id);
    expect(intent.status).toBe('canceled');
    await tell('payment_intent.canceled', intent);
    expect(await payment(made, 'failed')).toMatchObject({ status: 'canceled' });
    expect(await read(made)).toMatchObject({ status: 'voided', total_paid_amount_cents: 0 });
  });

  test('money that the provider had already taken for a voided invoice is kept as unapplied', async () => {
    await store('pm_slow');
    const made = await invoice();
    const slow = await payment(made, 'processing');
    stripe.set(
      stripe.intents.find(({ id }) => id === slow.provider_payment_id),
      'succeeded',
    );
    await voided(made);
    await payment(made, 'succeeded');
    await until(async () => !(await isOwed(slow.svc_id)) || undefined);
    const booked = await service.sql`
      select entry.account_code as account, entry.amount_cents as amount from ledger_entries entry
      join ledger_transactions booked on booked.id = entry.transaction_id and booked.rule = 'payment_succeeded'
      where entry.organization_id = ${client.organization.organization_id} order by entry.position`;
    expect(booked).toEqual([
      { account: 'cash', amount: 1200 },
      { account: 'unapplied_receipts', amount: 1200 },
    ]);
  });

  test('the payment page of a voided invoice is closed at the provider', async () => {
    await providerCustomer();
    const made = await invoice();
    const { invoice_payment_details: details } = await ok(client.post(`/invoices/${made.svc_id}/payment_url`));
    await voided(made);
    const session = details.payment_url.split('/').at(-1);
    await until(async () => stripe.requests.includes(`POST /v1/checkout/sessions/${session}/expire`) || undefined);
  });
});

test('provider events with a bad signature, an unknown address or an old timestamp are refused with 400 and leave no row (PP6)', async () => {
  const { body, signature, path } = stripe.event('payment_intent.succeeded', { id: 'pi_x' }, 'evt_bad');
  const send = async (to: string, header: string, text = body) => {
    const answer = await request(`${service.url}${to}`, {
      method: 'POST',
      headers: { 'stripe-signature': header },
      body: text,
    });
    return [answer.statusCode, await answer.body.text()];
  };
  expect(await send(path, 't=1,v1=aa')).toEqual([400, '']);
  expect(await send(path, signature, `${body} `)).toEqual([400, '']);
  expect(await send('/webhooks/stripe/nobody', signature)).toEqual([400, '']);
  expect(await send(path.replace('code=main', 'code=other'), signature)).toEqual([400, '']);
  expect(await service.sql`select from inbound_events where provider_event_id = 'evt_bad'`).toHaveLength(0);
});

describe('deleted connections', () => {
  const send = async ({ path, body, signature }: ReturnType<FakeStripe['event']>) => {
    const headers = { 'stripe-signature': signature };
    const answer = await request(`${service.url}${path}`, { method: 'POST', headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  const told = (id: string) => stripe.event('customer.updated', { id: 'cus_none' }, `${id}-${randomUUID()}`);
  const stored = () => service.sql<{ id: string; secrets: object; inbound_endpoint_id: string | null }[]>`
    select id, secrets, inbound_endpoint_id from payment_providers
    where organization_id = ${client.organization.organization_id} order by id`;
  const deletedDaysAgo = (days: number) => service.sql`
    update payment_providers set deleted_at = now() - make_interval(days => ${days})
    where organization_id = ${client.organization.organization_id} and deleted_at is not null`;
  const clean = (settings: object = {}) => {
    const { sql, redis } = service;
    const { producer } = service.ingress;
    const log = createLog({ level: 'silent', process: 'test' });
    return cleanSecrets.sweep(
      { sql, redis, producer, log, reactions, config: { ...service.config, ...settings } },
      realNow(),
    );
  };

  test('a deleted connection accepts events for 30 days, and the signature decides whether they belong to it or its successor (FI16)', async () => {
    const [former, again, late] = [told('former'), told('again'), told('late')];
    await ok(client.delete('/payment_providers/main'));
    expect(await send(former)).toBe(200);
    await ok(connect());
    await registered();
    const next = told('next');
    await deletedDaysAgo(29);
    expect([await send(again), await send(next)]).toEqual([200, 200]);
    await deletedDaysAgo(31);
    expect(await send(late)).toBe(400);
    const events = await service.sql<{ connection_id: string; name: string }[]>`
      select connection_id, split_part(provider_event_id, '-', 1) as name from inbound_events
      where organization_id = ${client.organization.organization_id} order by id`;
    const [first, second] = (await stored()).map(({ id }) => id);
    expect(events.map(({ name, connection_id }) => [name, connection_id])).toEqual([
      ['former', first],
      ['again', first],
      ['next', second],
    ]);
  });

  test('a charge that was on its way when its connection was deleted is paid by an event 29 days later (FI16)', async () => {
    await store('pm_slow');
    const made = await invoice();
    const { provider_payment_id: id } = await payment(made, 'processing');
    await ok(client.delete('/payment_providers/main'));
    await deletedDaysAgo(29);
    const paid = { id, status: 'succeeded', amount_received: 1200, currency: 'usd', metadata: {} };
    expect(await send(stripe.event('payment_intent.succeeded', paid, `paid-${randomUUID()}`))).toBe(200);
    await payment(made, 'succeeded');
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });

  test('a deleted connection loses its secrets after 30 days, once its endpoint at the provider was removed', async () => {
    const [{ inbound_endpoint_id: endpoint } = { inbound_endpoint_id: '' }] = await stored();
    const ended = () => stripe.requests.filter((each) => each === `DELETE /v1/webhook_endpoints/${endpoint}`).length;
    const KEPT = { secrets: { secret_key: expect.any(String), inbound_secret: expect.any(String) } };
    await clean();
    expect(await stored()).toMatchObject([KEPT]);
    await ok(client.delete('/payment_providers/main'));
    await deletedDaysAgo(29);
    await clean();
    expect([await stored(), ended()]).toMatchObject([[KEPT], 0]);

    await deletedDaysAgo(31);
    await clean({ STRIPE_API_URL: 'http://127.0.0.1:1' });
    expect([await stored(), ended()]).toMatchObject([[KEPT], 0]);
    await clean();
    expect([await stored(), ended()]).toMatchObject([[{ secrets: {}, inbound_endpoint_id: null }], 1]);
    await clean();
    expect(ended()).toBe(1);
  });
});

describe('rate limits of inbound provider events', () => {
  /** Counts of one second that never ends; connections begin with 49 events. */
  async function opened(settings: object = {}) {
    const config = { ...service.config, RATE_LIMIT_UNAUTHENTICATED: 20, ...settings };
    const runtime = openRuntime(config, 'test', createLog({ level: 'silent', process: 'test' }));
    const statements: string[] = [];
    const onStatement = (text: string) => statements.push(text);
    const sql = connectDatabase(config.DATABASE_URL, { connections: 4, onStatement });
    const app = express();
    app.set('trust proxy', 1);
    const counts: Record<string, number> = {};
    const windows = {
      seen: (key: string) => counts[key] ?? 0,
      async increment(key: string) {
        counts[key] = (counts[key] ?? (isUuid(key) ? 49 : 0)) + 1;
        return { totalHits: counts[key]!, resetTime: undefined };
      },
    };
    mountInboundEvents(app, { ...runtime, sql }, windows);
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = async (path: string, body: string, headers: Record<string, string>) => {
      const answer = await request(url + path, { method: 'POST', headers, body });
      await answer.body.dump();
      return answer.statusCode;
    };
    const send = (id: string, { signature, from = '192.0.2.1' }: { signature?: string; from?: string } = {}) => {
      const event = stripe.event('customer.updated', { id: 'cus_none' }, id);
      const headers = { 'stripe-signature': signature ?? event.signature, 'x-forwarded-for': from };
      return post(event.path, event.body, headers);
    };
    const close = async () => {
      server.close();
      await Promise.all([sql.end(), runtime.close()]);
    };
    return { send, post, statements, close };
  }
  const FORGED = 't=1,v1=aa';

  test('the 51st event of a connection in a second waits, and unsigned ones do not count towards the limit', async () => {
    const door = await opened();
    expect(await door.send('evt_forged', { signature: FORGED })).toBe(400);
    expect(await door.send('evt_50')).toBe(200);
    expect(await door.send('evt_51')).toBe(429);
    await door.close();
  });

  test('an address that sends unsigned events is refused while the provider and other organizations are not', async () => {
    const door = await opened();
    const forged = await Promise.all(Array.from({ length: 40 }, (_, n) => door.send(`f${n}`, { signature: FORGED })));
    expect(forged.filter((status) => status === 400)).toHaveLength(20);
    expect(forged.filter((status) => status === 429)).toHaveLength(20);
    expect(await door.send('evt_true', { from: '192.0.2.1' })).toBe(429);
    expect(await door.send('evt_true', { from: '198.51.100.1' })).toBe(200);
    expect(await door.post(`/webhooks/stripe/${randomUUID()}`, '{}', { 'x-forwarded-for': '192.0.2.1' })).toBe(400);
    await door.close();
  });

  test('an address over its limit costs no query, whatever organization it names', async () => {
    const door = await opened();
    const answers: number[] = [];
    for (let n = 0; n < 300; n += 1)
      answers.push(await door.post(`/webhooks/stripe/${randomUUID()}`, '{}', { 'x-forwarded-for': '203.0.113.9' }));
    expect(answers.filter((status) => status === 429)).toHaveLength(280);
    // A look-up for each of the twenty within the limit, and for the one that goes over it.
    expect(door.statements.filter((text) => text.includes('from payment_providers'))).toHaveLength(21);
    await door.close();
  });
});

test('our signatures equal those of the Stripe SDK', () => {
  const [payload, secret] = ['{"id":"evt_1"}', 'whsec_x'];
  const timestamp = 1_700_000_000;
  const header = new Stripe('sk_test_x').webhooks.generateTestHeaderString({ payload, secret, timestamp });
  expect(isSignedByStripe(payload, header, secret, timestamp + 299)).toBe(true);
  expect(isSignedByStripe(payload, header, secret, timestamp + 301)).toBe(false);
  expect(isSignedByStripe(payload, header, 'whsec_y', timestamp)).toBe(false);
});
