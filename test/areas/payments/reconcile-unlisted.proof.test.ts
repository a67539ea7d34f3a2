import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resumeReconciliations } from '../../../src/areas/payments/reconcile-providers/start-runs.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { openRuntime, type Runtime } from '../../../src/platform/process/runtime.ts';
import { reactions } from '../../../src/reactions.ts';
import type { Client } from '../../support/client.ts';
import { FAKE_KEY, FAKE_LIVE_KEY, type FakeStripe, fakeStripe } from '../../support/fakes/stripe.ts';
import { startService, type TestService, UNSCHEDULED } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ok } from '../../support/words.ts';
import { accountAtStripe } from '../support/account-at-stripe.ts';

// What a provider does not list, cannot tell or says only later: provider-reconciliation.md#runs.
let service: TestService;
let stripe: FakeStripe;
let runtime: Runtime;
let client: Client & { organization: { organization_id: string } };

beforeAll(async () => {
  stripe = await fakeStripe();
  service = await startService({ settings: { STRIPE_API_URL: stripe.url }, pools: UNSCHEDULED });
  runtime = openRuntime(service.config, 'test', undefined, { reactions });
});
afterAll(async () => {
  await runtime.close();
  await service.stop();
  await stripe.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Loose = any;

const { connect, tell, store, bill, paid, reconcile, drifts, repair, hoursPass, intentThere } = accountAtStripe(() => ({
  service,
  stripe,
  client,
}));
const organizationId = () => client.organization.organization_id;
/** Seconds at which Stripe made something so many hours ago. */
const hoursAgo = (hours: number) => Math.trunc(Date.now() / 1000) - hours * 3600;

/** Does something once Stripe has answered a request. */
function after(sent: string, does: () => void): Promise<unknown> {
  stripe.requests.length = 0;
  return until(async () => {
    if (!stripe.requests.includes(sent)) return undefined;
    does();
    return true;
  }, 30_000);
}

beforeEach(async () => {
  client = await service.org();
  await connect();
});

describe('what was made there long before it was known here', () => {
  test('a payment by a slow debit that is older than the list is read, and is not missing', async () => {
    const made = await bill();
    const intent = intentThere(made, { created: hoursAgo(40 * 24) });
    await tell('payment_intent.succeeded', intent);
    await paid(made);
    await hoursPass();
    expect((await reconcile()).counts).toMatchObject({ drifts: {}, unreadable: 0 });
    expect(await drifts()).toEqual([]);
    // One that is gone there is an error still, and is none any more once the provider has it.
    stripe.intents.splice(0);
    expect((await reconcile()).counts.drifts).toEqual({ payment_missing_there: 1 });
    const [drift] = await drifts();
    stripe.intents.push(intent);
    const { provider_drift: gone } = await ok(repair(drift, 'resolve', 'It was there'));
    expect(gone).toMatchObject({ kind: 'payment_missing_there', status: 'vanished' });
  });

  test('a payment that has another state there than the list could say differs by its state', async () => {
    const made = await bill();
    const intent = intentThere(made, { created: hoursAgo(40 * 24) });
    await tell('payment_intent.succeeded', intent);
    await paid(made);
    await hoursPass();
    Object.assign(intent, { status: 'canceled', amount_received: 0 });
    expect((await reconcile()).counts.drifts).toEqual({ status_differs: 1 });
  });

  test('a refund of a dashboard that was applied is not missing when the list does not go so far back', async () => {
    await store('pm_ok');
    const payment = await paid(await bill());
    const refund = { id: 're_old', payment_intent: payment.provider_payment_id, amount: 500, currency: 'usd' };
    stripe.refunds.push({ object: 'refund', metadata: {}, status: 'succeeded', ...refund });
    await reconcile();
    await ok(repair((await drifts())[0], 'apply'));
    await hoursPass();
    stripe.refunds[0].created = hoursAgo(40 * 24);
    expect((await reconcile()).counts.drifts).toEqual({});
    stripe.refunds.splice(0);
    expect((await reconcile()).counts.drifts).toEqual({ refund_missing_there: 1 });
  });

  test('a charge that was sent after the end of the compared time is not missing in it', async () => {
    await store('pm_ok');
    const payment = await paid(await bill());
    await service.sql`
      update payments set created_at = now() - interval '5 hours' where organization_id = ${organizationId()}`;
    const to = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const run = await reconcile({ to });
    expect(run.counts).toMatchObject({ compared: expect.any(Number), drifts: {} });
    expect(stripe.requests).toContain(`GET /v1/payment_intents/${payment.provider_payment_id}`);
  });
});

describe('what cannot be read', () => {
  test('a payment in progress that the account does not know is skipped and counted, and the rest compared', async () => {
    await store('pm_slow');
    await paid(await bill(), 'processing');
    stripe.intents.splice(0);
    const other = intentThere(await bill(1300), { amount: 1300, amount_received: 1300 });
    const run = await reconcile();
    expect(run).toMatchObject({
      status: 'succeeded',
      counts: { unreadable: 1, drifts: { payment_missing_here: 1 } },
      error: null,
    });
    // The methods come after it, and the connection is compared to its end.
    expect(stripe.requests.at(-1)).toMatch(/\/payment_methods$/);
    expect((await drifts())[0].provider_object_id).toBe(other.id);
    expect((await ok(client.get('/payment_providers/main'))).payment_provider.reconciled_at).not.toBeNull();
  });

  test('a refund in progress that the account does not know is skipped and counted', async () => {
    await store('pm_refund_slow');
    const made = await bill();
    await paid(made);
    const { fees } = (await ok(client.get(`/invoices/${made.svc_id}`))).invoice;
    const items = [{ fee_id: fees[0].svc_id, amount_cents: 500 }];
    await ok(
      client.post('/credit_notes', { credit_note: { invoice_id: made.svc_id, refund_amount_cents: 500, items } }),
    );
    await until(async () => stripe.refunds[0]);
    await until(async () => {
      const [begun] = await service.sql`
        select from credit_note_refunds where organization_id = ${organizationId()} and provider_refund_id is not null`;
      return begun;
    });
    stripe.refunds.splice(0);
    expect(await reconcile()).toMatchObject({ status: 'succeeded', counts: { unreadable: 1, drifts: {} } });
  });

  test('a key that is refused while single payments are read ends the connection', async () => {
    await store('pm_slow');
    await paid(await bill(), 'processing');
    stripe.intents.splice(0);
    const isRevoked = after('GET /v1/disputes', () => stripe.revoked.add(FAKE_KEY));
    try {
      expect((await reconcile()).error).toMatchObject({ message: expect.stringContaining('does not accept') });
      await isRevoked;
    } finally {
      stripe.revoked.delete(FAKE_KEY);
    }
  });
});

describe('a provider that gives no answer', () => {
  let second: string;
  beforeEach(async () => {
    second = 'live';
    await ok(
      client.post('/payment_providers', {
        payment_provider: { type: 'stripe', code: second, name: 'Live', secret_key: FAKE_LIVE_KEY },
      }),
    );
  });
  afterEach(() => stripe.failing.clear());

  /** Lets the sweep take up what waits, as if minutes had passed. */
  const resume = () => resumeReconciliations.sweep(runtime, realNow().add({ minutes: 6 }));
  const show = async (id: string): Promise<Loose> =>
    (await ok(client.get(`/provider_reconciliations/${id}`))).provider_reconciliation;
  const become = (id: string, status: string) =>
    until(async () => {
      const run = await show(id);
      return run.status === status ? run : undefined;
    }, 30_000);
  /** Waits until a run has been left without an answer: before its first page it is pending too. */
  const waits = (id: string) =>
    until(async () => {
      const [row] = await service.sql`
        select from provider_reconciliations where id = ${id} and status = 'pending' and started_at is not null`;
      return row && show(id);
    }, 30_000);
  const ask = async (body?: object): Promise<string> =>
    (await ok(client.post('/provider_reconciliations', body && { provider_reconciliation: body })))
      .provider_reconciliation.svc_id;
  const reconciledAt = async (code: string) =>
    (await ok(client.get(`/payment_providers/${code}`))).payment_provider.reconciled_at;

  test('lets the runs of other connections work, and is compared when it answers again', async () => {
    stripe.failing.add(FAKE_KEY);
    const held = await ask({ payment_provider_code: 'main' });
    const other = await ask({ payment_provider_code: second });
    expect(await become(other, 'succeeded')).toMatchObject({ error: null });
    expect(await waits(held)).toMatchObject({ error: null, finished_at: null });
    // While it waits, it keeps nobody from being compared again.
    expect((await reconcile({ payment_provider_code: second })).status).toBe('succeeded');
    stripe.failing.delete(FAKE_KEY);
    await resume();
    expect(await become(held, 'succeeded')).toMatchObject({ error: null });
  });

  test('holds back no other connection of the same run, and what it has listed is kept', async () => {
    const made = await bill();
    for (let index = 0; index < 150; index += 1)
      intentThere(made, { status: 'requires_payment_method', amount_received: 0 });
    const first = (
      await service.sql<{ code: string }[]>`
      select code from payment_providers where organization_id = ${organizationId()} order by id limit 1`
    )[0]!.code;
    const key = first === 'main' ? FAKE_KEY : FAKE_LIVE_KEY;
    const fails = after('GET /v1/payment_intents', () => stripe.failing.add(key));
    const id = await ask();
    await fails;
    await waits(id);
    const later = first === 'main' ? second : 'main';
    expect(await reconciledAt(later)).not.toBeNull();
    expect(await reconciledAt(first)).toBeNull();
    stripe.failing.delete(key);
    await resume();
    // All of the first connection and all of the second, each once.
    expect(await become(id, 'succeeded')).toMatchObject({ counts: { compared: 300, equal: 300, drifts: {} } });
    expect(await reconciledAt(first)).not.toBeNull();
    const left = await service.sql`select from provider_objects_seen where organization_id = ${organizationId()}`;
    expect(left).toHaveLength(0);
  });

  test('fails the run of a day in which it never answered', async () => {
    stripe.failing.add(FAKE_KEY);
    const held = await ask({ payment_provider_code: 'main' });
    await waits(held);
    await service.sql`
      update provider_reconciliations set started_at = started_at - interval '25 hours' where id = ${held}`;
    await resume();
    expect(await become(held, 'failed')).toMatchObject({ error: { code: 'provider_unreachable' } });
  });
});

describe('what was made there just now', () => {
  test.each([
    ['payment', 'payment_missing_here'],
    ['second payment', 'double_payment'],
    ['refund', 'refund_missing_here'],
    ['dispute', 'dispute_missing_here'],
  ])('a %s of which we do not know yet is no drift for an hour', async (what, kind) => {
    await store('pm_ok');
    const made = what === 'payment' ? undefined : await bill();
    const payment = made && (await paid(made));
    const created = hoursAgo(0);
    if (what === 'payment') {
      await service.sql`update payment_methods set deleted_at = now() where organization_id = ${organizationId()}`;
      intentThere(await bill(), { created });
    } else if (what === 'second payment') intentThere(made, { created });
    else {
      const about = { payment_intent: payment!.provider_payment_id, created };
      if (what === 'refund')
        stripe.refunds.push({
          id: 're_new',
          amount: 500,
          currency: 'usd',
          metadata: {},
          status: 'succeeded',
          ...about,
        });
      else stripe.disputes.push({ id: 'dp_new', status: 'lost', reason: 'fraud', ...about });
    }
    expect((await reconcile()).counts.drifts).toEqual({});
    for (const each of [stripe.intents.at(-1), stripe.refunds.at(-1), stripe.disputes.at(-1)])
      if (each?.created === created) each.created = hoursAgo(2);
    expect((await reconcile()).counts.drifts).toEqual({ [kind]: 1 });
  });

  test('a drift stays open while the last change of its payment is so new that an event may follow', async () => {
    await store('pm_ok');
    await paid(await bill());
    await hoursPass();
    stripe.set(stripe.intents[0], 'canceled');
    stripe.intents[0].amount_received = 0;
    expect((await reconcile()).counts.drifts).toEqual({ status_differs: 1 });
    await service.sql`update payments set updated_at = now() where organization_id = ${organizationId()}`;
    expect((await reconcile()).counts.drifts).toEqual({});
    expect(await drifts()).toMatchObject([{ kind: 'status_differs', status: 'open' }]);
  });
});

test('a method of a type that the customer does not allow any more is there, and no drift', async () => {
  await store('pm_ok');
  await service.sql`
    update customers set provider_payment_methods = '{us_bank_account}' where organization_id = ${organizationId()}`;
  expect((await reconcile()).counts.drifts).toEqual({});
  expect((await ok(client.get('/customers/acme/payment_methods'))).payment_methods).toHaveLength(1);
});
