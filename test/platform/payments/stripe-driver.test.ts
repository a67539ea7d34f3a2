import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Listed, ListRequest } from '../../../src/platform/payments/port.ts';
import { ProviderRefusal } from '../../../src/platform/payments/port.ts';
import { stripeProvider } from '../../../src/platform/payments/stripe/driver.ts';
import { parseStripeEvent } from '../../../src/platform/payments/stripe/events.ts';
import { Outage } from '../../../src/platform/refusal.ts';
import { FAKE_KEY, FAKE_RESTRICTED_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';

// The driver of Stripe behind the port, against a fake of its HTTP API: provider-connections.md#capabilities.
let stripe: FakeStripe;
let serial = 0;

beforeAll(async () => {
  stripe = await fakeStripe();
});
afterAll(() => stripe.close());
beforeEach(() => {
  for (const records of [stripe.intents, stripe.refunds, stripe.disputes]) records.length = 0;
});

const driver = (secretKey: string = FAKE_KEY) =>
  stripeProvider({ secretKey, supports3ds: true, requiresConsent: false, apiUrl: stripe.url });

const request = (fields: object = {}) => {
  serial += 1;
  return {
    idempotencyKey: `key-${serial}`,
    amountCents: 10_000,
    currency: 'EUR',
    providerCustomerId: 'cus_9',
    providerMethodId: 'pm_ok',
    description: 'ACM-001-002',
    metadata: { payment_id: `payment-${serial}` },
    ...fields,
  };
};

test('an authorized amount is held without being taken and is released by its cancellation', async () => {
  const held = await driver().authorize!(request());
  expect(held).toMatchObject({ kind: 'answered', status: 'requires_capture', paymentStatus: 'processing' });
  const [intent] = stripe.intents;
  await driver().cancel(intent.id);
  expect(await driver().readPayment(intent.id)).toMatchObject({ status: 'canceled', paymentStatus: 'failed' });
});

test('an authorization that is sent again with its key is the same one', async () => {
  const once = request();
  const [first, second] = [await driver().authorize!(once), await driver().authorize!(once)];
  expect(second).toEqual(first);
  expect(stripe.intents.length).toBe(1);
});

test('an authorization whose key was used with another amount is a conflict, and not made', async () => {
  const once = request();
  await driver().authorize!(once);
  expect(await driver().authorize!({ ...once, amountCents: 20_000 })).toMatchObject({ kind: 'conflict' });
  expect(stripe.intents.length).toBe(1);
});

test('a declined authorization names its reason', async () => {
  const refused = await driver().authorize!(request({ providerMethodId: 'pm_declined' }));
  expect(refused).toMatchObject({ kind: 'answered', paymentStatus: 'failed', error: { code: 'card_declined' } });
});

test('an endpoint for events is registered once for a key, and replaces what has its address but that of others', async () => {
  const url = 'https://acme.test/webhooks/stripe/1?code=main';
  const register = (idempotencyKey: string, fields: object = {}) =>
    driver().registerInbound!({ idempotencyKey, url, formerId: null, keptIds: [], ...fields });
  const registered = () => stripe.endpoints.filter((each) => each.url === url).map(({ id }) => id);
  const first = await register('inbound-1');
  expect(await register('inbound-1')).toEqual(first);
  const second = await register('inbound-2', { keptIds: [first.id] });
  expect(registered()).toEqual([first.id, second.id]);
  const third = await register('inbound-3', { formerId: second.id });
  expect(registered()).toEqual([third.id]);
});

describe('lists of Stripe', () => {
  async function all<Item>(list: (request: ListRequest) => Promise<Listed<Item>>): Promise<[Item[], number]> {
    const items: Item[] = [];
    let [cursor, pages]: [string | null, number] = [null, 0];
    do {
      const page: Listed<Item> = await list({ sinceSeconds: 0, cursor });
      items.push(...page.items);
      cursor = page.next;
      pages += 1;
    } while (cursor !== null);
    return [items, pages];
  }

  test.each([
    ['requires_action', undefined],
    ['canceled', undefined],
    ['succeeded', { currency: 'EUR', amountCents: 700 }],
  ])('the 700 of a transfer of 1200 that is %s are received as %j in a list and in an event', async (status, money) => {
    const intent = { id: 'pi_part', status, currency: 'eur', amount: 1200, amount_received: 700, metadata: {} };
    stripe.intents.push(intent);
    const [[listed]] = await all(driver().listPayments!);
    expect(listed!.received).toEqual(money);
    expect(listed).toMatchObject({ providerPaymentId: 'pi_part', amountCents: 1200 });
    const event = parseStripeEvent({ type: `payment_intent.${status}`, data: { object: intent } });
    expect(event).toMatchObject({ kind: 'payment', providerPaymentId: 'pi_part' });
    expect('received' in event ? event.received : undefined).toEqual(money);
  });

  test('250 payments are listed in three pages, each once, amounts in our smallest unit', async () => {
    for (let n = 0; n < 250; n += 1)
      stripe.intents.push({
        id: `pi_l${n}`,
        status: 'succeeded',
        currency: 'isk',
        amount: 100_100,
        amount_received: 100_100,
        metadata: { payment_id: `p${n}` },
      });
    const [payments, pages] = await all(driver().listPayments!);
    expect([payments.length, pages]).toEqual([250, 3]);
    expect(new Set(payments.map((each) => each.providerPaymentId)).size).toBe(250);
    expect(payments[0]).toEqual({
      providerPaymentId: 'pi_l249',
      status: 'succeeded',
      currency: 'ISK',
      amountCents: 1001,
      received: { currency: 'ISK', amountCents: 1001 },
      metadata: { payment_id: 'p249' },
    });
  });

  test('refunds and disputes are listed with the payments they belong to', async () => {
    stripe.refunds.push({ id: 're_1', payment_intent: 'pi_1', status: 'succeeded', currency: 'eur', amount: 500 });
    stripe.disputes.push(
      { id: 'dp_1', payment_intent: 'pi_1', status: 'needs_response', reason: 'fraudulent' },
      { id: 'dp_2', payment_intent: 'pi_2', status: 'lost', reason: 'general' },
    );
    const [refunds] = await all(driver().listRefunds!);
    expect(refunds).toMatchObject([{ providerRefundId: 're_1', providerPaymentId: 'pi_1', amountCents: 500 }]);
    const [disputes] = await all(driver().listDisputes!);
    expect(disputes.map(({ providerDisputeId, isLost }) => [providerDisputeId, isLost])).toEqual([
      ['dp_2', true],
      ['dp_1', null],
    ]);
  });

  test('a restricted key without the right to list is refused, and too many calls are an outage', async () => {
    const list = driver(FAKE_RESTRICTED_KEY).listPayments!({ sinceSeconds: 0, cursor: null });
    await expect(list).rejects.toThrow(ProviderRefusal);
    stripe.throttle(1);
    await expect(driver().listPayments!({ sinceSeconds: 0, cursor: null })).rejects.toThrow(Outage);
  });
});

describe('customers of Stripe', () => {
  beforeEach(() => {
    const card = (id: string) => ({
      id,
      type: 'card',
      card: { brand: 'visa', last4: '4242', exp_month: 3, exp_year: 2030 },
    });
    stripe.customers.set('cus_1', {
      fields: { invoice_settings: { default_payment_method: 'pm_7' } },
      methods: [...Array.from({ length: 150 }, (_, n) => card(`pm_${n}`)), { id: 'pm_link', type: 'link', link: {} }],
    });
    stripe.customers.set('cus_gone', { fields: { deleted: true }, methods: [] });
  });

  test('all methods of the wanted types are read over all pages, with brand, last digits and expiry', async () => {
    const methods = await driver().listMethods!('cus_1', ['card']);
    expect(methods.length).toBe(150);
    expect(methods[0]).toEqual({
      providerMethodId: 'pm_149',
      methodType: 'card',
      details: { brand: 'visa', last4: '4242', expiry: '2030-03' },
    });
  });

  test.each([
    ['one that exists', 'cus_1', { defaultMethodId: 'pm_7' }],
    ['a deleted one', 'cus_gone', undefined],
    ['one that never existed', 'cus_none', undefined],
  ])('%s is read', async (_, id, read) => {
    expect(await driver().readCustomer!(id)).toEqual(read);
  });
});

test.each([
  [
    'a renewed card',
    'payment_method.automatically_updated',
    { id: 'pm_1', type: 'card', card: { brand: 'visa', last4: '4444', exp_month: 12, exp_year: 2031 } },
    {
      kind: 'method_changed',
      providerMethodId: 'pm_1',
      methodType: 'card',
      details: { brand: 'visa', last4: '4444', expiry: '2031-12' },
    },
  ],
  [
    'a mandate that ended',
    'mandate.updated',
    { id: 'mandate_1', payment_method: 'pm_1', status: 'inactive' },
    { kind: 'mandate_changed', providerMethodId: 'pm_1', isActive: false },
  ],
  [
    'an opened dispute',
    'charge.dispute.created',
    { id: 'dp_1', payment_intent: 'pi_1', reason: 'fraudulent' },
    { kind: 'dispute_opened', providerPaymentId: 'pi_1', reason: 'fraudulent' },
  ],
  [
    'a part of a bank transfer',
    'payment_intent.partially_funded',
    { id: 'pi_1', next_action: { type: 'display_bank_transfer_instructions' } },
    { kind: 'amounts_changed', providerPaymentId: 'pi_1' },
  ],
])('%s is an event of the port', (_, type, object, event) => {
  expect(parseStripeEvent({ id: 'evt_1', type, data: { object } })).toEqual(event);
});
