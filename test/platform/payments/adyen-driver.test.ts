import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChargeRequest } from '../../../src/platform/payments/port.ts';
import { ProviderRefusal, TooManyCalls } from '../../../src/platform/payments/port.ts';
import { descriptorOf } from '../../../src/platform/payments/providers.ts';
import { Outage } from '../../../src/platform/refusal.ts';
import {
  ADYEN_ACCOUNT,
  ADYEN_HMAC_KEY,
  ADYEN_KEY,
  ADYEN_KEY_WITHOUT_ROLE,
  type FakeAdyen,
  fakeAdyen,
} from '../../support/fakes/adyen.ts';

// The driver of Adyen behind the port, against a double of its interface: provider-connections.md#adyen.
let adyen: FakeAdyen;
let serial = 0;
const next = (): number => {
  serial += 1;
  return serial;
};

beforeAll(async () => {
  adyen = await fakeAdyen();
});
afterAll(() => adyen.close());
beforeEach(async () => {
  await adyen.close();
  adyen = await fakeAdyen();
});

const type = () => descriptorOf('adyen')!;
const driver = ({ apiKey = ADYEN_KEY, settings = {} }: { apiKey?: string; settings?: object } = {}) =>
  type().open!(
    {
      code: 'cards',
      secrets: { api_key: apiKey },
      settings: { merchant_account: ADYEN_ACCOUNT, ...settings },
      inboundUrl: 'https://billing.example.com/webhooks',
      returnUrl: 'https://billing.example.com',
    },
    { ADYEN_API_URL: adyen.url } as never,
  );

const stored = (id = 'card', kind = 'scheme') => {
  const method = { id, type: kind, brand: 'visa', lastFour: '1111', expiryMonth: '3', expiryYear: '2030' };
  adyen.stored.set(id, { ...method, shopperReference: 'customer-1' });
};

const request = (fields: Partial<ChargeRequest> = {}): ChargeRequest => ({
  idempotencyKey: `payment-${next()}`,
  amountCents: 1200,
  currency: 'EUR',
  providerCustomerId: 'customer-1',
  providerMethodId: 'card',
  description: 'ACM-001-002',
  metadata: { payment_id: `p${serial}`, payable_type: 'Invoice', payable_id: 'i1' },
  ...fields,
});

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof ProviderRefusal ? error.error.code : (error as Error).name),
  );

describe('credentials', () => {
  test('a key that is accepted names the mode of its account', async () => {
    expect(await driver().check()).toEqual({ ok: true, live: false });
    expect(await driver({ settings: { live_prefix: '1797a841fbb37ca7-AcmePay' } }).check()).toEqual({
      ok: true,
      live: true,
    });
  });

  test.each([
    ['an unknown key', { apiKey: 'AQEnone' }, { code: 'adyen_000', httpStatus: 401 }],
    ['another merchant account', { settings: { merchant_account: 'Other' } }, { code: 'adyen_901', httpStatus: 403 }],
  ])('%s is refused', async (_, given, error) => {
    expect(await driver(given).check()).toMatchObject({ ok: false, error });
  });

  test('a key without the role charges nothing', async () => {
    stored();
    expect(await driver({ apiKey: ADYEN_KEY_WITHOUT_ROLE }).charge(request())).toMatchObject({
      paymentStatus: 'failed',
      error: { code: 'adyen_010', httpStatus: 403 },
    });
  });
});

describe('charges', () => {
  test('a charge names the stored method, the shopper and that the customer is away', async () => {
    stored();
    const asked = request();
    expect(await driver().charge(asked)).toEqual({
      kind: 'answered',
      status: 'Authorised',
      paymentStatus: 'succeeded',
      providerPaymentId: adyen.payments[0].pspReference,
      received: { currency: 'EUR', amountCents: 1200 },
    });
    expect(adyen.payments[0]).toMatchObject({
      merchantAccount: ADYEN_ACCOUNT,
      amount: { value: 1200, currency: 'EUR' },
      reference: asked.metadata.payment_id,
      paymentMethod: { type: 'scheme', storedPaymentMethodId: 'card' },
      shopperReference: 'customer-1',
      shopperInteraction: 'ContAuth',
      recurringProcessingModel: 'Subscription',
    });
  });

  test('a charge outside any schedule says so', async () => {
    stored();
    await driver().charge(request({ isUnscheduled: true }));
    expect(adyen.payments[0]).toMatchObject({ recurringProcessingModel: 'UnscheduledCardOnFile' });
  });

  test('a customer who is sent away comes back to the address of the charge, else to that of the connection', async () => {
    stored();
    await driver().charge(request());
    await driver().charge(request({ returnUrl: 'https://acme.test/paid' }));
    expect(adyen.payments.map(({ returnUrl }) => returnUrl)).toEqual([
      'https://billing.example.com',
      'https://acme.test/paid',
    ]);
  });

  test('a method that is no card is charged by its own type', async () => {
    stored('iban', 'sepadirectdebit');
    const asked = request({ providerMethodId: 'iban', methodDetails: { type: 'sepadirectdebit' } });
    expect(await driver().charge(asked)).toMatchObject({ paymentStatus: 'succeeded' });
  });

  test.each([
    [
      'declined',
      { status: 'Refused', paymentStatus: 'failed', error: { code: 'refused_12', message: 'Not enough balance' } },
    ],
    ['received', { status: 'Received', paymentStatus: 'processing' }],
    [
      'redirect',
      {
        status: 'RedirectShopper',
        paymentStatus: 'processing',
        providerPaymentId: null,
        nextAction: { type: 'redirect', url: 'https://issuer.test/3ds', method: 'GET', paymentMethodType: 'scheme' },
      },
    ],
  ])('a result of %s', async (id, outcome) => {
    stored(id);
    expect(await driver().charge(request({ providerMethodId: id }))).toMatchObject({ kind: 'answered', ...outcome });
  });

  test('a charge whose answer was lost is sent again with its key, and is one charge', async () => {
    stored();
    const asked = request();
    adyen.loseNext('/payments');
    expect(await driver().charge(asked)).toMatchObject({ kind: 'unreachable' });
    expect(await driver().charge(asked)).toMatchObject({ kind: 'answered', paymentStatus: 'succeeded' });
    expect(adyen.payments.length).toBe(1);
  });

  test('a key that answers for another payment stops the charge', async () => {
    stored();
    const asked = request();
    await driver().charge(asked);
    expect(await driver().charge({ ...asked, metadata: { payment_id: 'other' } })).toMatchObject({ kind: 'conflict' });
  });

  test('a call whose first one is under way has no outcome yet', async () => {
    stored();
    const asked = request();
    adyen.underWay.add(asked.idempotencyKey);
    expect(await driver().charge(asked)).toMatchObject({ kind: 'unreachable' });
    expect(adyen.payments.length).toBe(0);
  });

  test('a method of another shopper is refused', async () => {
    stored();
    expect(await driver().charge(request({ providerCustomerId: 'customer-2' }))).toMatchObject({
      paymentStatus: 'failed',
      error: { code: 'adyen_800' },
    });
  });

  // Golden case FI5.
  test.each([
    ['CLP', 1001, 100_100],
    ['CVE', 1001, 10],
    ['IDR', 150_050, 1500],
    ['ISK', 1001, 100_100],
    ['JPY', 1001, 1001],
    ['KWD', 1001, 1001],
    ['EUR', 1200, 1200],
  ])('FI5 %s %d leaves as %d', async (currency, amountCents, wire) => {
    stored();
    await driver().charge(request({ currency, amountCents }));
    expect(adyen.payments[0].amount).toEqual({ value: wire, currency });
  });

  test.each([
    ['CLF', 1000, { paymentStatus: 'failed', error: { code: 'currency_not_supported' } }],
    ['IRR', 1000, { paymentStatus: 'failed', error: { code: 'currency_not_supported' } }],
    ['CVE', 99, { kind: 'amount_too_small' }],
  ])('%s %d is refused before any call', async (currency, amountCents, outcome) => {
    stored();
    expect(await driver().charge(request({ currency, amountCents }))).toMatchObject(outcome);
    expect(adyen.calls).toEqual([]);
  });

  test('one call too many waits as long as Adyen says; while it is away nobody knows an outcome', async () => {
    stored();
    adyen.throttle(1);
    const error = await driver()
      .charge(request())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TooManyCalls);
    expect((error as TooManyCalls).saidMs).toBe(1000);
    adyen.isDown = true;
    expect(await driver().charge(request())).toMatchObject({ kind: 'unreachable' });
    expect(adyen.payments).toEqual([]);
  });
});

describe('pages', () => {
  const page = (payment?: object) =>
    driver().openPage({
      idempotencyKey: `page-${next()}`,
      providerCustomerId: 'customer-1',
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: null,
      metadata: {},
      ...(payment ? { payment: payment as never } : {}),
    });
  const invoice = {
    amountCents: 1001,
    currency: 'CVE',
    description: 'ACM-001-002',
    metadata: { payable_type: 'Invoice', payable_id: 'i1' },
  };

  test('a page that stores a method asks for nothing', async () => {
    const { id, url } = await page();
    expect(url).toBe(`https://test.adyen.link/${id}`);
    expect(adyen.links.get(id)).toMatchObject({
      amount: { value: 0, currency: 'EUR' },
      reference: 'setup-customer-1',
      storePaymentMethodMode: 'enabled',
      reusable: false,
      returnUrl: 'https://acme.test/back',
    });
  });

  test('a page that collects asks for what is due in steps of its currency, and names the invoice', async () => {
    const { id } = await page(invoice);
    expect(adyen.links.get(id)).toMatchObject({
      amount: { value: 10, currency: 'CVE' },
      reference: 'page-Invoice-i1',
      description: 'ACM-001-002',
    });
    expect(await codeOf(page({ ...invoice, currency: 'CLF' }))).toBe('currency_not_supported');
  });

  test('a page whose key is longer than Adyen takes is one page, too', async () => {
    const asked = {
      idempotencyKey: `setup-${'a'.repeat(80)}`,
      providerCustomerId: 'customer-1',
      methodTypes: [],
      successUrl: 'https://acme.test/back',
      currency: 'EUR',
      metadata: {},
    };
    expect(await driver().openPage(asked)).toEqual(await driver().openPage(asked));
    expect(adyen.links.size).toBe(1);
  });

  test('a page ends once, and not after it was paid', async () => {
    const { id } = await page();
    await driver().expirePage(id);
    expect(adyen.links.get(id).status).toBe('expired');
    const { id: paid } = await page();
    adyen.finish(paid);
    expect(await codeOf(driver().expirePage(paid))).toBe('adyen_30_103');
  });
});

describe('after a payment', () => {
  async function paid(amountCents = 1200, currency = 'EUR') {
    stored();
    await driver().charge(request({ amountCents, currency }));
    return adyen.payments[0].pspReference as string;
  }
  const refund = (payment: string, amountCents: number, currency = 'EUR') =>
    driver().refund({
      idempotencyKey: `note-${amountCents}`,
      providerPaymentId: payment,
      amountCents,
      currency,
      reason: 'duplicate',
      metadata: { credit_note_id: `note-${amountCents}` },
    });

  test('a refund is pending until its event, and is made once however often it is sent', async () => {
    const payment = await paid();
    adyen.loseNext(`/payments/${payment}/refunds`);
    await expect(refund(payment, 500)).rejects.toBeInstanceOf(Outage);
    expect(await refund(payment, 500)).toEqual({ providerRefundId: adyen.refunds[0].pspReference, status: 'pending' });
    expect(
      adyen.refunds.map(({ amount, reference, merchantRefundReason: reason }) => [amount.value, reference, reason]),
    ).toEqual([[500, 'note-500', 'DUPLICATE']]);
  });

  test('more than was paid, and a part of a step, are refused', async () => {
    const payment = await paid();
    expect(await codeOf(refund(payment, 1300))).toBe('adyen_137');
    expect(await codeOf(refund(payment, 150, 'CVE'))).toBe('amount_not_representable');
    expect(adyen.refunds).toEqual([]);
  });

  test('a cancellation is asked for once', async () => {
    const payment = await paid();
    await driver().cancel(payment);
    await driver().cancel(payment);
    expect(adyen.cancels.length).toBe(1);
  });

  test('stored methods are listed with brand, last digits and expiry', async () => {
    stored();
    expect(await driver().listMethods!('customer-1', ['card'])).toEqual([
      {
        providerMethodId: 'card',
        methodType: 'card',
        details: { type: 'scheme', brand: 'visa', last4: '1111', expiry: '2030-03' },
      },
    ]);
    expect(await driver().listMethods!('customer-2', ['card'])).toEqual([]);
  });
});

describe('events', () => {
  const { inbound } = type();
  const isSigned = (body: string, secret = ADYEN_HMAC_KEY) =>
    inbound.isSigned({ body: Buffer.from(body), header: () => undefined, secret, nowSeconds: 0 });

  test('every item of a body is signed; one bad item refuses the whole', () => {
    const items = [adyen.item('AUTHORISATION'), adyen.item('REFUND')];
    const { body } = adyen.post(items);
    expect(isSigned(body)).toBe(true);
    expect(isSigned(body, ADYEN_HMAC_KEY.replace('4', '5'))).toBe(false);
    expect(isSigned(body, 'no hex')).toBe(false);
    expect(isSigned('[]')).toBe(false);
    expect(isSigned('nonsense')).toBe(false);
    for (const change of [
      { success: 'false' },
      { eventCode: 'CHARGEBACK' },
      { amount: { currency: 'EUR', value: 1 } },
    ]) {
      const changed = JSON.parse(body);
      Object.assign(changed.notificationItems[1].NotificationRequestItem, change);
      expect(isSigned(JSON.stringify(changed))).toBe(false);
    }
    const { notificationItems } = JSON.parse(body);
    expect(isSigned(JSON.stringify({ notificationItems: [...notificationItems, {}] }))).toBe(false);
  });

  // The example of the published documentation of Adyen: key, item and signature.
  test('the published example is signed', () => {
    const item = {
      pspReference: '7914073381342284',
      originalReference: '',
      merchantAccountCode: 'TestMerchant',
      merchantReference: 'TestPayment-1407325143704',
      amount: { value: 1130, currency: 'EUR' },
      eventCode: 'AUTHORISATION',
      success: 'true',
      additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
    };
    const body = JSON.stringify({ live: 'false', notificationItems: [{ NotificationRequestItem: item }] });
    expect(isSigned(body, '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056')).toBe(true);
  });

  test('the events of one dispute, which share their reference, are told apart by its status', () => {
    const dispute = (disputeStatus: string) =>
      adyen.item('CHARGEBACK', {
        pspReference: 'DISPUTE1',
        originalReference: 'PSP1',
        additionalData: { disputeStatus },
      });
    const body = JSON.parse(adyen.post([dispute('Undefended'), dispute('Lost'), dispute('Lost')]).body);
    expect(inbound.eventsIn(body).map(({ id }) => id)).toEqual([
      'CHARGEBACK:DISPUTE1:true:Undefended',
      'CHARGEBACK:DISPUTE1:true:Lost',
      'CHARGEBACK:DISPUTE1:true:Lost',
    ]);
  });

  test.each([
    '{"notificationItems":[null]}',
    '{"notificationItems":[{"NotificationRequestItem":null}]}',
    '{"notificationItems":[{"NotificationRequestItem":{"pspReference":{"toString":1}}}]}',
    '{"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":{"toString":1}}}}]}',
    '{"notificationItems":[{"NotificationRequestItem":{"amount":{"value":[{"toString":1}]}}}]}',
    'null',
  ])('%s is not signed, whatever its fields are', (body) => {
    expect(isSigned(body)).toBe(false);
  });

  test('an item is known by its code, reference and success; a method that was stored with it is an event of its own', () => {
    const item = adyen.item('AUTHORISATION', {
      pspReference: 'PSP1',
      merchantReference: 'page-Invoice-i1',
      amount: { currency: 'EUR', value: 1200 },
      additionalData: {
        cardSummary: '1111',
        expiryDate: '3/2030',
        'recurring.recurringDetailReference': 'CARD1',
        'recurring.shopperReference': 'customer-1',
      },
    });
    const events = inbound.eventsIn(JSON.parse(adyen.post([item]).body));
    expect(events.map(({ id }) => id)).toEqual(['AUTHORISATION:PSP1:true', 'AUTHORISATION:PSP1:true:method']);
    expect(events.map(({ payload }) => inbound.parse(payload))).toEqual([
      {
        kind: 'payment',
        providerPaymentId: 'PSP1',
        status: 'Authorised',
        metadata: { payable_type: 'Invoice', payable_id: 'i1' },
        received: { currency: 'EUR', amountCents: 1200 },
        reportedAt: item.eventDate,
      },
      {
        kind: 'method_attached',
        providerCustomerId: 'customer-1',
        providerMethodId: 'CARD1',
        methodType: 'card',
        details: { type: 'scheme', brand: 'visa', last4: '1111', expiry: '2030-03' },
      },
    ]);
    // A charge in the absence of the customer changes no default.
    const charge = { ...item, merchantReference: 'p1' };
    expect(inbound.eventsIn(JSON.parse(adyen.post([charge]).body))).toHaveLength(1);
  });

  test.each([
    [
      'AUTHORISATION',
      { success: 'false', reason: 'Refused' },
      { kind: 'payment', status: 'Refused', error: { message: 'Refused' } },
    ],
    ['CANCELLATION', {}, { kind: 'payment_reversed', providerPaymentId: 'PSP1', status: 'Cancelled' }],
    ['CANCELLATION', { success: 'false' }, { kind: 'ignored' }],
    ['CAPTURE_FAILED', {}, { kind: 'payment_reversed', providerPaymentId: 'PSP1', status: 'CaptureFailed' }],
    ['REFUND', {}, { kind: 'refund', providerRefundId: 'EVT1', status: 'succeeded' }],
    [
      'REFUND',
      { success: 'false', reason: 'Insufficient balance' },
      { kind: 'refund', status: 'failed', error: { message: 'Insufficient balance' } },
    ],
    ['REFUND_FAILED', {}, { kind: 'refund', status: 'failed' }],
    ['CHARGEBACK', { additionalData: { disputeStatus: 'Lost' } }, { kind: 'dispute_closed', isLost: true }],
    ['CHARGEBACK', { additionalData: { disputeStatus: 'Accepted' } }, { kind: 'dispute_closed', isLost: true }],
    ['CHARGEBACK', { additionalData: { disputeStatus: 'Expired' } }, { kind: 'dispute_closed', isLost: true }],
    ['CHARGEBACK', { additionalData: { disputeStatus: 'Undefended' } }, { kind: 'dispute_opened' }],
    ['SECOND_CHARGEBACK', {}, { kind: 'dispute_closed', isLost: true }],
    ['CHARGEBACK_REVERSED', {}, { kind: 'dispute_closed', isLost: false }],
    ['NOTIFICATION_OF_CHARGEBACK', {}, { kind: 'dispute_opened', providerPaymentId: 'PSP1' }],
    ['RECURRING_CONTRACT', {}, { kind: 'ignored' }],
    ['REPORT_AVAILABLE', {}, { kind: 'ignored' }],
    [
      'OFFER_CLOSED',
      {},
      { kind: 'payment', providerPaymentId: 'EVT1', status: 'Expired', metadata: { payment_id: 'n1' } },
    ],
    ['OFFER_CLOSED', { merchantReference: 'page-Invoice-i1' }, { kind: 'ignored' }],
    ['OFFER_CLOSED', { success: 'false' }, { kind: 'ignored' }],
    ['MANUAL_REVIEW_ACCEPT', {}, { kind: 'ignored' }],
    ['NOT_OF_ADYEN', {}, { kind: 'unknown', type: 'NOT_OF_ADYEN' }],
  ])('%s %j', (code, fields, expected) => {
    const references = { pspReference: 'EVT1', originalReference: 'PSP1', merchantReference: 'n1' };
    const amount = { currency: 'EUR', value: 1200 };
    expect(inbound.parse(adyen.item(code, { ...references, amount, ...fields }))).toMatchObject(expected);
  });
});
