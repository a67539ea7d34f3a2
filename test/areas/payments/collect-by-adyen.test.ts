import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelOverNetwork } from '../../../src/areas/payments/collect-payments/cancel-over-network.ts';
import { pollPayment } from '../../../src/areas/payments/collect-payments/charge-over-network.ts';
import { retryProviderEvents } from '../../../src/areas/payments/collect-payments/retry-provider-events.ts';
import { registryOf } from '../../../src/jobs/run-periodic/periodic-registry.ts';
import { runWork } from '../../../src/jobs/run-periodic/run-item.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { ADYEN_ACCOUNT, ADYEN_HMAC_KEY, ADYEN_KEY, type FakeAdyen, fakeAdyen } from '../../support/fakes/adyen.ts';
import { removeAllKeys } from '../../support/redis-keys.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Cards through Adyen, from the page to the refund: provider-connections.md#adyen.
let service: TestService;
let adyen: FakeAdyen;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

beforeAll(async () => {
  adyen = await fakeAdyen();
  service = await startService({ settings: { ADYEN_API_URL: adyen.url }, pools: UNSCHEDULED });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
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

  // Without the key no event is accepted, so money on its pages would never be booked.
  test('without the key of its events collect nothing until they get it', async () => {
    const { payment_provider: made } = await ok(connect({ code: 'mute', hmac_key: undefined }));
    expect(made.capabilities).toEqual(['customers', 'refund', 'partial_refund', 'cancel']);
    const { payment_provider: now } = await ok(
      client.put('/payment_providers/mute', { payment_provider: { hmac_key: ADYEN_HMAC_KEY } }),
    );
    expect(now.capabilities).toEqual(connection.capabilities);
  });
});

test('an invoice of a connection without the key of its events has no page', async () => {
  connection = (await ok(connect({ code: 'mute', hmac_key: undefined }))).payment_provider;
  const billing = { payment_provider: 'adyen', payment_provider_code: 'mute', provider_customer_id: 'shopper-1' };
  await ok(
    client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR', billing_configuration: billing } }),
  );
  const refused = await client.post(`/invoices/${(await bill(11_900)).svc_id}/payment_url`, {});
  expect([refused.status, refused.body.error_details]).toEqual([422, { base: ['invalid_payment_provider'] }]);
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

describe('credits that are topped up', () => {
  const wallet = async (fields: object): Promise<string> =>
    (
      await ok(
        client.post('/wallets', {
          wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'EUR', ...fields },
        }),
      )
    ).wallet.svc_id;
  /** How Adyen was told that the newest of so many top-ups is charged, once they are paid. */
  const modelOf = async (id: string, count: number): Promise<string> => {
    const bought: Loose[] = await until(async () => {
      const query = 'transaction_status=purchased&status=settled';
      const { wallet_transactions: settled } = await ok(client.get(`/wallets/${id}/wallet_transactions?${query}`));
      return settled.length === count && settled;
    });
    const { payments } = await ok(client.get(`/payments?invoice_id=${bought[0].svc_invoice_id}`));
    return adyen.payments.find(({ reference }) => reference === payments[0].svc_id).recurringProcessingModel;
  };

  test('below a threshold are bought outside any schedule', async () => {
    await customer();
    const rule = { trigger: 'threshold', threshold_credits: '10', paid_credits: '50' };
    const id = await wallet({ granted_credits: '10', recurring_transaction_rules: [rule] });
    expect(await modelOf(id, 1)).toBe('UnscheduledCardOnFile');
  });

  test('by hand are bought as invoices are', async () => {
    await customer();
    expect(await modelOf(await wallet({ paid_credits: '20' }), 1)).toBe('Subscription');
  });

  test('by an interval follow a schedule from the second time on', async () => {
    await customer();
    const rule = { trigger: 'interval', interval: 'weekly', paid_credits: '5' };
    const id = await wallet({ granted_credits: '1', recurring_transaction_rules: [rule] });
    const models: string[] = [];
    for (const daysAgo of [7, 0]) {
      await service.sql`update recurring_transaction_rules set next_top_up_on = current_date where wallet_id = ${id}`;
      await runWork(runtime, registryOf(service.config), {
        job: 'interval-top-ups',
        organization_id: client.organization.organization_id as never,
        at: realNow().toString(),
        item: { wallet_id: id },
      });
      models.push(await modelOf(id, models.length + 1));
      // A wallet is topped up once a day.
      await service.sql`
        update wallet_transactions set top_up_on = current_date - ${daysAgo}::int
        where wallet_id = ${id} and top_up_on = current_date`;
    }
    expect(models).toEqual(['UnscheduledCardOnFile', 'Subscription']);
  });
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

describe('a charge that sends its customer away', () => {
  let made: Loose;
  let waiting: Loose;

  /** An invoice of 12.00 whose charge waits for its customer. */
  async function sentAway(cents = 1200): Promise<[Loose, Loose]> {
    const invoice = await bill(cents);
    return [invoice, await paymentOf(invoice, 'processing')];
  }
  beforeEach(async () => {
    const card = await customer();
    adyen.stored.set(`${card}redirect`, { ...adyen.stored.get(card), id: `${card}redirect` });
    await service.sql`
      update payment_methods set provider_method_id = ${`${card}redirect`} where provider_method_id = ${card}`;
    [made, waiting] = await sentAway();
  });

  /** The browser follows the address to which the page of the bank leads. */
  async function visit(address: string): Promise<{ status: number; refresh: string | undefined; text: string }> {
    const { pathname, search } = new URL(address);
    const answer = await request(`${service.url}${pathname}${search}`);
    const refresh = answer.headers.refresh as string | undefined;
    return { status: answer.statusCode, refresh, text: await answer.body.text() };
  }
  const told = () => adyen.exchanges.filter(({ path }) => path === '/payments/details').length;
  const authorised = (payment: Loose, fields: object = {}) => {
    const { pspReference, amount } = adyen.payments.find(({ reference }) => reference === payment.svc_id);
    return tell(adyen.item('AUTHORISATION', { pspReference, merchantReference: payment.svc_id, amount, ...fields }));
  };
  /** All that is stored was handled, and nothing of a return waits. */
  const isQuiet = () =>
    until(async () => {
      const { inbound_events } = await ok(client.get('/inbound_events'));
      const kept = await service.sql`select from payments where customer_return is not null`;
      return kept.length === 0 && inbound_events.every(({ status }: Loose) => status === 'succeeded');
    });
  const successes = async (payment: Loose) =>
    (
      await service.sql`
        select from webhook_events where webhook_type = 'payment.succeeded' and object_id = ${payment.svc_id}`
    ).length;
  const receipts = async () => (await ok(client.get(`/payment_receipts?invoice_id=${made.svc_id}`))).payment_receipts;

  test('is under way until its event, which finds it by our id, where nobody comes back', async () => {
    expect(waiting).toMatchObject({ status: 'RedirectShopper', provider_payment_id: null });
    expect(waiting.next_action.url).toBe('https://issuer.test/3ds');
    await authorised(waiting, { pspReference: 'PSPREDIRECT' });
    const paid = await paymentOf(made, 'succeeded');
    expect(paid).toMatchObject({ provider_payment_id: 'PSPREDIRECT', next_action: {} });
  });

  test('has failed when its offer is closed, and may be charged again', async () => {
    const { pspReference } = adyen.payments.find(({ reference }) => reference === waiting.svc_id);
    await tell(adyen.item('OFFER_CLOSED', { pspReference, merchantReference: waiting.svc_id }));
    expect(await paymentOf(made, 'failed')).toMatchObject({ status: 'Expired', next_action: {} });
    expect(await read(made)).toMatchObject({ payment_status: 'failed' });
    // The customer pays late nevertheless: the money has come.
    await authorised(waiting);
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ amount_cents: 1200 });
  });

  test('is paid once by what the customer brings back, however often, and by the event that follows', async () => {
    const address = adyen.comeBack(waiting.svc_id);
    expect(new URL(address).searchParams.get('payment')).toBe(waiting.svc_id);
    const before = told();
    const [first, second] = await Promise.all([visit(address), visit(address)]);
    const path = new URL(address).pathname;
    for (const { status, refresh } of [first!, second!])
      expect([status, refresh]).toEqual([200, `10; url=${path}?returned`]);
    const paid = await paymentOf(made, 'succeeded');
    const { pspReference } = adyen.payments.find(({ reference }) => reference === waiting.svc_id);
    expect(paid).toMatchObject({ status: 'Authorised', provider_payment_id: pspReference, next_action: {} });
    await visit(address);
    await authorised(waiting);
    await isQuiet();
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect([told() - before, await successes(waiting), (await receipts()).length]).toEqual([1, 1, 1]);
  });

  test('is paid once where the event comes while the answer is on its way', async () => {
    const release = adyen.holdNext('/payments/details');
    const before = told();
    await visit(adyen.comeBack(waiting.svc_id));
    await until(() => told() > before);
    await authorised(waiting);
    await paymentOf(made, 'succeeded');
    release();
    await isQuiet();
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
    expect([await successes(waiting), (await receipts()).length]).toEqual([1, 1]);
  });

  test('tells nothing more where the event came first', async () => {
    await authorised(waiting);
    await paymentOf(made, 'succeeded');
    const before = told();
    const { text } = await visit(adyen.comeBack(waiting.svc_id));
    expect([told() - before, text.includes(made.number)]).toEqual([0, true]);
    expect(await service.sql`select from payments where customer_return is not null`).toHaveLength(0);
  });

  test('has failed by a refusal that the customer brings back', async () => {
    const refused = { resultCode: 'Refused', refusalReason: '3D Not Authenticated', refusalReasonCode: '11' };
    await visit(adyen.comeBack(waiting.svc_id, refused));
    const failed = await paymentOf(made, 'failed');
    const provider_error = { error_code: 'refused_11', message: '3D Not Authenticated' };
    expect(failed).toMatchObject({ status: 'Refused', provider_error, next_action: {} });
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  });

  test.each(['Pending', 'Received'])('is on its way while its result is %s, until its event', async (resultCode) => {
    const address = adyen.comeBack(waiting.svc_id, { resultCode });
    await visit(address);
    const pending = await until(async () => {
      const payment = await paymentOf(made, 'processing');
      return payment.status === resultCode && payment;
    });
    expect(pending.next_action).toEqual({});
    await authorised(waiting);
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ next_action: {} });
  });

  test('is told once more with the same key where the answer was lost', async () => {
    adyen.loseNext('/payments/details');
    await visit(adyen.comeBack(waiting.svc_id));
    await until(() => adyen.calls.includes('POST /payments/details'));
    // The queue waits before it tries again; the sweep or the job itself, whichever is first.
    await pollPayment(runtime, {
      organization_id: client.organization.organization_id as never,
      payment_id: waiting.svc_id,
    });
    await paymentOf(made, 'succeeded');
    await isQuiet();
    expect([await successes(waiting), (await receipts()).length]).toEqual([1, 1]);
  });

  test('is told once by the sweep where Redis lost the job of a return', async () => {
    const queue = runtime.producer.queue('payments');
    const before = told();
    await queue.pause();
    await visit(adyen.comeBack(waiting.svc_id));
    // Nobody takes the job of a paused queue; its pause is lost with it.
    expect(await queue.getJobCountByTypes('wait', 'prioritized')).toBe(1);
    await removeAllKeys(service.redis, service.config.REDIS_PREFIX);
    expect(await service.sql`select from payments where customer_return is not null`).toHaveLength(1);
    await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 4 }));
    expect(await queue.getJobCountByTypes('wait', 'active', 'completed', 'prioritized')).toBe(0);
    await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 6 }));
    await paymentOf(made, 'succeeded');
    await isQuiet();
    await retryProviderEvents.sweep(runtime, realNow().add({ minutes: 12 }));
    await isQuiet();
    expect([told() - before, await successes(waiting), (await receipts()).length]).toEqual([1, 1, 1]);
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });

  /** As if the charge had been sent so long ago. */
  const age = async (hours: number, fields: object = {}) => {
    await service.sql`
      update payments set ${service.sql({ updated_at: realNow().subtract({ hours: 2 }).toString(), ...fields })},
        charged_at = now() - ${hours} * interval '1 hour'
      where id = ${waiting.svc_id}`;
    await retryProviderEvents.sweep(runtime, realNow());
  };
  const looked = async () =>
    (await service.sql`select from payments where id = ${waiting.svc_id} and looked_at is not null`).length;

  test('ends where nobody confirms it within three days; money that comes late nevertheless is taken', async () => {
    await age(71);
    expect(await looked()).toBe(0);
    const [before, cancelled, address] = [told(), adyen.cancels.length, adyen.comeBack(waiting.svc_id)];
    await age(73);
    const failed = await paymentOf(made, 'failed');
    const message = 'The customer did not confirm the payment within 3 days.';
    const provider_error = { error_code: 'customer_action_expired', message };
    expect(failed).toMatchObject({ status: 'canceled', provider_error, next_action: {} });
    const ready = await service.sql`
      select from invoices where id = ${made.svc_id} and payment_status = 'failed' and ready_for_payment_processing`;
    expect(ready).toHaveLength(1);
    const [failure] = await service.sql<{ payload: Loose }[]>`
      select payload from webhook_events where webhook_type = 'invoice.payment_failure' and object_id = ${made.svc_id}`;
    expect(JSON.stringify(failure!.payload)).toContain(provider_error.error_code);
    // Who comes back now is told to nobody, so nothing is taken.
    await visit(address);
    expect([told(), adyen.cancels.length]).toEqual([before, cancelled]);
    await authorised(waiting, { pspReference: 'PSPLATE' });
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ provider_payment_id: 'PSPLATE' });
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 1200 });
  });

  test('ends there as well where Adyen has named it, and what it says of that changes nothing', async () => {
    const { pspReference } = adyen.payments.find(({ reference }) => reference === waiting.svc_id);
    const [provider_payment_id, next_action] = [pspReference, { type: 'threeDS2', token: 'x' }];
    await age(73, { provider_payment_id, next_action });
    expect(await paymentOf(made, 'failed')).toMatchObject({
      provider_error: { error_code: 'customer_action_expired' },
    });
    expect(adyen.cancels.map(({ paymentPspReference }) => paymentPspReference)).toContain(pspReference);
    await tell(adyen.item('CANCELLATION', { originalReference: pspReference, merchantReference: waiting.svc_id }));
    await isQuiet();
    expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  });

  test('does not end by itself where its page may take the money, or while a return is to be told', async () => {
    const next_action = { type: 'redirect', paymentMethodType: 'ideal', url: 'https://bank.test/pay' };
    await age(73, { next_action });
    await until(looked);
    const scope = { organization_id: client.organization.organization_id as never, payment_id: waiting.svc_id };
    await pollPayment(runtime, scope);
    expect(await paymentOf(made, 'processing')).toMatchObject({ next_action });

    await age(73, { next_action: { ...next_action, paymentMethodType: 'scheme' }, looked_at: realNow().toString() });
    const release = adyen.holdNext('/payments/details');
    const before = told();
    await visit(adyen.comeBack(waiting.svc_id));
    await until(() => told() > before);
    const ended = pollPayment(runtime, scope);
    release();
    await ended;
    await isQuiet();
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ amount_cents: 1200 });
  });

  test('is left to its event by a result that Adyen does not know, or of another payment', async () => {
    const [other, alsoWaiting] = await sentAway(900);
    const own = new URL(adyen.comeBack(waiting.svc_id));
    const address = (result: string) => {
      const changed = new URL(own);
      changed.searchParams.set('redirectResult', result);
      return changed.href;
    };
    await visit(address('made up'));
    await isQuiet();
    const stolen = new URL(adyen.comeBack(alsoWaiting.svc_id)).searchParams.get('redirectResult')!;
    await visit(address(stolen));
    await isQuiet();
    expect(await paymentOf(made, 'processing')).toMatchObject({ status: 'RedirectShopper' });
    expect(await paymentOf(other, 'processing')).toMatchObject({ status: 'RedirectShopper' });
    await authorised(alsoWaiting);
    expect(await paymentOf(other, 'succeeded')).toMatchObject({ amount_cents: 900 });
    await visit(own.href);
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ amount_cents: 1200 });
  });

  test('takes nothing by the link of another invoice, and sends the customer on to the page of the seller', async () => {
    const url = 'https://shop.example/thanks';
    await ok(client.put('/payment_providers/cards', { payment_provider: { success_redirect_url: url } }));
    const [, other] = await sentAway(900);
    const own = new URL(adyen.comeBack(waiting.svc_id));
    const crossed = new URL(own);
    crossed.searchParams.set('payment', other.svc_id);
    expect((await visit(crossed.href)).refresh).toBe('10');
    expect(await service.sql`select from payments where customer_return is not null`).toHaveLength(0);
    expect((await visit(own.href)).refresh).toBe(`0; url=${url}`);
    expect(await paymentOf(made, 'succeeded')).toMatchObject({ amount_cents: 1200 });
  });
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
  const drift = await until(async () => (await ok(client.get('/provider_drifts'))).provider_drifts[0]);
  expect(drift).toMatchObject({ kind: 'amount_differs', ours: { amount_cents: 1200 }, theirs: { amount_cents: 1199 } });
  expect(await read(made)).toMatchObject({ payment_status: 'pending', total_paid_amount_cents: 0 });
});

test.each([
  { order: ['REFUND', 'REFUND_FAILED'], first: ['succeeded', -700] },
  { order: ['REFUND_FAILED', 'REFUND'], first: ['failed', -1200] },
])(
  'a refund of 5.00 is pending until its event, and failed when its money came back: $order',
  async ({ order, first }) => {
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
    const end = (code: string) =>
      adyen.item(code, { ...about, pspReference: refund.pspReference, amount: refund.amount });
    for (const code of order) {
      await tell(end(code));
      await until(async () => {
        const [told] = (await ok(client.get(`/inbound_events?types[]=${code}`))).inbound_events;
        return told?.status === 'succeeded' || undefined;
      });
      expect([await status(), await creditOf('cash')]).toEqual(code === order[0] ? first : ['failed', -1200]);
    }
  },
);

test('a capture that fails takes the money back', async () => {
  await customer();
  const made = await bill();
  const paid = await paymentOf(made, 'succeeded');
  await tell(adyen.item('CAPTURE_FAILED', { originalReference: paid.provider_payment_id }));
  await paymentOf(made, 'failed');
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
});

/** What an account of the ledger has too much on its credit side. */
async function creditOf(account: string): Promise<number> {
  const [row] = await service.sql<{ cents: number }[]>`
    select coalesce(sum(case side when 'credit' then amount_cents else -amount_cents end), 0)::int as cents
    from ledger_entries
    where organization_id = ${client.organization.organization_id} and account_code = ${account}`;
  return row!.cents;
}

describe('a charge of 119.00 whose invoice is voided before its answer', () => {
  async function voided(): Promise<Loose> {
    await customer();
    const known = adyen.payments.length;
    const answerIt = adyen.holdNext('/payments');
    const made = await bill(11_900);
    // Other tests have made payments of this amount too.
    await until(async () => adyen.payments.length > known);
    await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
    answerIt();
    return paymentOf(made, 'succeeded');
  }

  test('keeps its money, which is not cancelled any more', async () => {
    const paid = await voided();
    expect(await creditOf('unapplied_receipts')).toBe(11_900);
    await cancelOverNetwork(runtime, {
      organization_id: client.organization.organization_id,
      payment_id: paid.svc_id,
    } as never);
    const cancelled = adyen.cancels.map(({ paymentPspReference }) => paymentPspReference);
    expect(cancelled).not.toContain(paid.provider_payment_id);
    const [row] = await service.sql`select cancel_owed_at from payments where id = ${paid.svc_id}`;
    expect(row!.cancel_owed_at).toBeNull();
  });

  test('loses it again by a cancellation at Adyen before its capture', async () => {
    const paid = await voided();
    const cancelled = adyen.item('CANCELLATION', { originalReference: paid.provider_payment_id });
    await tell(cancelled);
    await until(async () => {
      const { payment } = await ok(client.get(`/payments/${paid.svc_id}`));
      return payment.payment_status === 'failed' || undefined;
    });
    expect(await creditOf('unapplied_receipts')).toBe(0);
    expect(await creditOf('cash')).toBe(0);
  });
});

describe('a charge whose first answer was lost', () => {
  test.each([
    ['401', { status: 401 }],
    ['403 of a proxy', { status: 403, isByProxy: true }],
    ['400 of a proxy', { status: 400, isByProxy: true }],
    ['408', { status: 408 }],
    ['307', { status: 307 }],
  ])('is no failed one when its repetition gets %s, and is never made twice', async (_, refusal) => {
    await customer();
    adyen.loseNext('/payments');
    adyen.refuseNext('/payments', refusal);
    const before = adyen.payments.length;
    const made = await bill(11_900);
    await paymentOf(made, 'succeeded');
    expect(adyen.payments).toHaveLength(before + 1);
    expect((await ok(client.get(`/payments?invoice_id=${made.svc_id}`))).payments).toHaveLength(1);
    expect(await read(made)).toMatchObject({ payment_status: 'succeeded', total_paid_amount_cents: 11_900 });
  });
});

test('a cancellation that was refused for the credentials is sent again', async () => {
  const card = await customer();
  adyen.stored.set(`${card}received`, { ...adyen.stored.get(card), id: `${card}received` });
  await service.sql`update payment_methods set provider_method_id = ${`${card}received`} where provider_method_id = ${card}`;
  const made = await bill(11_900);
  const { provider_payment_id: psp } = await paymentOf(made, 'processing');
  adyen.refuseNext(`/payments/${psp}/cancels`, { status: 401 });
  await ok(client.post(`/invoices/${made.svc_id}/void`, {}));
  await until(async () => adyen.cancels.find(({ paymentPspReference }) => paymentPspReference === psp));
});

test('a page payment of 119.00 whose capture failed is taken back, though its own report is handled later', async () => {
  await customer();
  await service.sql`update payment_methods set is_default = false, deleted_at = now()`;
  const made = await bill(11_900);
  const { invoice_payment_details: page } = await ok(client.post(`/invoices/${made.svc_id}/payment_url`, {}));
  const paid = adyen.finish(page.payment_url.split('/').at(-1));
  const id = randomUUID();
  await service.sql`
    insert into inbound_events (id, organization_id, connection_id, provider_event_id, event_type, payload,
      created_at, updated_at)
    values (${id}, ${client.organization.organization_id}, ${connection.svc_id}, 'late', 'AUTHORISATION',
      ${service.sql.json(paid)}, now(), now())`;
  await tell(adyen.item('CAPTURE_FAILED', { originalReference: paid.pspReference }));
  const undoing = await until(async () => {
    const [event] = (await ok(client.get('/inbound_events?types[]=CAPTURE_FAILED'))).inbound_events;
    return event?.error?.includes('payment_not_handled_yet') ? event : undefined;
  });
  await ok(client.post(`/inbound_events/${id}/retry`, {}));
  await until(async () => (await ok(client.get(`/inbound_events/${id}`))).inbound_event.status === 'succeeded');
  await ok(client.post(`/inbound_events/${undoing.svc_id}/retry`, {}));
  await paymentOf(made, 'failed');
  expect(await read(made)).toMatchObject({ payment_status: 'failed', total_paid_amount_cents: 0 });
  expect(await creditOf('cash')).toBe(0);
});

test('a customer who moves to another connection of the same company gets a page of that one', async () => {
  await customer();
  await ok(connect({ code: 'cards2' }));
  const before = adyen.links.size;
  const billing = { payment_provider: 'adyen', payment_provider_code: 'cards2', sync_with_provider: true };
  await ok(client.post('/customers', { customer: { external_id: 'acme', billing_configuration: billing } }));
  await until(async () => adyen.links.size > before);
});

test('what is paid on a page of one of two connections is of that one, whichever address is told', async () => {
  await ok(connect({ code: 'cards2' }));
  const billing = { payment_provider: 'adyen', payment_provider_code: 'cards2', sync_with_provider: true };
  await ok(
    client.post('/customers', { customer: { external_id: 'acme', currency: 'EUR', billing_configuration: billing } }),
  );
  await until(
    async () => (await ok(client.get('/customers/acme'))).customer.billing_configuration.provider_customer_id,
  );
  const made = await bill();
  const { invoice_payment_details: page } = await ok(client.post(`/invoices/${made.svc_id}/payment_url`, {}));
  // The company has one address for all its accounts: that of the first connection.
  await tell(adyen.finish(page.payment_url.split('/').at(-1)));
  expect(await paymentOf(made, 'succeeded')).toMatchObject({ payment_provider_code: 'cards2', amount_cents: 1200 });
  expect(await until(async () => (await methods())[0])).toMatchObject({ payment_provider_code: 'cards2' });
});

test('an import by hand leaves a debt that arose while the provider was asked', async () => {
  await customer();
  const answerIt = adyen.holdNext('/storedPaymentMethods');
  const calls = adyen.calls.length;
  const imported = client.post('/customers/acme/payment_methods/import', {});
  await until(async () => adyen.calls.slice(calls).includes('GET /storedPaymentMethods'));
  const owed = () => service.sql`
    select from customers where organization_id = ${client.organization.organization_id} and methods_owed_at is not null`;
  await service.sql`
    update customers set methods_owed_at = now() where organization_id = ${client.organization.organization_id}`;
  answerIt();
  await ok(imported);
  expect(await owed()).toHaveLength(1);
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
  await tell(adyen.item('SOMETHING_NEW'));
  await until(async () => {
    const [event] = (await ok(client.get('/inbound_events'))).inbound_events;
    return event?.error?.includes('event_not_supported');
  });
});
