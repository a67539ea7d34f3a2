import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retryProviderEvents } from '../../../src/areas/payments/collect-payments/retry-provider-events.ts';
import { refundOverNetwork } from '../../../src/areas/payments/refund-notes/refund-over-network.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { openRuntime } from '../../../src/platform/process/runtime.ts';
import type { Client } from '../../support/client.ts';
import { connectStripe, linkCustomer, type Organization, storeMethod, tell } from '../../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStory, type Story } from '../../support/story.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { booked } from '../credits/credit-notes/support.ts';

// Refunds of credit notes at the provider that was paid: credit-notes.md#refunds,
// provider-connections.md#sandbox-provider, ledger.md#l15.
let service: TestService;
let stripe: FakeStripe;

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
type Caller = Pick<Client, 'get' | 'post' | 'put'>;

const addOn = (client: Caller) =>
  ok(client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: 1200, amount_currency: 'USD' } }));
const endpoint = (client: Caller) =>
  ok(client.post('/webhook_endpoints', { webhook_endpoint: { webhook_url: 'http://127.0.0.1:9999/hook' } }));

const invoiceOf = async (client: Caller): Promise<Loose> =>
  (
    await ok(
      client.post('/invoices', {
        invoice: { external_customer_id: 'acme', currency: 'USD', fees: [{ add_on_code: 'setup' }] },
      }),
    )
  ).invoice;

/** An invoice that its customer's method paid. */
async function paidInvoice(client: Caller): Promise<Loose> {
  const invoice = await invoiceOf(client);
  await until(async () => {
    const { payment_status } = (await ok(client.get(`/invoices/${invoice.svc_id}`))).invoice;
    return payment_status === 'succeeded' || undefined;
  });
  return invoice;
}

const refund = async (client: Caller, invoice: Loose, cents: number, reason = 'other'): Promise<Loose> =>
  (
    await ok(
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: invoice.svc_id,
          reason,
          refund_amount_cents: cents,
          items: [{ fee_id: invoice.fees[0].svc_id, amount_cents: cents }],
        },
      }),
    )
  ).credit_note;
const read = async (client: Caller, note: Loose): Promise<Loose> =>
  (await ok(client.get(`/credit_notes/${note.svc_id}`))).credit_note;
const becomes = (client: Caller, note: Loose, status: string): Promise<Loose> =>
  until(async () => {
    const now = await read(client, note);
    return now.refund_status === status ? now : undefined;
  }, 60_000);
const sentRefund = (note: Loose): Promise<Loose> =>
  until(async () => {
    const [row] = await service.sql<{ provider_refund_id: string }[]>`
      select provider_refund_id from credit_note_refunds
      where credit_note_id = ${note.svc_id} and provider_refund_id is not null`;
    return row;
  });
const failures = (note: Loose) => service.sql<{ object_type: string; payload: string }[]>`
  select object_type, payload from webhook_events
  where webhook_type = 'credit_note.refund_failure' and object_id = ${note.svc_id}`;
const PAID_OUT = (cents: number) => [`refunds_payable debit ${cents}`, `cash credit ${cents}`];

describe('refunds at a sandbox connection', () => {
  let story: Story;

  beforeEach(async () => {
    story = await openStory(service, '2024-05-01T10:00:00Z');
    const { client } = story;
    await ok(client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }));
    await story.customer({ billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } });
    await addOn(client);
    await endpoint(client);
  });
  const card = (number: string) =>
    ok(story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: number } }));
  const refundsBooked = () => booked(service.sql, story.organizationId, 'refund_succeeded');

  test('a card refunds at once, and the refund is booked', async () => {
    await card('4242424242424242');
    const note = await refund(story.client, await paidInvoice(story.client), 500);
    expect(await becomes(story.client, note, 'succeeded')).toMatchObject({ refund_amount_cents: 500 });
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
  });

  test('a refund that fails late is pending, then failed, and announced once (PP9)', async () => {
    await card('4000000000005126');
    const note = await refund(story.client, await paidInvoice(story.client), 500);
    await sentRefund(note);
    await story.advanceTo('2024-05-01T10:04:00Z');
    expect((await read(story.client, note)).refund_status).toBe('pending');
    await story.advanceTo('2024-05-01T10:05:00Z');
    expect((await read(story.client, note)).refund_status).toBe('failed');
    const told = await failures(note);
    expect(told).toHaveLength(1);
    expect(told[0]!.object_type).toBe('credit_note_payment_provider_refund_error');
    expect(JSON.stringify(told[0]!.payload)).toContain('"payment_provider_code');
    expect(await refundsBooked()).toEqual([]);
  });

  test('a refund that succeeds late is pending, then succeeded', async () => {
    await card('4000000000007726');
    const note = await refund(story.client, await paidInvoice(story.client), 500);
    await sentRefund(note);
    expect((await read(story.client, note)).refund_status).toBe('pending');
    await story.advanceTo('2024-05-01T10:05:00Z');
    expect((await read(story.client, note)).refund_status).toBe('succeeded');
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
  });

  test('money lost in a dispute is not refunded', async () => {
    await card('4000000000000259');
    const invoice = await paidInvoice(story.client);
    await story.advanceTo('2024-05-02T11:00:00Z');
    const note = await refund(story.client, invoice, 500);
    expect(note.refund_status).toBe('pending');
    expect(await service.sql`select from credit_note_refunds where credit_note_id = ${note.svc_id}`).toHaveLength(0);
  });

  test('a refund of a manual payment waits to be reported as paid out', async () => {
    const invoice = await invoiceOf(story.client);
    await story.pay(invoice.svc_id, 1200);
    const note = await refund(story.client, invoice, 500);
    expect(note.refund_status).toBe('pending');
    expect(await service.sql`select from credit_note_refunds where credit_note_id = ${note.svc_id}`).toHaveLength(0);
    await ok(story.client.put(`/credit_notes/${note.svc_id}`, { credit_note: { refund_status: 'succeeded' } }));
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
  });
});

describe('refunds at Stripe', () => {
  let client: Organization;

  beforeEach(async () => {
    client = await service.org();
    await connectStripe(service, client);
    await linkCustomer(client, { currency: 'USD' });
    await addOn(client);
    await endpoint(client);
  });

  const tellOf = async (type: string, object: object) =>
    expect(await tell(service, stripe.event(type, object))).toBe(200);

  /** All that was told is handled. */
  const handled = () =>
    until(async () => {
      const open = await service.sql`select from inbound_events where status <> 'succeeded'`;
      return open.length === 0 || undefined;
    });

  const store = (method: string) => storeMethod({ service, stripe, client }, method);
  const madeFor = (note: Loose) => stripe.refunds.filter(({ metadata }) => metadata.credit_note_id === note.svc_id);
  const refundsBooked = () => booked(service.sql, client.organization.organization_id, 'refund_succeeded');

  test('two identical refunds whose answer was lost are one refund and one booking', async () => {
    await store('pm_refund_breaks');
    const note = await refund(client, await paidInvoice(client), 500, 'duplicated_charge');
    await until(async () => madeFor(note).length > 0 || undefined);
    const runtime = openRuntime(service.config, 'test', createLog({ level: 'silent', process: 'test' }));
    try {
      const owed = { organization_id: client.organization.organization_id, credit_note_id: note.svc_id };
      await Promise.all(Array.from({ length: 20 }, () => refundOverNetwork(runtime, owed)));
    } finally {
      await runtime.close();
    }
    await becomes(client, note, 'succeeded');
    expect(madeFor(note)).toMatchObject([{ amount: 500, reason: 'duplicate' }]);
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
  });

  test('a refund whose job was lost is sent again with its key', async () => {
    await store('pm_refund_slow');
    const note = await refund(client, await paidInvoice(client), 500);
    await sentRefund(note);
    await service.sql`
      update credit_note_refunds set provider_refund_id = null, status = null where credit_note_id = ${note.svc_id}`;
    const runtime = openRuntime(service.config, 'test', createLog({ level: 'silent', process: 'test' }));
    try {
      await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 6 }));
    } finally {
      await runtime.close();
    }
    await sentRefund(note);
    expect(madeFor(note)).toHaveLength(1);
  });

  test('a slow refund ends by its event, and repeated or late events change nothing', async () => {
    await store('pm_refund_slow');
    const note = await refund(client, await paidInvoice(client), 500, 'order_change');
    await sentRefund(note);
    expect((await read(client, note)).refund_status).toBe('pending');
    const [made] = madeFor(note);
    expect(made.reason).toBe('requested_by_customer');
    const done = { ...made, status: 'succeeded' };
    await Promise.all([1, 2, 3].map(() => tellOf('charge.refund.updated', done)));
    await becomes(client, note, 'succeeded');
    await tellOf('charge.refund.updated', { ...made, status: 'failed', failure_reason: 'lost_or_stolen_card' });
    await handled();
    expect((await read(client, note)).refund_status).toBe('succeeded');
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
    expect(await failures(note)).toHaveLength(0);
  });

  test('a refund whose event was lost is looked up at the provider', async () => {
    await store('pm_refund_slow');
    const note = await refund(client, await paidInvoice(client), 500);
    await sentRefund(note);
    madeFor(note)[0].status = 'succeeded';
    const runtime = openRuntime(service.config, 'test', createLog({ level: 'silent', process: 'test' }));
    try {
      await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 61 }));
    } finally {
      await runtime.close();
    }
    await becomes(client, note, 'succeeded');
    expect(await refundsBooked()).toEqual(PAID_OUT(500));
  });

  test('a refused refund fails and is announced with the reason of Stripe', async () => {
    await store('pm_refund_refused');
    const note = await refund(client, await paidInvoice(client), 500);
    await becomes(client, note, 'failed');
    const told = await failures(note);
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told[0]!.payload)).toContain('charge_disputed');
    expect(await refundsBooked()).toEqual([]);
  });
});
