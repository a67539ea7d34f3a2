import gocardless, {
  AuthenticationError,
  Environments,
  type Event,
  type GoCardlessClient,
  GoCardlessInternalError,
  IdempotentCreationConflictError,
  InvalidApiUsageError,
  InvalidStateError,
  type CustomerBankAccount as LibraryBankAccount,
  type Creditor as LibraryCreditor,
  type Mandate as LibraryMandate,
  type Payment as LibraryPayment,
  type Refund as LibraryRefund,
  MandateStatus,
  PaymentCurrency,
  PaymentStatus,
  PermissionsError,
  parse,
  RateLimitError,
  RefundStatus,
  ValidationFailedError,
} from 'gocardless-nodejs';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import { CURRENCIES } from '../../../src/engine/money/currency.ts';
import type {
  BankAccount,
  Creditor,
  Mandate,
  Payment,
  Refund,
} from '../../../src/platform/payments/gocardless/answers.ts';
import { GOCARDLESS_WIRE } from '../../../src/platform/payments/gocardless/wire.ts';
import { descriptorOf } from '../../../src/platform/payments/providers.ts';
import { paymentStatusOf, refundStatusOf } from '../../../src/platform/payments/status-words.ts';
import {
  type FakeGocardless,
  fakeGocardless,
  GOCARDLESS_READ_ONLY,
  GOCARDLESS_TOKEN,
  GOCARDLESS_WEBHOOK_SECRET,
} from '../../support/fakes/gocardless.ts';

// The published client of GoCardless against the same double as our driver: what the double takes, answers and signs is
// what that client sends, reads and verifies, and our driver sends no field that the client does not know.
let double: FakeGocardless;

beforeEach(async () => {
  double = await fakeGocardless();
});
afterEach(() => double.close());

/** The client has no option for its address, which is a private field. */
function library(token = GOCARDLESS_TOKEN, options = {}): GoCardlessClient {
  const client = gocardless(token, Environments.Sandbox, options);
  (client as unknown as { _api: { _baseUrl: string } })._api._baseUrl = double.url;
  return client;
}

const driver = () =>
  descriptorOf('gocardless')!.open!(
    {
      code: 'debits',
      secrets: { access_token: GOCARDLESS_TOKEN },
      settings: { environment: 'sandbox' },
      inboundUrl: 'https://billing.example.com/webhooks',
    },
    { GOCARDLESS_API_URL: double.url } as never,
  );

/** A customer with a mandate, made by the library. */
async function signed(client: GoCardlessClient, scheme = 'bacs') {
  const customer = await client.customers.create({ company_name: 'Acme', email: 'pay@acme.test' });
  const request = await client.billingRequests.create({
    mandate_request: { currency: 'GBP', metadata: { customer_id: '1' } },
    links: { customer: customer.id! },
  });
  return { customer, request, mandate: double.sign(request.id, { scheme }) as { id: string } };
}

type Create<Service extends 'payments' | 'refunds' | 'customers' | 'billingRequests' | 'billingRequestFlows'> =
  Parameters<GoCardlessClient[Service]['create']>[0];

describe('what our driver sends', () => {
  /** Bodies that a call of our driver has sent. */
  async function sent(call: () => Promise<unknown>): Promise<unknown[]> {
    double.bodies.length = 0;
    await call();
    return [...double.bodies];
  }

  // Each literal has a type of the library, so that a field which the library does not know is an error of its own.
  test('is what the library knows, and what the library sends for the same', async () => {
    const provider = driver();
    const customer = {
      company_name: 'Acme',
      email: 'pay@acme.test',
      metadata: { customer_id: '1', external_customer_id: 'acme' },
    } satisfies Create<'customers'>;
    const named = { name: 'Acme', email: 'pay@acme.test', metadata: customer.metadata };
    let customerId = '';
    expect(
      await sent(async () => {
        customerId = await provider.createCustomer({ idempotencyKey: 'customer-1', ...named });
      }),
    ).toEqual([{ customers: customer }]);
    expect(await sent(() => library().customers.create(customer))).toEqual([{ customers: customer }]);

    const request = {
      mandate_request: { currency: 'GBP', metadata: { customer_id: '1' } },
      links: { customer: customerId },
    } satisfies Create<'billingRequests'>;
    const page = {
      idempotencyKey: 'page-1',
      providerCustomerId: customerId,
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: 'GBP',
      metadata: { customer_id: '1' },
    };
    let requestId = '';
    const opened = await sent(async () => {
      requestId = (await provider.openPage(page)).id;
    });
    const flow = {
      redirect_uri: 'https://acme.test/back',
      exit_uri: 'https://acme.test/back',
      links: { billing_request: requestId },
    } satisfies Create<'billingRequestFlows'>;
    expect(opened).toEqual([{ billing_requests: request }, { billing_request_flows: flow }]);
    expect(await sent(() => library().billingRequests.create(request))).toEqual([opened[0]]);
    expect(await sent(() => library().billingRequestFlows.create(flow))).toEqual([opened[1]]);

    const mandate = double.sign(requestId) as { id: string };
    const payment = {
      amount: 1200,
      currency: 'GBP',
      description: 'ACM-0001-002-0003',
      metadata: { payment_id: 'p1', payable_type: 'Invoice', payable_id: 'i1' },
      reference: 'ACM-0001-0',
      links: { mandate: mandate.id },
    } satisfies Create<'payments'>;
    let paymentId = '';
    const charged = await sent(async () => {
      const outcome = await provider.charge({
        idempotencyKey: 'payment-p1',
        amountCents: 1200,
        currency: 'GBP',
        providerCustomerId: customerId,
        providerMethodId: mandate.id,
        methodDetails: { scheme: 'bacs' },
        description: payment.description,
        metadata: payment.metadata,
      });
      paymentId = (outcome as { providerPaymentId: string }).providerPaymentId;
    });
    expect(charged).toEqual([{ payments: payment }]);
    expect(await sent(() => library().payments.create(payment))).toEqual(charged);

    double.payments.get(paymentId).status = 'paid_out';
    const refund = {
      amount: 500,
      total_amount_confirmation: 500,
      metadata: { credit_note_id: 'n1', invoice_id: 'i1' },
      links: { payment: paymentId },
    } satisfies Create<'refunds'>;
    const refunded = await sent(() =>
      provider.refund({
        idempotencyKey: 'n1',
        providerPaymentId: paymentId,
        amountCents: 500,
        currency: 'GBP',
        reason: null,
        metadata: refund.metadata,
      }),
    );
    expect(refunded).toEqual([{ refunds: refund }]);
    const next = { ...refund, total_amount_confirmation: 1000 };
    expect(await sent(() => library().refunds.create(next))).toEqual([{ refunds: next }]);
  });

  test('an action carries its parameters as the library sends them', async () => {
    const { request } = await signed(library());
    const open = async () => (await library().billingRequests.create({ mandate_request: { currency: 'GBP' } })).id;
    const [first, second] = [await open(), await open()];
    const ours = await sent(() => driver().expirePage(first));
    expect(ours).toEqual([{ data: {} }]);
    expect(await sent(() => library().billingRequests.cancel(second))).toEqual(ours);
    await expect(library().billingRequests.cancel(request.id)).rejects.toBeInstanceOf(InvalidStateError);
  });
});

test('every field that our driver reads is one of the library', () => {
  expectTypeOf<Exclude<keyof Payment, keyof LibraryPayment>>().toBeNever();
  expectTypeOf<Exclude<keyof NonNullable<Payment['links']>, keyof NonNullable<LibraryPayment['links']>>>().toBeNever();
  expectTypeOf<Exclude<keyof Refund, keyof LibraryRefund>>().toBeNever();
  expectTypeOf<Exclude<keyof NonNullable<Refund['links']>, keyof NonNullable<LibraryRefund['links']>>>().toBeNever();
  expectTypeOf<Exclude<keyof Mandate, keyof LibraryMandate>>().toBeNever();
  expectTypeOf<Exclude<keyof Mandate['links'], keyof NonNullable<LibraryMandate['links']>>>().toBeNever();
  expectTypeOf<Exclude<keyof z.infer<typeof BankAccount>, keyof LibraryBankAccount>>().toBeNever();
  expectTypeOf<Exclude<keyof Creditor, keyof LibraryCreditor>>().toBeNever();
  type Identifier = NonNullable<Creditor['scheme_identifiers']>[number];
  expectTypeOf<
    Exclude<keyof Identifier, keyof NonNullable<LibraryCreditor['scheme_identifiers']>[number]>
  >().toBeNever();
});

describe('the double serves the library', () => {
  test('a mandate is signed, debited, moved, refunded and read', async () => {
    const client = library();
    const { customer, request, mandate } = await signed(client);
    const flow = await client.billingRequestFlows.create({
      redirect_uri: 'https://acme.test/back',
      links: { billing_request: (await client.billingRequests.create({ mandate_request: { scheme: 'bacs' } })).id },
    });
    expect(flow.authorisation_url).toMatch(/^https:/);
    expect((await client.customers.find(customer.id!)).company_name).toBe('Acme');
    expect((await client.billingRequests.find(request.id)).status).toBe('fulfilled');
    const { mandates } = await client.mandates.list({ customer: customer.id! });
    expect(mandates.map(({ id, status }) => [id, status])).toEqual([[mandate.id, 'pending_submission']]);
    const [account] = (await client.customerBankAccounts.list({ customer: customer.id! })).customer_bank_accounts;
    expect(account).toMatchObject({ id: mandates[0]!.links!.customer_bank_account, account_number_ending: '4411' });
    expect((await client.creditors.list()).creditors[0]).toMatchObject({ id: 'CR1', can_create_refunds: true });

    const asked = { amount: 1200, currency: 'GBP', links: { mandate: mandate.id } } as const;
    const payment = await client.payments.create(asked, 'payment-1');
    expect(payment).toMatchObject({ amount: 1200, status: 'pending_submission', amount_refunded: 0 });
    expect((await client.payments.find(payment.id!)).status).toBe('pending_submission');
    await client.payments.cancel(payment.id!);
    expect((await client.payments.find(payment.id!)).status).toBe('cancelled');

    const other = await client.payments.create(asked, 'payment-2');
    double.payments.get(other.id!).status = 'paid_out';
    const refund = await client.refunds.create({
      amount: 700,
      total_amount_confirmation: 700,
      links: { payment: other.id! },
    });
    expect((await client.refunds.find(refund.id!)).status).toBe('created');
    expect((await client.refunds.list({ payment: other.id! })).refunds.map(({ id }) => id)).toEqual([refund.id]);
  });

  test('a repeated key gives the first record, or the error that names it', async () => {
    const { mandate } = await signed(library());
    const asked = { amount: 1200, currency: 'GBP', links: { mandate: mandate.id } } as const;
    const first = await library().payments.create(asked, 'payment-1');
    expect((await library().payments.create(asked, 'payment-1')).id).toBe(first.id);
    expect(double.payments.size).toBe(1);
    const strict = library(GOCARDLESS_TOKEN, { raiseOnIdempotencyConflict: true });
    const error = await strict.payments.create(asked, 'payment-1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdempotentCreationConflictError);
    expect((error as IdempotentCreationConflictError).conflictingResourceId).toBe(first.id);
  });

  test('250 payments are read in three pages, newest first, and since an instant', async () => {
    const { mandate } = await signed(library());
    const of = (n: number) => ({
      id: `PM${n}`,
      created_at: new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString(),
      amount: 100,
      currency: 'GBP',
      status: 'paid_out',
      links: { mandate: mandate.id },
    });
    for (let n = 0; n < 250; n += 1) double.payments.set(`PM${n}`, of(n));
    double.calls.length = 0;
    const ids: (string | undefined)[] = [];
    for await (const { id } of library().payments.all({ limit: 100 })) ids.push(id);
    expect(ids).toEqual(Array.from({ length: 250 }, (_, n) => `PM${249 - n}`));
    expect(double.calls).toEqual(Array.from({ length: 3 }, () => 'GET /payments'));
    const late = await library().payments.list({ created_at: { gte: of(248).created_at } });
    expect(late.payments.map(({ id }) => id)).toEqual(['PM249', 'PM248']);
    expect(late.meta).toEqual({ cursors: { before: null, after: null }, limit: 50 });
  });

  test.each<
    [string, new (...args: never[]) => Error, (client: GoCardlessClient, mandate: { id: string }) => Promise<unknown>]
  >([
    ['an unknown token', AuthenticationError, () => library('nonsense').creditors.list()],
    [
      'a token that may only read',
      PermissionsError,
      (_, mandate) =>
        library(GOCARDLESS_READ_ONLY).payments.create({ amount: 1, currency: 'GBP', links: { mandate: mandate.id } }),
    ],
    ['an unknown payment', InvalidApiUsageError, (client) => client.payments.find('PM9')],
    ['a page of more than 500', InvalidApiUsageError, (client) => client.payments.list({ limit: 501 })],
    [
      'another currency than the mandate has',
      ValidationFailedError,
      (client, mandate) => client.payments.create({ amount: 1, currency: 'EUR', links: { mandate: mandate.id } }),
    ],
    [
      'four keys of metadata',
      ValidationFailedError,
      (client) => client.customers.create({ company_name: 'A', metadata: { a: '1', b: '2', c: '3', d: '4' } }),
    ],
    [
      'a mandate that has ended',
      InvalidStateError,
      (client, mandate) => {
        double.mandates.get(mandate.id).status = 'cancelled';
        return client.payments.create({ amount: 1, currency: 'GBP', links: { mandate: mandate.id } });
      },
    ],
    [
      'one call too many',
      RateLimitError,
      (client, mandate) => {
        double.throttle(1);
        return client.payments.create({ amount: 1, currency: 'GBP', links: { mandate: mandate.id } });
      },
    ],
    [
      'a failure of its own',
      GoCardlessInternalError,
      (client, mandate) => {
        double.isDown = true;
        return client.payments.create({ amount: 1, currency: 'GBP', links: { mandate: mandate.id } });
      },
    ],
  ])('%s is the error that the library has for it', async (_, kind, call) => {
    const { mandate } = await signed(library());
    await expect(call(library(), mandate)).rejects.toBeInstanceOf(kind);
    expect(double.payments.size).toBe(0);
  });
});

describe('words', () => {
  test('every state of a payment has one of ours', () => {
    expect(
      Object.fromEntries(Object.values(PaymentStatus).map((word) => [word, paymentStatusOf('gocardless', word)])),
    ).toEqual({
      pending_customer_approval: 'processing',
      pending_submission: 'processing',
      submitted: 'processing',
      confirmed: 'processing',
      paid_out: 'succeeded',
      cancelled: 'failed',
      customer_approval_denied: 'failed',
      failed: 'failed',
      charged_back: 'failed',
    });
  });

  test('every state of a refund has one of ours', () => {
    expect(
      Object.fromEntries(Object.values(RefundStatus).map((word) => [word, refundStatusOf('gocardless', word)])),
    ).toEqual({
      created: 'pending',
      pending_submission: 'pending',
      submitted: 'pending',
      paid: 'succeeded',
      cancelled: 'failed',
      bounced: 'failed',
      funds_returned: 'failed',
    });
  });

  test('a mandate is a method in each state in which it may be charged', async () => {
    const { customer, mandate } = await signed(library());
    const chargeable: string[] = [];
    for (const status of Object.values(MandateStatus)) {
      double.mandates.get(mandate.id).status = status;
      if ((await driver().listMethods!(customer.id!, [])).length > 0) chargeable.push(status);
    }
    expect(chargeable).toEqual(['pending_customer_approval', 'pending_submission', 'submitted', 'active']);
  });

  test('its currencies are those that we send, and no other', () => {
    const taken = CURRENCIES.filter((code) => GOCARDLESS_WIRE[code] !== null);
    expect([...taken].sort()).toEqual(Object.values(PaymentCurrency).sort());
  });
});

describe('events', () => {
  const { inbound } = descriptorOf('gocardless')!;

  test('the library accepts what the double signs, and nothing that was changed', () => {
    const events = [
      double.event('payments', 'paid_out', { links: { payment: 'PM1' } }),
      double.event('mandates', 'cancelled', { links: { mandate: 'MD1' } }),
    ];
    const { body, headers } = double.post(events);
    const signature = headers['webhook-signature']!;
    expect(parse(body, GOCARDLESS_WEBHOOK_SECRET, signature)).toEqual(events);
    expect(() => parse(`${body} `, GOCARDLESS_WEBHOOK_SECRET, signature)).toThrow();
    expect(() => parse(body, 'another', signature)).toThrow();
    expect(
      inbound.isSigned({
        body: Buffer.from(body),
        header: (name) => headers[name],
        secret: GOCARDLESS_WEBHOOK_SECRET,
        nowSeconds: 0,
      }),
    ).toBe(true);
  });

  // Each literal has the library's type: what we read of an event is known there.
  test.each<[Event, object]>([
    [
      {
        id: 'EV1',
        created_at: '2026-11-02T03:04:05.000Z',
        resource_type: 'payments',
        action: 'failed',
        links: { payment: 'PM1' },
        details: { cause: 'refer_to_payer', description: 'Refer to payer', will_attempt_retry: false, scheme: 'bacs' },
        resource_metadata: { payment_id: 'p1' },
      },
      {
        kind: 'payment_reversed',
        providerPaymentId: 'PM1',
        status: 'failed',
        reportedAt: '2026-11-02T03:04:05.000Z',
        error: { code: 'refer_to_payer', message: 'Refer to payer' },
      },
    ],
    [
      { id: 'EV2', resource_type: 'refunds', action: 'paid', links: { refund: 'RE1' }, resource_metadata: {} },
      { kind: 'refund', providerRefundId: 'RE1', status: 'paid', metadata: {} },
    ],
    [
      { id: 'EV3', resource_type: 'mandates', action: 'replaced', links: { mandate: 'MD1', new_mandate: 'MD2' } },
      { kind: 'method_replaced', providerMethodId: 'MD1', newMethodId: 'MD2' },
    ],
    [
      {
        id: 'EV4',
        resource_type: 'billing_requests',
        action: 'fulfilled',
        links: { billing_request: 'BRQ1', customer: 'CU1', mandate_request_mandate: 'MD1' },
      },
      { kind: 'methods_changed', providerCustomerId: 'CU1' },
    ],
  ])('an event of the library is read: %j', (event, ours) => {
    expect(inbound.parse(event as Record<string, unknown>)).toEqual(ours);
  });
});
