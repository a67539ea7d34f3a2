import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockPayment } from '../../../src/areas/payments/collect-payments/apply-outcome.ts';
import { reversePayment } from '../../../src/areas/payments/payments/settle-payment.ts';
import { connected } from '../../../src/areas/payments/provider-network/network.ts';
import type { OrganizationId } from '../../../src/platform/ids.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { transactHoldingClock } from '../../../src/platform/records/transact.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { FAKE_KEY, FAKE_LIVE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// What leaves for Stripe, and what must not: payments.md#amounts-on-the-wire,
// provider-connections.md#sandboxes-reach-no-live-account.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
  client = await service.org();
  await ok(client.post('/payment_providers', stripeBody(FAKE_LIVE_KEY)));
  await until(async () => {
    const rows = await service.sql`
      select from payment_providers where organization_id = ${client.organization.organization_id}
        and inbound_endpoint_id is not null`;
    return rows[0];
  });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});

const stripeBody = (secretKey: string) => ({
  payment_provider: { type: 'stripe', code: 'main', name: 'Main', secret_key: secretKey },
});

const connectionStatus = async (by: Client): Promise<string> =>
  (await ok(by.get('/payment_providers/main'))).payment_provider.status;

async function tell(type: string, object: object): Promise<void> {
  const { body, signature, path } = stripe.event(type, object);
  const answer = await request(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'stripe-signature': signature, 'content-type': 'application/json' },
    body,
  });
  await answer.body.dump();
  expect(answer.statusCode).toBe(200);
}

/** A customer of its own with a stored card. */
async function customerWith(currency: string, method: string): Promise<string> {
  const id = `${currency}-${method}`;
  await ok(
    client.post('/customers', {
      customer: {
        external_id: id,
        currency,
        billing_configuration: { payment_provider: 'stripe', payment_provider_code: 'main', sync_with_provider: true },
      },
    }),
  );
  const there = await until(async () => {
    const { customer } = await ok(client.get(`/customers/${id}`));
    return customer.billing_configuration.provider_customer_id as string | undefined;
  });
  await store(there, method);
  await until(async () => (await ok(client.get(`/customers/${id}/payment_methods`))).payment_methods[0]);
  return id;
}

/** A customer of Stripe stores a method, which becomes the default. */
const store = (customer: string, method: string): Promise<void> =>
  tell('setup_intent.succeeded', {
    id: `seti_${customer}_${method}`,
    customer,
    payment_method: method,
    payment_method_types: ['card'],
  });

/** How many charges Stripe was asked for. */
const charges = (): number => stripe.requests.filter((line) => line === 'POST /v1/payment_intents').length;

async function bill(customer: string, currency: string, cents: number): Promise<Loose> {
  const code = `setup-${currency}`;
  await client.post('/add_ons', {
    add_on: { name: 'Setup', code, amount_cents: 1000, amount_currency: currency },
  });
  const { invoice } = await ok(
    client.post('/invoices', {
      invoice: {
        external_customer_id: customer,
        currency,
        fees: [{ add_on_code: code, unit_amount_cents: cents, units: 1 }],
      },
    }),
  );
  return invoice;
}

const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const payments = async (made: Loose): Promise<Loose[]> =>
  (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments;
const settled = (made: Loose) =>
  until(async () => {
    const now = await read(made);
    return now.payment_status === 'pending' ? undefined : now;
  }, 60_000);

describe('charges at Stripe', () => {
  test.each([
    // case  currency  due     sent    paid    written off
    ['FI1', 'EUR', 1200, 1200, 1200, 0],
    ['FI1', 'JPY', 1001, 1001, 1001, 0],
    ['FI1', 'HUF', 1250, 1250, 1250, 0],
    ['FI2', 'MGA', 1001, 10, 1000, 1],
    ['FI3', 'ISK', 1001, 100_100, 1001, 0],
    ['FI3', 'UGX', 1001, 100_100, 1001, 0],
    ['FI4', 'KWD', 1001, 1000, 1000, 1],
    ['', 'MGA', 50_050, 500, 50_000, 50],
    ['', 'KWD', 5124, 5120, 5120, 4],
  ])(
    '%s of %s %i is sent to Stripe as %i; %i of it is paid and %i written off',
    async (_, currency, due, sent, paid, rest) => {
      const made = await bill(await customerWith(currency, 'pm_ok'), currency, due);
      expect(await settled(made)).toMatchObject({
        payment_status: 'succeeded',
        total_paid_amount_cents: paid,
        total_written_off_amount_cents: rest,
        total_due_amount_cents: 0,
      });
      const [payment] = await payments(made);
      expect(payment).toMatchObject({ amount_cents: paid, payment_status: 'succeeded' });
      const intent = stripe.intents.find(({ id }) => id === payment.provider_payment_id);
      expect([intent.amount, intent.currency]).toEqual([sent, currency.toLowerCase()]);
      const [row] = await service.sql`
      select wire_amount, wire_currency from payments where id = ${payment.svc_id}`;
      expect(row).toEqual({ wire_amount: sent, wire_currency: currency });
      const notes = await service.sql`
      select amount_cents, reason, payment_id is not null as of_payment from invoice_settlements
      where invoice_id = ${made.svc_id}`;
      expect(notes).toEqual(rest === 0 ? [] : [{ amount_cents: rest, reason: 'provider_rounding', of_payment: true }]);
      const audit = await service.sql`
      select sum(case entry.side when 'debit' then entry.amount_cents else -entry.amount_cents end)::int as left
      from ledger_entries entry join ledger_transactions booked
        on booked.organization_id = entry.organization_id and booked.id = entry.transaction_id
      where entry.organization_id = ${client.organization.organization_id} and entry.account_code = 'receivable'
        and booked.currency = ${currency}`;
      expect(audit).toEqual([{ left: 0 }]);
    },
  );

  // Golden case FI4.
  test.each([
    ['TND', 9],
    ['MGA', 99],
  ])('FI4 of %s %i, which is less than a step, none is sent', async (currency, due) => {
    const customer = await customerWith(currency, 'pm_ok');
    const before = charges();
    const made = await bill(customer, currency, due);
    const left = await until(async () => (await payments(made)).find(({ provider_error: error }) => error));
    expect(left).toMatchObject({ payment_status: 'pending', provider_error: { error_code: 'amount_too_small' } });
    expect(charges()).toBe(before);
    expect(await read(made)).toMatchObject({
      payment_status: 'pending',
      total_due_amount_cents: due,
      total_paid_amount_cents: 0,
      total_written_off_amount_cents: 0,
    });
  });

  // Golden case FI2: a note over the rest comes while the charge is under way.
  test('FI2 of MGA 1001 nothing is written off when a note has taken the 1 that cannot be paid', async () => {
    const made = await bill(await customerWith('MGA', 'pm_slow'), 'MGA', 1001);
    const waiting = await until(async () => (await payments(made)).find((each) => each.provider_payment_id));
    expect(waiting).toMatchObject({ amount_cents: 1000, payment_status: 'processing' });
    const { fees } = await read(made);
    await ok(
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: made.svc_id,
          offset_amount_cents: 1,
          items: [{ fee_id: fees[0].svc_id, amount_cents: 1 }],
        },
      }),
    );
    await tell('payment_intent.succeeded', {
      id: waiting.provider_payment_id,
      status: 'succeeded',
      amount_received: 10,
      currency: 'mga',
      metadata: {},
    });
    expect(await settled(made)).toMatchObject({
      payment_status: 'succeeded',
      total_paid_amount_cents: 1000,
      total_written_off_amount_cents: 0,
      total_due_amount_cents: 0,
    });
  });

  // Golden case FI2, to its end.
  test('FI2 of MGA 1001 all is due again when the payment is taken back', async () => {
    const made = await bill(await customerWith('MGA', 'pm_ok'), 'MGA', 1001);
    expect(await settled(made)).toMatchObject({ total_paid_amount_cents: 1000, total_written_off_amount_cents: 1 });
    const [payment] = await payments(made);
    const id = client.organization.organization_id as OrganizationId;
    await transactHoldingClock(runtime, id, async (ctx) =>
      reversePayment(ctx, await lockPayment(ctx, payment.svc_id), { status: 'failed' }),
    );
    expect(await read(made)).toMatchObject({
      payment_status: 'failed',
      total_paid_amount_cents: 0,
      total_written_off_amount_cents: 0,
      total_due_amount_cents: 1001,
    });
  });

  // Golden case FI6.
  test('FI6 of ISK 1001 an event of 150, which no step makes, settles nothing', async () => {
    const made = await bill(await customerWith('ISK', 'pm_slow'), 'ISK', 1001);
    const waiting = await until(async () => (await payments(made)).find((each) => each.provider_payment_id));
    const id = waiting.provider_payment_id;
    await tell('payment_intent.succeeded', {
      id,
      status: 'succeeded',
      amount_received: 150,
      currency: 'isk',
      metadata: {},
    });
    const drift = await until(
      async () => (await ok(client.get(`/provider_drifts?payment_id=${waiting.svc_id}`))).provider_drifts[0],
    );
    expect(drift).toMatchObject({ kind: 'amount_differs', severity: 'error', ours: { amount_cents: 1001 } });
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
  });

  // Golden case FI9.
  test('FI9 a request over KWD 1001 and 2008 is sent as 3000, and the 9 that are left are of the invoice of 2008', async () => {
    const customer = await customerWith('KWD', 'pm_declined');
    const made = [await bill(customer, 'KWD', 1001), await bill(customer, 'KWD', 2008)];
    for (const each of made) expect(await settled(each)).toMatchObject({ payment_status: 'failed' });
    const { customer: linked } = await ok(client.get(`/customers/${customer}`));
    await store(linked.billing_configuration.provider_customer_id, 'pm_ok_later');
    await until(async () => {
      const { payment_methods: methods } = await ok(client.get(`/customers/${customer}/payment_methods`));
      return methods.some((each: Loose) => each.provider_method_id === 'pm_ok_later' && each.is_default) || undefined;
    });
    const ids = made.map(({ svc_id: id }) => id);
    await service.sql`update invoices set payment_overdue = true where id = any (${ids})`;
    const { payment_request: asked } = await ok(
      client.post('/payment_requests', {
        payment_request: { external_customer_id: customer, email: 'pay@acme.test', svc_invoice_ids: ids },
      }),
    );
    expect(asked.amount_cents).toBe(3009);
    const paid = await until(async () =>
      (await ok(client.get(`/payments?external_customer_id=${customer}`))).payments.find(
        (each: Loose) => each.payable_type === 'PaymentRequest' && each.payment_status === 'succeeded',
      ),
    );
    expect(paid.amount_cents).toBe(3000);
    expect(stripe.intents.find(({ id }) => id === paid.provider_payment_id).amount).toBe(3000);
    const after = await Promise.all(made.map(read));
    expect(
      after.map(
        ({ payment_status, total_paid_amount_cents, total_written_off_amount_cents, total_due_amount_cents }) => [
          payment_status,
          total_paid_amount_cents,
          total_written_off_amount_cents,
          total_due_amount_cents,
        ],
      ),
    ).toEqual([
      ['succeeded', 1001, 0, 0],
      ['succeeded', 1999, 9, 0],
    ]);
  });

  // Golden case FI8.
  test('FI8 of the KWD 1000 that were paid of 1001, 501 cannot be given back and 1000 can', async () => {
    const made = await bill(await customerWith('KWD', 'pm_ok'), 'KWD', 1001);
    const paid = await settled(made);
    const note = (cents: number) =>
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: made.svc_id,
          refund_amount_cents: cents,
          items: [{ fee_id: paid.fees[0].svc_id, amount_cents: cents }],
        },
      });
    expect(await note(501)).toMatchObject({
      status: 422,
      body: { error_details: { refund_amount_cents: ['value_is_out_of_range'] } },
    });
    const { credit_note: back } = await ok(note(1000));
    const refund = await until(async () =>
      stripe.refunds.find(({ metadata }) => metadata.credit_note_id === back.svc_id),
    );
    expect(refund.amount).toBe(1000);
  });

  test('a charge in a currency that Stripe does not accept fails without a call', async () => {
    const customer = await customerWith('LYD', 'pm_ok');
    const before = charges();
    const made = await bill(customer, 'LYD', 5000);
    expect(await settled(made)).toMatchObject({ payment_status: 'failed' });
    expect(charges()).toBe(before);
    const [event] = await service.sql<{ payload: string }[]>`
      select payload from webhook_events where organization_id = ${client.organization.organization_id}
        and webhook_type = 'invoice.payment_failure' and object_id = ${made.svc_id}`;
    expect(JSON.parse(event!.payload).payment_provider_invoice_payment_error.provider_error).toMatchObject({
      error_code: 'currency_not_supported',
    });
  });

  test('a reversal by hand keeps what was written off with a payment', async () => {
    const made = await bill(await customerWith('OMR', 'pm_ok'), 'OMR', 5129);
    expect(await settled(made)).toMatchObject({ total_written_off_amount_cents: 9 });
    expect(await client.post(`/invoices/${made.svc_id}/write_off/reverse`)).toMatchObject({ status: 405 });
    expect(await read(made)).toMatchObject({ total_written_off_amount_cents: 9, payment_status: 'succeeded' });
  });

  test('a refund is what Stripe can give back', async () => {
    const made = await bill(await customerWith('TND', 'pm_ok'), 'TND', 5124);
    const paid = await settled(made);
    const note = (refund: number) =>
      client.post('/credit_notes', {
        credit_note: {
          invoice_id: made.svc_id,
          refund_amount_cents: refund,
          items: [{ fee_id: paid.fees[0].svc_id, amount_cents: refund }],
        },
      });
    expect(await note(1001)).toMatchObject({
      status: 422,
      body: { error_details: { refund_amount_cents: ['value_is_out_of_range'] } },
    });
    const { credit_note: made2 } = await ok(note(1000));
    const done = await until(async () => {
      const { credit_note: now } = await ok(client.get(`/credit_notes/${made2.svc_id}`));
      return now.refund_status === 'pending' ? undefined : now;
    }, 60_000);
    expect(done).toMatchObject({ refund_status: 'succeeded', refund_amount_cents: 1000 });
    expect(stripe.refunds.at(-1)).toMatchObject({ amount: 1000 });
  });

  test.each([
    // currency  paid    item  may be refunded
    ['KWD', 5124, 1005, 1000],
    ['KWD', 5124, 1003, 1000],
    ['MGA', 50_050, 150, 100],
    ['JPY', 1001, 77, 77],
  ])('of %s %i an item of %i promises a refund of %i', async (currency, cents, amount_cents, refundable) => {
    const paid = await settled(await bill(await customerWith(currency, `pm_ok_${amount_cents}`), currency, cents));
    const credit_note = { invoice_id: paid.svc_id, items: [{ fee_id: paid.fees[0].svc_id, amount_cents }] };
    const { estimated_credit_note: estimated } = await ok(client.post('/credit_notes/estimate', { credit_note }));
    expect(estimated).toMatchObject({
      max_creditable_amount_cents: amount_cents,
      max_refundable_amount_cents: refundable,
    });
  });

  test.each([
    // currency  due    on the page, and back
    ['ISK', 700, 70_000],
    ['MGA', 70_000, 700],
    ['BHD', 7120, 7120],
  ])('a payment page for %s %i asks for %i, and what comes back pays the invoice', async (currency, due, wire) => {
    const made = await bill(await customerWith(currency, 'pm_declined'), currency, due);
    expect(await settled(made)).toMatchObject({ payment_status: 'failed' });
    await ok(client.post(`/invoices/${made.svc_id}/payment_url`));
    expect(stripe.pages.at(-1)).toEqual({ amount: wire, currency: currency.toLowerCase() });
    await tell('payment_intent.succeeded', {
      id: `pi_page_${currency}`,
      status: 'succeeded',
      amount_received: wire,
      currency: currency.toLowerCase(),
      metadata: { payable_type: 'Invoice', payable_id: made.svc_id },
    });
    const paid = await until(async () => {
      const now = await read(made);
      return now.payment_status === 'succeeded' ? now : undefined;
    });
    expect(paid).toMatchObject({ total_paid_amount_cents: due, total_written_off_amount_cents: 0 });
  });

  test('a payment page in a currency that Stripe does not accept is refused without a call', async () => {
    const before = stripe.requests.length;
    const made = await bill(await customerWith('IQD', 'pm_ok'), 'IQD', 5124);
    await settled(made);
    const calls = stripe.requests.slice(before).filter((line) => line.includes('checkout'));
    const { status, body } = await client.post(`/invoices/${made.svc_id}/payment_url`);
    expect([status, body.error_details]).toEqual([422, { currency: ['unsupported_value'] }]);
    expect(stripe.requests.slice(before).filter((line) => line.includes('checkout'))).toEqual(calls);
  });

  test.each(['refund.updated', 'refund.failed'])(
    'the Stripe event %s reports what became of a refund',
    async (type) => {
      const currency = type === 'refund.failed' ? 'BHD' : 'JOD';
      const made = await bill(await customerWith(currency, 'pm_refund_slow'), currency, 5120);
      const paid = await settled(made);
      const { credit_note: note } = await ok(
        client.post('/credit_notes', {
          credit_note: {
            invoice_id: made.svc_id,
            refund_amount_cents: 1000,
            items: [{ fee_id: paid.fees[0].svc_id, amount_cents: 1000 }],
          },
        }),
      );
      const refund = await until(async () =>
        stripe.refunds.find(({ metadata }) => metadata.credit_note_id === note.svc_id),
      );
      const status = type === 'refund.failed' ? 'failed' : 'succeeded';
      await tell(type, {
        ...refund,
        status,
        ...(status === 'failed' ? { failure_reason: 'lost_or_stolen_card' } : {}),
      });
      await until(async () => {
        const { credit_note: now } = await ok(client.get(`/credit_notes/${note.svc_id}`));
        return now.refund_status === status || undefined;
      }, 60_000);
    },
  );

  test('money from a charge that was never requested settles nothing', async () => {
    const made = await bill(await customerWith('EUR', 'pm_slow'), 'EUR', 5000);
    const payment = await until(async () => (await payments(made)).find((each) => each.provider_payment_id));
    const intent = { id: payment.provider_payment_id, status: 'succeeded', metadata: {} };
    const drift = (kind: string) =>
      until(async () => {
        const { body } = await client.get(`/provider_drifts?kinds[]=${kind}`);
        return body.provider_drifts.find(
          (each: { svc_payment_id: string | null }) => each.svc_payment_id === payment.svc_id,
        );
      });
    await tell('payment_intent.succeeded', { ...intent, amount_received: 4000, currency: 'eur' });
    expect(await drift('amount_differs')).toMatchObject({ theirs: { amount_cents: 4000 } });
    await tell('payment_intent.succeeded', { ...intent, amount_received: 5000, currency: 'usd' });
    expect(await drift('currency_differs')).toMatchObject({ theirs: { currency: 'USD' } });
    expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
    await tell('payment_intent.succeeded', { ...intent, amount_received: 5000, currency: 'eur' });
    expect(await settled(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 5000 });
  });
});

describe('sandboxes and live accounts', () => {
  test('a sandbox refuses any live key, full or restricted, when it is first set or changed (FI10)', async () => {
    const sandbox = await service.org({ sandbox: true });
    for (const key of [FAKE_LIVE_KEY, 'rk_live_1', 'anything'])
      expect(await sandbox.post('/payment_providers', stripeBody(key))).toMatchObject({
        status: 422,
        body: { error_details: { secret_key: ['live_key_in_sandbox'] } },
      });
    await ok(sandbox.post('/payment_providers', stripeBody(FAKE_KEY)));
    expect(
      await sandbox.put('/payment_providers/main', { payment_provider: { secret_key: FAKE_LIVE_KEY } }),
    ).toMatchObject({ status: 422, body: { error_details: { secret_key: ['live_key_in_sandbox'] } } });
  });

  test('a sandbox has a test clock or a real connection, never both (FI11)', async () => {
    const clocked = await service.org({ sandbox: true });
    await ok(clocked.post('/test_clock', { test_clock: { frozen_time: '2026-01-01T00:00:00Z' } }));
    expect(await clocked.post('/payment_providers', stripeBody(FAKE_KEY))).toMatchObject({
      status: 422,
      body: { error_details: { type: ['value_is_invalid'] } },
    });
    const connected = await service.org({ sandbox: true });
    await ok(connected.post('/payment_providers', stripeBody(FAKE_KEY)));
    expect(await connected.post('/test_clock', { test_clock: { frozen_time: '2026-01-01T00:00:00Z' } })).toMatchObject({
      status: 405,
      body: { code: 'provider_connected' },
    });
  });

  test('no call leaves a sandbox for a live account, whatever its rows say, nor from simulated time (FI10)', async () => {
    const sandbox = await service.org({ sandbox: true });
    const id = sandbox.organization.organization_id;
    await ok(sandbox.post('/payment_providers', stripeBody(FAKE_KEY)));
    await until(async () => (await connectionStatus(sandbox)) === 'connected' || undefined);
    // The calls of a new connection end with the address for its events.
    await until(async () => {
      const [owed] = await service.sql`
        select from payment_providers where organization_id = ${id} and inbound_owed_at is not null`;
      return owed === undefined || undefined;
    });
    // As an older version left it: a clock beside the connection.
    await service.sql`
      insert into test_clocks (organization_id, frozen_time, created_at) values (${id}, now(), now())`;
    const before = stripe.requests.length;
    await ok(sandbox.post('/payment_providers/main/check'));
    await ok(
      sandbox.post('/customers', {
        customer: {
          external_id: 'acme',
          billing_configuration: {
            payment_provider: 'stripe',
            payment_provider_code: 'main',
            sync_with_provider: true,
          },
        },
      }),
    );
    await until(async () => (await connectionStatus(sandbox)) === 'failing' || undefined);
    const { payment_provider: shown } = await ok(sandbox.get('/payment_providers/main'));
    expect(shown.last_error).toBe('live_key_in_sandbox');
    expect(stripe.requests).toHaveLength(before);
    const refused = async () => (await runtime.metrics.providerCallsRefused.get()).values[0]?.value ?? 0;
    const refusedBefore = await refused();
    const [connection] = await service.sql<{ id: string }[]>`
      select id from payment_providers where organization_id = ${id}`;
    expect(await connected(runtime, id as OrganizationId, connection!.id)).toBeUndefined();
    expect((await refused()) - refusedBefore).toBe(1);
    const aYearLater = new Date(Date.now() + 365 * 24 * 3_600_000).toISOString();
    await ok(sandbox.post('/test_clock/advance', { test_clock: { frozen_time: aYearLater } }));
    await until(async () => (await ok(sandbox.get('/test_clock'))).test_clock.status === 'ready', 60_000);
    expect(stripe.requests).toHaveLength(before);
  });
});
