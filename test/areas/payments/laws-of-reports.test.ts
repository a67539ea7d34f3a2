import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollPayment } from '../../../src/areas/payments/collect-payments/charge-over-network.ts';
import { changePayment, insertPayment } from '../../../src/areas/payments/payments/writes.ts';
import type { CustomerId, InvoiceId, OrganizationId, PaymentId } from '../../../src/platform/ids.ts';
import { newId } from '../../../src/platform/ids.ts';
import { PROVIDERS } from '../../../src/platform/payments/providers.ts';
import { standardHeaders } from '../../../src/platform/payments/standard-webhooks.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { transactHoldingClock } from '../../../src/platform/records/transact.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { ADYEN_ACCOUNT, ADYEN_HMAC_KEY, ADYEN_KEY, type FakeAdyen, fakeAdyen } from '../../support/fakes/adyen.ts';
import { type FakeCustom, fakeCustom } from '../../support/fakes/custom.ts';
import {
  type FakeGocardless,
  fakeGocardless,
  GOCARDLESS_TOKEN,
  GOCARDLESS_WEBHOOK_SECRET,
} from '../../support/fakes/gocardless.ts';
import { FAKE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// What holds for the reports of every provider, whichever driver reads them: one success is one payment however often,
// late and in whatever order it is reported; money that was taken back stays back; other money than was charged settles
// nothing. Rules: payments.md#automatic-payment, payments.md#amounts-on-the-wire "back".

// biome-ignore lint/suspicious/noExplicitAny: events and answers of five providers
type Loose = any;

const DUE = 1200;
/** Instants of reports, where a provider dates them. */
const [EARLIER, LATER] = ['2026-11-20T10:00:00.000Z', '2026-11-21T10:00:00.000Z'];
const SANDBOX_SECRET = 'secret-of-the-sandbox';
const CUSTOM_SECRET = `whsec_${randomBytes(32).toString('base64')}`;

let service: TestService;
let runtime: Runtime;
let stripe: FakeStripe;
let gocardless: FakeGocardless;
let adyen: FakeAdyen;
let custom: FakeCustom;

beforeAll(async () => {
  [stripe, gocardless, adyen] = await Promise.all([fakeStripe(), fakeGocardless(), fakeAdyen()]);
  const settings = { STRIPE_API_URL: stripe.url, GOCARDLESS_API_URL: gocardless.url, ADYEN_API_URL: adyen.url };
  service = await startService({ settings, pools: UNSCHEDULED });
  custom = await fakeCustom(service.url);
  custom.adopt(CUSTOM_SECRET);
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await Promise.all([stripe, gocardless, adyen, custom].map((double) => double.close()));
});

/** A report of one payment, as its provider words it. */
interface Reports {
  paid(id: string, fields?: { amount?: number; currency?: string; at?: string }): Loose;
  /** Nothing came in; absent where such a report is one of money taken back. */
  failed?(id: string, at?: string): Loose;
  /** Money that had come in was taken back; absent where nothing reports it. */
  reversed?(id: string, at?: string): Loose;
  /** It is under way; absent where nothing reports it. */
  underWay?(id: string): Loose;
}

interface Driver {
  type: string;
  connect: () => object;
  reports: Reports;
  /** The same report once more, under an id of its own; absent where an event is known by what it says. */
  another?: (event: Loose) => Loose;
  signed(event: Loose): { body: string; headers: Record<string, string> };
  /** Whether its reports name the money. */
  namesMoney: boolean;
  /** Makes the provider answer, when it is asked about a payment, that so much came in; absent: it cannot be asked. */
  answers?(id: string, money: { amount: number; currency: string }): void;
}

const otherId = (event: Loose) => ({ ...event, id: `evt_${randomUUID()}` });

/** The money of a report: as it was charged, unless something else is named. */
const moneyOf = ({ amount = DUE, currency = 'EUR' } = {}) => ({ amount, currency });

const DRIVERS: Driver[] = [
  {
    type: 'stripe',
    connect: () => ({ secret_key: FAKE_KEY }),
    namesMoney: true,
    another: otherId,
    reports: {
      paid(id, fields) {
        const { amount, currency } = moneyOf(fields);
        const money = { amount_received: amount, amount: DUE, currency: currency.toLowerCase() };
        const intent = { id, status: 'succeeded', metadata: {}, ...money };
        return { id: `evt_${randomUUID()}`, type: 'payment_intent.succeeded', data: { object: intent } };
      },
      failed: (id) => ({
        id: `evt_${randomUUID()}`,
        type: 'payment_intent.payment_failed',
        data: { object: { id, status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } } },
      }),
      underWay: (id) => ({
        id: `evt_${randomUUID()}`,
        type: 'payment_intent.processing',
        data: { object: { id, status: 'processing' } },
      }),
    },
    signed({ id, type, data }) {
      const { body, signature } = stripe.event(type, data.object, id);
      return { body, headers: { 'stripe-signature': signature } };
    },
    answers(id, { amount, currency }) {
      const money = { amount: DUE, amount_received: amount, currency: currency.toLowerCase() };
      stripe.intents.push({ id, object: 'payment_intent', status: 'succeeded', metadata: {}, ...money });
    },
  },
  {
    type: 'gocardless',
    connect: () => ({
      access_token: GOCARDLESS_TOKEN,
      webhook_secret: GOCARDLESS_WEBHOOK_SECRET,
      environment: 'sandbox',
    }),
    namesMoney: false,
    another: (event) => ({ ...event, id: `EV${randomUUID()}` }),
    reports: {
      paid: (id, { at = EARLIER } = {}) =>
        gocardless.event('payments', 'paid_out', { links: { payment: id }, created_at: at }),
      reversed: (id, at = LATER) =>
        gocardless.event('payments', 'charged_back', { links: { payment: id }, created_at: at }),
      underWay: (id) => gocardless.event('payments', 'submitted', { links: { payment: id }, created_at: EARLIER }),
    },
    signed: (event) => gocardless.post([event]),
    answers(id, { amount, currency }) {
      gocardless.payments.set(id, { id, amount, currency, status: 'paid_out', metadata: {}, links: {} });
    },
  },
  {
    type: 'adyen',
    connect: () => ({ api_key: ADYEN_KEY, hmac_key: ADYEN_HMAC_KEY, merchant_account: ADYEN_ACCOUNT }),
    namesMoney: true,
    reports: {
      paid(id, fields) {
        const { amount: value, currency } = moneyOf(fields);
        const eventDate = fields?.at ?? EARLIER;
        return adyen.item('AUTHORISATION', { pspReference: id, amount: { value, currency }, eventDate });
      },
      failed: (id, at = LATER) =>
        adyen.item('AUTHORISATION', {
          pspReference: id,
          success: 'false',
          reason: 'Refused',
          amount: { value: DUE, currency: 'EUR' },
          eventDate: at,
        }),
      reversed: (id, at = LATER) => adyen.item('CAPTURE_FAILED', { originalReference: id, eventDate: at }),
    },
    signed: (event) => adyen.post([event]),
  },
  {
    type: 'custom',
    connect: () => ({
      endpoint_url: custom.url,
      live: false,
      shared_secret: CUSTOM_SECRET,
      capabilities: ['customers', 'off_session_charge', 'read', 'cancel', 'refund', 'partial_refund'],
    }),
    namesMoney: true,
    another: otherId,
    reports: {
      paid: (id, fields) => customEvent({ id, status: 'succeeded', ...moneyOf(fields) }),
      failed: (id) => customEvent({ id, status: 'failed' }),
      reversed: (id) => customEvent({ id, status: 'failed', reversed: true }),
      underWay: (id) => customEvent({ id, status: 'processing' }),
    },
    signed(event) {
      const body = JSON.stringify(event);
      const nowSeconds = Math.trunc(Date.now() / 1000);
      return { body, headers: standardHeaders(CUSTOM_SECRET, { id: event.id, nowSeconds, body }) };
    },
    answers(id, money) {
      custom.payments.set(id, { id, status: 'succeeded', ...money });
    },
  },
  {
    type: 'sandbox',
    connect: () => ({ webhook_secret: SANDBOX_SECRET }),
    namesMoney: false,
    another: otherId,
    reports: {
      paid: (id) => sandboxEvent('payment.updated', id, 'succeeded'),
      failed: (id) => sandboxEvent('payment.updated', id, 'requires_payment_method'),
      reversed: (id) => sandboxEvent('payment.charged_back', id, 'requires_payment_method'),
      underWay: (id) => sandboxEvent('payment.updated', id, 'processing'),
    },
    signed(event) {
      const body = JSON.stringify(event);
      return {
        body,
        headers: { 'x-sandbox-signature': createHmac('sha256', SANDBOX_SECRET).update(body).digest('hex') },
      };
    },
  },
];

const customEvent = (data: object) => ({ id: `evt_${randomUUID()}`, type: 'payment.updated', data });
const sandboxEvent = (type: string, id: string, status: string) => ({
  id: `evt_${randomUUID()}`,
  type,
  provider_payment_id: id,
  status,
});

test('every driver is held to these laws', () => {
  expect(DRIVERS.map(({ type }) => type).sort()).toEqual(PROVIDERS.map(({ type }) => type).sort());
});

type Org = Client & { organization: { organization_id: OrganizationId } };

/** A payment of 12.00 that is under way at a provider, and its invoice. */
async function underWay(driver: Driver) {
  const client = (await service.org({ sandbox: driver.type === 'sandbox' })) as unknown as Org;
  const organizationId = client.organization.organization_id;
  const { payment_provider: connection } = await ok(
    client.post('/payment_providers', {
      payment_provider: { type: driver.type, code: 'main', name: 'Main', ...driver.connect() },
    }),
  );
  if (driver.type === 'stripe')
    await until(async () => {
      const [row] = await service.sql`
        select from payment_providers where id = ${connection.svc_id} and inbound_endpoint_id is not null`;
      return row;
    });
  const { customer } = await ok(client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR' } }));
  await ok(
    client.post('/add_ons', { add_on: { name: 'Setup', code: 'setup', amount_cents: DUE, amount_currency: 'EUR' } }),
  );
  const fees = [{ add_on_code: 'setup' }];
  const { invoice } = await ok(
    client.post('/invoices', { invoice: { external_customer_id: 'acme', currency: 'EUR', fees } }),
  );
  const [id, there] = [newId() as PaymentId, `p${randomUUID()}`];
  await transactHoldingClock(runtime, organizationId, async (ctx) => {
    await insertPayment(ctx, {
      id,
      customerId: customer.svc_id as CustomerId,
      payable: { type: 'Invoice', id: invoice.svc_id },
      type: 'provider',
      amountCents: DUE,
      currency: 'EUR',
      status: 'processing',
      paymentStatus: 'processing',
      provider: { id: connection.svc_id, customerId: 'cus_laws', methodId: null },
      invoiceIds: [invoice.svc_id as InvoiceId],
      createdAt: ctx.now(),
      now: ctx.now(),
    });
    await changePayment(ctx, id, { change: { provider_payment_id: there }, now: ctx.now() });
  });

  /** Posts reports one by one, each once the one before is handled. */
  async function report(...events: Loose[]): Promise<void> {
    for (const event of events) {
      const { body, headers } = driver.signed(event);
      const { pathname, search } = new URL(connection.inbound_url);
      const url = `${service.url}${pathname}${search}`;
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(200);
      await until(async () => {
        const { inbound_events: stored } = await ok(client.get('/inbound_events?per_page=100'));
        return stored.length > 0 && stored.every(({ status }: Loose) => status === 'succeeded');
      });
    }
  }

  /** What is booked in the end. */
  async function booked() {
    const { invoice: now } = await ok(client.get(`/invoices/${invoice.svc_id}`));
    const { payments } = await ok(client.get(`/payments?invoice_id=${invoice.svc_id}`));
    const [{ cash }] = (await service.sql`
      select coalesce(sum(case side when 'debit' then amount_cents else -amount_cents end), 0)::int as cash
      from ledger_entries where organization_id = ${organizationId} and account_code = 'cash'`) as unknown as [Loose];
    const states = payments.map(({ payment_status: status }: Loose) => status).join();
    return { invoice: now.payment_status, paid: now.total_paid_amount_cents, payments: states, cash };
  }
  const drifts = async () =>
    (await ok(client.get('/provider_drifts'))).provider_drifts.map(({ kind, theirs }: Loose) => [
      kind,
      theirs.amount_cents,
      theirs.currency,
    ]);
  const poll = () => pollPayment(runtime, { organization_id: organizationId, payment_id: id });
  return { id, there, report, booked, drifts, poll };
}

const PAID = { invoice: 'succeeded', paid: DUE, payments: 'succeeded', cash: DUE };
const NOT_YET = { invoice: 'pending', paid: 0, payments: 'processing', cash: 0 };
const TAKEN_BACK = { invoice: 'failed', paid: 0, payments: 'failed', cash: 0 };

describe.each(DRIVERS)('reports of $type', (driver) => {
  const { reports, another } = driver;
  const again = another ?? ((event: Loose) => event);

  test('a success that comes twice with one id, and once more with another, is one payment', async () => {
    const { there, report, booked } = await underWay(driver);
    const paid = reports.paid(there);
    await report(paid, paid, again(paid));
    expect(await booked()).toEqual(PAID);
  });

  test.runIf(reports.underWay)('a success stays one when it is reported as under way later', async () => {
    const { there, report, booked } = await underWay(driver);
    await report(reports.paid(there), reports.underWay!(there));
    expect(await booked()).toEqual(PAID);
  });

  test.runIf(reports.failed)('a success stays one when a failure is reported after it', async () => {
    const { there, report, booked } = await underWay(driver);
    await report(reports.paid(there), reports.failed!(there));
    expect(await booked()).toEqual(PAID);
  });

  test.runIf(reports.failed)('a success after a failure is a payment', async () => {
    const { there, report, booked } = await underWay(driver);
    await report(reports.failed!(there, EARLIER), reports.paid(there, { at: LATER }));
    expect(await booked()).toEqual(PAID);
  });

  test.runIf(reports.reversed).each([
    ['paid', 'reversed', 'reversed again'],
    ['paid', 'reversed', 'paid again'],
    ['reversed', 'paid', 'reversed again'],
  ] as const)('money that was taken back stays back: %s, %s, %s', async (...order) => {
    const { there, report, booked } = await underWay(driver);
    const [paid, reversed] = [reports.paid(there), reports.reversed!(there)];
    const all = { paid, reversed, 'paid again': again(paid), 'reversed again': again(reversed) };
    await report(...order.map((name) => all[name]));
    expect(await booked()).toEqual(TAKEN_BACK);
  });

  test.runIf(driver.namesMoney).each([
    ['another amount', { amount: DUE - 1 }, ['amount_differs', DUE - 1, 'EUR']],
    ['another currency', { currency: 'USD' }, ['currency_differs', DUE, 'USD']],
  ])('a report of %s settles nothing, and the right one does afterwards', async (_, money, drift) => {
    const { there, report, booked, drifts } = await underWay(driver);
    await report(reports.paid(there, money));
    expect([await booked(), await drifts()]).toEqual([NOT_YET, [drift]]);
    if (again(1) !== 1) await report(reports.paid(there));
    if (!another) return;
    await report(reports.paid(there));
    expect(await booked()).toEqual(PAID);
  });

  test.runIf(driver.answers).each([
    ['another amount', moneyOf({ amount: DUE - 1 }), ['amount_differs', DUE - 1, 'EUR']],
    ['another currency', moneyOf({ currency: 'USD' }), ['currency_differs', DUE, 'USD']],
  ])('an answer of %s settles nothing, however often it is asked for', async (_, money, drift) => {
    const { there, booked, drifts, poll } = await underWay(driver);
    driver.answers!(there, money);
    await poll();
    await poll();
    expect([await booked(), await drifts()]).toEqual([NOT_YET, [drift]]);
  });

  test.runIf(driver.answers)('an answer and a report of the same success are one payment', async () => {
    const { there, report, booked, poll } = await underWay(driver);
    driver.answers!(there, moneyOf());
    await poll();
    await report(reports.paid(there));
    await poll();
    expect(await booked()).toEqual(PAID);
  });
});
