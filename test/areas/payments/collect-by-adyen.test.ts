import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../support/client.ts';
import { ADYEN_ACCOUNT, ADYEN_HMAC_KEY, ADYEN_KEY, type FakeAdyen, fakeAdyen } from '../../support/fakes/adyen.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Cards through Adyen, from the page to the refund: provider-connections.md#adyen.
let service: TestService;
let adyen: FakeAdyen;
let client: Client & { organization: { organization_id: string } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  adyen = await fakeAdyen();
  service = await startService({ settings: { ADYEN_API_URL: adyen.url }, pools: UNSCHEDULED });
});
afterAll(async () => {
  await service.stop();
  await adyen.close();
});

const connect = (fields: object = {}, by: Client = client) =>
  by.post('/payment_providers', {
    payment_provider: {
      type: 'adyen',
      code: 'cards',
      name: 'Cards',
      api_key: ADYEN_KEY,
      hmac_key: ADYEN_HMAC_KEY,
      merchant_account: ADYEN_ACCOUNT,
      ...fields,
    },
  });

let connection: Loose;
beforeEach(async () => {
  client = await service.org();
  connection = (await ok(connect())).payment_provider;
});

async function post(items: Loose[], key?: string): Promise<{ status: number; text: string }> {
  const { body, headers } = adyen.post(items, key);
  const { pathname, search } = new URL(connection.inbound_url);
  const answer = await request(`${service.url}${pathname}${search}`, { method: 'POST', headers, body });
  return { status: answer.statusCode, text: await answer.body.text() };
}

const tell = async (...items: Loose[]): Promise<void> => {
  expect(await post(items)).toEqual({ status: 200, text: '[accepted]' });
};

const methods = async (): Promise<Loose[]> => (await ok(client.get('/customers/acme/payment_methods'))).payment_methods;

/** A customer who has stored a card on a page of Adyen; its id there. */
async function customer(currency = 'EUR'): Promise<string> {
  const billing = { payment_provider: 'adyen', payment_provider_code: 'cards', sync_with_provider: true };
  const { customer: made } = await ok(
    client.post('/customers', {
      customer: { external_id: 'acme', name: 'Acme', currency, billing_configuration: billing },
    }),
  );
  await until(async () => {
    const { customer: now } = await ok(client.get('/customers/acme'));
    return now.billing_configuration.provider_customer_id === made.svc_id;
  });
  const { customer: page } = await ok(client.post('/customers/acme/checkout_url', {}));
  await tell(adyen.finish(page.checkout_url.split('/').at(-1)));
  return (await until(async () => (await methods())[0])).provider_method_id;
}

async function bill(cents = 1200, currency = 'EUR'): Promise<Loose> {
  const code = `s${cents}`;
  await client.post('/add_ons', { add_on: { name: 'Setup', code, amount_cents: cents, amount_currency: currency } });
  const fees = [{ add_on_code: code }];
  return (await ok(client.post('/invoices', { invoice: { external_customer_id: 'acme', currency, fees } }))).invoice;
}

const read = async (made: Loose): Promise<Loose> => (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
const paymentOf = (made: Loose, status: string): Promise<Loose> =>
  until(async () =>
    (await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments.find(
      (each: Loose) => each.payment_status === status,
    ),
  );

describe('connections', () => {
  test('show their settings and the last characters of their secrets, and move no real money', () => {
    expect(connection).toMatchObject({
      type: 'adyen',
      status: 'connected',
      live: false,
      settings: { merchant_account: ADYEN_ACCOUNT },
      api_key_last4: ADYEN_KEY.slice(-4),
      hmac_key_last4: ADYEN_HMAC_KEY.slice(-4),
    });
    expect(JSON.stringify(connection)).not.toContain(ADYEN_HMAC_KEY);
  });

  test.each([
    ['without account', { merchant_account: undefined }, { merchant_account: ['value_is_mandatory'] }],
    ['with a key that is no hex', { hmac_key: 'simple' }, { hmac_key: ['value_is_invalid'] }],
    // The prefix is a part of the host that is called.
    ['whose prefix is another host', { live_prefix: 'evil.example/' }, { live_prefix: ['value_is_invalid'] }],
    ['with a setting of another type', { environment: 'sandbox' }, { environment: ['value_is_invalid'] }],
    [
      'with another merchant account',
      { merchant_account: 'Other' },
      { third_party: 'adyen', thirdparty_error: 'Invalid Merchant Account' },
    ],
  ])('%s are refused', async (_, fields, details) => {
    const refused = await connect({ code: 'other', ...fields });
    expect([refused.status, refused.body.error_details]).toEqual([422, details]);
  });

  test('of a sandbox reach no live account', async () => {
    const sandbox = await service.org({ sandbox: true });
    const refused = await connect({ live_prefix: '1797a841fbb37ca7-AcmePay' }, sandbox);
    expect(refused.body.error_details).toEqual({ live_prefix: ['live_key_in_sandbox'] });
    await ok(connect({}, sandbox));
  });
});

test('a card that was stored on a page pays the next invoices', async () => {
  const card = await customer();
  const made = await bill();
  const paid = await paymentOf(made, 'succeeded');
  expect(paid).toMatchObject({ status: 'Authorised', payment_provider_type: 'adyen', amount_cents: 1200 });
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  const charge = adyen.payments.find(({ reference }) => reference === paid.svc_id);
  expect(charge.paymentMethod).toEqual({ type: 'scheme', storedPaymentMethodId: card });
  // Its own event says the same once more.
  await tell(adyen.item('AUTHORISATION', { ...charge, merchantReference: charge.reference }));
  await until(async () => (await ok(client.get('/inbound_events'))).inbound_events[0].status === 'succeeded');
  expect((await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments).toHaveLength(1);
});

// Golden case FI5, to the end: what the smallest step leaves is written off with the payment.
test('FI5 CVE 1001 is charged as 10 and leaves 1, which is written off', async () => {
  await customer('CVE');
  const made = await bill(1001, 'CVE');
  const paid = await paymentOf(made, 'succeeded');
  expect(paid.amount_cents).toBe(1000);
  expect(adyen.payments.find(({ reference }) => reference === paid.svc_id).amount).toEqual({
    value: 10,
    currency: 'CVE',
  });
  expect(await read(made)).toMatchObject({
    payment_status: 'succeeded',
    total_paid_amount_cents: 1000,
    total_written_off_amount_cents: 1,
    total_due_amount_cents: 0,
  });
});

test('a charge that sends its customer away is under way until its event, which finds it by our id', async () => {
  const card = await customer();
  const method = adyen.stored.get(card);
  adyen.stored.set(`${card}redirect`, { ...method, id: `${card}redirect` });
  await service.sql`update payment_methods set provider_method_id = ${`${card}redirect`} where provider_method_id = ${card}`;
  const made = await bill();
  const waiting = await paymentOf(made, 'processing');
  expect(waiting).toMatchObject({ status: 'RedirectShopper', provider_payment_id: null });
  expect(waiting.next_action.url).toBe('https://issuer.test/3ds');
  await tell(
    adyen.item('AUTHORISATION', {
      pspReference: 'PSPREDIRECT',
      merchantReference: waiting.svc_id,
      amount: { currency: 'EUR', value: 1200 },
    }),
  );
  expect(await paymentOf(made, 'succeeded')).toMatchObject({ provider_payment_id: 'PSPREDIRECT', next_action: {} });
});

test('an invoice is paid on a page, which stores the card as well', async () => {
  await customer();
  await service.sql`update payment_methods set is_default = false, deleted_at = now()`;
  const made = await bill();
  const { invoice_payment_details: page } = await ok(client.post(`/invoices/${made.svc_id}/payment_url`, {}));
  await tell(adyen.finish(page.payment_url.split('/').at(-1)));
  await paymentOf(made, 'succeeded');
  expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  await until(async () => (await methods())[0]?.is_default);
});

test('an event about another amount than was charged settles nothing', async () => {
  const card = await customer();
  adyen.stored.set(`${card}received`, { ...adyen.stored.get(card), id: `${card}received` });
  await service.sql`update payment_methods set provider_method_id = ${`${card}received`} where provider_method_id = ${card}`;
  const made = await bill();
  const { provider_payment_id: psp, svc_id: reference } = await paymentOf(made, 'processing');
  const amount = { currency: 'EUR', value: 1199 };
  await tell(adyen.item('AUTHORISATION', { pspReference: psp, merchantReference: reference, amount }));
  await until(async () => {
    const [event] = (await ok(client.get('/inbound_events?types[]=AUTHORISATION'))).inbound_events;
    return event?.error?.includes('amount_differs');
  });
  expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
});

test('a refund is pending until its event', async () => {
  await customer();
  const made = await bill();
  const paid = await paymentOf(made, 'succeeded');
  const { fees } = await read(made);
  const { credit_note: note } = await ok(
    client.post('/credit_notes', {
      credit_note: {
        invoice_id: made.svc_id,
        reason: 'duplicated_charge',
        refund_amount_cents: 500,
        items: [{ fee_id: fees[0].svc_id, amount_cents: 500 }],
      },
    }),
  );
  const refund = await until(async () => adyen.refunds.find(({ reference }) => reference === note.svc_id));
  expect(refund).toMatchObject({ amount: { value: 500, currency: 'EUR' }, merchantRefundReason: 'DUPLICATE' });
  const status = async () => (await ok(client.get(`/credit_notes/${note.svc_id}`))).credit_note.refund_status;
  expect(await status()).toBe('pending');
  const about = { originalReference: paid.provider_payment_id, merchantReference: note.svc_id };
  await tell(adyen.item('REFUND', { ...about, pspReference: refund.pspReference, amount: refund.amount }));
  await until(async () => (await status()) === 'succeeded');
});

test('a capture that fails takes the money back', async () => {
  await customer();
  const made = await bill();
  const paid = await paymentOf(made, 'succeeded');
  await tell(adyen.item('CAPTURE_FAILED', { originalReference: paid.provider_payment_id }));
  await paymentOf(made, 'failed');
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
});

test('a dispute that was lost is noted on the invoice', async () => {
  await customer();
  const made = await bill();
  const paid = await paymentOf(made, 'succeeded');
  const lost = { originalReference: paid.provider_payment_id, additionalData: { disputeStatus: 'Lost' } };
  await tell(adyen.item('CHARGEBACK', lost));
  await until(async () => (await read(made)).payment_dispute_lost_at);
});

test('a body with one item of another key is refused as a whole', async () => {
  const { body } = adyen.post([adyen.item('AUTHORISATION'), adyen.item('REFUND')], '00'.repeat(32));
  const { pathname, search } = new URL(connection.inbound_url);
  const answer = await request(`${service.url}${pathname}${search}`, { method: 'POST', body });
  await answer.body.dump();
  expect(answer.statusCode).toBe(400);
  expect((await ok(client.get('/inbound_events'))).inbound_events).toEqual([]);
});

test('an event of a type that nobody has decided about fails and is shown', async () => {
  await tell(adyen.item('MANUAL_REVIEW_ACCEPT'));
  await until(async () => {
    const [event] = (await ok(client.get('/inbound_events'))).inbound_events;
    return event?.error?.includes('event_not_supported');
  });
});
