import adyen, { EnvironmentEnum, hmacValidator, Types } from '@adyen/api-library';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { IGNORED_EVENTS } from '../../../src/platform/payments/adyen/event-codes.ts';
import type { ChargeRequest, PaymentProvider } from '../../../src/platform/payments/port.ts';
import { descriptorOf } from '../../../src/platform/payments/providers.ts';
import {
  ADYEN_ACCOUNT,
  ADYEN_HMAC_KEY,
  ADYEN_KEY,
  ADYEN_KEY_WITHOUT_ROLE,
  type FakeAdyen,
  fakeAdyen,
} from '../../support/fakes/adyen.ts';
import { tlsFront } from '../../support/tls-front.ts';

// The published client of Adyen against the same double as our driver: what the double takes, answers and signs is what
// that client sends, reads and verifies, and our driver sends no field that the client does not know.
const { checkout, notification } = Types;

let double: FakeAdyen;
let front: Awaited<ReturnType<typeof tlsFront>>;

beforeEach(async () => {
  double = await fakeAdyen();
  front = await tlsFront(double.url);
});
afterEach(async () => {
  await double.close();
  await front.close();
});

/** The client speaks only TLS, and has no option for its address, which is a private field of each of its services. */
function library(apiKey = ADYEN_KEY) {
  const config = new adyen.Config({ apiKey, environment: EnvironmentEnum.TEST, certificatePath: 'unencrypted' });
  const api = new adyen.CheckoutAPI(new adyen.Client(config));
  const here = <Service extends object>(service: Service): Service =>
    Object.assign(service, { baseUrl: `${front.url}/v72` });
  return {
    payments: here(api.PaymentsApi),
    links: here(api.PaymentLinksApi),
    modifications: here(api.ModificationsApi),
    recurring: here(api.RecurringApi),
  };
}

const driver = (): PaymentProvider =>
  descriptorOf('adyen')!.open!(
    {
      code: 'cards',
      secrets: { api_key: ADYEN_KEY },
      settings: { merchant_account: ADYEN_ACCOUNT },
      inboundUrl: 'https://billing.example.com/webhooks',
      returnUrl: 'https://billing.example.com',
    },
    { ADYEN_API_URL: double.url } as never,
  );

function store(id = 'card', type = 'scheme') {
  const method = { id, type, brand: 'visa', lastFour: '1111', expiryMonth: '3', expiryYear: '2030' };
  double.stored.set(id, { ...method, shopperReference: 'customer-1' });
}

const chargeOf = (fields: Partial<ChargeRequest> = {}): ChargeRequest => ({
  idempotencyKey: 'payment-p1',
  amountCents: 1200,
  currency: 'EUR',
  providerCustomerId: 'customer-1',
  providerMethodId: 'card',
  description: 'ACM-001-002',
  metadata: { payment_id: 'p1', payable_type: 'Invoice', payable_id: 'i1' },
  ...fields,
});

const pageOf = (payment?: object) => ({
  idempotencyKey: `page-${payment ? 'paid' : 'setup'}`,
  providerCustomerId: 'customer-1',
  methodTypes: [],
  successUrl: 'https://acme.test/back',
  currency: 'EUR',
  metadata: { customer_id: '1' },
  ...(payment ? { payment: payment as never } : {}),
});

/** Our driver makes every call that it has, each with all its fields. */
async function playDriver(): Promise<void> {
  const provider = driver();
  store();
  store('iban', 'sepadirectdebit');
  store('redirect');
  await provider.check();
  await provider.charge(chargeOf());
  const [paid] = double.payments;
  await provider.charge(
    chargeOf({ idempotencyKey: 'payment-p2', providerMethodId: 'iban', methodDetails: { type: 'sepadirectdebit' } }),
  );
  await provider.charge(chargeOf({ idempotencyKey: 'payment-p3', providerMethodId: 'redirect' }));
  const due = { amountCents: 1200, currency: 'EUR', description: 'ACM-1', metadata: { payable_type: 'Invoice' } };
  await provider.openPage(pageOf(due));
  await provider.expirePage((await provider.openPage(pageOf())).id);
  const refund = { providerPaymentId: paid.pspReference, amountCents: 500, currency: 'EUR', metadata: {} };
  await provider.refund({ ...refund, idempotencyKey: 'note-1', reason: 'duplicate' });
  await provider.refund({ ...refund, idempotencyKey: 'note-2', reason: null });
  await provider.cancel(paid.pspReference);
}

/** The types in which the library has the body and the answer of a path. */
const TYPES: [path: RegExp, request: string, answer: string][] = [
  [/^\/paymentMethods$/, 'PaymentMethodsRequest', 'PaymentMethodsResponse'],
  [/^\/payments$/, 'PaymentRequest', 'PaymentResponse'],
  [/^\/payments\/[^/]+\/refunds$/, 'PaymentRefundRequest', 'PaymentRefundResponse'],
  [/^\/payments\/[^/]+\/cancels$/, 'PaymentCancelRequest', 'PaymentCancelResponse'],
  [/^\/paymentLinks$/, 'PaymentLinkRequest', 'PaymentLinkResponse'],
  [/^\/paymentLinks\/[^/]+$/, 'UpdatePaymentLinkRequest', 'PaymentLinkResponse'],
];

/** What the library makes of a value in one of its types: fields that it does not know are gone. */
const known = (value: object, type: string): object =>
  JSON.parse(JSON.stringify(checkout.ObjectSerializer.serialize(value, type)));

describe('what our driver sends', () => {
  test('is known to the library, and so is what the double answers', async () => {
    await playDriver();
    const seen = new Set<string>();
    for (const { path, body, answer } of double.exchanges) {
      const [, request, response] = TYPES.find(([pattern]) => pattern.test(path))!;
      seen.add(request);
      expect([request, known(body, request)]).toEqual([request, body]);
      const read = checkout.ObjectSerializer.deserialize(answer, response);
      expect([response, known(read, response)]).toEqual([response, JSON.parse(JSON.stringify(answer))]);
    }
    expect([...seen].sort()).toEqual(TYPES.map(([, request]) => request).sort());
  });

  test('a field that the library does not know is found', () => {
    const body = { reference: 'r', description: 'd', merchantAccount: 'a' };
    expect(known(body, 'PaymentRefundRequest')).toEqual({ reference: 'r', merchantAccount: 'a' });
  });

  test('is what the library sends for the same', async () => {
    await playDriver();
    const ours = double.exchanges.splice(0);
    const { payments, links, modifications } = library();
    const send = (path: string, body: never): Promise<unknown> => {
      const [, , id, action] = path.split('/');
      if (path === '/paymentMethods') return payments.paymentMethods(body);
      if (path === '/payments') return payments.payments(body);
      if (path === '/paymentLinks') return links.paymentLinks(body);
      if (action === 'refunds') return modifications.refundCapturedPayment(id!, body);
      if (action === 'cancels') return modifications.cancelAuthorisedPaymentByPspReference(id!, body);
      return links.getPaymentLink(id!);
    };
    double.payments[0].refunded = 0;
    for (const { path, body } of ours) await send(path, body as never);
    const changes = ours.filter(({ path }) => !path.startsWith('/paymentLinks/'));
    expect(double.exchanges.map(({ path, body }) => [path, body])).toEqual(
      changes.map(({ path, body }) => [path, body]),
    );
  });
});

describe('the double serves the library', () => {
  test('a card is stored on a link, charged, given back and listed', async () => {
    const { payments, links, modifications, recurring } = library();
    const { RecurringProcessingModelEnum, StorePaymentMethodModeEnum } = checkout.PaymentLinkRequest;
    const link = await links.paymentLinks({
      merchantAccount: ADYEN_ACCOUNT,
      amount: { value: 0, currency: 'EUR' },
      reference: 'setup-customer-1',
      shopperReference: 'customer-1',
      recurringProcessingModel: RecurringProcessingModelEnum.Subscription,
      storePaymentMethodMode: StorePaymentMethodModeEnum.Enabled,
    });
    expect(link.status).toBe(checkout.PaymentLinkResponse.StatusEnum.Active);
    expect(link.expiresAt).toBeInstanceOf(Date);
    double.finish(link.id);
    expect((await links.getPaymentLink(link.id)).status).toBe(checkout.PaymentLinkResponse.StatusEnum.Completed);
    const { storedPaymentMethods } = await recurring.getTokensForStoredPaymentDetails('customer-1', ADYEN_ACCOUNT);
    expect(storedPaymentMethods).toMatchObject([{ brand: 'visa', lastFour: '1111', expiryYear: '2030' }]);

    const paid = await payments.payments({
      merchantAccount: ADYEN_ACCOUNT,
      amount: { value: 1200, currency: 'EUR' },
      reference: 'p1',
      paymentMethod: {
        type: checkout.CardDetails.TypeEnum.Scheme,
        storedPaymentMethodId: storedPaymentMethods![0]!.id!,
      },
      shopperReference: 'customer-1',
      shopperInteraction: checkout.PaymentRequest.ShopperInteractionEnum.ContAuth,
      recurringProcessingModel: checkout.PaymentRequest.RecurringProcessingModelEnum.UnscheduledCardOnFile,
      returnUrl: 'https://acme.test/back',
    });
    expect(paid.resultCode).toBe(checkout.PaymentResponse.ResultCodeEnum.Authorised);
    const refund = await modifications.refundCapturedPayment(paid.pspReference!, {
      merchantAccount: ADYEN_ACCOUNT,
      amount: { value: 500, currency: 'EUR' },
      reference: 'n1',
    });
    expect(refund.status).toBe(checkout.PaymentRefundResponse.StatusEnum.Received);
    expect(refund.paymentPspReference).toBe(paid.pspReference);
  });

  test('a repeated key gets the first answer', async () => {
    store();
    const request = {
      merchantAccount: ADYEN_ACCOUNT,
      amount: { value: 1200, currency: 'EUR' },
      reference: 'p1',
      paymentMethod: { type: checkout.CardDetails.TypeEnum.Scheme, storedPaymentMethodId: 'card' },
      shopperReference: 'customer-1',
      shopperInteraction: checkout.PaymentRequest.ShopperInteractionEnum.ContAuth,
      recurringProcessingModel: checkout.PaymentRequest.RecurringProcessingModelEnum.Subscription,
      returnUrl: 'https://acme.test/back',
    };
    const pay = () => library().payments.payments(request, { idempotencyKey: 'payment-p1' });
    expect((await pay()).pspReference).toBe((await pay()).pspReference);
    expect(double.payments).toHaveLength(1);
  });

  const refundOf = (value: number) => ({
    merchantAccount: ADYEN_ACCOUNT,
    amount: { value, currency: 'EUR' },
    reference: 'n1',
  });

  test.each<[string, () => Promise<unknown>, object]>([
    [
      'an unknown key',
      () => library('AQEnone').payments.paymentMethods({ merchantAccount: ADYEN_ACCOUNT }),
      { statusCode: 401, errorCode: '000' },
    ],
    [
      'a key without the role',
      () => library(ADYEN_KEY_WITHOUT_ROLE).modifications.refundCapturedPayment('PSP1', refundOf(1)),
      { statusCode: 403, errorCode: '010' },
    ],
    [
      'another merchant account',
      () => library().payments.paymentMethods({ merchantAccount: 'Other' }),
      { statusCode: 403, errorCode: '901' },
    ],
    [
      'an unknown payment',
      () => library().modifications.refundCapturedPayment('PSP1', refundOf(1)),
      { statusCode: 422, errorCode: '167' },
    ],
    ['an unknown link', () => library().links.getPaymentLink('PL9'), { statusCode: 404 }],
    [
      'one call too many',
      () => {
        double.throttle(1);
        return library().payments.paymentMethods({ merchantAccount: ADYEN_ACCOUNT });
      },
      { statusCode: 429 },
    ],
    [
      'a failure of its own',
      () => {
        double.isDown = true;
        return library().payments.paymentMethods({ merchantAccount: ADYEN_ACCOUNT });
      },
      { statusCode: 500, errorCode: '905' },
    ],
  ])('%s is an error that the library can read', async (_, call, expected) => {
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(adyen.HttpClientException);
    expect(error).toMatchObject(expected);
  });
});

describe('results and events', () => {
  test('every result of a charge has one of our states', async () => {
    const states: Record<string, string> = {};
    for (const resultCode of Object.values(checkout.PaymentResponse.ResultCodeEnum)) {
      store(`as-${resultCode}`);
      double.results.set(`as-${resultCode}`, { resultCode });
      const outcome = await driver().charge(
        chargeOf({ idempotencyKey: `payment-${resultCode}`, providerMethodId: `as-${resultCode}` }),
      );
      states[resultCode] = outcome.kind === 'answered' ? outcome.paymentStatus : outcome.kind;
    }
    expect(states).toEqual({
      AuthenticationFinished: 'processing',
      AuthenticationNotRequired: 'processing',
      Authorised: 'succeeded',
      Cancelled: 'failed',
      ChallengeShopper: 'processing',
      Error: 'failed',
      IdentifyShopper: 'processing',
      // A part was taken: its event says how much.
      PartiallyAuthorised: 'processing',
      Pending: 'processing',
      PresentToShopper: 'processing',
      Received: 'processing',
      RedirectShopper: 'processing',
      Refused: 'failed',
      Success: 'processing',
    });
  });

  const { inbound } = descriptorOf('adyen')!;
  const references = { pspReference: 'EVT1', originalReference: 'PSP1', merchantReference: 'r1' };
  const itemOf = (eventCode: string) =>
    double.item(eventCode, { ...references, amount: { currency: 'EUR', value: 1200 } });

  test('of every event it is decided what it means', () => {
    const codes = Object.values(notification.NotificationRequestItem.EventCodeEnum);
    const kinds = Object.fromEntries(codes.map((code) => [code, inbound.parse(itemOf(code)).kind]));
    const of = (kind: string) => codes.filter((code) => kinds[code] === kind).sort();
    expect(of('payment')).toEqual(['AUTHORISATION', 'OFFER_CLOSED']);
    expect(of('payment_reversed')).toEqual(['CANCELLATION', 'CANCEL_OR_REFUND', 'CAPTURE_FAILED', 'EXPIRE']);
    expect(of('refund')).toEqual(['REFUND', 'REFUNDED_REVERSED', 'REFUND_FAILED']);
    expect(of('dispute_opened')).toEqual([
      'CHARGEBACK',
      'DISPUTE_DEFENSE_PERIOD_ENDED',
      'NOTIFICATION_OF_CHARGEBACK',
      'REQUEST_FOR_INFORMATION',
    ]);
    expect(of('dispute_closed')).toEqual([
      'CHARGEBACK_REVERSED',
      'ISSUER_RESPONSE_TIMEFRAME_EXPIRED',
      'PREARBITRATION_LOST',
      'PREARBITRATION_WON',
      'SECOND_CHARGEBACK',
    ]);
    expect(of('ignored')).toEqual([...IGNORED_EVENTS.keys()].sort());
    expect(of('unknown')).toEqual([]);
    expect(inbound.parse(itemOf('SOMETHING_NEW')).kind).toBe('unknown');
  });

  test.each([
    ['CANCEL_OR_REFUND', { 'modification.action': 'refund' }, { kind: 'refund', status: 'succeeded' }],
    ['CANCEL_OR_REFUND', { 'modification.action': 'cancel' }, { kind: 'payment_reversed', providerPaymentId: 'PSP1' }],
    ['REFUNDED_REVERSED', {}, { kind: 'refund', status: 'failed', isReturn: true, providerRefundId: 'EVT1' }],
    ['EXPIRE', {}, { kind: 'payment_reversed', status: 'Expired', providerPaymentId: 'PSP1' }],
    ['DISPUTE_DEFENSE_PERIOD_ENDED', { disputeStatus: 'Expired' }, { kind: 'dispute_closed', isLost: true }],
    ['DISPUTE_DEFENSE_PERIOD_ENDED', { disputeStatus: 'Undefended' }, { kind: 'dispute_opened' }],
    ['PREARBITRATION_LOST', {}, { kind: 'dispute_closed', isLost: true }],
    ['PREARBITRATION_WON', {}, { kind: 'dispute_closed', isLost: false }],
  ])('%s with %o is what it says', (code, additionalData, meaning) => {
    expect(inbound.parse({ ...itemOf(code), additionalData })).toMatchObject(meaning);
  });

  test.each(['CANCELLATION', 'CANCEL_OR_REFUND', 'EXPIRE'])('%s that did not succeed changes nothing', (code) => {
    expect(inbound.parse({ ...itemOf(code), success: 'false' }).kind).toBe('ignored');
  });

  test('the library verifies what the double signs, and we what the library signs', () => {
    const Validator = new hmacValidator();
    const isSigned = (items: object[]) =>
      inbound.isSigned({
        body: Buffer.from(
          JSON.stringify({
            live: 'false',
            notificationItems: items.map((NotificationRequestItem) => ({ NotificationRequestItem })),
          }),
        ),
        header: () => undefined,
        secret: ADYEN_HMAC_KEY,
        nowSeconds: 0,
      });
    const codes = ['AUTHORISATION', 'REFUND', 'CHARGEBACK'];
    const { notificationItems } = JSON.parse(double.post(codes.map(itemOf)).body);
    for (const { NotificationRequestItem: item } of notificationItems) {
      expect(Validator.validateHMAC(item, ADYEN_HMAC_KEY)).toBe(true);
      expect(Validator.validateHMAC({ ...item, success: 'false' }, ADYEN_HMAC_KEY)).toBe(false);
    }
    // The fields may be empty, be missing, and hold the sign that stands between them.
    const odd = [{ originalReference: '' }, { originalReference: undefined }, { merchantReference: 'a:b\\c' }];
    for (const fields of odd) {
      const item = { ...itemOf('AUTHORISATION'), ...fields };
      const signed = { ...item, additionalData: { hmacSignature: Validator.calculateHmac(item, ADYEN_HMAC_KEY) } };
      expect(isSigned([signed])).toBe(true);
      expect(isSigned([signed, { ...signed, pspReference: 'OTHER' }])).toBe(false);
    }
  });
});
