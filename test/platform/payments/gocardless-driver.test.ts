import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChargeRequest } from '../../../src/platform/payments/port.ts';
import { ProviderConflict, ProviderRefusal, TooManyCalls } from '../../../src/platform/payments/port.ts';
import { descriptorOf } from '../../../src/platform/payments/providers.ts';
import { Outage } from '../../../src/platform/refusal.ts';
import {
  type FakeGocardless,
  fakeGocardless,
  GOCARDLESS_READ_ONLY,
  GOCARDLESS_TOKEN,
  GOCARDLESS_WEBHOOK_SECRET,
} from '../../support/fakes/gocardless.ts';

// The driver of GoCardless behind the port, against a double of its interface: provider-connections.md#gocardless.
let gocardless: FakeGocardless;
let serial = 0;

beforeAll(async () => {
  gocardless = await fakeGocardless();
});
afterAll(() => gocardless.close());
beforeEach(async () => {
  await gocardless.close();
  gocardless = await fakeGocardless();
});

const next = (): number => {
  serial += 1;
  return serial;
};

const type = () => descriptorOf('gocardless')!;
const driver = (accessToken = GOCARDLESS_TOKEN, settings: object = {}) =>
  type().open!(
    {
      code: 'debits',
      // What is known of an account is remembered by its token.
      secrets: { access_token: accessToken },
      settings: { environment: 'sandbox', ...settings },
      inboundUrl: 'https://billing.example.com/webhooks',
    },
    { GOCARDLESS_API_URL: gocardless.url } as never,
  );

/** A customer with a mandate. */
async function signed(scheme = 'bacs', name = 'Acme') {
  const provider = driver();
  const customer = await provider.createCustomer({
    idempotencyKey: `customer-${next()}`,
    name,
    email: 'pay@acme.test',
    metadata: { customer_id: '1', external_customer_id: 'acme' },
  });
  const page = await provider.openPage({
    idempotencyKey: `page-${serial}`,
    providerCustomerId: customer,
    methodTypes: [],
    successUrl: 'https://acme.test/back',
    currency: 'GBP',
    metadata: { customer_id: '1' },
  });
  return { provider, customer, page, mandate: gocardless.sign(page.id, { scheme }) };
}

const request = (mandate: { id: string; scheme: string }, fields: Partial<ChargeRequest> = {}): ChargeRequest => ({
  idempotencyKey: `payment-${next()}`,
  amountCents: 1200,
  currency: 'GBP',
  providerCustomerId: 'CU1',
  providerMethodId: mandate.id,
  methodDetails: { scheme: mandate.scheme },
  description: 'ACM-0001-002-0003',
  metadata: { payment_id: `p${serial}`, payable_type: 'Invoice', payable_id: 'i1' },
  ...fields,
});

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof ProviderRefusal ? error.error.code : (error as Error).name),
  );

describe('credentials', () => {
  test('a token that is accepted names the mode of its environment', async () => {
    expect(await driver().check()).toEqual({ ok: true, live: false });
  });

  test('an unknown token is refused with the words of GoCardless', async () => {
    expect(await driver('nonsense').check()).toMatchObject({
      ok: false,
      error: { code: 'access_token_not_found', httpStatus: 401 },
    });
  });

  test('a token that may only read charges nothing, and says which right is missing', async () => {
    const { mandate } = await signed();
    const outcome = await driver(GOCARDLESS_READ_ONLY).charge(request(mandate));
    expect(outcome).toMatchObject({
      paymentStatus: 'failed',
      error: { code: 'insufficient_permissions', httpStatus: 403 },
    });
  });
});

describe('mandates', () => {
  test('a page asks for a mandate of the customer, in its currency, and returns to our address', async () => {
    const { page, customer } = await signed();
    expect(page.url).toBe(`https://pay-sandbox.test/flow?id=${page.id}`);
    expect(gocardless.billingRequests.get(page.id)).toMatchObject({
      links: { customer },
      mandate_request: { currency: 'GBP', metadata: { customer_id: '1' } },
    });
  });

  test('a page opened again with its key is another way to the same request', async () => {
    const { provider, customer } = await signed();
    const again = {
      idempotencyKey: 'page-again',
      providerCustomerId: customer,
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: null,
      metadata: {},
    };
    const [first, second] = [await provider.openPage(again), await provider.openPage(again)];
    expect(second.id).toBe(first.id);
    // A customer without a currency gets the one of the account.
    expect(gocardless.billingRequests.get(first.id).mandate_request.currency).toBe('GBP');
  });

  test('a page that nobody ended is closed there; an ended one is refused', async () => {
    const { provider, customer, page } = await signed();
    const open = await provider.openPage({
      idempotencyKey: 'page-open',
      providerCustomerId: customer,
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: 'GBP',
      metadata: {},
    });
    await provider.expirePage(open.id);
    expect(gocardless.billingRequests.get(open.id).status).toBe('cancelled');
    expect(await codeOf(provider.expirePage(page.id))).toBe('billing_request_not_pending');
  });

  test('a customer that was made before is found by its key, also one without a name', async () => {
    const fields = { name: null, email: null, metadata: { customer_id: '2', external_customer_id: 'beta' } };
    const provider = driver();
    const first = await provider.createCustomer({ idempotencyKey: 'customer-same', ...fields });
    expect(await provider.createCustomer({ idempotencyKey: 'customer-same', ...fields })).toBe(first);
    expect(gocardless.customers.get(first).company_name).toBe('beta');
  });

  test('methods are the mandates that may be charged, newest first, each with its bank and what it has replaced', async () => {
    const { provider, customer, mandate } = await signed();
    const other = await provider.openPage({
      idempotencyKey: 'page-other',
      providerCustomerId: customer,
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: 'GBP',
      metadata: {},
    });
    const newer = gocardless.sign(other.id, { last4: '9921', bank: 'LLOYDS' });
    mandate.status = 'cancelled';
    mandate.links.new_mandate = newer.id;
    expect(await provider.listMethods!(customer, ['card'])).toEqual([
      {
        providerMethodId: newer.id,
        methodType: 'bank_debit',
        details: { scheme: 'bacs', mandate_reference: newer.reference, bank: 'LLOYDS', last4: '9921' },
        formerIds: [mandate.id],
      },
    ]);
  });

  test('a customer who does not exist there, or whose data were removed, is known as missing', async () => {
    const { provider, customer } = await signed();
    expect(await provider.readCustomer!(customer)).toEqual({ defaultMethodId: null });
    gocardless.customers.get(customer).isRemoved = true;
    expect(await provider.readCustomer!(customer)).toBeUndefined();
    expect(await provider.readCustomer!('CU999999')).toBeUndefined();
  });
});

describe('charges', () => {
  test('a charge is a payment on the mandate, expected on its charge date', async () => {
    const { provider, mandate } = await signed();
    const asked = request(mandate);
    const outcome = await provider.charge(asked);
    const [payment] = [...gocardless.payments.values()];
    expect(outcome).toEqual({
      kind: 'answered',
      status: 'pending_submission',
      paymentStatus: 'processing',
      providerPaymentId: payment.id,
      received: { currency: 'GBP', amountCents: 1200 },
      expectedSettlementDate: '2026-12-01',
    });
    expect(payment).toMatchObject({
      amount: 1200,
      currency: 'GBP',
      metadata: asked.metadata,
      links: { mandate: mandate.id },
      reference: 'ACM-0001-0',
    });
  });

  test('an account names no payment in a scheme in which banks know it by the name of GoCardless', async () => {
    const { provider, mandate } = await signed('sepa_core');
    await provider.charge(request(mandate, { currency: 'EUR' }));
    expect([...gocardless.payments.values()][0]).not.toHaveProperty('reference');
  });

  test('a charge whose answer was lost is found by its key, and is one charge', async () => {
    const { provider, mandate } = await signed();
    const asked = request(mandate);
    gocardless.loseNext('payments');
    expect(await provider.charge(asked)).toMatchObject({ kind: 'unreachable' });
    expect(await provider.charge(asked)).toMatchObject({ kind: 'answered', status: 'pending_submission' });
    expect(gocardless.payments.size).toBe(1);
  });

  test.each([
    ['another amount', { amountCents: 1300 }],
    ['another payment', { metadata: { payment_id: 'other' } }],
  ])('a key that was used for %s stops the charge', async (_, other) => {
    const { provider, mandate } = await signed();
    const asked = request(mandate);
    await provider.charge(asked);
    expect(await provider.charge({ ...asked, ...other })).toMatchObject({ kind: 'conflict' });
    expect(gocardless.payments.size).toBe(1);
  });

  // Golden case FI7.
  test('FI7 a currency without a scheme is refused before any call', async () => {
    const { provider, mandate } = await signed();
    gocardless.calls.length = 0;
    expect(await provider.charge(request(mandate, { currency: 'JPY', amountCents: 1000 }))).toMatchObject({
      paymentStatus: 'failed',
      error: { code: 'currency_not_supported' },
    });
    expect(gocardless.calls).toEqual([]);
  });

  test.each([
    ['cancelled', 'mandate_is_inactive'],
    ['failed', 'mandate_is_inactive'],
    ['expired', 'mandate_is_inactive'],
  ])('a mandate that is %s is not charged', async (status, code) => {
    const { provider, mandate } = await signed();
    mandate.status = status;
    expect(await provider.charge(request(mandate))).toMatchObject({ paymentStatus: 'failed', error: { code } });
    expect(gocardless.payments.size).toBe(0);
  });

  test('a mandate of another currency is refused with the field', async () => {
    const { provider, mandate } = await signed('sepa_core');
    expect(await provider.charge(request(mandate))).toMatchObject({
      paymentStatus: 'failed',
      error: { code: 'validation_failed', message: expect.stringContaining('currency') },
    });
  });

  test('a replaced mandate is charged by the one that took its place, once', async () => {
    const { provider, mandate, customer } = await signed();
    const page = await provider.openPage({
      idempotencyKey: 'page-replaced',
      providerCustomerId: customer,
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: 'GBP',
      metadata: {},
    });
    const newer = gocardless.sign(page.id);
    mandate.links.new_mandate = newer.id;
    expect(await provider.charge(request(mandate))).toMatchObject({ kind: 'answered', paymentStatus: 'processing' });
    expect([...gocardless.payments.values()].map(({ links }) => links.mandate)).toEqual([newer.id]);
  });

  test('one call too many waits until the instant that GoCardless names', async () => {
    const { provider, mandate } = await signed();
    gocardless.throttle(1);
    const error = await provider.charge(request(mandate)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TooManyCalls);
    expect((error as TooManyCalls).saidMs).toBeLessThanOrEqual(2000);
    expect(gocardless.payments.size).toBe(0);
  });

  test('while it is away nobody knows an outcome', async () => {
    const { provider, mandate } = await signed();
    gocardless.isDown = true;
    expect(await provider.charge(request(mandate))).toMatchObject({ kind: 'unreachable' });
    await expect(provider.readPayment('PM1')).rejects.toBeInstanceOf(Outage);
  });

  test('a payment is cancelled until it goes to the banks', async () => {
    const { provider, mandate } = await signed();
    await provider.charge(request(mandate));
    const [payment] = [...gocardless.payments.values()];
    payment.status = 'submitted';
    expect(await codeOf(provider.cancel(payment.id))).toBe('cancellation_failed');
    payment.status = 'pending_submission';
    await provider.cancel(payment.id);
    expect(await provider.readPayment(payment.id)).toMatchObject({ status: 'cancelled', paymentStatus: 'failed' });
  });

  test.each([
    ['paid_out', 'processing', 'succeeded'],
    ['confirmed', 'succeeded', 'succeeded'],
  ])('a connection that settles on %s counts a confirmed payment as %s', async (settle_on, confirmed, paidOut) => {
    const { mandate } = await signed();
    await driver().charge(request(mandate));
    const [payment] = [...gocardless.payments.values()];
    const read = async (status: string) => {
      payment.status = status;
      return driver(GOCARDLESS_TOKEN, { settle_on }).readPayment(payment.id);
    };
    expect(await read('confirmed')).toMatchObject({ paymentStatus: confirmed });
    expect(await read('paid_out')).toMatchObject({ paymentStatus: paidOut });
  });
});

describe('refunds', () => {
  async function paid() {
    const { provider, mandate } = await signed();
    await provider.charge(request(mandate));
    const [payment] = [...gocardless.payments.values()];
    payment.status = 'paid_out';
    return { provider, payment };
  }
  const refund = (paymentId: string, note: string, amountCents = 500) => ({
    idempotencyKey: note,
    providerPaymentId: paymentId,
    amountCents,
    currency: 'GBP',
    reason: null,
    metadata: { credit_note_id: note, invoice_id: 'i1' },
  });

  test('refunds of one payment confirm the total so far', async () => {
    const { provider, payment } = await paid();
    const first = await provider.refund(refund(payment.id, 'n1'));
    expect(first.status).toBe('created');
    await provider.refund(refund(payment.id, 'n2', 700));
    expect([...gocardless.refunds.values()].map(({ total_amount_confirmation: total }) => total)).toEqual([500, 1200]);
  });

  test('a refund whose answer was lost is found before it is sent again', async () => {
    const { provider, payment } = await paid();
    gocardless.loseNext('refunds');
    await expect(provider.refund(refund(payment.id, 'n1'))).rejects.toBeInstanceOf(Outage);
    expect(await provider.refund(refund(payment.id, 'n1'))).toMatchObject({ status: 'created' });
    expect(gocardless.refunds.size).toBe(1);
    expect(payment.amount_refunded).toBe(500);
  });

  test('a key that was used for another refund stops it', async () => {
    const { provider, payment } = await paid();
    await provider.refund(refund(payment.id, 'n1'));
    const other = { ...refund(payment.id, 'n1'), metadata: { credit_note_id: 'n9' } };
    await expect(provider.refund(other)).rejects.toBeInstanceOf(ProviderConflict);
  });

  test('an account without the right is refused by name', async () => {
    const { payment } = await paid();
    gocardless.creditor.can_create_refunds = false;
    // The right is remembered for an hour: the account is another one.
    expect(await codeOf(driver().refund(refund(payment.id, 'n1')))).toBe('refund_not_enabled');
    expect(gocardless.refunds.size).toBe(0);
  });

  test.each([
    ['more than was paid', 1300, 'validation_failed'],
    ['more than GoCardless holds of ours', 700, 'available_refund_amount_insufficient'],
  ])('a refund of %s is refused', async (_, amountCents, code) => {
    const { provider, payment } = await paid();
    gocardless.refundable = 600;
    expect(await codeOf(provider.refund(refund(payment.id, 'n1', amountCents)))).toBe(code);
  });

  test('a payment on its way to the banks is not refunded', async () => {
    const { provider, payment } = await paid();
    payment.status = 'submitted';
    expect(await codeOf(provider.refund(refund(payment.id, 'n1')))).toBe('refund_payment_invalid_state');
  });
});

test('250 payments are listed in three pages, each once', async () => {
  const { provider } = await signed();
  for (let n = 0; n < 250; n += 1)
    gocardless.payments.set(`PM${n}`, {
      id: `PM${n}`,
      created_at: '2026-11-01T00:00:00.000Z',
      amount: 100,
      currency: 'GBP',
      status: 'paid_out',
      metadata: { payment_id: `${n}` },
      links: {},
    });
  const ids = new Set<string>();
  let [cursor, pages]: [string | null, number] = [null, 0];
  do {
    const page: Awaited<ReturnType<NonNullable<typeof provider.listPayments>>> = await provider.listPayments!({
      sinceSeconds: 0,
      cursor,
    });
    for (const { providerPaymentId } of page.items) ids.add(providerPaymentId);
    cursor = page.next;
    pages += 1;
  } while (cursor !== null);
  expect([ids.size, pages]).toEqual([250, 3]);
});

describe('events', () => {
  const { inbound } = type();
  const body = (events: object[]) => gocardless.post(events);

  test('a body is signed by HMAC with the secret of the endpoint', () => {
    const { body: text, headers } = body([gocardless.event('payments', 'paid_out', { links: { payment: 'PM1' } })]);
    const isSigned = (secret: string, changed = text) =>
      inbound.isSigned({
        body: Buffer.from(changed),
        header: (name) => headers[name],
        secret,
        nowSeconds: 0,
      });
    expect(isSigned(GOCARDLESS_WEBHOOK_SECRET)).toBe(true);
    expect(isSigned('another')).toBe(false);
    expect(isSigned(GOCARDLESS_WEBHOOK_SECRET, `${text} `)).toBe(false);
  });

  test('each event of a body has its own id', () => {
    const events = [1, 2, 3].map((n) => gocardless.event('payments', 'submitted', { links: { payment: `PM${n}` } }));
    const parsed = inbound.eventsIn(JSON.parse(body(events).body));
    expect(parsed.map(({ id, type: kind }) => [id, kind])).toEqual(events.map(({ id }) => [id, 'payments.submitted']));
    expect(inbound.eventsIn({ events: 'none' })).toEqual([]);
  });

  test.each([
    ['payments', 'created', {}, { kind: 'payment', status: 'pending_submission' }],
    ['payments', 'confirmed', {}, { kind: 'payment', status: 'confirmed' }],
    ['payments', 'paid_out', {}, { kind: 'payment', status: 'paid_out' }],
    ['payments', 'cancelled', {}, { kind: 'payment', status: 'cancelled', error: { code: 'payments_cancelled' } }],
    ['payments', 'failed', {}, { kind: 'payment_reversed', status: 'failed', error: { code: 'payments_failed' } }],
    [
      'payments',
      'failed',
      { details: { will_attempt_retry: true } },
      { kind: 'payment', status: 'pending_submission' },
    ],
    ['payments', 'charged_back', {}, { kind: 'payment_reversed', status: 'charged_back' }],
    ['payments', 'chargeback_cancelled', {}, { kind: 'payment', status: 'paid_out' }],
    ['payments', 'late_failure_settled', {}, { kind: 'ignored' }],
    ['payments', 'surcharge_fee_debited', {}, { kind: 'ignored' }],
    ['refunds', 'paid', {}, { kind: 'refund', providerRefundId: 'RE1', status: 'paid' }],
    [
      'refunds',
      'funds_returned',
      {},
      { kind: 'refund', status: 'funds_returned', error: { code: 'refunds_funds_returned' } },
    ],
    ['mandates', 'created', {}, { kind: 'methods_changed', ownCustomerId: 'c1', providerMethodId: 'MD1' }],
    ['mandates', 'active', {}, { kind: 'methods_changed', ownCustomerId: 'c1' }],
    ['mandates', 'cancelled', {}, { kind: 'mandate_changed', providerMethodId: 'MD1', isActive: false }],
    ['mandates', 'expired', {}, { kind: 'mandate_changed', isActive: false }],
    ['mandates', 'failed', {}, { kind: 'mandate_changed', isActive: false }],
    ['mandates', 'blocked', {}, { kind: 'mandate_changed', isActive: false }],
    ['mandates', 'replaced', {}, { kind: 'method_replaced', providerMethodId: 'MD1', newMethodId: 'MD2' }],
    ['billing_requests', 'fulfilled', {}, { kind: 'methods_changed', providerCustomerId: 'CU1' }],
    ['billing_requests', 'cancelled', {}, { kind: 'ignored' }],
    ['payouts', 'paid', {}, { kind: 'ignored' }],
  ])('%s.%s %j', (resource, action, fields, expected) => {
    const links = {
      payment: 'PM1',
      refund: 'RE1',
      mandate: 'MD1',
      new_mandate: 'MD2',
      mandate_request_mandate: 'MD1',
      ...(resource === 'billing_requests' ? { customer: 'CU1' } : {}),
    };
    const event = gocardless.event(resource, action, { links, resource_metadata: { customer_id: 'c1' }, ...fields });
    expect(inbound.parse(event)).toMatchObject(expected);
  });

  test.each([
    {},
    { resource_type: 'payments' },
    { resource_type: 'payments', action: 'failed', links: { payment: 7 } },
  ])('an event of another shape changes nothing: %j', (event) => {
    expect(inbound.parse(event)).toEqual({ kind: 'ignored' });
  });
});
