import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { STRIPE_EVENTS } from '../../../src/platform/payments/stripe/driver.ts';
import { connectStripe, linkCustomer, type Organization, storeMethod, tell } from '../../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Each event of Stripe that we register for, forged, sent and sent again, and what strangers send in their name:
// payments.md#providers, provider-connections.md#inbound-events.
let service: TestService;
let stripe: FakeStripe;
let client: Organization;

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
  client = await connected();
});
afterAll(async () => {
  await service.stop();
  await stripe.close();
});

/** An organization with a connection, whose endpoint is the one that the double signs for from now on. */
async function connected(): Promise<Organization> {
  const made = await service.org();
  await connectStripe(service, made);
  await ok(
    made.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'EUR' } }),
  );
  return made;
}

interface Customer {
  id: string;
  /** At Stripe. */
  thereId: string;
}

/** A customer whom Stripe knows, with this method as the default. */
async function customer(method: string | null, kinds: string[] = ['card']): Promise<Customer> {
  const id = randomUUID();
  const billing = { provider_payment_methods: kinds };
  const thereId = await linkCustomer(client, { external_id: id, currency: 'EUR' }, billing);
  if (method !== null) await storeMethod({ service, stripe, client }, method, id);
  return { id, thereId };
}

const methods = async (id: string): Promise<Loose[]> =>
  (await ok(client.get(`/customers/${id}/payment_methods`))).payment_methods;
const invoice = async ({ id }: Customer): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: id, currency: 'EUR', fees: [{ add_on_code: 'setup' }] },
      }),
    )
  ).invoice;
const payment = (made: Loose, status: string): Promise<Loose> =>
  until(async () => {
    const { payments } = await ok(client.get(`/payments?invoice_id=${made.svc_id}`));
    return payments.find(({ payment_status }: Loose) => payment_status === status);
  }, 60_000);
const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const intentOf = ({ provider_payment_id }: Loose) => stripe.intents.find(({ id }) => id === provider_payment_id);

const send = (event: ReturnType<FakeStripe['event']>): Promise<number> => tell(service, event);
const rows = (id: string) => service.sql<{ status: string }[]>`
  select status from inbound_events where provider_event_id = ${id}`;

/** What an event is about, and what must have come of it. */
interface Line {
  happen(): Promise<{ object: object; effect(): Promise<unknown> }>;
}

/** A payment in progress of which `become` says what became of it. */
const slowPayment = (become: string, status: string): Line => ({
  async happen() {
    const made = await invoice(await customer('pm_slow'));
    const intent = intentOf(await payment(made, 'processing'));
    stripe.set(intent, become);
    return { object: intent, effect: () => payment(made, status) };
  },
});

/** A stored method of which an event says something. */
const method = (object: object, effect: (customerId: string) => Promise<unknown>): Line => ({
  async happen() {
    const id = `pm_${randomUUID().slice(0, 8)}`;
    const { id: customerId } = await customer(id);
    return { object: { id, payment_method: id, ...object }, effect: () => effect(customerId) };
  },
});

/** A refund that waits for its bank. */
const refund = (status: string, expected: string): Line => ({
  async happen() {
    const made = await invoice(await customer('pm_refund_slow'));
    await payment(made, 'succeeded');
    const [fee] = (await read(made)).fees;
    const { credit_note: note } = await ok(
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: made.svc_id,
          reason: 'other',
          credit_amount_cents: 0,
          refund_amount_cents: 1200,
          items: [{ fee_id: fee.svc_id, amount_cents: 1200 }],
        },
      }),
    );
    const there = await until(async () =>
      stripe.refunds.find(({ metadata }) => metadata.credit_note_id === note.svc_id),
    );
    const statusOf = async () => (await ok(client.get(`/credit_notes/${note.svc_id}`))).credit_note.refund_status;
    return {
      object: { ...there, status, ...(status === 'failed' ? { failure_reason: 'expired_or_canceled_card' } : {}) },
      effect: () => until(async () => (await statusOf()) === expected),
    };
  },
});

const details = async (customerId: string) =>
  (
    await service.sql<{ details: object }[]>`
      select method.details from payment_methods method
      join customers customer on customer.id = method.customer_id and customer.external_id = ${customerId}`
  )[0]?.details;

const isGone = (customerId: string) => until(async () => (await methods(customerId)).length === 0);
const isRenewed = (customerId: string) =>
  until(async () => JSON.stringify(await details(customerId)).includes('2031-04'));
const RENEWED = { type: 'card', card: { brand: 'visa', last4: '4242', exp_year: 2031, exp_month: 4 } };

/** A payment that was disputed. */
const dispute = (object: object, effect: (made: Loose) => Promise<unknown>): Line => ({
  async happen() {
    const made = await invoice(await customer('pm_ok'));
    const { provider_payment_id } = await payment(made, 'succeeded');
    return {
      object: { id: `dp_${provider_payment_id}`, payment_intent: provider_payment_id, ...object },
      effect: () => effect(made),
    };
  },
});
const disputeLostAt = async (made: Loose) => (await read(made)).payment_dispute_lost_at;

const LINES: Record<(typeof STRIPE_EVENTS)[number], Line> = {
  'setup_intent.succeeded': {
    async happen() {
      const { id, thereId } = await customer(null);
      return {
        object: { id: `seti_${id}`, customer: thereId, payment_method: 'pm_new', payment_method_types: ['card'] },
        effect: () => until(async () => (await methods(id))[0]?.provider_method_id === 'pm_new'),
      };
    },
  },
  'payment_intent.processing': {
    async happen() {
      const made = await invoice(await customer(null));
      await ok(client.post(`/invoices/${made.svc_id}/payment_url`));
      return { object: stripe.payOnPage(), effect: () => payment(made, 'processing') };
    },
  },
  'payment_intent.succeeded': slowPayment('succeeded', 'succeeded'),
  'payment_intent.payment_failed': slowPayment('requires_payment_method', 'failed'),
  'payment_intent.canceled': slowPayment('canceled', 'failed'),
  'payment_intent.partially_funded': {
    async happen() {
      const made = await invoice(await customer(null, ['customer_balance']));
      const intent = intentOf(await payment(made, 'processing'));
      stripe.transfer(intent, 1000);
      const left = async () =>
        (await payment(made, 'processing')).next_action.display_bank_transfer_instructions.amount_remaining;
      return { object: intent, effect: () => until(async () => (await left()) === 200) };
    },
  },
  'payment_method.detached': method({}, isGone),
  'payment_method.updated': method(RENEWED, isRenewed),
  'payment_method.automatically_updated': method(RENEWED, isRenewed),
  'mandate.updated': method({ status: 'inactive' }, isGone),
  'charge.refund.updated': refund('succeeded', 'succeeded'),
  'refund.updated': refund('succeeded', 'succeeded'),
  'refund.failed': refund('failed', 'failed'),
  'customer.updated': {
    async happen() {
      const { id, thereId } = await customer('pm_ok');
      const isDefault = async () =>
        (await methods(id)).find(({ is_default }) => is_default)?.provider_method_id === 'pm_chosen';
      return {
        object: { id: thereId, invoice_settings: { default_payment_method: 'pm_chosen' } },
        effect: () => until(isDefault),
      };
    },
  },
  'charge.dispute.created': dispute({ reason: 'fraudulent', status: 'needs_response' }, async (made) =>
    expect(await disputeLostAt(made)).toBeNull(),
  ),
  'charge.dispute.closed': dispute({ reason: 'fraudulent', status: 'lost' }, (made) =>
    until(async () => typeof (await disputeLostAt(made)) === 'string'),
  ),
};

test('a connection registers for exactly the events that have an effect', () => {
  expect([...stripe.endpoints.at(-1)!.enabled_events].sort()).toEqual(Object.keys(LINES).sort());
  expect(Object.keys(LINES).sort()).toEqual([...STRIPE_EVENTS].sort());
});

test.each(Object.entries(LINES))('%s is verified, stored once and has its effect once', async (type, { happen }) => {
  const { object, effect } = await happen();
  const event = stripe.event(type, object, `evt_${randomUUID()}`);
  const { id } = JSON.parse(event.body);
  const forged = event.body.replace(id, `${id}_forged`);
  expect(await send({ ...event, body: forged })).toBe(400);
  expect(await send({ ...event, signature: event.signature.replace(/v1=../, 'v1=zz') })).toBe(400);
  expect(await rows(`${id}_forged`)).toEqual([]);
  expect(await Promise.all([send(event), send(event), send(event)])).toEqual([200, 200, 200]);
  await until(async () => (await rows(id)).every(({ status }) => status === 'succeeded'));
  await effect();
  expect(await send(event)).toBe(200);
  expect(await rows(id)).toEqual([{ status: 'succeeded' }]);
});

describe('a hostile tenant', () => {
  // The double signs for the endpoint that was registered last.
  beforeEach(async () => {
    client = await connected();
  });

  /** An event about the payment of one tenant that another one signs with the secret of its own endpoint. */
  async function attack(object: (victim: Loose, invoiceId: string) => object, type = 'payment_intent.succeeded') {
    const owner = await connected();
    client = owner;
    const made = await invoice(await customer('pm_slow'));
    const victim = await payment(made, 'processing');
    client = await connected();
    const event = stripe.event(type, object(victim, made.svc_id), `evt_${randomUUID()}`);
    expect(await send(event)).toBe(200);
    // The same signed for the victim's address is nobody's.
    const path = event.path.replace(client.organization.organization_id, owner.organization.organization_id);
    expect(await send({ ...event, path })).toBe(400);
    await until(async () => (await rows(JSON.parse(event.body).id))[0]?.status === 'succeeded');
    expect((await ok(client.get('/payments'))).payments).toEqual([]);
    client = owner;
    return { made, victim };
  }

  test('cannot settle, fail or dispute what another one is owed by naming its ids', async () => {
    const paid = { status: 'succeeded', amount_received: 1200, currency: 'eur' };
    for (const object of [
      (victim: Loose) => ({ ...paid, id: victim.provider_payment_id, metadata: {} }),
      (victim: Loose) => ({ ...paid, id: 'pi_x', metadata: { payment_id: victim.svc_id } }),
      (_: Loose, id: string) => ({ ...paid, id: 'pi_y', metadata: { payable_type: 'Invoice', payable_id: id } }),
    ]) {
      const { made, victim } = await attack(object);
      expect(await payment(made, 'processing')).toMatchObject({ svc_id: victim.svc_id });
      expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    }
    const lost = (victim: Loose) => ({ id: 'dp_x', payment_intent: victim.provider_payment_id, status: 'lost' });
    const { made } = await attack(lost, 'charge.dispute.closed');
    expect(await disputeLostAt(made)).toBeNull();
  });

  test('gets a signed body of nearly 1 MB stored and answered, and none above', async () => {
    const filled = (letters: number) =>
      stripe.event('customer.updated', { id: 'cus_none', note: 'x'.repeat(letters) }, `evt_${randomUUID()}`);
    const large = filled(1024 * 1024 - 300);
    expect(await send(large)).toBe(200);
    await until(async () => (await rows(JSON.parse(large.body).id))[0]?.status === 'succeeded');
    expect(await send(filled(1024 * 1024))).toBe(413);
  });

  test('reports in the wrong order leave what happened last', async () => {
    const made = await invoice(await customer('pm_slow'));
    const intent = intentOf(await payment(made, 'processing'));
    const asItWas = structuredClone(intent);
    stripe.set(intent, 'succeeded');
    for (const [type, object] of [
      ['payment_intent.succeeded', intent],
      ['payment_intent.processing', asItWas],
      ['payment_intent.payment_failed', { ...asItWas, status: 'requires_payment_method' }],
      ['payment_intent.canceled', { ...asItWas, status: 'canceled' }],
    ] as const) {
      const event = stripe.event(type, object, `evt_${randomUUID()}`);
      expect(await send(event)).toBe(200);
      await until(async () => (await rows(JSON.parse(event.body).id))[0]?.status === 'succeeded');
    }
    expect(await payment(made, 'succeeded')).toMatchObject({ provider_payment_id: intent.id });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });

  test('who asks 500 times for the page of an invoice gets one page', async () => {
    const made = await invoice(await customer(null));
    const before = stripe.pages.length;
    const urls = new Set<string>();
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => client.post(`/invoices/${made.svc_id}/payment_url`)),
      );
      for (const { status, body } of answers) {
        expect([200, 429, 503, 504]).toContain(status);
        if (status === 200) urls.add(body.invoice_payment_details.payment_url);
      }
    }
    expect(urls.size).toBe(1);
    expect(stripe.pages.length - before).toBe(1);
    const [count] = await service.sql<{ pages: number }[]>`
      select count(*)::int as pages from payment_pages where payable_id = ${made.svc_id}`;
    expect(count!.pages).toBe(1);
  });
});
