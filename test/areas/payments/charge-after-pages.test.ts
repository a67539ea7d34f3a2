import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nudgeLostSteps } from '../../../src/jobs/sweep-rows/lost-steps.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import type { Client } from '../../support/client.ts';
import { type FakeCustom, fakeCustom } from '../../support/fakes/custom.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Nothing is charged that may be paid on a page: payments.md#payments-on-pages-come-first.
let service: TestService;
let provider: FakeCustom;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };
let connection: Loose;

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  service = await startService();
  runtime = openRuntime(service.config, 'test');
  provider = await fakeCustom(service.url);
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await provider.close();
});

const beyondContract = 'provider-connections.md#custom-provider: input payment_provider "custom"';

beforeEach(async () => {
  provider.posts.length = 0;
  provider.pages.length = 0;
  client = await service.org();
  const made = await ok(
    client.post('/payment_providers', {
      payment_provider: {
        type: 'custom',
        code: 'acme-pay',
        name: 'Acme Pay',
        endpoint_url: provider.url,
        live: false,
        capabilities: ['customers', 'setup_page', 'off_session_charge', 'payment_page', 'read'],
      },
    }),
  );
  connection = made.payment_provider;
  provider.adopt(connection.shared_secret);
  await ok(client.post('/payment_providers/acme-pay/check', {}));
  const billing = { payment_provider: 'custom', payment_provider_code: 'acme-pay', sync_with_provider: true };
  await ok(
    client.post(
      '/customers',
      { customer: { external_id: 'acme', currency: 'EUR', net_payment_term: 0, billing_configuration: billing } },
      { beyondContract },
    ),
  );
  await until(
    async () => (await ok(client.get('/customers/acme'))).customer.billing_configuration.provider_customer_id,
  );
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 11_900, amount_currency: 'EUR' } }),
  );
});

const invoice = async (): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency: 'EUR', fees: [{ add_on_code: 'setup' }] },
      }),
    )
  ).invoice;

/** The customer stores a method, which becomes the default. */
async function attach(id: string): Promise<void> {
  const { customer } = await ok(client.get('/customers/acme'));
  const { provider_customer_id } = customer.billing_configuration;
  await provider.tell('method.attached', { id, provider_customer_id, type: 'card', details: {} });
  await until(async () => {
    const { payment_methods: methods } = await ok(client.get('/customers/acme/payment_methods'));
    return methods.find((each: Loose) => each.provider_method_id === id);
  });
}
const payments = async (made: Loose): Promise<Loose[]> =>
  (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments;
const paid = (made: Loose) =>
  until(async () => (await payments(made)).find((each) => each.payment_status === 'succeeded'));
const charges = () => provider.posts.filter(({ type }) => type === 'charge.create');
const openPage = async (path: string): Promise<FakeCustom['pages'][number]> => {
  await ok(client.post(`${path}/payment_url`, {}));
  return provider.pages.at(-1)!;
};

/** The charges that wait: in how many minutes they are due. */
const waiting = async (): Promise<number[]> =>
  (
    await service.sql<{ minutes: number }[]>`
      select round(extract(epoch from due_at - created_at) / 60)::int as minutes from after_steps
      where organization_id = ${client.organization.organization_id} and due_at is not null
        and job in ('collect-invoice', 'collect-payment-request')`
  ).map(({ minutes }) => minutes);
const waits = (minutes: number) => until(async () => (await waiting())[0] === minutes || undefined);
const waitsNoMore = () => until(async () => (await waiting()).length === 0 || undefined);

/** So many minutes pass, and the waiting charges are due. */
async function pass(minutes: number): Promise<void> {
  const organizationId = client.organization.organization_id;
  await service.sql`
    update payment_pages set ended_at = ended_at - make_interval(mins => ${minutes}),
      expires_at = expires_at - make_interval(mins => ${minutes})
    where organization_id = ${organizationId}`;
  await service.sql`
    update after_steps set due_at = now(), enqueued_at = now() - interval '1 hour'
    where organization_id = ${organizationId} and due_at is not null
      and job in ('collect-invoice', 'collect-payment-request')`;
  await nudgeLostSteps(runtime, realNow());
}
/** Its provider has ended the page, and that is known here. */
const ended = () =>
  until(async () => {
    const [row] = await service.sql`
      select from payment_pages
      where organization_id = ${client.organization.organization_id} and ended_at is not null`;
    return row;
  });
const unapplied = () => service.sql`
  select from ledger_entries where organization_id = ${client.organization.organization_id}
    and account_code = 'unapplied_receipts'`;

/** An event that names something and is not handled yet. */
const reported = (name: string) => service.sql`
  insert into inbound_events (id, organization_id, connection_id, provider_event_id, event_type, payload, created_at,
    updated_at)
  values (${randomUUID()}, ${client.organization.organization_id}, ${connection.svc_id}, ${randomUUID()},
    'payment.updated', ${service.sql.json({ data: { metadata: { payable_id: name } } })}, now(), now())`;

describe('a customer without a method who pays 119.00 by the link of the invoice', () => {
  let made: Loose;
  let page: FakeCustom['pages'][number];
  beforeEach(async () => {
    made = await invoice();
    page = await openPage(`/invoices/${made.svc_id}`);
  });

  test('is not charged as well by the method that was stored there', async () => {
    const { report } = provider.payOn(page);
    await attach('pm_ok');
    await waits(10);
    await report();
    await paid(made);
    await pass(10);
    await waitsNoMore();
    expect(charges()).toEqual([]);
    expect((await payments(made)).map(({ amount_cents }) => amount_cents)).toEqual([11_900]);
    expect(await unapplied()).toEqual([]);
  });

  test('by a slow method is not charged as well while that payment is in progress, nor after it', async () => {
    const { report } = provider.payOn(page);
    await report('processing');
    await until(async () => (await payments(made)).find((each) => each.payment_status === 'processing'));
    await attach('pm_ok');
    await pass(10);
    await waitsNoMore();
    const refused = await client.post(`/invoices/${made.svc_id}/retry_payment`, {});
    expect(refused.body).toMatchObject({ code: 'payment_processor_is_currently_handling_payment' });
    await report();
    await paid(made);
    expect(charges()).toEqual([]);
    expect((await payments(made)).map(({ amount_cents }) => amount_cents)).toEqual([11_900]);
    expect(await unapplied()).toEqual([]);
  });

  test('is not charged while the report of that payment is not handled yet', async () => {
    await attach('pm_ok');
    await waits(10);
    await reported(made.svc_id);
    await pass(10);
    await waits(10);
    expect(charges()).toEqual([]);
  });

  test('is charged 10 minutes after the page was closed if nothing was paid on it', async () => {
    await attach('pm_ok');
    await waits(10);
    await ended();
    await pass(10);
    expect(await paid(made)).toMatchObject({ amount_cents: 11_900 });
    expect(charges()).toHaveLength(1);
  });

  test('is not charged while the provider has not closed the page, but once it has ended by itself', async () => {
    for (let lost = 0; lost < 50; lost += 1) provider.answerNext('page.expire', { status: 500 });
    await attach('pm_ok');
    await waits(10);
    await pass(10);
    await waits(10);
    expect([page.state, charges()]).toEqual(['open', []]);
    await pass(48 * 60);
    await paid(made);
    expect(charges()).toHaveLength(1);
  });
});

const request = async (...made: Loose[]): Promise<Loose> =>
  (
    await ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: 'acme', svc_invoice_ids: made.map(({ svc_id }) => svc_id) },
      }),
    )
  ).payment_request;
const statusOf = async ({ svc_id }: Loose): Promise<string> =>
  (await ok(client.get(`/payment_requests/${svc_id}`))).payment_request.payment_status;

describe('an overdue invoice of 119.00 whose first charge was declined', () => {
  let made: Loose;
  beforeEach(async () => {
    await attach('pm_declined');
    made = await invoice();
    await until(async () => (await payments(made)).find((each) => each.payment_status === 'failed'));
    await service.sql`update invoices set payment_overdue = true where id = ${made.svc_id}`;
    await attach('pm_ok');
    provider.posts.length = 0;
  });

  test.each(['invoices', 'payment_requests'])(
    'is not paid twice when its page under /%s is paid first',
    async (kind) => {
      const former = kind === 'invoices' ? made : await requestWithoutCharge();
      const page = await openPage(`/${kind}/${former.svc_id}`);
      const { report } = provider.payOn(page);
      const asked = await request(made);
      await waits(10);
      await report();
      await paid(made);
      await pass(10);
      await waitsNoMore();
      expect([page.state, charges(), await statusOf(asked)]).toEqual(['paid', [], 'succeeded']);
      expect(await unapplied()).toEqual([]);
    },
  );

  /** A request whose charge failed, so that it has a page only. */
  async function requestWithoutCharge(): Promise<Loose> {
    await attach('pm_declined');
    const asked = await request(made);
    await until(async () => (await statusOf(asked)) === 'failed' || undefined);
    await attach('pm_ok');
    provider.posts.length = 0;
    return asked;
  }

  test('is charged by a request 10 minutes after its page was closed', async () => {
    const page = await openPage(`/invoices/${made.svc_id}`);
    const asked = await request(made);
    await waits(10);
    await ended();
    expect(() => provider.payOn(page)).toThrow('expired');
    await pass(10);
    await until(async () => (await statusOf(asked)) === 'succeeded' || undefined);
    expect(charges().map(({ data }) => data.amount)).toEqual([11_900]);
  });

  test('is charged at once by a request if it has no page', async () => {
    const asked = await request(made);
    await until(async () => (await statusOf(asked)) === 'succeeded' || undefined);
    expect(charges()).toHaveLength(1);
  });

  test('is not paid twice by a retry when its page is paid first', async () => {
    const page = await openPage(`/invoices/${made.svc_id}`);
    const { report } = provider.payOn(page);
    await ok(client.post(`/invoices/${made.svc_id}/retry_payment`, {}));
    await waits(10);
    await report();
    await paid(made);
    await pass(10);
    await waitsNoMore();
    expect([charges(), await unapplied()]).toEqual([[], []]);
  });

  test('is charged once by the method that a retry names, however often it is asked for', async () => {
    await openPage(`/invoices/${made.svc_id}`);
    const { payment_methods: methods } = await ok(client.get('/customers/acme/payment_methods'));
    const { svc_id: id } = methods.find((each: Loose) => each.provider_method_id === 'pm_ok');
    await attach('pm_declined');
    const body = { payment_method: { payment_method_type: 'provider', payment_method_id: id } };
    for (let time = 0; time < 3; time += 1) await ok(client.post(`/invoices/${made.svc_id}/retry_payment`, body));
    await waits(10);
    await until(() => provider.pages.at(-1)!.state === 'expired' || undefined);
    await pass(10);
    await paid(made);
    await waitsNoMore();
    expect(charges().map(({ data }) => data.provider_method_id)).toEqual(['pm_ok']);
  });

  test('is charged once by two requests of which both were made before either was charged', async () => {
    provider.answerNext('charge.create', { status: 202, body: { id: 'pay_slow' } });
    const first = await request(made);
    await until(() => charges()[0]);
    const { id } = await until(async () => {
      const [payment] = await service.sql<{ id: string }[]>`
        select id from payments where provider_payment_id = 'pay_slow'`;
      return payment;
    });
    // As it was when the second request was made.
    await service.sql`update invoices set ready_for_payment_processing = true where id = ${made.svc_id}`;
    const second = await request(made);
    await waits(60);
    await provider.tell('payment.updated', {
      id: 'pay_slow',
      status: 'succeeded',
      amount: 11_900,
      currency: 'EUR',
      metadata: { payment_id: id },
    });
    await paid(made);
    await pass(60);
    await waitsNoMore();
    expect(charges()).toHaveLength(1);
    expect([await statusOf(first), await statusOf(second)]).toEqual(['succeeded', 'succeeded']);
  });
});
