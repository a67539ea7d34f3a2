import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  askForAuthorization,
  releaseAuthorizations,
} from '../../../src/areas/payments/collect-payments/authorizations.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { newId } from '../../../src/platform/ids.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { connectStripe, linkCustomer, type Organization, storeMethod } from '../../support/connect-stripe.ts';
import { type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';

// Amounts that Stripe reserves before a subscription is created: subscriptions.md#authorization.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Organization;

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url } });
  runtime = openRuntime(service.config, 'test');
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});
beforeEach(async () => {
  client = await service.org();
  await connectStripe(service, client);
  await linkCustomer(client);
  await ok(
    client.post('/plans', {
      plan: {
        name: 'Plan',
        code: 'plan',
        interval: 'monthly',
        amount_cents: 1000,
        amount_currency: 'EUR',
        pay_in_advance: false,
      },
    }),
  );
});

/** A method that the customer stored on Stripe's page. */
const store = (method: string): Promise<void> => storeMethod({ service, stripe, client }, method);

const authorization = { amount_cents: 10_000, amount_currency: 'EUR' };
const subscribe = (fields: object = {}, asked: object = authorization) =>
  client.post('/subscriptions', {
    subscription: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan', ...fields },
    authorization: asked,
  });
const rows = () => service.sql<
  { id: string; status: string; provider_payment_id: string | null; isLinked: boolean; isReleased: boolean }[]
>`
  select id, status, provider_payment_id, subscription_id is not null as "isLinked",
    released_at is not null as "isReleased"
  from authorizations where organization_id = ${client.organization.organization_id} order by id`;
const released = () =>
  until(async () => {
    const [row] = await rows();
    return row?.isReleased ? row : undefined;
  });
const intentOf = (id: string | null) => stripe.intents.find((intent) => intent.id === id);
const isCreated = async () => (await client.get('/subscriptions/sub')).status === 200;
/** Runs the sweep as if so many minutes had passed. */
const sweepIn = (minutes: number) => releaseAuthorizations.sweep(runtime, realNow().add({ minutes }));
/** The pre-step of a command whose process then dies. */
const askAndDie = () =>
  askForAuthorization(runtime, {
    organizationId: client.organization.organization_id,
    sandbox: false,
    commandId: newId(),
    recordId: newId(),
    input: { body: { external_customer_id: 'acme', external_id: 'sub', plan_code: 'plan', authorization } },
  });

test('an authorized amount is shown with the subscription, and is released after it (FI18)', async () => {
  await store('pm_ok');
  const { status, body } = await subscribe();
  expect([status, body.authorization]).toEqual([
    200,
    {
      id: expect.stringMatching(/^pi_/),
      object: 'payment_intent',
      amount: 10_000,
      amount_capturable: 10_000,
      status: 'requires_capture',
    },
  ]);
  expect(await released()).toMatchObject({ status: 'released', isLinked: true });
  expect(intentOf(body.authorization.id)).toMatchObject({ amount: 10_000, currency: 'eur', status: 'canceled' });
});

test.each([
  ['pm_declined', 'card_declined'],
  ['pm_asks', 'authentication_required'],
])('an authorization of %s that Stripe refuses creates nothing (FI18)', async (method, code) => {
  await store(method);
  const { status, body } = await subscribe();
  expect([status, body.code, body.error_details.code]).toEqual([422, 'provider_error', code]);
  expect(await isCreated()).toBe(false);
  await released();
});

test('a command that is refused in any case asks for no authorization', async () => {
  await store('pm_ok');
  const before = stripe.intents.length;
  expect((await subscribe({ plan_code: 'none' })).status).toBe(404);
  expect(stripe.intents).toHaveLength(before);
  expect(await rows()).toEqual([]);
});

test.each([
  ['of a currency that Stripe does not take', { amount_cents: 5000, amount_currency: 'IQD' }],
  ['below its smallest step', { amount_cents: 99, amount_currency: 'MGA' }],
])('an authorization %s is refused before anybody is asked', async (_, asked) => {
  await store('pm_ok');
  const before = stripe.intents.length;
  const { body } = await subscribe({}, asked);
  expect(body.error_details).toEqual({ 'authorization.amount_cents': ['value_is_invalid'] });
  expect(stripe.intents).toHaveLength(before);
  expect(await isCreated()).toBe(false);
});

test('without an answer nothing is created, and what Stripe may hold is released', async () => {
  await store('pm_down'); // two failures of Stripe before it answers
  const { status, body } = await subscribe();
  expect([status, body.error_details.code]).toEqual([422, 'provider_unreachable']);
  expect(await isCreated()).toBe(false);
  expect(await rows()).toMatchObject([{ status: 'asked', provider_payment_id: null, isReleased: false }]);
  await sweepIn(3);
  const row = await released();
  expect(row.status).toBe('released');
  expect(intentOf(row.provider_payment_id)).toMatchObject({ status: 'canceled' });
});

test('an authorization whose worker died after the call is released within three minutes (FI18)', async () => {
  await store('pm_ok');
  await askAndDie();
  const [held] = await rows();
  expect(held).toMatchObject({ status: 'held', isReleased: false });
  await sweepIn(1);
  expect((await rows())[0]!.isReleased).toBe(false);
  await sweepIn(3);
  await released();
  expect(intentOf(held!.provider_payment_id)).toMatchObject({ status: 'canceled' });
  expect(await isCreated()).toBe(false);
});

test('an authorization whose worker died before it knew the answer is found by its key and released', async () => {
  await store('pm_ok');
  await askAndDie();
  const id = (await rows())[0]!.provider_payment_id;
  await service.sql`update authorizations set status = 'asked', provider_payment_id = null`;
  const before = stripe.intents.length;
  await sweepIn(3);
  expect(await released()).toMatchObject({ status: 'released', provider_payment_id: id });
  expect(stripe.intents).toHaveLength(before);
  expect(intentOf(id)).toMatchObject({ status: 'canceled' });
});

test('a release is tried twelve times', async () => {
  await store('pm_ok');
  await askAndDie();
  await service.sql`update authorizations set attempts = 12`;
  await sweepIn(100);
  expect(await service.ingress.producer.queue('payments').getJobs()).toEqual([]);
  expect((await rows())[0]).toMatchObject({ status: 'held', isReleased: false });
});

test('one that is left after twelve attempts is a drift, also when the process died before it was noted', async () => {
  await store('pm_ok');
  await askAndDie();
  await service.sql`update authorizations set attempts = 13`;
  for (const minutes of [100, 200]) await sweepIn(minutes);
  const left = await service.sql<{ drifts: number }[]>`
    select (select count(*)::int from provider_drifts drift
      where drift.provider_object_id = held.id::text and drift.status = 'open') as drifts
    from authorizations held where held.released_at is null`;
  expect([left.length > 0, left.every(({ drifts }) => drifts === 1)]).toEqual([true, true]);
});
